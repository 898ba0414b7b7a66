/** The explorer of a real service in a real browser. */
import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import {
  chromiumHint,
  closeBrowserAfterAll,
  expectAccessible,
  hasChromium,
  openPage,
  takePicture,
} from '../support/browser.ts';
import { API_TOKEN, type LocalService, localService, PERSONAL_TOKEN } from '../support/local-service.ts';
import { IDLE, field, run } from './explorer.ts';
import { beginning } from '../support/begin.ts';

const ROWS = 50_000;
const MARKUP = '<img src=x onerror="document.title=\'owned\'"><script>document.title="owned"</script>';
const TURNED = '\u202Egnp.exe\u0000\u001B[31m\u200Bend';

describe.skipIf(!hasChromium)(`explorer${chromiumHint}`, () => {
  closeBrowserAfterAll();
  const fill = async ({ ask }: LocalService): Promise<void> => {
    await ask('POST', '/v1/ingest/app-logs', lifelike());
    await ask('POST', '/v1/datasets', { name: 'many' });
    for (let from = 0; from < ROWS; from += 10_000)
      await ask(
        'POST',
        '/v1/ingest/many',
        Array.from({ length: 10_000 }, (_, n) => ({ n: from + n, text: `row ${from + n}` })),
      );
    await ask('POST', '/v1/datasets', { name: 'hostile' });
    await ask('POST', '/v1/ingest/hostile', [
      { kind: 'markup', message: MARKUP, [MARKUP]: 1 },
      { kind: 'turned', message: TURNED },
      { kind: 'long', message: 'x'.repeat(1024 * 1024) },
      { kind: 'wide', ...Object.fromEntries(Array.from({ length: 2000 }, (_, n) => [`field_${n}`, n])) },
      { kind: 'right', message: 'שלום עולם مرحبا' },
    ]);
  };
  const service = localService('app-logs', fill, ['--max-fields', '4000']);

  async function open(path = `/#token=${API_TOKEN}${IDLE}`, options = {}) {
    const opened = await openPage(options);
    const reply = await opened.page.goto(service.url + path);
    return { reply: reply!, ...opened };
  }
  const test = beginning(() => open(), 'page', 'problems', 'reply');

  const cells = (page: Page) => page.locator('tr[data-row]');

  test('explorer takes a token, keeps it for the session, and shows datasets with what they hold', async () => {
    const { page, problems } = await open('/');
    await page.getByText('Sign in with a token').waitFor();
    await expectAccessible(page);
    await page.getByLabel('Token').fill(API_TOKEN);
    await page.keyboard.press('Enter');
    await page
      .getByRole('button', { name: /^app-logs/ })
      .getByText('2.4k events')
      .waitFor();
    await page.reload();
    await page.getByRole('button', { name: /^many/ }).getByText('50k events').waitFor();
    expect(await page.evaluate('localStorage.length')).toBe(0);
    await page.getByRole('button', { name: /^many/ }).click();
    await cells(page).first().waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByText('Sign in with a token').waitFor();
    expect(await cells(page).count()).toBe(0);
    expect(await page.evaluate('sessionStorage.length')).toBe(0);
    expect(problems).toEqual([]);
  });

  test('explorer runs a query with Ctrl+Enter and with Run, and its link brings everything back', async ({ page }) => {
    expect(page.url()).not.toContain('token');
    await run(page, `['app-logs'] | where level == "error" | summarize errors = count() by service`);
    await page.getByText('checkout').waitFor();
    const link = page.url();
    expect(link).not.toContain('xaat');
    await field(page).fill(`['app-logs'] | count`);
    await page.getByRole('button', { name: 'Run' }).click();
    await page.locator('tr[data-row]', { hasText: '2400' }).waitFor();
    await page.goto(link);
    await page.getByText('checkout').waitFor();
    expect(await field(page).inputValue()).toContain('errors = count()');
  });

  test('explorer draws events over time and series, and takes the range that is dragged over', async ({ page }) => {
    await page.getByRole('button', { name: /^app-logs/ }).click();
    const chart = page.locator('.chart [role=img]');
    await chart.waitFor();
    expect(await chart.getAttribute('aria-label')).toContain('Events over time');
    const box = (await page.locator('.chart .u-over').boundingBox())!;
    await page.mouse.move(box.x + box.width * 0.6, box.y + 30);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.8, box.y + 30, { steps: 4 });
    await page.mouse.up();
    await page.waitForURL(/range=\d+%2F\d+/);
    await page.getByLabel('Time range').selectOption('24h');
    await run(page, `['app-logs'] | summarize count() by bin(_time, 10m), service`);
    await page.locator('.chart-values', { hasText: 'checkout' }).waitFor();
  });

  test('explorer lists fields with their commonest values, and one of them becomes a filter', async ({ page }) => {
    await page.getByRole('button', { name: /^app-logs/ }).click();
    await page.getByRole('button', { name: /^level string/ }).click();
    await page.getByRole('button', { name: /^error/ }).click();
    await expect.poll(() => field(page).inputValue()).toBe(`['app-logs']\n| where level == "error"`);
    await page.getByRole('status').filter({ hasText: 'rows' }).waitFor();
    await cells(page).first().click();
    await page
      .getByRole('region', { name: /^Event/ })
      .getByText('service', { exact: true })
      .waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'filter by this service' }).click();
    await expect.poll(() => field(page).inputValue()).toMatch(/\| where service == "\w+"$/);
  });

  test('explorer shows the service’s errors as an alert', async ({ page }) => {
    await run(page, `['app-logs'] | wher x == 1`);
    expect(await page.getByRole('alert').textContent()).toContain('wher');
    await run(page, `['nowhere'] | count`);
    await page.getByRole('alert').getByText('nowhere').waitFor();
    const { page: other } = await open();
    await other.route('**/v1/datasets/_apl*', (route) => route.abort('connectionrefused'));
    await run(other, `['app-logs'] | count`);
    await other.getByRole('alert').getByText('The service does not answer').waitFor();
  });

  test('explorer scrolls 50,000 rows with few of them in the document, and copies all', async () => {
    const { page } = await open(`/#token=${API_TOKEN}${IDLE}`, { permissions: ['clipboard-read', 'clipboard-write'] });
    await run(page, `['many'] | sort by n asc | take ${ROWS}`);
    await page.getByRole('status').filter({ hasText: '50,000 rows' }).waitFor({ timeout: 300_000 });
    expect(await cells(page).count()).toBeLessThan(100);
    await page.getByRole('region', { name: 'Rows' }).focus();
    await page.keyboard.press('End');
    await page.locator(`tr[data-row="${ROWS - 1}"]`, { hasText: 'row 49999' }).waitFor();
    expect(await cells(page).count()).toBeLessThan(100);
    await page.getByRole('button', { name: 'Copy CSV' }).click();
    await page.getByText('Copied 50,000 rows as CSV').waitFor();
    const csv = await page.evaluate<string>('navigator.clipboard.readText()');
    expect(csv.split('\n').length).toBe(ROWS + 1);
    expect(csv).toContain('row 31415');
  });

  test('explorer keeps hostile events text, and goes on', async ({ page, problems }) => {
    await run(page, `['hostile'] | sort by kind asc`);
    // In the sidebar most of them are found by a part of their name.
    await page.getByText('more; type a part of the name').waitFor();
    await page.getByLabel('Find a field').fill('field_1999');
    await page.getByRole('button', { name: /^field_1999 integer/ }).waitFor();
    await expectAccessible(page);
    await cells(page).nth(4).waitFor();
    expect(await page.getByRole('region', { name: 'Rows' }).textContent()).toContain('<img src=x onerror=');
    for (const kind of ['long', 'markup', 'right', 'turned', 'wide']) {
      await page.locator('tr[data-row]', { hasText: kind }).first().click();
      await page.locator('.panel dd').first().waitFor();
    }
    await page.locator('.panel', { hasText: '2,003 fields' }).waitFor();
    await page.getByRole('button', { name: /more fields/ }).click();
    await page.locator('tr[data-row]', { hasText: 'turned' }).first().click();
    await page.locator('.panel', { hasText: String.raw`\u202egnp.exe\u0000\u001b[31m\u200bend` }).waitFor();
    await page.locator('tr[data-row]', { hasText: 'long' }).first().click();
    await page.getByRole('button', { name: /1,048,576 characters/ }).click();
    expect(await page.title()).toBe('hostile | sort by kind asc · Tailrace');
    expect(await page.locator('img, #page script').count()).toBe(0);
    expect(problems).toEqual([]);
  });

  test('explorer asks nothing of elsewhere, under a policy that lets nothing inline in', async ({
    page,
    reply,
    problems,
  }) => {
    const policy = reply.headers()['content-security-policy']!;
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    await page.reload();
    await page.getByRole('button', { name: /^app-logs/ }).click();
    await cells(page).first().waitFor();
    expect(asked.filter((url) => !url.startsWith(service.url) && !url.startsWith('data:'))).toEqual([]);
    expect(asked.join(' ')).not.toContain(API_TOKEN);
    expect(problems).toEqual([]);
  });

  test('explorer works with a personal token, on a phone and in the dark', async () => {
    const { page } = await open(`/#token=${PERSONAL_TOKEN}`, {
      viewport: { width: 360, height: 740 },
      colorScheme: 'dark',
    });
    await page.getByRole('button', { name: /^app-logs/ }).click();
    await cells(page).first().waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360);
    await expectAccessible(page);
  });

  test('explorer looks as the documentation shows it', async ({ page }) => {
    await run(page, `['app-logs']\n| where status >= 200`);
    await page.locator('.chart canvas').waitFor();
    await page.getByRole('button', { name: /^service string/ }).click();
    await page.locator('.values li').nth(3).waitFor();
    await cells(page).nth(3).click();
    await page.locator('.panel').waitFor();
    await takePicture(page, 'explorer-page');
    await page.getByLabel('Time range').selectOption('6h');
    await run(
      page,
      `['app-logs']\n| summarize count() by bin(_time, 15m), service\n| render stackedareachart with (title="Requests by service")`,
    );
    await page.locator('figcaption', { hasText: 'Requests by service' }).waitFor();
    await takePicture(page, 'explorer-chart');
  });
});

/** Requests of a shop over the last six hours. */
function lifelike(): object[] {
  const services = ['checkout', 'catalog', 'search', 'payments'];
  const paths = ['/cart', '/products/42', '/search?q=lamp', '/pay'];
  return Array.from({ length: 2400 }, (_, n) => {
    const at = Date.now() - 6 * 3_600_000 * (1 - (n + 0.5) / 2400) ** 1.15;
    const place = (n * 7 + (n % 3)) % 4;
    const status = n % 41 === 0 ? 503 : n % 17 === 0 ? 404 : 200;
    return {
      _time: new Date(at).toISOString(),
      level: status === 503 ? 'error' : status === 404 ? 'warn' : 'info',
      service: services[place],
      method: place === 3 ? 'POST' : 'GET',
      status,
      duration_ms: 5 + ((n * 31) % 90) + (status === 503 ? 900 : 0),
      message:
        status === 503 ? `upstream timed out on ${paths[place]}` : `${place === 3 ? 'POST' : 'GET'} ${paths[place]}`,
      'req.id': `r-${(n * 7919).toString(36)}`,
    };
  });
}
