/** The explorer's live tail in a real browser: what it counts, and that one can read it while events come. */
import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { chromiumHint, closeBrowserAfterAll, expectAccessible, hasChromium } from '../support/browser.ts';
import { localService } from '../support/local-service.ts';
import { explorerOf, field, row, run } from './explorer.ts';
import { beginning } from '../support/begin.ts';

describe.skipIf(!hasChromium)(`explorer’s live tail${chromiumHint}`, () => {
  closeBrowserAfterAll();
  const service = localService('app-logs', ({ ask }) =>
    ask('POST', '/v1/ingest/app-logs', [
      { kind: 'first', level: 'info', service: 'shop', host: 'web-1', message: 'begun', n: 0 },
    ]),
  );
  const open = explorerOf(service, 'app-logs');
  const test = beginning(() => open(), 'page', 'problems');

  const send = (kind: string, count: number, from = 0) =>
    service.ask(
      'POST',
      '/v1/ingest/app-logs',
      Array.from({ length: count }, (_, n) => ({
        kind,
        level: 'info',
        service: 'shop',
        host: 'web-1',
        message: `${kind} ${from + n}`,
        n: from + n,
      })),
    );
  /** Events count from then on, by the service's own time. */
  const begins = (page: Page) =>
    page.waitForResponse((reply) => reply.request().postData()?.includes('print began') === true);
  const goLive = async (page: Page, kind: string) => {
    await field(page).fill(`['app-logs'] | where kind == "${kind}"`);
    const begun = begins(page);
    await page.getByRole('button', { name: 'Live', exact: true }).click();
    await begun;
    await page.getByText('Waiting for events').waitFor();
  };
  const status = (page: Page) => page.getByRole('status').filter({ hasText: 'since you began' });
  /** The page's status about left-out events, each time that it changed. */
  const watchStatus = (page: Page) =>
    page.evaluate(`(() => {
      window.said = [];
      new MutationObserver(() => {
        const text = document.querySelector('.results-bar [role=status]')?.textContent ?? '';
        window.said.push(text);
      }).observe(document.querySelector('main'), { subtree: true, childList: true, characterData: true });
    })()`);
  const leftOutOf = (text: string) => Number((/([\d,]+) came too fast/.exec(text)?.[1] ?? '0').replaceAll(',', ''));

  test('a live tail counts no losses that never were: each poll sees the events of the one before again', async ({
    page,
  }) => {
    await goLive(page, 'burst');
    await watchStatus(page);
    let answers = 0;
    page.on('response', (response) => void (answers += response.url().includes('streaming-duration') ? 1 : 0));
    for (let sent = 0; sent < 2400; sent += 600) {
      await send('burst', 600, sent);
      await status(page)
        .filter({ hasText: `${(sent + 600).toLocaleString('en')} events since you began` })
        .waitFor();
    }
    // Until they left the window that is asked for.
    const polls = answers + 4;
    await expect.poll(() => answers, { timeout: 60_000 }).toBeGreaterThanOrEqual(polls);
    const said = await page.evaluate<string[]>('window.said');
    expect(said.length).toBeGreaterThanOrEqual(4);
    expect(said.filter((text) => leftOutOf(text) > 0)).toEqual([]);
  });

  test('a live tail counts exactly what came too fast to be shown', async ({ page }) => {
    await goLive(page, 'flood');
    await watchStatus(page);
    for (let sent = 0; sent < 12_000; sent += 4000) await send('flood', 4000, sent);
    await status(page).filter({ hasText: '12,000 events since you began' }).waitFor();
    await page.locator('tr[data-row]').first().waitFor();
    const said = await page.evaluate<string[]>('window.said');
    const most = Math.max(...said.map(leftOutOf));
    // At least the newest thousand are shown.
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThanOrEqual(11_000);
    expect((await status(page).textContent())!).toMatch(/the newest 1,000 are shown/);
  });

  test('a live tail keeps the columns that were chosen, and others are chosen there', async ({ page }) => {
    const heads = () => page.locator('.rows th bdi').allTextContents();
    await run(page, `['app-logs'] | where kind == "columns"`);
    await send('columns', 3);
    await run(page, `['app-logs'] | where kind == "columns"`);
    await row(page, 'columns 1').waitFor();
    await page.locator('summary', { hasText: 'Columns' }).click();
    for (const name of ['level', 'service', 'host', 'kind'])
      await page.getByRole('checkbox', { name, exact: true }).uncheck();
    await page.keyboard.press('Escape');
    const chosen = await heads();
    expect(chosen).toEqual(['_time', 'message', 'n']);
    const begun = begins(page);
    await page.getByRole('button', { name: 'Live', exact: true }).click();
    await begun;
    await send('columns', 1, 3);
    await row(page, 'columns 3').waitFor();
    expect(await heads()).toEqual(chosen);
    await page.locator('summary', { hasText: 'Columns' }).click();
    await page.getByRole('checkbox', { name: 'service', exact: true }).check();
    await expect.poll(heads).toEqual(['_time', 'message', 'n', 'service']);
    expect(page.url()).toContain('column=service');
    await send('columns', 1, 4);
    await row(page, 'columns 4').waitFor();
    expect(await heads()).toEqual(['_time', 'message', 'n', 'service']);
  });

  test('rows of a live tail stay under the reader who scrolled, and new ones wait', async ({ page }) => {
    await goLive(page, 'reading');
    await send('reading', 200);
    await row(page, 'reading 199').first().waitFor();
    const rows = page.getByRole('region', { name: 'Rows' });
    const firstInSight = () =>
      page.evaluate<string>(`(() => {
        const holder = document.querySelector('.rows');
        const top = holder.getBoundingClientRect().top + 34;
        const row = [...holder.querySelectorAll('tr[data-row]')].find((each) => each.getBoundingClientRect().bottom > top);
        return /reading \\d+/.exec(row?.textContent)?.[0] ?? '';
      })()`);
    const newest = await firstInSight();
    await rows.evaluate((element) => element.scrollTo(0, 1400));
    // The rows of the new place come with the next frame.
    await expect.poll(firstInSight).not.toMatch(new RegExp(`^(${newest})?$`));
    const before = await firstInSight();
    await send('reading', 24, 200);
    const more = page.getByRole('button', { name: '24 new' });
    await more.waitFor();
    await expect.poll(firstInSight).toBe(before);
    await expectAccessible(page);
    await more.click();
    await row(page, 'reading 223').waitFor();
    await expect.poll(firstInSight).toBe('reading 223');
    expect(await more.count()).toBe(0);
    // At the top they come as before.
    await send('reading', 1, 224);
    await row(page, 'reading 224').waitFor();
  });

  test('rows of a live tail stay while an event is opened, and while keys go from row to row', async ({ page }) => {
    await goLive(page, 'opened');
    await send('opened', 5);
    await row(page, 'opened 3').click();
    await page.getByRole('region', { name: /^Event/ }).waitFor();
    await send('opened', 2, 5);
    await page.getByRole('button', { name: '2 new' }).waitFor();
    expect(await page.locator('tr[data-row]').count()).toBe(5);
    await page.getByRole('button', { name: 'Close the event' }).click();
    await row(page, 'opened 6').waitFor();
    await page.getByRole('region', { name: 'Rows' }).focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await send('opened', 1, 7);
    await page.getByRole('button', { name: '1 new' }).waitFor();
    expect(await page.evaluate('document.activeElement.ariaLabel')).toBe('Open row 2');
    expect(await page.evaluate(`document.activeElement.closest('tr').textContent`)).toContain('opened');
  });
});
