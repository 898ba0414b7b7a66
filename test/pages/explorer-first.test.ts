/** The explorer's first minute in a real browser: an empty service, the first event, and datasets whose newest event is not of today. */
import { execFileSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import {
  chromiumHint,
  closeBrowserAfterAll,
  expectAccessible,
  hasChromium,
  openPage,
  takePicture,
} from '../support/browser.ts';
import { API_TOKEN, localService } from '../support/local-service.ts';
import { explorerOf, field, row, run } from './explorer.ts';

const DAY = 86_400_000;

describe.skipIf(!hasChromium)(`explorer of an empty service${chromiumHint}`, () => {
  closeBrowserAfterAll();
  const service = localService('app-logs');

  test('an empty service shows the lines to type, and notices the first event', async () => {
    const { page, problems } = await openPage();
    await page.goto(`${service.url}/#token=${API_TOKEN}`);
    await page.getByRole('heading', { name: 'No events yet' }).waitFor();
    const lines = (await page.getByLabel('Lines to type').textContent())!.split('\n');
    expect(lines).toEqual(['export TAILRACE_TOKEN=…', `tailrace init --url ${service.url}`, 'tailrace run']);
    await expectAccessible(page);
    await takePicture(page, 'explorer-first');
    // The line shown works verbatim.
    const line = (await page.getByLabel('One event by hand').textContent())!;
    execFileSync('bash', ['-c', line], { env: { ...process.env, TAILRACE_TOKEN: API_TOKEN }, stdio: 'pipe' });
    await row(page, 'hello').waitFor();
    expect(await page.getByRole('heading', { name: 'No events yet' }).count()).toBe(0);
    expect(await field(page).inputValue()).toBe("['app-logs']");
    expect(problems).toEqual([]);
  });
});

describe.skipIf(!hasChromium)(`explorer of old events${chromiumHint}`, () => {
  closeBrowserAfterAll();
  const now = Date.now();
  const service = localService('older', async ({ ask }) => {
    const events = (days: number, word: string) =>
      Array.from({ length: 20 }, (_, n) => ({
        _time: new Date(now - days * DAY - n * 1000).toISOString(),
        level: 'info',
        message: `${word} ${n}`,
      }));
    await ask('POST', '/v1/ingest/older', events(209, 'old'));
    for (const name of ['newest', 'empty']) await ask('POST', '/v1/datasets', { name });
    await ask('POST', '/v1/ingest/newest', events(40, 'new'));
  });
  const open = explorerOf(service, 'older');

  test('the dataset with the newest event opens by itself, at that event', async () => {
    const { page, problems } = await open('&query=');
    await row(page, 'new 0').waitFor();
    expect(await field(page).inputValue()).toBe("['newest']");
    expect(page.url()).toMatch(/range=\d+%2F\d+/);
    await page.getByRole('status').filter({ hasText: '20 rows' }).waitFor();
    expect(problems).toEqual([]);
    // It is no step of the reader: back leads out.
    expect(await page.evaluate('history.length')).toBe(2);
  });

  test('what a link asks, or somebody types, is not replaced by the newest dataset', async () => {
    const { page } = await open(`&query=${encodeURIComponent("['older']")}&range=1h`);
    await page.getByText('Nothing in this range matches').waitFor();
    expect(await field(page).inputValue()).toBe("['older']");
    const { page: typing } = await openPage();
    let release = () => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    await typing.route('**/info', async (route) => (await held, route.continue()));
    await typing.goto(`${service.url}/#token=${API_TOKEN}`);
    await typing.getByRole('button', { name: /^older/ }).waitFor();
    await field(typing).fill("['older'] | count");
    release();
    await typing
      .getByRole('button', { name: /^older/ })
      .getByText('209 d')
      .waitFor();
    await typing
      .getByRole('button', { name: /^newest/ })
      .getByText('40 d')
      .waitFor();
    expect(await field(typing).inputValue()).toBe("['older'] | count");
  });

  test('what somebody types while the newest dataset is about to open stays', async () => {
    const { page } = await openPage();
    // Typed in the very moment between a drawing and what follows from it.
    await page.addInitScript(`addEventListener('DOMContentLoaded', () => new MutationObserver(() => {
      const small = [...document.querySelectorAll('.datasets small')];
      const field = document.querySelector('#query');
      if (window.isTyped || small.length < 3 || small.some((each) => each.textContent === '…')) return;
      window.isTyped = true;
      field.value = 'print 1';
      field.dispatchEvent(new Event('input', { bubbles: true }));
    }).observe(document.body, { subtree: true, childList: true, characterData: true }))`);
    await page.goto(`${service.url}/#token=${API_TOKEN}`);
    await expect.poll(() => page.evaluate('window.isTyped')).toBe(true);
    await page.getByRole('button', { name: 'Ask again what the datasets hold' }).click();
    await page
      .getByRole('button', { name: /^newest/ })
      .getByText('40 d')
      .waitFor();
    expect(await field(page).inputValue()).toBe('print 1');
    expect(page.url()).not.toContain('query=');
  });

  test.each([
    ['events', "['older']", 'old 0'],
    ['a condition', "['older'] | where level == 'info' | sort by _time desc", 'old 0'],
    ['a count', "['older'] | count", '20'],
    ['a summary', "['older'] | summarize n = count() by level", '20'],
  ])('an empty range offers the newest event: %s', async (_, query, wanted) => {
    const { page } = await open('&query=print+1&range=1h');
    await run(page, query);
    const offer = page.getByText('The newest event of this dataset is outside of the range');
    await offer.waitFor();
    expect(await offer.textContent()).toMatch(/: 20\d\d-\d\d-\d\d \d\d:\d\d:\d\d, 209 d \d+ h ago\./);
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Show it' }).click();
    await row(page, wanted).first().waitFor();
    expect(await offer.count()).toBe(0);
    await page.goBack();
    await offer.waitFor();
  });

  test('a range that holds the newest event, and a dataset without any, offer nothing', async () => {
    const { page } = await open(`&range=all&query=${encodeURIComponent("['older'] | where level == 'none'")}`);
    await page.getByText('Nothing in this range matches').waitFor();
    expect(await page.getByRole('button', { name: 'Show it' }).count()).toBe(0);
    await run(page, "['empty']");
    await page.getByText('Nothing in this range matches').waitFor();
    expect(await page.getByRole('button', { name: 'Show it' }).count()).toBe(0);
  });
});
