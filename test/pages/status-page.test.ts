/** The status page of a real agent in a real browser. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { beforeEach, describe, expect, test } from 'vitest';
import {
  chromiumHint,
  closeBrowserAfterAll,
  expectAccessible,
  hasChromium,
  openPage,
  takePicture,
} from '../support/browser.ts';
import {
  addressOf,
  makeSite,
  QUICK,
  type ShippingOptions,
  type Site,
  startShipping,
  storedSeqs,
  writeLines,
} from '../support/shipping.ts';
import { until } from '../support/until.ts';

const TOKEN = 'xaat-do-not-show-this-one';
const SINK = `${QUICK}, token: ${TOKEN}, batch: {max_age: 50ms, max_events: 100}`;

let site: Site;

beforeEach(async () => {
  site = await makeSite();
});

async function open(options: ShippingOptions = {}, context = {}) {
  const agent = startShipping(site, { sink: SINK, ...options });
  const address = await addressOf(agent);
  const opened = await openPage(context);
  const reply = await opened.page.goto(`${address}/`);
  return { agent, address, reply: reply!, ...opened };
}

const sinkRow = (page: Page) => page.locator('[data-sink=store]');

describe.skipIf(!hasChromium)(`status page${chromiumHint}`, () => {
  closeBrowserAfterAll();

  test('page shows sources, sinks and balanced accounting, and meets the accessibility rules', async () => {
    writeLines(site, 1000);
    const { page, problems } = await open();
    await page.getByRole('heading', { name: 'Delivering', exact: true }).waitFor();
    await until('all is stored', () => storedSeqs(site).length === 1000);
    await page.locator('[data-source=app]', { hasText: '1,000' }).waitFor();
    expect(await page.locator('[data-source=app]').textContent()).toContain('1 active');
    expect(await sinkRow(page).textContent()).toContain('delivering');
    await sinkRow(page).getByText('200', { exact: false }).first().waitFor();
    await page.getByText('balanced', { exact: true }).waitFor();
    expect(await page.title()).toBe('Delivering · Tailrace');
    await page.locator('summary', { hasText: 'Files' }).click();
    await page.getByText('app: 1 file').waitFor();
    await page.locator('summary', { hasText: 'Configuration' }).click();
    await page.getByText('data_dir:').waitFor();
    await expectAccessible(page);
    await page.emulateMedia({ colorScheme: 'dark' });
    await expectAccessible(page);
    expect(problems).toEqual([]);
  });

  test('page says within 4 s why a sink does not deliver, and that it does again', async () => {
    const { page } = await open();
    await page.getByRole('heading', { name: 'Delivering', exact: true }).waitFor();
    site.service.respond = () => ({ status: 403, body: '{"code":403,"message":"the token may not write here"}' });
    writeLines(site, 10);
    await sinkRow(page).getByText('HTTP 403').waitFor();
    await page.getByRole('heading', { name: 'Sink store is paused' }).waitFor();
    expect(await sinkRow(page).textContent()).toContain('the token may not write here');
    site.service.respond = () => undefined;
    await page.getByRole('heading', { name: 'Delivering', exact: true }).waitFor();
    await site.service.stop();
    writeLines(site, 10);
    await sinkRow(page).getByText('ECONNREFUSED').waitFor();
    await page.getByRole('heading', { name: 'Sink store is retrying' }).waitFor();
  });

  test('page lists dead letters with their reasons, as text', async () => {
    const reason = '<img src=x onerror="document.title=1"> is no event';
    site.service.respond = ({ events }) => {
      const failed = [...events.keys()].filter((place) => events[place]!.includes('"seq":3'));
      return failed.length === 0 ? undefined : { failed };
    };
    writeLines(site, 5, (seq) => `{"seq":${seq},"note":${JSON.stringify(reason)}}`);
    const { page, problems } = await open();
    const row = page.getByRole('region', { name: 'The newest dead letters' }).locator('tbody tr');
    await row.first().waitFor();
    expect(await row.count()).toBe(1);
    expect(await row.textContent()).toContain(`${site.folder}/logs/app.log`);
    expect(problems).toEqual([]);
  });

  test('page shows live events after their transform where live_tail is on, and the agent delivers all the same', async () => {
    const app = `{type: file, include: ["${site.folder}/logs/*.log"], scan_interval: 100ms, transform: 'project-away secret'}`;
    const { page, problems, address } = await open({
      sources: { app },
      telemetry: 'listen: "127.0.0.1:0", live_tail: true',
    });
    await page.locator('summary', { hasText: 'Live tail' }).click();
    const newest = page.getByRole('list', { name: 'Newest events of app' });
    let written = 0;
    // The tap looks for a second at a time.
    await until(
      'an event is shown',
      async () => {
        writeLines(site, 10, () => `{"note":"<b>live</b>\\u202e","secret":"do-not-show"}`);
        written += 10;
        return (await newest.getByRole('listitem').count()) > 0;
      },
      { everyMs: 200 },
    );
    expect(await newest.getByRole('listitem').first().textContent()).toContain(String.raw`{"note":"<b>live</b>\u202e"`);
    expect(await page.content()).not.toContain('do-not-show');
    await page.getByText('events looked at').waitFor();
    await until('all is delivered', async () => {
      const { sources } = (await (await fetch(`${address}/status.json`)).json()) as {
        sources: { delivered: number }[];
      };
      return sources[0]!.delivered === written;
    });
    await expectAccessible(page);
    expect(problems).toEqual([]);
  });

  test('page explains why a path is not read', async () => {
    writeLines(site, 1);
    const { page } = await open();
    await page.locator('summary', { hasText: 'Files' }).press('Enter');
    await page.getByLabel('Why is a file read, or not?').fill('/nowhere/<b>x</b>.log');
    await page.keyboard.press('Enter');
    await page.getByText('does not read it').waitFor();
    await page.getByRole('button', { name: `${site.folder}/logs/app.log` }).click();
    await page.getByText('app reads it').waitFor();
  });

  test('page says that the agent is gone, and finds it again', async () => {
    const { page, agent, address } = await open();
    await page.getByRole('heading', { name: 'Delivering', exact: true }).waitFor();
    await agent.end('SIGKILL');
    await page.getByRole('heading', { name: 'The agent does not answer' }).waitFor();
    startShipping(site, { sink: SINK, telemetry: `listen: "${new URL(address).host}"` });
    await page.getByRole('heading', { name: 'Delivering', exact: true }).waitFor();
  });

  test('page asks nothing of elsewhere and holds no secret', async () => {
    const { page, problems, address, reply } = await open({
      sink: `${SINK}, proxy: "http://user:pass-do-not-show@127.0.0.1:9"`,
      sources: {
        app: `{type: file, include: ["${site.folder}/logs/*.log"], fields: {api_token: field-do-not-show, env: prod}}`,
      },
    });
    const policy = reply.headers()['content-security-policy']!;
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    await page.reload();
    await page.locator('summary', { hasText: 'Configuration' }).click();
    await page.getByText('env: prod').waitFor();
    expect(asked.filter((url) => !url.startsWith(address) && !url.startsWith('data:'))).toEqual([]);
    for (const path of [
      '',
      'status.json',
      'history.json',
      'files.json',
      'dead-letters.json',
      'config.json',
      'explain.json?path=/x',
    ])
      expect(await (await fetch(`${address}/${path}`)).text()).not.toMatch(/do-not-show/);
    expect(await page.content()).not.toMatch(/do-not-show/);
    expect(problems).toEqual([]);
  });

  test('page fits a phone and is reached by keyboard', async () => {
    writeLines(site, 100);
    const { page } = await open({}, { viewport: { width: 360, height: 740 } });
    await page.getByRole('heading', { name: 'Delivering', exact: true }).waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360);
    for (let presses = 0; presses < 12; presses++) {
      await page.keyboard.press('Tab');
      if ((await page.evaluate('document.activeElement.tagName')) === 'SUMMARY') break;
    }
    await page.keyboard.press('Enter');
    await page.getByLabel('Why is a file read, or not?').waitFor();
  });

  test('page draws the last hour', async () => {
    for (let file = 0; file < 12; file++) writeFileSync(join(site.folder, 'logs', `worker-${file}.log`), 'ready\n');
    writeLines(site, 5000);
    const { page } = await open();
    const answer = Promise.withResolvers<void>();
    await page.route('**/history.json', async (route) => {
      await answer.promise;
      await route.fulfill({ json: anHour() });
    });
    await page.reload();
    await page.locator('[data-source=app]').waitFor();
    expect(await page.locator('.chart canvas').count()).toBe(0);
    answer.resolve();
    await page.locator('.chart canvas').nth(2).waitFor();
    expect(await page.locator('.chart [role=img]').first().getAttribute('aria-label')).toMatch(
      /read: last [\d.]+k?, highest/,
    );
    await page.locator('[data-source=app]', { hasText: '5,012' }).waitFor();
    writeLines(site, 3000);
    await page.locator('[data-source=app]', { hasText: /[1-9][\d.]*k?\/s/ }).waitFor();
    await page.locator('[data-source=app]', { hasText: '8,012' }).waitFor();
    await takePicture(page, 'status-page');
    await page.emulateMedia({ colorScheme: 'dark' });
    await expectAccessible(page);
  });
});

/** What the agent keeps after an hour. */
function anHour() {
  const values = (at: (index: number) => number) => Array.from({ length: 360 }, (_, index) => Math.max(0, at(index)));
  const noise = (index: number) => Math.sin(index * 12.9898) * 0.5 + Math.sin(index * 4.1414) * 0.5;
  const rate = (index: number) => 850 + 260 * Math.sin(index / 55) + 90 * noise(index);
  const outage = (index: number) => (index > 200 && index < 224 ? 1 : 0);
  const lag = (index: number) =>
    index > 200 && index < 240 ? Math.min(index - 200, (240 - index) * 1.5) * 240_000 : 2000 + 1500 * noise(index);
  return {
    everyMs: 10_000,
    endMs: Date.now(),
    series: [
      { kind: 'source', id: 'app', name: 'eventsPerSecond', values: values(rate) },
      { kind: 'source', id: 'app', name: 'lagBytes', values: values(lag) },
      {
        kind: 'sink',
        id: 'store',
        name: 'eventsPerSecond',
        values: values((index) => (outage(index) ? 0 : rate(index - 1) * (index >= 224 && index < 240 ? 2.3 : 1))),
      },
      {
        kind: 'sink',
        id: 'store',
        name: 'requestMs',
        values: values((index) => 9 + 2 * noise(index)).map((ms, index) => (outage(index) ? null : ms)),
      },
      {
        kind: 'sink',
        id: 'store',
        name: 'queueBytes',
        values: values((index) => 40_000 + 20_000 * noise(index) + (lag(index) > 10_000 ? 6_000_000 : 0)),
      },
    ],
  };
}
