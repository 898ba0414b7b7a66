/** A query that the explorer no longer waits for ends in the service: in a real browser, by every way to give it up. */
import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { beginning } from '../support/begin.ts';
import { chromiumHint, closeBrowserAfterAll, hasChromium } from '../support/browser.ts';
import { API_TOKEN, localService } from '../support/local-service.ts';
import { until } from '../support/until.ts';
import { explorerOf, field, run } from './explorer.ts';

const EVENTS = 10_000;
const LONG = 'app-logs | join kind=inner (app-logs) on k | join kind=inner (app-logs) on k | count';

describe.skipIf(!hasChromium)(`a long query of the explorer${chromiumHint}`, () => {
  closeBrowserAfterAll();
  const service = localService(
    'app-logs',
    ({ ask }) =>
      ask(
        'POST',
        '/v1/ingest/app-logs',
        Array.from({ length: EVENTS }, (_, n) => ({ k: 1, n })),
      ),
    ['--query-timeout', '10m'],
  );
  const open = explorerOf(service, 'app-logs');
  const test = beginning(() => open('&range=7d', {}, API_TOKEN), 'page', 'problems');
  const running = async (): Promise<number> => ((await service.ask('GET', '/v1/queries')) as { text: string }[]).length;

  test.for([
    ['Cancel', (page: Page) => page.getByRole('button', { name: 'Cancel' }).click()],
    ['Escape', (page: Page) => field(page).press('Escape')],
    ['another query', (page: Page) => run(page, "['app-logs'] | count")],
    ['leaving the page', (page: Page) => page.goto('about:blank')],
    ['closing the tab', (page: Page) => page.close()],
  ] as const)('is ended by %s', async ([, giveUp], { page }) => {
    await run(page, LONG);
    await until('the query to run', async () => (await running()) > 0);
    await giveUp(page);
    await until('no query to run', async () => (await running()) === 0);
    const count = await service.aggregate('app-logs', [{ op: 'count' }]);
    expect(count).toEqual([EVENTS]);
  });
});
