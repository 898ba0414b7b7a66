/** The explorer of a service in a real browser, and what one does in it. */
import type { BrowserContextOptions, Page } from 'playwright-core';
import { openPage } from '../support/browser.ts';
import { PERSONAL_TOKEN, type LocalService } from '../support/local-service.ts';

/** A query that shows nothing of the dataset: beside one the page opens none by itself. */
export const IDLE = '&query=print+1';

/** Opens it with a token and this link, and waits until it lists the dataset. */
export const explorerOf =
  (service: LocalService, dataset: string) =>
  async (
    link = '&range=1h',
    options: BrowserContextOptions = {},
    token = PERSONAL_TOKEN,
  ): Promise<{ page: Page; problems: string[] }> => {
    const opened = await openPage(options);
    await opened.page.goto(`${service.url}/#token=${token}${link.includes('query=') ? '' : IDLE}${link}`);
    await opened.page.getByRole('button', { name: new RegExp(`^${dataset}`) }).waitFor();
    return opened;
  };

export const field = (page: Page) => page.getByLabel('Query', { exact: true });
export const row = (page: Page, text: string) => page.locator('tr[data-row]', { hasText: text });
export const run = async (page: Page, query: string): Promise<void> => {
  await field(page).fill(query);
  await page.keyboard.press('Control+Enter');
};
