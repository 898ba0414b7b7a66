/** The status page's requests: who is answered, with what, and the facts that it never shows. */
import { request } from 'node:http';
import { expect, onTestFinished, test as base, vi } from 'vitest';
import { parse } from 'yaml';
import { startTelemetry } from '../../src/telemetry/server.ts';
import type { PageSource } from '../../src/telemetry/status-page.ts';
import type { Observed } from '../../src/telemetry/observed.ts';
import { TailraceError } from '../../src/core/errors.ts';
import { makeHistograms, observed, observedSink } from './observed.ts';
import { words } from '../support/words.ts';

const PATHS = words`/ /status-page.js /status-page.css /status.json /history.json /files.json /explain.json /dead-letters.json /config.json`;

const page: PageSource = {
  config: {
    sinks: [
      {
        token: 'secret-1',
        tls: { key: '/etc/key.pem' },
        proxy: 'http://u:secret-2@proxy:3128',
        url: 'https://store',
      },
    ],
    other: [
      { token_file: '/run/token' },
      { token: '${TOKEN}' },
      { token: '${TOKEN:-secret-4}' },
      { secret: { nested: 'secret-5' } },
      { password: 123456 },
    ],
    fields: { password: 'secret-3', env: 'prod' },
  },
  secrets: ['secret-1'],
  listFiles: (limit) => [{ source: 'app', total: limit, files: [] }],
  explain: (path) => [{ path }],
  listDeadLetters: () => [],
  tail: undefined,
};

async function start(
  changes: { page?: PageSource | undefined; now?: () => number; observe?: () => Observed } = { page },
) {
  const failing = observedSink({ lastFailure: 'unauthorized: HTTP 401 token secret-1 is unknown' });
  const server = await startTelemetry({
    listen: { host: '127.0.0.1', port: 0 },
    histograms: makeHistograms(),
    observe: () => observed({ sinks: [failing] }),
    stalled: () => undefined,
    ...changes,
  });
  onTestFinished(() => server.close());
  return server.address;
}

const test = base.extend('address', () => start());

/** With any Host, which `fetch` does not send. */
function ask(address: string, path: string, host: string, method = 'GET'): Promise<number> {
  const { hostname, port } = new URL(address);
  return new Promise((resolve, reject) => {
    const asked = request({ host: hostname, port, path, method, headers: { host } }, (reply) => {
      reply.resume();
      resolve(reply.statusCode ?? 0);
    });
    asked.once('error', reject).end();
  });
}

test('status page and its data are read-only, not kept by caches, and of this origin alone', async ({ address }) => {
  for (const path of PATHS) {
    const reply = await fetch(address + path);
    expect([path, reply.status]).toEqual([path, 200]);
    expect(reply.headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self';/,
    );
    expect(Object.fromEntries(reply.headers)).toMatchObject({
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-resource-policy': 'same-origin',
    });
    expect((await fetch(address + path, { method: 'HEAD' })).status).toBe(200);
    for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS'])
      expect((await fetch(address + path, { method })).status).toBe(405);
  }
});

test('status page refuses names that another page could have been given', async ({ address }) => {
  for (const path of PATHS) {
    expect(await ask(address, path, 'evil.example')).toBe(403);
    expect(await ask(address, path, 'localhost:1')).toBe(200);
  }
  // Prometheus and probes come by whatever name they were configured with.
  for (const path of ['/metrics', '/healthz']) expect(await ask(address, path, 'tailrace.monitoring.svc')).toBe(200);
});

test('status page that is switched off is not there, nor its data', async () => {
  const address = await start({});
  for (const path of PATHS) expect([path, (await fetch(address + path)).status]).toEqual([path, 404]);
  expect(await (await fetch(`${address}/`)).text()).toContain('telemetry.page: true');
});

test('status page hides secrets, also in what a service answered', async ({ address }) => {
  const config = await (await fetch(`${address}/config.json`)).text();
  const { yaml } = JSON.parse(config) as { yaml: string };
  expect(parse(yaml)).toEqual({
    sinks: [
      { token: '(hidden)', tls: { key: '/etc/key.pem' }, proxy: 'http://(hidden)@proxy:3128', url: 'https://store' },
    ],
    other: [
      { token_file: '/run/token' },
      { token: '${TOKEN}' },
      { token: '(hidden)' },
      { secret: '(hidden)' },
      { password: '(hidden)' },
    ],
    fields: { password: '(hidden)', env: 'prod' },
  });
  const status = await (await fetch(`${address}/status.json`)).text();
  expect(status).toContain('token (hidden) is unknown');
  expect(status + config).not.toMatch(/secret-/);
});

test('status page asks for few files, and explains absolute paths of a sane length only', async ({ address }) => {
  expect(await (await fetch(`${address}/files.json`)).json()).toEqual([{ source: 'app', total: 200, files: [] }]);
  const explain = async (path: string) =>
    (await fetch(`${address}/explain.json?path=${encodeURIComponent(path)}`)).json();
  expect(await explain('/var/log/a b.log')).toEqual([{ path: '/var/log/a b.log' }]);
  for (const path of ['', 'relative', `/${'x'.repeat(5000)}`, '/nul\0']) expect(await explain(path)).toEqual([]);
});

test('status page that is asked for 1,000 times looks at the agent once a moment', async () => {
  // The history's samples, taken every 10 s, are looks too: on a slow machine one would be counted.
  vi.useFakeTimers({ toFake: ['setInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const looks = { observe: 0, files: 0, config: 0 };
  let nowMs = 0;
  const address = await start({
    now: () => nowMs,
    observe: () => (looks.observe++, observed()),
    page: { ...page, listFiles: () => (looks.files++, []) },
  });
  // Fewer at once than the server takes connections.
  for (let round = 0; round < 125; round++)
    await Promise.all(
      Array.from({ length: 8 }, async (_, n) =>
        (await fetch(`${address}/${n % 2 === 0 ? 'status' : 'files'}.json`)).arrayBuffer(),
      ),
    );
  expect(looks).toEqual({ observe: 1, files: 1, config: 0 });
  nowMs += 250;
  for (let asked = 0; asked < 3; asked++) await fetch(`${address}/status.json`);
  expect(looks.observe).toBe(2);
});

test('status page shows events only where live_tail is on, without secrets, and explains why it cannot', async () => {
  const silent = await start();
  const off = await fetch(`${silent}/tail.json?source=app`);
  expect([off.status, await off.text()]).toEqual([404, expect.stringContaining('telemetry.live_tail: true')]);
  expect(await (await fetch(`${silent}/status.json`)).json()).toMatchObject({ showsEvents: false });
  const tail = (source: string) =>
    source === 'app'
      ? Promise.resolve({ from: 0, to: 1, looked: 1, events: ['{"token":"secret-1"}'] })
      : Promise.reject(new TailraceError('E_TAP', 'another tap is under way'));
  const address = await start({ page: { ...page, tail } });
  expect(await (await fetch(`${address}/status.json`)).json()).toMatchObject({ showsEvents: true });
  const view = await fetch(`${address}/tail.json?source=app`);
  expect(view.headers.get('cache-control')).toBe('no-store');
  expect(await view.json()).toEqual({ from: 0, to: 1, looked: 1, events: ['{"token":"(hidden)"}'] });
  const busy = await fetch(`${address}/tail.json?source=other`);
  expect([busy.status, await busy.text()]).toEqual([409, 'another tap is under way\n']);
  expect((await fetch(`${address}/tail.json`)).status).toBe(400);
  expect(await ask(address, '/tail.json?source=app', 'evil.example')).toBe(403);
});
