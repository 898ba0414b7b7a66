/** What lasts in the explorer and what does not, in a real browser: tokens, starred queries, history, banners, titles, and queries that are replaced. */
import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { chromiumHint, closeBrowserAfterAll, expectAccessible, hasChromium, openPage } from '../support/browser.ts';
import { API_TOKEN, localService, PERSONAL_TOKEN } from '../support/local-service.ts';
import { explorerOf, field, run } from './explorer.ts';
import { beginning } from '../support/begin.ts';

const MINUTE = 60_000;
const WRONG = 'xaat-00000000-0000-4000-8000-000000000000';

describe.skipIf(!hasChromium)(`explorer’s session${chromiumHint}`, () => {
  closeBrowserAfterAll();
  const service = localService('app-logs', ({ ask }) => {
    const now = Date.now();
    const events = Array.from({ length: 48 }, (_, n) => ({
      _time: new Date(now - n * 60 * MINUTE).toISOString(),
      level: n % 4 === 0 ? 'error' : 'info',
      host: 'web-1',
      message: `line ${n}`,
    }));
    return ask('POST', '/v1/ingest/app-logs', events);
  });
  const open = explorerOf(service, 'app-logs');
  const test = beginning(() => open('&range=7d', {}, PERSONAL_TOKEN), 'page', 'problems');
  const heads = (page: Page) => page.locator('.rows th bdi').allTextContents();
  const range = (page: Page) => page.getByLabel('Time range').inputValue();
  const found = (page: Page, rows: number) =>
    page
      .getByRole('status')
      .filter({ hasText: `${rows} rows` })
      .waitFor();
  const tokenField = (page: Page) => page.getByLabel('Token', { exact: true });

  const manage = async (method: string, path: string, body?: object) => {
    const headers = {
      authorization: `Bearer ${PERSONAL_TOKEN}`,
      'x-service-org-id': 'test-org',
      'content-type': 'application/json',
    };
    const reply = await fetch(service.url + path, { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) });
    expect([method, path, reply.ok]).toEqual([method, path, true]);
    return reply.text();
  };
  const shortToken = async () =>
    JSON.parse(
      await manage('POST', '/v2/tokens', {
        name: 'short',
        datasetCapabilities: { '*': { query: ['read'] } },
        orgCapabilities: {},
      }),
    ) as { id: string; token: string };

  test.for(['xaat', 'xapt'])(
    'a wrong token signs nobody in: the form stays, and says what is wrong (%s)',
    async (kind) => {
      const { page } = await openPage();
      await page.goto(service.url);
      await tokenField(page).fill(WRONG.replace('xaat', kind));
      await page.keyboard.press('Enter');
      await page.getByRole('alert').getByText('the token is not known').waitFor();
      expect(await page.getByText(/Signed in/).count()).toBe(0);
      expect(await page.evaluate('sessionStorage.length')).toBe(0);
      await expectAccessible(page);
      await tokenField(page).fill(API_TOKEN);
      await page.keyboard.press('Enter');
      await page.getByText(/Signed in with/).waitFor();
      await page.getByRole('button', { name: /^app-logs/ }).waitFor();
      expect(await page.getByRole('alert').count()).toBe(0);
    },
  );

  test('a link with a wrong token signs nobody in, and one that the service cannot judge now is kept', async () => {
    const { page } = await openPage();
    await page.goto(`${service.url}/#token=${WRONG}&query=${encodeURIComponent("['app-logs']")}`);
    await page.getByRole('alert').getByText('the token is not known').waitFor();
    expect(await tokenField(page).count()).toBe(1);
    expect(await field(page).inputValue()).toBe("['app-logs']");
    const { page: away } = await openPage();
    await away.goto(service.url);
    await away.route('**/v*/**', (route) => route.abort('connectionrefused'));
    await tokenField(away).fill(API_TOKEN);
    await away.keyboard.press('Enter');
    await away.getByText('The service does not answer').first().waitFor();
    expect(await tokenField(away).count()).toBe(0);
  });

  test.for([
    ['a query', (page: Page) => run(page, `['app-logs'] | take 3`)],
    ['a live tail', (page: Page) => page.getByRole('button', { name: 'Live', exact: true }).click()],
    ['values of a field', (page: Page) => page.getByRole('button', { name: /^level string/ }).click()],
    [
      'what datasets hold',
      (page: Page) => page.getByRole('button', { name: 'Ask again what the datasets hold' }).click(),
    ],
  ] as const)(
    'a token that ends leads back to the form, whatever asks next, and the query stays: %s',
    async ([, ask]) => {
      const made = await shortToken();
      const { page } = await open('&range=7d', {}, made.token);
      await run(page, `['app-logs'] | where level == "error"`);
      await found(page, 12);
      await page.getByRole('button', { name: /^level string/ }).waitFor();
      await manage('DELETE', `/v2/tokens/${made.id}`);
      await ask(page);
      await page.getByRole('alert').getByText('the token is not known').waitFor();
      await tokenField(page).waitFor();
      expect(await page.getByText(/Signed in/).count()).toBe(0);
      expect(await page.locator('tr[data-row]').count()).toBe(0);
      expect(await field(page).inputValue()).toContain(`['app-logs']`);
      await expectAccessible(page);
      await tokenField(page).fill(API_TOKEN);
      await page.keyboard.press('Enter');
      await page.getByRole('button', { name: /^app-logs/ }).waitFor();
      expect(await page.getByRole('alert').count()).toBe(0);
    },
  );

  test('a token that may not do one thing stays signed in', async () => {
    const made = await shortToken();
    const { page } = await open('&range=7d', {}, made.token);
    await field(page).fill(`['app-logs']`);
    await page.locator('summary', { hasText: 'Starred' }).click();
    await page.getByLabel('Name of the query').fill('mine');
    await page.getByRole('button', { name: 'Star it' }).click();
    await page.getByRole('alert').getByText('star queries with a personal token').waitFor();
    expect(await page.getByText(/Signed in/).count()).toBe(1);
  });

  test('a star keeps its range and its columns, and so gives the same numbers', async ({ page }) => {
    await run(page, `['app-logs'] | where host == "web-1"`);
    await found(page, 48);
    await page.locator('summary', { hasText: 'Columns' }).click();
    await page.getByRole('checkbox', { name: 'host', exact: true }).uncheck();
    await page.keyboard.press('Escape');
    const chosen = await heads(page);
    expect(chosen).not.toContain('host');
    await page.locator('summary', { hasText: 'Starred' }).click();
    await page.getByLabel('Name of the query').fill('All of a week');
    await page.keyboard.press('Enter');
    const starred = page.getByRole('list', { name: 'Starred queries' });
    await starred.getByText('All of a week').waitFor();
    await page.keyboard.press('Escape');
    await page.getByLabel('Time range').selectOption('6h');
    await found(page, 6);
    await run(page, `['app-logs'] | count`);
    await page.locator('summary', { hasText: 'Starred' }).click();
    await starred.getByText('Last 7 days').waitFor();
    await starred.getByRole('button', { name: /^All of a week/ }).click();
    await found(page, 48);
    expect(await range(page)).toBe('7d');
    expect(await heads(page)).toEqual(chosen);
    // One that was starred without a range takes the one that is chosen.
    await manage('POST', '/v2/apl-starred-queries', {
      name: 'Bare',
      dataset: 'app-logs',
      query: { apl: `['app-logs'] | where level == "info"` },
    });
    await page.getByLabel('Time range').selectOption('6h');
    await page.locator('summary', { hasText: 'Starred' }).click();
    await starred.getByRole('button', { name: /^Bare/ }).click();
    await page.getByRole('status').filter({ hasText: '4 rows' }).waitFor();
    expect(await range(page)).toBe('6h');
  });

  test('history says when, keeps the range, and outlives the tab until one signs out', async ({ page }) => {
    await run(page, `['app-logs'] | where level == "error"`);
    await found(page, 12);
    await page.getByLabel('Time range').selectOption('6h');
    await run(page, `['app-logs'] | count`);
    await page
      .getByRole('status')
      .filter({ hasText: /^1 row/ })
      .waitFor();
    const other = await page.context().newPage();
    await other.goto(`${service.url}/#token=${PERSONAL_TOKEN}`);
    await other.getByRole('button', { name: /^app-logs/ }).waitFor();
    await page.close();
    await other.locator('summary', { hasText: 'History' }).click();
    const listed = other.getByRole('list', { name: 'Queries that were run' }).getByRole('button');
    await listed.filter({ hasText: 'count' }).waitFor();
    expect(await listed.filter({ hasText: 'count' }).textContent()).toMatch(/\d\d:\d\d:\d\d · Last 6 hours/);
    await expectAccessible(other);
    await listed.filter({ hasText: 'error' }).first().click();
    await expect.poll(() => range(other)).not.toBe('24h');
    await found(other, (await range(other)) === '7d' ? 12 : 2);
    await other.getByRole('button', { name: 'Sign out' }).click();
    await other.getByText('Sign in with a token').waitFor();
    expect(await other.evaluate('[localStorage.length, sessionStorage.length]')).toEqual([0, 0]);
  });

  test('an error goes when the query is changed, and is gone for the next one', async ({ page }) => {
    await run(page, `['app-logs'] | wher x`);
    await page.getByRole('alert').waitFor();
    await field(page).fill(`['app-logs'] | where`);
    await page.getByRole('alert').waitFor({ state: 'detached' });
    await field(page).fill(`['app-logs'] | wher x`);
    await page.getByRole('alert').waitFor();
    await run(page, `['app-logs'] | where level == "error"`);
    await found(page, 12);
    expect(await page.getByRole('alert').count()).toBe(0);
  });

  test('the tab is named by what it shows', async ({ page }) => {
    await run(page, `['app-logs']\n| where level == "error"`);
    await found(page, 12);
    expect(await page.title()).toBe('app-logs | where level == "error" · Tailrace');
    await page.getByRole('button', { name: 'Live', exact: true }).click();
    await expect.poll(() => page.title()).toBe('Live · app-logs | where level == "error" · Tailrace');
    await run(page, `['app-logs'] | where message != "${'x'.repeat(200)}"`);
    await expect.poll(() => page.title()).toMatch(/^app-logs \| where message != "x+… · Tailrace$/);
    expect((await page.title()).length).toBeLessThan(100);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await expect.poll(() => page.title()).toBe('Explorer · Tailrace');
  });

  /** Bodies of requests that the page gave up. */
  const givenUp = (page: Page): string[] => {
    const bodies: string[] = [];
    page.on('requestfailed', (request) =>
      bodies.push(`${request.failure()?.errorText} ${request.postData() ?? request.url()}`),
    );
    return bodies;
  };

  test.for([
    ['another query runs', (page: Page) => run(page, `['app-logs'] | where level == "info"`)],
    ['the live tail begins', (page: Page) => page.getByRole('button', { name: 'Live', exact: true }).click()],
    ['the query is emptied and one goes back', (page: Page) => page.goBack()],
    ['one signs out', (page: Page) => page.getByRole('button', { name: 'Sign out' }).click()],
  ] as const)('a query that is replaced is given up by the page: %s', async ([, replace], { page }) => {
    await run(page, `['app-logs'] | where level == "error"`);
    await found(page, 12);
    const failed = givenUp(page);
    await page.route('**/v1/datasets/_apl*', async (route) => {
      if (!route.request().postData()?.includes('slow')) await route.continue();
    });
    await run(page, `['app-logs'] | where message == "slow"`);
    await page.getByRole('button', { name: 'Cancel' }).waitFor();
    await replace(page);
    await expect
      .poll(() => failed.filter((body) => body.includes('ERR_ABORTED') && body.includes('slow')).length)
      .toBe(1);
  });

  test.for([
    ['Cancel', (page: Page) => page.getByRole('button', { name: 'Cancel' }).click()],
    ['Cancel, by the keyboard', (page: Page) => page.getByRole('button', { name: 'Cancel' }).press('Enter')],
    ['Escape in the query', (page: Page) => field(page).press('Escape')],
    ['Escape elsewhere', (page: Page) => page.getByLabel('Time range').press('Escape')],
  ] as const)('a query that runs is ended by %s: the page says so, and runs it again', async ([, endIt], { page }) => {
    const failed = givenUp(page);
    let isSlow = true;
    await page.route('**/v1/datasets/_apl*', async (route) => {
      if (!isSlow || !route.request().postData()?.includes('error')) await route.continue();
    });
    await run(page, `['app-logs'] | where level == "error"`);
    await page.getByRole('button', { name: 'Cancel' }).waitFor();
    await endIt(page);
    await page.getByRole('status').getByText('The query was ended').waitFor();
    await expect
      .poll(() => failed.filter((body) => body.includes('ERR_ABORTED') && body.includes('error')).length)
      .toBe(1);
    expect(await page.getByRole('alert').count()).toBe(0);
    await expectAccessible(page);
    isSlow = false;
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await found(page, 12);
    // There is nothing to end.
    await field(page).press('Escape');
    await found(page, 12);
  });

  test('Escape that closes suggestions ends no query', async ({ page }) => {
    const failed = givenUp(page);
    await page.route('**/v1/datasets/_apl*', () => undefined);
    await run(page, `['app-logs'] | where level == "error"`);
    await page.getByRole('button', { name: 'Cancel' }).waitFor();
    await page.keyboard.type(' | cou');
    await page.getByRole('listbox', { name: 'Suggestions' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('listbox', { name: 'Suggestions' }).waitFor({ state: 'detached' });
    expect(await page.getByRole('button', { name: 'Cancel' }).count()).toBe(1);
    await page.keyboard.press('Escape');
    await page.getByRole('status').getByText('The query was ended').waitFor();
    await expect.poll(() => failed.filter((body) => body.includes('error')).length).toBe(1);
  });

  test('values of a field are given up when it is closed, or the range changes', async ({ page }) => {
    await run(page, `['app-logs'] | where level == "error"`);
    await found(page, 12);
    const failed = givenUp(page);
    await page.route('**/v1/datasets/_apl*', async (route) => {
      if (!route.request().postData()?.includes('count_')) await route.continue();
    });
    const level = page.getByRole('button', { name: /^level string/ });
    await level.click();
    await expect.poll(() => level.getAttribute('aria-expanded')).toBe('true');
    await page.getByLabel('Time range').selectOption('6h');
    await expect.poll(() => failed.filter((body) => body.includes('count_')).length).toBe(1);
    await level.click();
    await expect.poll(() => failed.filter((body) => body.includes('count_')).length).toBe(2);
  });
});
