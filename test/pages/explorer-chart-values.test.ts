/** What a chart says under the pointer, and the numbers at its axes, in a real browser. */
import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { chromiumHint, closeBrowserAfterAll, hasChromium } from '../support/browser.ts';
import { localService } from '../support/local-service.ts';
import { explorerOf, run } from './explorer.ts';
import { beginning } from '../support/begin.ts';

const MINUTE = 60_000;
const STEPS = 12;

describe.skipIf(!hasChromium)(`explorer’s chart values${chromiumHint}`, () => {
  closeBrowserAfterAll();
  // Two days ago: the chart names the day of every bar, whatever the time of this run.
  const from = Math.floor(Date.now() / (STEPS * MINUTE)) * STEPS * MINUTE - 2 * 24 * 60 * MINUTE;
  const countOf = (step: number) => 10 + step;
  const service = localService('steps', async ({ ask }) => {
    const events = Array.from({ length: STEPS }, (_, step) =>
      Array.from({ length: countOf(step) }, (_, n) => ({
        _time: new Date(from + step * MINUTE).toISOString(),
        level: n < step ? 'error' : 'info',
        n: step,
      })),
    );
    await ask('POST', '/v1/ingest/steps', events.flat());
    await ask('POST', '/v1/datasets', { name: 'few' });
    await ask('POST', '/v1/ingest/few', [
      { _time: new Date(from + 5 * MINUTE).toISOString(), n: 1 },
      { _time: new Date(from + 9 * MINUTE).toISOString(), n: 2 },
    ]);
  });

  const open = explorerOf(service, 'steps');
  const begin = () => open(`&range=${from}/${from + STEPS * MINUTE}`, { timezoneId: 'UTC' });
  const test = beginning(begin, 'page', 'problems');

  /** What the chart says at this part of a step, from 0 to 1. */
  const valueAt = async (page: Page, step: number, part: number, steps = STEPS) => {
    const box = (await page.locator('.chart .u-over').boundingBox())!;
    await page.mouse.move(box.x + (box.width * (step + part)) / steps, box.y + 40);
    return (await page.locator('.chart-values').textContent())!;
  };
  const timeOf = (step: number) => new Date(from + step * MINUTE).toISOString().slice(0, 19).replace('T', ' ');

  test.each([
    ['columns of render', `['steps'] | summarize n = count() by bin(_time, 1m) | render columnchart`],
    ['columns without render', `['steps'] | summarize n = count() by bin(_time, 1m)`],
  ])('a bar is named by its own time and number wherever one points at it: %s', async (_, query) => {
    const { page } = await begin();
    await run(page, query);
    await page.locator('.chart canvas').waitFor();
    for (const step of [0, 1, 5, STEPS - 1])
      for (const part of [0.05, 0.4, 0.6, 0.93])
        expect([step, part, await valueAt(page, step, part)]).toEqual([
          step,
          part,
          `${timeOf(step)}n ${countOf(step)}`,
        ]);
  });

  test('a bar of the chart above events is named by its own time and number, too', async ({ page }) => {
    await run(page, `['steps'] | where n >= 0`);
    await page.locator('.chart canvas').waitFor();
    const counts = await service.ask('POST', '/v1/datasets/_apl?format=tabular', {
      apl: `['steps'] | summarize events = count() by bin_auto(_time)`,
      startTime: new Date(from).toISOString(),
      endTime: new Date(from + STEPS * MINUTE).toISOString(),
    });
    const seconds = (counts as { tables: { buckets: { size: number } }[] }).tables[0]!.buckets.size / 1e9;
    const each = 60 / seconds;
    expect(Number.isInteger(each)).toBe(true);
    for (const step of [0, 5, STEPS - 1])
      for (const part of [0.3, 0.6, 0.9])
        expect([step, part, await valueAt(page, step * each, part, STEPS * each)]).toEqual([
          step,
          part,
          `${timeOf(step)}events ${countOf(step)}`,
        ]);
  });

  test('a stacked bar is named by its own time, too, and a line by the nearest point', async ({ page }) => {
    await run(page, `['steps'] | summarize n = count() by bin(_time, 1m), level | render columnchart`);
    await page.locator('.chart canvas').waitFor();
    for (const part of [0.1, 0.9]) expect(await valueAt(page, 7, part)).toBe(`${timeOf(7)}info 10error 7`);
    await page.mouse.move(0, 0);
    await run(page, `['steps'] | summarize n = count() by bin(_time, 1m) | render linechart`);
    await page.locator('.chart-values', { hasText: /^n\s*$/ }).waitFor();
    expect(await valueAt(page, 7, 0.9, STEPS - 1)).toBe(`${timeOf(8)}n 18`);
  });

  test('bars are side by side: none is narrower than four fifths of its step', async ({ page }) => {
    await run(page, `['steps'] | where n < 8 | summarize n = count() by bin(_time, 4m) | render columnchart`);
    await page.locator('.chart canvas').waitFor();
    const share = await page.evaluate<number>(`(() => {
      const canvas = document.querySelector('.chart canvas');
      const over = document.querySelector('.chart .u-over').getBoundingClientRect();
      const box = canvas.getBoundingClientRect();
      const scale = canvas.width / box.width;
      const y = Math.round((over.bottom - box.top - 4) * scale);
      const row = canvas.getContext('2d').getImageData(Math.round((over.left - box.left) * scale), y, Math.round(over.width * scale), 1).data;
      let drawn = 0;
      for (let at = 0; at < row.length; at += 4) if (row[at + 3] > 200 && row[at + 1] - row[at] > 20) drawn += 1;
      return drawn / (row.length / 4);
    })()`);
    // Two of the three steps of the range hold events.
    expect(share).toBeGreaterThan(0.8 * (2 / 3));
  });

  /** The numbers at the axes, as they were drawn. */
  const axisNumbers = async (query: string): Promise<string[]> => {
    const { page } = await begin();
    await page.addInitScript(`(() => {
      const fillText = CanvasRenderingContext2D.prototype.fillText;
      window.drawnTexts = [];
      CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) {
        window.drawnTexts.push(text);
        return fillText.call(this, text, ...rest);
      };
    })()`);
    await page.reload();
    await run(page, query);
    await page.locator('.chart canvas').waitFor();
    const texts = await page.evaluate<string[]>('window.drawnTexts');
    return texts.filter((text) => /^[\d.]+$/.test(text));
  };

  test.each([
    ['one or two', `['few'] | summarize n = count() by bin(_time, 1m) | render columnchart`],
    ['a line', `['few'] | summarize n = count() by bin(_time, 1m) | render linechart`],
    ['three', `['few'] | summarize n = sum(n) by bin(_time, 10m) | render columnchart`],
    ['along the axis below, too', 'range x from 1 to 3 step 1 | extend y = x * x | render linechart'],
  ])('an axis of whole numbers has no half events: %s', async (_, query) => {
    const numbers = await axisNumbers(query);
    expect(new Set(numbers).size).toBeGreaterThan(1);
    expect(numbers.filter((text) => text.includes('.'))).toEqual([]);
  });

  test('an axis of fractions has them', async () => {
    const numbers = await axisNumbers('range x from 1 to 3 step 1 | extend y = x / 10.0 | render linechart');
    expect(numbers.some((text) => text.includes('.'))).toBe(true);
  });
});
