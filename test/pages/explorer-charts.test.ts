/** Every chart of `render` in a real browser: what each draws, what it says instead, and its numbers as text. */
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import type { QueryResult } from '../../src/pages/explorer/data/api.ts';
import { drawingOf } from '../../src/pages/explorer/data/drawing.ts';
import { drawnSeries } from '../../src/pages/parts/chart-series.ts';
import { chromiumHint, closeBrowserAfterAll, expectAccessible, hasChromium } from '../support/browser.ts';
import { localService } from '../support/local-service.ts';
import { explorerOf, field, run } from './explorer.ts';
import { beginning } from '../support/begin.ts';

const MINUTE = 60_000;

test('a chart that the page does not know is named in one line, with those that it draws', () => {
  const table = { name: '0', fields: [{ name: 'n', type: 'integer' }], groups: [], columns: [[1]] };
  const result = { render: { chart: 'treemap', properties: {} }, tables: [table] } as unknown as QueryResult;
  const drawing = drawingOf(result);
  expect(drawing).toEqual({
    kind: 'none',
    note: expect.stringMatching(/^This page does not draw treemap; it draws timechart, .*card, table\./),
  });
});

test('stacked series are the sum from the first up, and drawn from the highest down', () => {
  const series = [
    { label: 'a', color: 1, values: [1, 2] },
    { label: 'b', color: 2, values: [3, null] },
  ];
  expect(drawnSeries('stacked', series).map(({ label, values }) => [label, values])).toEqual([
    ['b', [4, 2]],
    ['a', [1, 2]],
  ]);
  expect(drawnSeries('columns', series)).toEqual(drawnSeries('stacked', series));
  for (const shape of ['lines', 'areas', 'points'] as const) expect(drawnSeries(shape, series)).toBe(series);
});

describe.skipIf(!hasChromium)(`explorer’s charts${chromiumHint}`, () => {
  closeBrowserAfterAll();
  const service = localService('web', ({ ask }) => {
    const from = Math.floor(Date.now() / MINUTE) * MINUTE - 40 * MINUTE;
    // Each minute four events, of which every tenth is an error; more of them late than early.
    const events = Array.from({ length: 160 }, (_, n) => ({
      _time: new Date(from + Math.floor(n / 4) * MINUTE).toISOString(),
      level: n % 10 === 0 ? 'error' : 'info',
      service: ['cart', 'search', 'pay'][n % 3],
      status: n % 10 === 0 ? 503 : 200,
      ms: 20 + n + (n % 10 === 0 ? 300 : 0),
    }));
    return ask('POST', '/v1/ingest/web', events);
  });

  const open = explorerOf(service, 'web');
  const test = beginning(() => open(), 'page', 'problems');
  /** The title tells the charts of two queries apart. */
  let count = 0;
  const draw = async (page: Page, query: string, render: string): Promise<string> => {
    const title = `${render} ${++count}`;
    await run(page, `${query} | render ${render} with (title="${title}")`);
    await page.locator('figcaption', { hasText: title }).waitFor();
    return title;
  };
  const BY_MINUTE = `['web'] | summarize n = count() by bin(_time, 1m), level`;

  test('render draws a series over time as lines, areas, stacked areas, columns and points, each with its numbers as text', async () => {
    const { page, problems } = await open();
    const pictures = new Map<string, string>();
    for (const chart of [
      'timechart',
      'linechart',
      'areachart',
      'stackedareachart',
      'columnchart',
      'barchart',
      'scatterchart',
    ]) {
      const title = await draw(page, BY_MINUTE, chart);
      const label = await page.locator('.chart [role=img]').getAttribute('aria-label');
      expect(label).toContain(`Chart, ${title}. info: last`);
      expect(label).toMatch(/info: last \d, highest 4; error: last \d, highest 1/);
      pictures.set(chart, await page.evaluate<string>(`document.querySelector('.chart canvas').toDataURL()`));
    }
    expect(pictures.get('linechart')).toBe(pictures.get('timechart'));
    expect(pictures.get('barchart')).toBe(pictures.get('columnchart'));
    // All others are drawn in ways of their own.
    expect(new Set(pictures.values()).size).toBe(5);
    const title = await draw(page, BY_MINUTE, 'areachart');
    await run(page, `${BY_MINUTE} | render areachart with (title="${title} stacked", kind=stacked)`);
    await page.locator('figcaption', { hasText: `${title} stacked` }).waitFor();
    // Its words are there before its picture.
    await expect
      .poll(() => page.evaluate<string>(`document.querySelector('.chart canvas').toDataURL()`))
      .toBe(pictures.get('stackedareachart'));
    expect(problems).toEqual([]);
  });

  test('render draws rows with a time of any query, those of make-series, and lines over another number', async ({
    page,
    problems,
  }) => {
    const label = () => page.locator('.chart [role=img]').getAttribute('aria-label');
    const failed = `['web'] | summarize n = count(), bad = countif(status >= 500) by bin(_time, 10m) | extend share = 100.0 * bad / n | project _time, share`;
    await draw(page, failed, 'timechart');
    expect(await label()).toMatch(/\. share: last [\d.]+, highest [\d.]+$/);
    await draw(page, `['web'] | make-series n = count() on _time from ago(1h) to now() step 10m by level`, 'timechart');
    expect(await label()).toMatch(/info: last \d+, highest \d+; error: last \d+, highest \d+$/);
    await draw(page, `['web'] | make-series n = count() on _time from ago(1h) to now() step 10m`, 'areachart');
    expect(await label()).toMatch(/\. n: last \d+, highest 40$/);
    await draw(page, 'range x from -3 to 6 step 1 | extend y = x * x - 4', 'linechart');
    expect(await label()).toMatch(/\. y: last 32, highest 32$/);
    await draw(page, `['web'] | project _time, service, ms`, 'scatterchart');
    expect(await label()).toMatch(/cart: .*search: |search: .*cart: /);
    // Without render, too: make-series is a series over time.
    await run(page, `['web'] | make-series n = count() on _time from ago(1h) to now() step 10m by service`);
    await page.getByRole('img', { name: /Over time.*pay: last/ }).waitFor();
    await expectAccessible(page);
    expect(problems).toEqual([]);
  });

  test.each(['light', 'dark'] as const)(
    'render draws groups as bars, columns, a ring, and one row as a card, all readable (%s)',
    async (colorScheme) => {
      const { page, problems } = await open(undefined, { colorScheme });
      // Groups that are numbers stay labels.
      await draw(page, `['web'] | summarize n = count() by status, level | sort by n desc`, 'barchart');
      const meters = page.getByRole('meter');
      const read = () =>
        meters.evaluateAll((all) => all.map((each) => [each.ariaLabel, (each as unknown as { value: number }).value]));
      expect(await read()).toEqual([
        ['200, info', 144],
        ['503, error', 16],
      ]);
      await expectAccessible(page);

      await draw(
        page,
        `['web'] | summarize n = count(), worst = max(ms) by service | sort by service asc`,
        'columnchart',
      );
      const items = page.locator('.bars-upright li');
      expect(await items.allTextContents()).toEqual(
        ['cart n54', 'cart worst479', 'pay n53', 'pay worst470', 'search n53', 'search worst478'].map((text) =>
          expect.stringContaining(text.replace(/\d+$/, '')),
        ),
      );
      const heights = await page.evaluate<number[]>(
        `[...document.querySelectorAll('.bars-upright li > i > i')].map((bar) => bar.getBoundingClientRect().height)`,
      );
      expect(Math.max(...heights)).toBeGreaterThan(Math.min(...heights));
      expect(Math.min(...heights)).toBeGreaterThan(0);
      await expectAccessible(page);

      await draw(page, `['web'] | summarize count() by level`, 'piechart');
      expect(await page.locator('.pie li').allTextContents()).toEqual(
        ['info14490.0 %', 'error1610.0 %'].map((text) =>
          expect.stringMatching(new RegExp(text.replace(/^(\w+?)(144|16)/, String.raw`$1 ?$2`))),
        ),
      );
      await expectAccessible(page);
      await draw(page, 'range x from 1 to 20 step 1 | project name = strcat("n", tostring(x)), x', 'piechart');
      expect(await page.locator('.pie li').last().textContent()).toContain('15 others');

      await draw(page, `['web'] | summarize events = count(), slowest = max(ms), latest = max(_time)`, 'card');
      expect(await page.locator('.card dt').allTextContents()).toEqual(['events', 'slowest', 'latest']);
      expect(await page.locator('.card dd').first().textContent()).toBe('160');
      await expectAccessible(page);
      expect(problems).toEqual([]);
    },
  );

  test('render says in one line what a chart needs and the rows lack, and the editor names the charts there are', async ({
    page,
  }) => {
    const noted = (text: string) => page.locator('.note', { hasText: text }).waitFor();
    await run(page, `['web'] | project level, ms | render timechart`);
    await noted('timechart needs a column of times, and another of numbers. The rows are below.');
    await run(page, `['web'] | project level | render scatterchart`);
    await noted('scatterchart needs a column of times or numbers, and another of numbers.');
    await run(page, `['web'] | project level | render columnchart`);
    await noted('columnchart needs a column of numbers.');
    await run(page, 'range x from -2 to 2 step 1 | extend name = tostring(x) | render piechart');
    await noted('piechart needs a column of numbers, none of them below zero');
    await page.locator('tr[data-row]').nth(4).waitFor();
    await run(page, `${BY_MINUTE} | render table`);
    await expect.poll(() => page.locator('.rows th bdi').allTextContents()).toEqual(['_time', 'level', 'n']);
    expect(await page.locator('figure, .note').count()).toBe(0);
    await field(page).fill(`${BY_MINUTE} | render treemap`);
    await page.locator('#query-problem', { hasText: 'a chart out of table, timechart, linechart' }).waitFor();
    await expect.poll(() => page.locator('.code-fault').allTextContents()).toEqual(['treemap']);
  });

  test('a chart of events over time takes the range that is dragged over, also one of render', async ({ page }) => {
    await draw(page, BY_MINUTE, 'columnchart');
    const box = (await page.locator('.chart .u-over').boundingBox())!;
    await page.mouse.move(box.x + box.width * 0.25, box.y + 30);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.75, box.y + 30, { steps: 4 });
    await page.mouse.up();
    await page.waitForURL(/range=\d+%2F\d+/);
    const [from, to] = /range=(\d+)%2F(\d+)/.exec(page.url())!.slice(1).map(Number) as [number, number];
    // Half of the hour that the chart shows.
    expect((to - from) / MINUTE).toBeGreaterThan(28);
    expect((to - from) / MINUTE).toBeLessThan(33);
    await page.locator('figcaption', { hasText: 'columnchart' }).waitFor();
  });
});
