/** The explorer's rows in a real browser: times in one zone, filters that add up, copies, and how rows look. */
import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { chromiumHint, closeBrowserAfterAll, expectAccessible, hasChromium } from '../support/browser.ts';
import { localService } from '../support/local-service.ts';
import { explorerOf, field, row, run } from './explorer.ts';
import { beginning } from '../support/begin.ts';

const AT = Date.parse('2026-01-15T03:19:30.040Z');
const RANGE = `&range=${AT - 3_600_000}/${AT + 3_600_000}`;

describe.skipIf(!hasChromium)(`explorer’s rows${chromiumHint}`, () => {
  closeBrowserAfterAll();
  const service = localService('app-logs', ({ ask }) => {
    const services = ['payments', 'checkout', 'gateway', undefined];
    const events = Array.from({ length: 40 }, (_, n) => ({
      _time: new Date(AT - n * 1000).toISOString(),
      level: n % 10 === 0 ? 'error' : 'info',
      ...(n % 4 === 3 ? {} : { service: services[n % 4] }),
      status: [200, 404, 500][n % 3],
      isCached: n % 2 === 0,
      mixed: n % 2 === 0 ? 50 : 'ERROR',
      host: 'web-1',
      'req.id': `r-${n % 4}`,
      'odd name': `o-${n % 2}`,
      extra: n,
      message: `line ${n}`,
    }));
    return ask('POST', '/v1/ingest/app-logs', events);
  });
  const open = explorerOf(service, 'app-logs');
  const begin = (options = {}) =>
    open(`${RANGE}&query=${encodeURIComponent("['app-logs'] | where host == 'web-1'")}`, options);
  const test = beginning(() => begin(), 'page', 'problems');
  const panel = (page: Page) => page.getByRole('region', { name: /^Event/ });
  const value = (page: Page, name: string) =>
    panel(page)
      .locator('div', { has: page.locator('dt', { hasText: new RegExp(`^${name}`) }) })
      .locator('dd');
  const query = (page: Page) => field(page).inputValue();
  const found = (page: Page, rows: number) =>
    page
      .getByRole('status')
      .filter({ hasText: `${rows} rows` })
      .waitFor();

  test('table, panel, chart, range and neighbours show one zone, which is in sight: the reader’s or UTC', async () => {
    const { page } = await begin({ timezoneId: 'America/New_York' });
    const zone = page.getByLabel('Time zone');
    const check = async (clock: string, hours: string) => {
      await expect.poll(() => row(page, 'line 0').locator('.time').textContent()).toBe(`${clock}.040`);
      await row(page, 'line 0').click();
      expect(await value(page, '_time').textContent()).toBe(`${clock}.040`);
      expect(await value(page, '_sysTime').textContent()).toMatch(/^(20\d\d-\d\d-\d\d )?\d\d:\d\d:\d\d\.\d+$/);
      await page.getByRole('button', { name: 'Before and after, same host' }).click();
      await expect.poll(() => page.locator('.context li[aria-current] time').textContent()).toBe(clock);
      expect(await page.getByLabel('Time range').locator('option:checked').textContent()).toContain(hours);
      const box = (await page.locator('.chart .u-over').boundingBox())!;
      await page.mouse.move(box.x + box.width * 0.25, box.y + 40);
      await expect.poll(() => page.locator('.chart-values time').textContent()).toContain(clock.slice(0, 10));
      return (await page.locator('.chart-values time').textContent())!;
    };
    expect(await zone.locator('option:checked').textContent()).toBe('America/New_York');
    const here = await check('2026-01-14 22:19:30', '2026-01-14 21:19:30');
    expect(here).toMatch(/ 21:4/);
    await expectAccessible(page);
    await zone.selectOption('UTC');
    const there = await check('2026-01-15 03:19:30', '2026-01-15 02:19:30');
    expect(there.slice(11)).toBe(here.slice(11).replace('21:', '02:'));
    // It is the reader's choice, not the link's.
    await page.reload();
    await expect.poll(() => row(page, 'line 0').locator('.time').textContent()).toBe('2026-01-15 03:19:30.040');
    expect(page.url()).not.toMatch(/zone/i);
    await page.getByLabel('Time range').selectOption({ label: 'From … to …' });
    expect(await page.getByLabel('From', { exact: true }).inputValue()).toBe('2026-01-15T02:19:30');
    await page.getByLabel('To', { exact: true }).fill('2026-01-15T03:19:30');
    await page.getByRole('button', { name: 'Use these times' }).click();
    await expect.poll(() => page.url()).toContain(`%2F${AT - 40}`);
  });

  test('times that a query makes are in the same zone as those of events', async () => {
    const { page } = await begin({ timezoneId: 'America/New_York' });
    await run(page, `['app-logs'] | summarize latest = max(_time), n = count() by minute = bin(_time, 1m)`);
    await row(page, '2026-01-14 22:19:30.040').waitFor();
    expect(await page.locator('.rows').textContent()).not.toMatch(/T03:19|Z/);
    await row(page, '2026-01-14 22:19:30.040').click();
    expect(await value(page, 'latest').textContent()).toBe('2026-01-14 22:19:30.040');
  });

  test('two clicks on values of one field give the events of both, and the same one twice changes nothing', async ({
    page,
  }) => {
    await found(page, 40);
    await page.getByRole('button', { name: /^service string/ }).click();
    const pick = (name: RegExp) => page.locator('.values').getByRole('button', { name }).click();
    await pick(/^payments/);
    await expect.poll(() => query(page)).toBe(`['app-logs']\n| where host == 'web-1'\n| where service == "payments"`);
    await found(page, 10);
    await pick(/^checkout/);
    await expect
      .poll(() => query(page))
      .toBe(`['app-logs']\n| where host == 'web-1'\n| where service in ("payments", "checkout")`);
    await found(page, 20);
    await pick(/^checkout/);
    await pick(/^payments/);
    expect(await query(page)).toBe(
      `['app-logs']\n| where host == 'web-1'\n| where service in ("payments", "checkout")`,
    );
    await found(page, 20);
    await pick(/^none/);
    await expect
      .poll(() => query(page))
      .toMatch(/\| where service in \("payments", "checkout"\) or isnull\(service\)$/);
    await found(page, 30);
    await pick(/^none/);
    await pick(/^gateway/);
    await expect
      .poll(() => query(page))
      .toMatch(/\| where service in \("payments", "checkout", "gateway"\) or isnull\(service\)$/);
    await found(page, 40);
  });

  test.for([
    ['numbers', 'status', [/^200/, /^500/], `status in (200, 500)`, 27],
    ['truth values', 'isCached', [/^true/, /^false/], `isCached in (true, false)`, 40],
    ['numbers and texts', 'mixed', [/^50/, /^ERROR/], `mixed in (50, "ERROR")`, 40],
    ['a name with a dot', 'req.id', [/^r-0/, /^r-2/], `['req.id'] in ("r-0", "r-2")`, 20],
    ['a name with a blank', 'odd name', [/^o-0/, /^o-1/], `['odd name'] in ("o-0", "o-1")`, 40],
  ] as const)('values of one field add up: %s', async ([, name, values, condition, rows], { page }) => {
    await found(page, 40);
    await page.getByRole('button', { name: new RegExp(`^${name.replace('.', '\\.')} `) }).click();
    for (const each of values) await page.locator('.values').getByRole('button', { name: each }).click();
    await expect.poll(() => query(page)).toBe(`['app-logs']\n| where host == 'web-1'\n| where ${condition}`);
    await found(page, rows);
  });

  test.for([
    [`where service == 'payments'`, 'checkout', `where service in ("payments", "checkout")`],
    [
      `where level == "info" and service == "payments"`,
      'checkout',
      `where level == "info" and service in ("payments", "checkout")`,
    ],
    [
      `where ['service'] in ("payments") | summarize count() by level`,
      'checkout',
      `where service in ("payments", "checkout")`,
    ],
    [`where service != "checkout"`, 'checkout', `where service == "checkout"`],
    [`where service !in ("checkout", "gateway")`, 'checkout', `where service == "checkout"`],
    [`where service == "payments" or level == "error"`, 'checkout', `where service == "checkout"`],
    [`where service contains "pay"`, 'checkout', `where service == "checkout"`],
  ])('a click on a value follows what was written by hand: %s', async ([stage, value, wanted], { page }) => {
    await found(page, 40);
    await page.getByRole('button', { name: /^service string/ }).click();
    await page
      .locator('.values')
      .getByRole('button', { name: /^payments/ })
      .waitFor();
    await run(page, `['app-logs'] | ${stage}`);
    await page
      .getByRole('status')
      .filter({ hasText: /\d rows?/ })
      .waitFor();
    await page
      .locator('.values')
      .getByRole('button', { name: new RegExp(`^${value}`) })
      .click();
    await expect.poll(() => query(page)).toContain(wanted);
    await expect.poll(() => page.getByRole('alert').count()).toBe(0);
  });

  test('leaving out values of one field adds up, and takes back earlier choices', async ({ page }) => {
    await found(page, 40);
    const leaveOut = async (text: string) => {
      await row(page, text).first().click();
      await page.getByRole('button', { name: 'leave out this service' }).click();
    };
    await leaveOut('payments');
    await found(page, 30);
    await leaveOut('checkout');
    await expect.poll(() => query(page)).toMatch(/\| where service !in \("payments", "checkout"\)$/);
    await found(page, 20);
    await run(page, `['app-logs'] | where service in ("payments", "checkout")`);
    await found(page, 20);
    await leaveOut('payments');
    await expect.poll(() => query(page)).toBe(`['app-logs']\n| where service == "checkout"`);
    await found(page, 10);
  });

  test('CSV has the columns that the table shows, in its order, and JSON those that were chosen', async () => {
    const { page } = await begin({ permissions: ['clipboard-read', 'clipboard-write'] });
    await found(page, 40);
    const copy = async (kind: string) => {
      await page.getByRole('button', { name: `Copy ${kind}` }).click();
      await page.getByText(new RegExp(`Copied 40 rows as ${kind}`)).waitFor();
      return (await page.evaluate<string>('navigator.clipboard.readText()')).split(/\r?\n/);
    };
    const heads = await page.locator('.rows th bdi').allTextContents();
    expect((await copy('CSV'))[0]).toBe(heads.join(','));
    expect(Object.keys(JSON.parse((await copy('JSON'))[0]!) as object).length).toBeGreaterThan(heads.length);
    await page.locator('summary', { hasText: 'Columns' }).click();
    for (const name of heads.filter((head) => head !== 'message' && head !== '_time'))
      await page.getByRole('checkbox', { name, exact: true }).uncheck();
    await page.getByRole('checkbox', { name: 'extra', exact: true }).check();
    await page.keyboard.press('Escape');
    const csv = await copy('CSV');
    expect(csv[0]).toBe('_time,message,extra');
    expect(csv[1]).toBe('2026-01-15T03:19:30.04Z,line 0,0');
    expect(JSON.parse((await copy('JSON'))[0]!)).toEqual({
      _time: '2026-01-15T03:19:30.04Z',
      message: 'line 0',
      extra: 0,
    });
  });

  test('a row looks whole where a value is missing', async ({ page }) => {
    await found(page, 40);
    await page.locator('.rows td', { hasText: '–' }).first().waitFor();
    const opacities = await page.evaluate<string[]>(
      `[...document.querySelectorAll('.rows td')].map((cell) => getComputedStyle(cell).opacity)`,
    );
    expect(new Set(opacities)).toEqual(new Set(['1']));
    await expectAccessible(page);
  });

  test('no rows have no header, no columns to choose and nothing to copy', async ({ page }) => {
    await run(page, `['app-logs'] | where level == "nothing"`);
    await page.getByText('Nothing in this range matches').waitFor();
    expect(await page.locator('.rows').count()).toBe(0);
    expect(await page.locator('summary', { hasText: 'Columns' }).count()).toBe(0);
    expect(await page.getByRole('button', { name: /^Copy/ }).count()).toBe(0);
  });
});
