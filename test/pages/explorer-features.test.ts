/** What the explorer has around a query, in a real browser: history, starred queries, context, annotations, the live tail, ranges. */
import { describe, expect } from 'vitest';
import { chromiumHint, closeBrowserAfterAll, expectAccessible, hasChromium } from '../support/browser.ts';
import { localService, PERSONAL_TOKEN } from '../support/local-service.ts';
import { explorerOf, field, row, run } from './explorer.ts';
import { beginning } from '../support/begin.ts';

const MINUTE = 60_000;

describe.skipIf(!hasChromium)(`explorer’s features${chromiumHint}`, () => {
  closeBrowserAfterAll();
  const beganMs = Date.now();
  const service = localService('app-logs', ({ ask }) => {
    // Two files take turns; several events have the same time.
    const events = Array.from({ length: 40 }, (_, n) => ({
      _time: new Date(beganMs - 30 * MINUTE + Math.floor(n / 8) * MINUTE).toISOString(),
      file: n % 2 === 0 ? '/var/log/a.log' : '/var/log/b.log',
      host: 'web-1',
      level: n === 20 ? 'error' : 'info',
      message: `line ${n}`,
    }));
    return ask('POST', '/v1/ingest/app-logs', events);
  });

  const open = explorerOf(service, 'app-logs');
  const test = beginning(() => open(), 'page', 'problems');

  test('explorer lists the queries that were run, newest first, until one signs out', async ({ page }) => {
    await run(page, `['app-logs'] | where level == "error"`);
    await row(page, 'line 20').waitFor();
    await run(page, `['app-logs'] | summarize n = count()`);
    await row(page, '40').waitFor();
    await page.locator('summary', { hasText: 'History' }).click();
    const listed = page.getByRole('list', { name: 'Queries that were run' }).locator('bdi');
    await expect
      .poll(() => listed.allTextContents())
      .toEqual([`['app-logs'] | summarize n = count()`, `['app-logs'] | where level == "error"`]);
    await expectAccessible(page);
    await listed.nth(1).click();
    await row(page, 'line 20').waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByText('Sign in with a token').waitFor();
    expect(await page.evaluate('sessionStorage.length + localStorage.length')).toBe(0);
  });

  test('explorer stars a query at the service, runs it again and removes it', async () => {
    const { page, problems } = await open(undefined, {}, PERSONAL_TOKEN);
    await run(page, `['app-logs'] | where level == "error"`);
    await row(page, 'line 20').waitFor();
    await page.locator('summary', { hasText: 'Starred' }).click();
    await page.getByText('Nobody has starred').waitFor();
    await page.getByLabel('Name of the query').fill('Errors <b>');
    await page.keyboard.press('Enter');
    const starred = page.getByRole('list', { name: 'Starred queries' });
    await starred.getByText('Errors <b>').waitFor();
    await expectAccessible(page);
    await page.keyboard.press('Escape');
    await field(page).fill('');
    await page.locator('summary', { hasText: 'Starred' }).click();
    await starred.getByRole('button', { name: /^Errors/ }).click();
    await expect.poll(() => field(page).inputValue()).toBe(`['app-logs'] | where level == "error"`);
    await page.locator('summary', { hasText: 'Starred' }).click();
    await page.getByRole('button', { name: 'Remove Errors <b>' }).click();
    await page.getByText('Nobody has starred').waitFor();
    expect(problems).toEqual([]);
  });

  // Symptom: Escape did nothing behind a click on "Star it" or "×". Cause: the button was disabled or gone, and the focus with it.
  test('Escape closes the starred queries whatever was clicked in them', async () => {
    const { page } = await open(undefined, {}, PERSONAL_TOKEN);
    await run(page, `['app-logs'] | where level == "error"`);
    const summary = page.locator('summary', { hasText: 'Starred' });
    const menu = page.locator('details', { has: summary });
    const starred = page.getByRole('list', { name: 'Starred queries' });
    await summary.click();
    await page.getByLabel('Name of the query').fill('Closed');
    await page.getByRole('button', { name: 'Star it' }).click();
    await starred.getByText('Closed').waitFor();
    await page.keyboard.press('Escape');
    await expect.poll(() => menu.getAttribute('open')).toBe(null);
    await summary.click();
    await page.getByRole('button', { name: 'Remove Closed' }).click();
    await page.getByText('Nobody has starred').waitFor();
    await page.keyboard.press('Escape');
    await expect.poll(() => menu.getAttribute('open')).toBe(null);
    await expect.poll(() => summary.evaluate((element) => element.matches(':focus'))).toBe(true);
  });

  test('explorer shows the events before and after one of the same file, also where many have the same time', async ({
    page,
  }) => {
    await run(page, `['app-logs'] | where level == "error"`);
    await row(page, 'line 20').click();
    await page.getByRole('button', { name: 'Before and after, same file' }).click();
    const lines = page.getByRole('list', { name: 'Events before and after, same file' }).getByRole('listitem');
    await lines.nth(10).waitFor();
    const texts = (await lines.allTextContents()).map((text) => Number(/line (\d+)/.exec(text)?.[1]));
    expect(texts).toEqual([10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30]);
    expect(await lines.nth(5).getAttribute('aria-current')).toBe('true');
    await page.getByRole('button', { name: 'Before and after, same host' }).click();
    await expect
      .poll(async () => (await page.locator('.context li').allTextContents()).join())
      .toMatch(/line 19.*line 20.*line 21/);
    await expectAccessible(page);
    await page.getByRole('button', { name: 'leave out this host' }).click();
    await expect.poll(() => field(page).inputValue()).toMatch(/\| where host != "web-1"$/);
  });

  test('explorer draws annotations on charts, and names them below', async () => {
    await fetch(`${service.url}/v2/annotations`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${PERSONAL_TOKEN}`,
        'x-service-org-id': 'test-org',
        'content-type': 'application/json',
      },
      body: JSON.stringify({
        datasets: ['app-logs'],
        type: 'deploy',
        title: 'v1.2',
        time: new Date(beganMs - 28 * MINUTE).toISOString(),
      }),
    }).then(async (reply) =>
      expect([reply.status, await reply.text()]).toEqual([200, expect.stringContaining('deploy')]),
    );
    const { page, problems } = await open();
    await run(page, `['app-logs'] | summarize count() by bin(_time, 1m)`);
    await page.getByRole('list', { name: 'Annotations' }).getByText('deploy: v1.2').waitFor();
    await run(page, `['app-logs']`);
    await page.getByRole('img', { name: /Events over time/ }).waitFor();
    await page.getByText('deploy: v1.2').waitFor();
    await expectAccessible(page);
    expect(problems).toEqual([]);
  });

  test('explorer draws what render asks for', async ({ page, problems }) => {
    await run(page, `['app-logs'] | summarize count() by level | render barchart`);
    await page.getByRole('meter', { name: 'info' }).waitFor();
    const meters = await page
      .getByRole('meter')
      .evaluateAll((all) => all.map((each) => [each.ariaLabel, (each as unknown as { value: number }).value]));
    expect(meters).toEqual([
      ['info', 39],
      ['error', 1],
    ]);
    await expectAccessible(page);
    await run(page, `['app-logs'] | summarize count() by bin(_time, 1m)`);
    await page.getByRole('img', { name: /Over time/ }).waitFor();
    await run(page, `['app-logs'] | summarize count() by bin(_time, 1m) | render table`);
    await page.getByRole('img', { name: /Over time/ }).waitFor({ state: 'detached' });
    expect(problems).toEqual([]);
  });

  test('explorer follows events live, each once, and goes on when the service was away', async ({ page }) => {
    await field(page).fill(`['app-logs'] | where kind == "live"`);
    // The tail begins at the service's time, which it asks for before it asks for events.
    const begins = page.waitForRequest((request) => request.url().includes('streaming-duration'));
    await page.getByRole('button', { name: 'Live', exact: true }).click();
    await page.getByText('Waiting for events').waitFor();
    await begins;
    const send = (n: number) =>
      service.ask('POST', '/v1/ingest/app-logs', [{ kind: 'live', message: `live ${n}` }, { kind: 'other' }]);
    await send(1);
    await row(page, 'live 1').waitFor();
    await page.route('**/v1/datasets/_apl*', (route) => route.abort('connectionrefused'));
    await page.getByRole('alert').getByText('Trying again').waitFor();
    await send(2);
    await page.unroute('**/v1/datasets/_apl*');
    await row(page, 'live 2').waitFor();
    await send(3);
    await row(page, 'live 3').waitFor();
    expect((await page.locator('tr[data-row]').allTextContents()).map((text) => /live \d/.exec(text)?.[0])).toEqual([
      'live 3',
      'live 2',
      'live 1',
    ]);
    await page.getByText('3 events since you began').waitFor();
    await row(page, 'live 2').click();
    await page
      .getByRole('region', { name: /^Event/ })
      .getByText('live 2')
      .waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByRole('status').filter({ hasText: '3 rows' }).waitFor();
    await field(page).fill(`['app-logs'] | summarize count()`);
    await page.getByRole('button', { name: 'Live', exact: true }).click();
    await page.getByRole('alert').getByText('Run it instead').waitFor();
  });

  test('explorer takes two times as the range, and widens it', async ({ page }) => {
    await run(page, `['app-logs'] | where level == "error"`);
    await row(page, 'line 20').waitFor();
    await page.getByLabel('Time range').selectOption({ label: 'From … to …' });
    await page.getByLabel('From', { exact: true }).fill('2026-01-01T10:00:00');
    await page.getByLabel('To', { exact: true }).fill('2026-01-01T11:00:00');
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Use these times' }).click();
    await page.waitForURL(/range=\d+%2F\d+/);
    const range = () => /range=(\d+)%2F(\d+)/.exec(page.url())!.slice(1).map(Number) as [number, number];
    expect(range()[1] - range()[0]).toBe(60 * MINUTE);
    await page.getByRole('button', { name: 'Wider' }).click();
    await expect.poll(() => range()[1] - range()[0]).toBe(120 * MINUTE);
  });
});
