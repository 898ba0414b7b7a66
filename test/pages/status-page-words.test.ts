/** What the status page says, word by word, in a real browser: counts, units, reasons, and a configuration that one can write. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Status } from '../../src/telemetry/status.ts';
import { chromiumHint, closeBrowserAfterAll, expectAccessible, hasChromium, openPage } from '../support/browser.ts';
import {
  addressOf,
  command,
  makeSite,
  QUICK,
  type ShippingOptions,
  type Site,
  startShipping,
  storedSeqs,
  writeLines,
} from '../support/shipping.ts';
import { until } from '../support/until.ts';

let site: Site;

beforeEach(async () => {
  site = await makeSite();
});

async function open(options: ShippingOptions = {}, context = {}) {
  const agent = startShipping(site, { sink: `${QUICK}, token: xaat-some-token, batch: {max_age: 50ms}`, ...options });
  const address = await addressOf(agent);
  const opened = await openPage(context);
  await opened.page.goto(`${address}/`);
  await opened.page.locator('[data-source=app]').waitFor();
  return { agent, address, ...opened };
}

/** The agent's own answer, with these changes to its first source. */
async function patchSource(page: Page, changes: Partial<Status['sources'][number]>): Promise<void> {
  await page.route('**/status.json', async (route) => {
    const status = (await (await route.fetch()).json()) as Status;
    await route.fulfill({ json: { ...status, sources: status.sources.map((source) => ({ ...source, ...changes })) } });
  });
}

/** Of the number with this name on top. */
const figure = (page: Page, name: string) =>
  page.locator('.figure', { has: page.locator('dt', { hasText: name }) }).locator('dd');
const cell = (page: Page, row: string, column: string) =>
  page.evaluate<string>(`(() => {
    const row = document.querySelector('${row}');
    const at = [...row.closest('table').querySelectorAll('thead th')].findIndex((each) => each.textContent === '${column}');
    return row.children[at].textContent;
  })()`);

describe.skipIf(!hasChromium)(`status page’s words${chromiumHint}`, () => {
  closeBrowserAfterAll();

  test('one event is no “1 events”, in numbers, sentence and files', async () => {
    writeLines(site, 1);
    const { page } = await open();
    await until('it is stored', () => storedSeqs(site).length === 1);
    await patchSource(page, { held: 1, deadLettered: 1 });
    await expect.poll(() => figure(page, 'in hand').textContent()).toContain('1 event');
    expect(await figure(page, 'dead letters').textContent()).toMatch(/^1 event(?!s)/);
    await page.getByText('1 event in hand').waitFor();
    expect(await page.locator('main').textContent()).not.toMatch(/\b1 (?:events|files|bytes)/);
  });

  test('a dead letter is not followed by “nothing dropped or lost”, which reads as if it were nothing', async () => {
    const { page } = await open();
    await expect.poll(() => figure(page, 'dead letters').textContent()).toContain('nothing dropped or lost');
    await patchSource(page, { deadLettered: 3 });
    await expect.poll(() => figure(page, 'dead letters').textContent()).toMatch(/refused, kept on disk$/);
    await patchSource(page, { deadLettered: 3, dropped: 2, lostBytes: 2048 });
    await expect.poll(() => figure(page, 'dead letters').textContent()).toContain('2 dropped, 2 KiB lost');
    await patchSource(page, { deadLettered: 0, dropped: 2 });
    await expect.poll(() => figure(page, 'dead letters').textContent()).toMatch(/2 dropped$/);
  });

  test('a service that is down is not one that takes less than is written', async () => {
    const { page } = await open();
    const waiting = { sink: 'store', dataset: 'logs', reason: 'service_behind', seconds: 30 } as const;
    await patchSource(page, { waiting: { ...waiting, failure: 'network: connect ECONNREFUSED 127.0.0.1:4100' } });
    const said = page.locator('[data-source=app] .reason');
    await expect
      .poll(() => said.textContent())
      .toBe(
        'Has waited for sink store for 30 s: the service takes nothing now: network: connect ECONNREFUSED 127.0.0.1:4100',
      );
    await patchSource(page, { waiting });
    await expect.poll(() => said.textContent()).toContain('the service takes less than is written');
  });

  test('queued is what events hold, not the memory that is set aside for them; no answer has no request time', async () => {
    await site.service.stop();
    writeLines(site, 126);
    const { page, address } = await open({ sink: QUICK });
    await page.locator('[data-sink=store]', { hasText: 'no answer' }).waitFor();
    await page.locator('[data-source=app]', { hasText: '126' }).waitFor();
    const bytes = Array.from({ length: 126 }, (_, seq) => `{"seq":${seq}}\n`.length).reduce((a, b) => a + b);
    await expect.poll(async () => cell(page, '[data-sink=store]', 'in memory')).toMatch(/^[\d.]+ (?:B|KiB)$/);
    const { sinks } = (await (await fetch(`${address}/status.json`)).json()) as Status;
    expect(sinks[0]!.queuedBytes).toBeGreaterThanOrEqual(bytes);
    expect(sinks[0]!.queuedBytes).toBeLessThan(64 * 1024);
    expect(await cell(page, '[data-sink=store]', 'request time')).toBe('–');
  });

  test('“read to” and size of a file have the same unit', async () => {
    writeLines(site, 200_000);
    const { page } = await open();
    await until('all is stored', () => storedSeqs(site).length === 200_000, { withinMs: 120_000 });
    await page.locator('summary', { hasText: 'Files' }).click();
    const row = `[aria-label="Files of source app"] tbody tr`;
    await page.locator(row).waitFor();
    expect(await cell(page, row, 'size')).toMatch(/MiB$/);
    expect(await cell(page, row, 'read to')).toBe(await cell(page, row, 'size'));
  });

  test('the configuration in force has the keys that one can write, and is accepted verbatim', async () => {
    writeFileSync(
      join(site.folder, 'more.yaml'),
      `sources:\n  web: {type: file, include: ["${site.folder}/web/*.log"], preset: nginx-access}\n`,
      { mode: 0o600 },
    );
    const { page } = await open({
      sink: `${QUICK}, token: xaat-do-not-show`,
      sources: {
        app: `{type: file, include: ["${site.folder}/logs/*.log"], max_event_bytes: 512KiB, fields: {env: prod}}`,
      },
      top: 'include_config: [more.yaml]\nshutdown_timeout: 12s',
    });
    await page.locator('summary', { hasText: 'Configuration' }).click();
    const shown = page.getByLabel('Configuration in force');
    await expect.poll(() => shown.textContent()).toContain('max_event_bytes: 512KiB');
    const yaml = (await shown.textContent())!;
    // A default, a written value, a preset's keys, and an included file.
    for (const line of [
      'shutdown_timeout: 12s',
      'ignore_older: never',
      'env: prod',
      'web:',
      'preset: nginx-access',
      'format',
    ])
      expect(yaml).toContain(line);
    expect(yaml).not.toContain('do-not-show');
    expect(yaml).not.toMatch(/^\s*\w*[a-z][A-Z]\w*:/m);
    const again = join(site.folder, 'again');
    mkdirSync(again);
    writeFileSync(join(again, 'tailrace.yaml'), yaml, { mode: 0o600 });
    const checked = await command({ folder: again }, 'check');
    expect([checked.stderr(), checked.code]).toEqual([expect.any(String), 0]);
    await expectAccessible(page);
  });

  test('times are in one zone, which the page shows', async () => {
    writeLines(site, 1);
    const { page } = await open({}, { timezoneId: 'America/New_York' });
    const zone = page.getByLabel('Time zone');
    expect(await zone.locator('option:checked').textContent()).toBe('America/New_York');
    const clock = () => page.locator('.facts div', { hasText: 'as of' }).locator('dd').textContent();
    const hour = async () => Number((await clock())!.split(':')[0]!.slice(-2));
    const here = await hour();
    await zone.selectOption('UTC');
    await expect.poll(async () => ((await hour()) - here + 24) % 24).toBeGreaterThanOrEqual(4);
  });
});
