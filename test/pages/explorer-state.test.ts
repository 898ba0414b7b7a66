/** How the explorer is used, in a real browser: by keyboard alone, through links, in both themes, on a phone, and while its service is away. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { chromiumHint, closeBrowserAfterAll, expectAccessible, hasChromium, takePicture } from '../support/browser.ts';
import { localService, PERSONAL_TOKEN } from '../support/local-service.ts';
import { explorerOf, field, row, run } from './explorer.ts';
import { beginning } from '../support/begin.ts';

const dist = fileURLToPath(new URL('../../dist/', import.meta.url));
const EVENTS = 200;

test('explorer is at most 130 kB after gzip -9', () => {
  const sizes = ['html', 'js', 'css'].map(
    (kind) => gzipSync(readFileSync(join(dist, `explorer-page.${kind}`)), { level: 9 }).length,
  );
  expect(sizes.reduce((sum, size) => sum + size)).toBeLessThanOrEqual(130_000);
});

describe.skipIf(!hasChromium)(`explorer in use${chromiumHint}`, () => {
  closeBrowserAfterAll();
  const service = localService('app-logs', ({ ask }) => {
    const now = Date.now();
    const events = Array.from({ length: EVENTS }, (_, n) => ({
      _time: new Date(now - 30 * 60_000 + n * 1000).toISOString(),
      level: n % 20 === 0 ? 'error' : 'info',
      service: 'shop',
      host: 'web-1',
      message: `line ${n}`,
    }));
    return ask('POST', '/v1/ingest/app-logs', events);
  });

  const openExplorer = explorerOf(service, 'app-logs');
  const open = (link = '', options = {}) => openExplorer(`&range=1h${link}`, options);
  const test = beginning(() => open(), 'page', 'problems');
  const heads = (page: Page) => page.locator('.rows th bdi').allTextContents();
  /** The focused element, by its visible name. */
  const focused = (page: Page) =>
    page.evaluate<string>(
      `(({ ariaLabel, id, textContent, type }) => ariaLabel ?? (id || (type === 'checkbox' ? 'a box' : textContent)))(document.activeElement)`,
    );
  const tabTo = async (page: Page, name: RegExp, key = 'Tab') => {
    for (let step = 0; step < 60; step++) {
      await page.keyboard.press(key);
      if (name.test(await focused(page))) return;
    }
    throw new Error(`${key} never led to ${name}; last was ${await focused(page)}`);
  };

  test('explorer is used by keyboard alone: query, rows, event, filter, columns, range, fields', async ({
    page,
    problems,
  }) => {
    await tabTo(page, /^To the query$/);
    await page.keyboard.press('Enter');
    await expect.poll(() => focused(page)).toBe('query');
    await field(page).fill('');
    await page.keyboard.type(`['app-logs'] | sort by _time asc`);
    await page.keyboard.press('Control+Enter');
    await row(page, 'line 3').first().waitFor();
    // From the table, arrows go from row to row; Enter opens one, Escape leads back to it.
    await tabTo(page, /^Rows$/);
    await page.keyboard.press('ArrowDown');
    await expect.poll(() => focused(page)).toBe('Open row 1');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await expect.poll(() => focused(page)).toBe('Open row 3');
    await page.keyboard.press('ArrowUp');
    await expect.poll(() => focused(page)).toBe('Open row 2');
    await page.keyboard.press('Enter');
    await expect.poll(() => focused(page)).toBe('panel-heading');
    await page
      .getByRole('region', { name: /^Event/ })
      .getByText('line 1', { exact: true })
      .waitFor();
    await page.keyboard.press('Escape');
    await expect.poll(() => focused(page)).toBe('Open row 2');
    await page.keyboard.press('End');
    await expect.poll(() => focused(page)).toBe(`Open row ${EVENTS}`);
    await page.keyboard.press('PageUp');
    await page.keyboard.press('Home');
    await expect.poll(() => focused(page)).toBe('Open row 1');
    await page.keyboard.press('Enter');
    await tabTo(page, /^filter by this level$/);
    await page.keyboard.press('Enter');
    await expect.poll(() => field(page).inputValue()).toContain(`where level == "error"`);
    await page.getByRole('status').filter({ hasText: '10 rows' }).waitFor();
    await tabTo(page, /^Columns/);
    await page.keyboard.press('Enter');
    await tabTo(page, /^a box$/);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Space');
    await page.keyboard.press('Escape');
    await expect.poll(() => focused(page)).toMatch(/^Columns/);
    await expect.poll(() => heads(page)).toEqual(['_time', 'service', 'message', 'host']);
    await tabTo(page, /^range$/, 'Shift+Tab');
    await page.keyboard.press('ArrowUp');
    await expect.poll(() => page.url()).toContain('range=15m');
    await page.getByText('Nothing in this range matches').waitFor();
    await tabTo(page, /^level string$/, 'Shift+Tab');
    await page.keyboard.press('Enter');
    await page.getByText('No values in this range').waitFor();
    expect(problems).toEqual([]);
  });

  test('a link holds query, range, columns, the opened event and the live tail', async ({ page }) => {
    await run(page, `['app-logs'] | where level == "error"`);
    await row(page, 'line 180').waitFor();
    expect(await heads(page)).toEqual(['_time', 'level', 'service', 'message', 'host']);
    await page.locator('summary', { hasText: 'Columns' }).click();
    await page.getByRole('checkbox', { name: 'service' }).uncheck();
    await page.getByRole('checkbox', { name: 'host' }).uncheck();
    await expect.poll(() => heads(page)).toEqual(['_time', 'level', 'message']);
    await row(page, 'line 100').click();
    await page.getByRole('region', { name: /^Event/ }).waitFor();
    const link = new URL(page.url()).hash;
    expect(link).not.toContain('token');
    const { page: other } = await open(`&${link.slice(1)}`);
    await other
      .getByRole('region', { name: /^Event/ })
      .getByText('line 100', { exact: true })
      .waitFor();
    expect(await heads(other)).toEqual(['_time', 'level', 'message']);
    expect(await field(other).inputValue()).toBe(`['app-logs'] | where level == "error"`);
    expect(await other.getByLabel('Time range').inputValue()).toBe('1h');
    // Another query of the same dataset keeps the columns; a summary has its own.
    await run(other, `['app-logs'] | where level == "info"`);
    await row(other, 'line 199').waitFor();
    expect(await heads(other)).toEqual(['_time', 'level', 'message']);
    await run(other, `['app-logs'] | summarize n = count() by level`);
    await expect.poll(() => heads(other)).toEqual(['level', 'n']);
    await other.getByRole('button', { name: 'Live', exact: true }).click();
    await other.getByText('since you began').waitFor();
    const live = new URL(other.url()).hash;
    const { page: third } = await open(`&${live.slice(1)}`);
    await third.getByText('since you began').waitFor();
  });

  test('the browser’s way back leads to the query before, and to the range before', async ({ page }) => {
    await run(page, `['app-logs'] | where level == "error"`);
    await row(page, 'line 180').waitFor();
    await run(page, `['app-logs'] | summarize n = count()`);
    await expect.poll(() => heads(page)).toEqual(['n']);
    await page.getByLabel('Time range').selectOption('7d');
    await expect.poll(() => page.url()).toContain('range=7d');
    await page.goBack();
    await expect.poll(() => page.getByLabel('Time range').inputValue()).toBe('1h');
    await page.goBack();
    await row(page, 'line 180').waitFor();
    expect(await field(page).inputValue()).toBe(`['app-logs'] | where level == "error"`);
    await page.goForward();
    await expect.poll(() => heads(page)).toEqual(['n']);
  });

  test('rows are copied as JSON, one object a line, and a query says what it cost', async () => {
    const { page } = await open('', { permissions: ['clipboard-read', 'clipboard-write'] });
    await run(page, `['app-logs'] | where level == "error" | project message, level, missing = nothing`);
    const status = page.getByRole('status').filter({ hasText: '10 rows' });
    await status.waitFor();
    expect(await status.textContent()).toMatch(/^10 rows · 10 matched of 200 read \([\d.]+ ([KM]i)?B\) · [\d.]+ m?s$/);
    await page.getByRole('button', { name: 'Copy JSON' }).click();
    await page.getByText('Copied 10 rows as JSON').waitFor();
    const lines = (await page.evaluate<string>('navigator.clipboard.readText()')).split('\n');
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual(
      Array.from({ length: 10 }, (_, n) => ({ message: `line ${180 - 20 * n}`, level: 'error' })),
    );
  });

  test('datasets show events, size and the last event, up to date after a query and when one asks', async ({
    page,
  }) => {
    const facts = page.getByRole('button', { name: /^app-logs/ }).locator('small');
    await expect.poll(() => facts.textContent()).toMatch(/^200 events · [\d.]+ [KMG]?i?B · \d+ min ago$/);
    await service.ask('POST', '/v1/ingest/app-logs', [{ kind: 'late' }]);
    await page.getByRole('button', { name: 'Ask again what the datasets hold' }).click();
    await expect.poll(() => facts.textContent()).toMatch(/^201 events · .* · (now|\d+ s ago)$/);
    await service.ask('POST', '/v1/ingest/app-logs', [{ kind: 'late' }]);
    await run(page, `['app-logs'] | where kind == "late"`);
    await expect.poll(() => facts.textContent()).toMatch(/^202 events/);
  });

  test('virtual fields are among the fields, with their values, and are suggested', async () => {
    const made = await fetch(`${service.url}/v2/vfields`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${PERSONAL_TOKEN}`,
        'x-service-org-id': 'test-org',
        'content-type': 'application/json',
      },
      body: JSON.stringify({ dataset: 'app-logs', name: 'is_bad', expression: 'level == "error"' }),
    });
    expect([made.status, await made.text()]).toEqual([200, expect.stringContaining('is_bad')]);
    const { page } = await open();
    await page.getByRole('button', { name: /^app-logs/ }).click();
    await page.getByRole('button', { name: /^is_bad virtual/ }).click();
    await page.getByRole('button', { name: /^true 10/ }).click();
    await page.getByRole('status').filter({ hasText: '10 rows' }).waitFor();
    expect(await field(page).inputValue()).toBe(`['app-logs']\n| where is_bad == true`);
    await field(page).fill(`['app-logs'] | where is_`);
    await page.keyboard.type('b');
    await page.getByRole('option', { name: 'is_bad field' }).waitFor();
  });

  test('typing never waits for the service: colours, suggestions and faults come while it does not answer', async ({
    page,
  }) => {
    await page
      .getByRole('button', { name: /^app-logs/ })
      .getByText('events')
      .waitFor();
    await field(page).fill('');
    // What the page asks when it opens may come late.
    await page.waitForLoadState('networkidle');
    const asked: string[] = [];
    await page.route('**/v*/**', (route) => void asked.push(route.request().url()));
    await page.keyboard.type(`['app-logs'] | whe`);
    await page.getByRole('option', { name: 'where operator', exact: true }).waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.type('lev');
    await page.getByRole('option', { name: 'level field', exact: true }).waitFor();
    await page.keyboard.press('Escape');
    await expect.poll(() => page.locator('.code-operator').allTextContents()).toEqual(['where']);
    await page.keyboard.type('el == | take');
    await page.locator('.code-fault').first().waitFor();
    expect(asked).toEqual([]);
    // Nor does it while a query runs.
    await field(page).fill(`['app-logs'] | take 1`);
    await page.keyboard.press('Control+Enter');
    await page.getByRole('button', { name: 'Cancel' }).waitFor();
    await page.keyboard.type('00 | cou');
    await page.getByRole('option', { name: 'count operator', exact: true }).waitFor();
    await expect.poll(() => asked.length).toBeGreaterThan(0);
  });

  test.each([
    ['dark', 1280],
    ['light', 360],
    ['dark', 360],
  ] as const)('each view is accessible and fits its width (%s, %i pixels)', async (colorScheme, width) => {
    const { page, problems } = await open('', { colorScheme, viewport: { width, height: 800 } });
    const check = async (name: string) => {
      expect([name, await page.evaluate<number>('document.documentElement.scrollWidth')]).toEqual([name, width]);
      const sides = `[...document.querySelectorAll('.boxes, .suggestions, .editor button')].map((box) => box.getBoundingClientRect())`;
      expect([
        name,
        await page.evaluate(`${sides}.filter(({ left, right }) => left < 0 || right > innerWidth).length`),
      ]).toEqual([name, 0]);
      await expectAccessible(page);
      if (colorScheme === 'light' && name === 'event') await takePicture(page, 'explorer-phone-event');
    };
    await check('empty');
    await page.getByRole('button', { name: /^app-logs/ }).click();
    await page.locator('.chart canvas').waitFor();
    await page.getByRole('button', { name: /^level string/ }).click();
    await page.locator('.values li').first().waitFor();
    await check('events');
    await row(page, 'line 199').click();
    await page.getByRole('button', { name: 'Before and after, same host' }).click();
    await page.locator('.context li').first().waitFor();
    await check('event');
    await page.locator('summary', { hasText: 'Columns' }).click();
    await check('columns');
    await run(page, `['app-logs'] | summarize n = count() by bin(_time, 1m), level | render stackedareachart`);
    await page.getByRole('img', { name: /Over time/ }).waitFor();
    await check('chart');
    await page.locator('summary', { hasText: 'Starred' }).click();
    await page.getByLabel('Name of the query').waitFor();
    await check('starred');
    await page.keyboard.press('Escape');
    await field(page).fill(`['app-logs'] | su`);
    await page.keyboard.type('m');
    await page.getByRole('option', { name: 'summarize operator' }).waitFor();
    await check('suggestions');
    await page.keyboard.press('Escape');
    await run(page, `['app-logs'] | wher x`);
    await page.getByRole('alert').waitFor();
    await check('fault');
    expect(problems.filter((problem) => !problem.includes('400'))).toEqual([]);
  });

  // The last, as it ends the service.
  test('explorer says that its service is gone, and goes on when it is back', async ({ page }) => {
    await run(page, `['app-logs'] | where level == "error"`);
    await row(page, 'line 180').waitFor();
    await service.program.end('SIGKILL');
    await page.keyboard.press('Control+Enter');
    await page.getByRole('alert').getByText('The service does not answer').waitFor();
    const notes = page.getByRole('complementary').getByText('The service does not answer');
    await page.getByRole('button', { name: 'Ask again what the datasets hold' }).click();
    await expect.poll(() => notes.count()).toBe(1);
    await page.getByRole('button', { name: /^level string/ }).click();
    await expect.poll(() => notes.count()).toBe(2);
    await expectAccessible(page);
    await service.again();
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await row(page, 'line 180').waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
  });
});
