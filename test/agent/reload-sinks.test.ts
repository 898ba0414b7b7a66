/** Reloads that change the form of what a sink sends, how many requests it has at once, and its memory, while events are in flight. */
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { startProgram } from '../support/program.ts';
import { until } from '../support/until.ts';
import { openConnection, type Parts, type Rig, startRig, test } from './reload-rig.ts';

const IN_PLACE = { code: 0, ok: true, error: '', restarted: undefined };

/** A service that holds its answers until the test asks for them. */
function hold({ service }: Rig): { readonly waiting: () => number; readonly answer: () => void } {
  let held: (() => void)[] = [];
  service.respond = (request, response) => void held.push(() => service.storeAll(request, response));
  return {
    waiting: () => held.length,
    answer: () => {
      const now = held;
      held = [];
      for (const each of now) each();
    },
  };
}

/** Requests of each key, as they came over the wire. */
function wireOf({ service }: Rig): Map<string, Set<string>> {
  const wire = new Map<string, Set<string>>();
  for (const { key, headers, url, body } of service.requests) {
    const seen = [headers['content-type'], headers['x-service-event-labels'], url, body.toString()].join(' | ');
    wire.set(key, (wire.get(key) ?? new Set()).add(seen));
  }
  return wire;
}

/** The beginning of a request, as `wireOf` shows it, by the keys of the sink. */
const FORMS: readonly (readonly [what: string, keys: string, wire: RegExp])[] = [
  ['NDJSON', '', /^application\/x-ndjson \|  \| \/v1\/ingest\/logs \| \{/],
  ['JSON', ', encoding: json', /^application\/json \|  \| \/v1\/ingest\/logs \| \[/],
  [
    'CSV',
    ', encoding: csv, csv: {columns: [message], extra: drop}',
    /^text\/csv \|  \| \/v1\/ingest\/logs \| message\n/,
  ],
  [
    'other columns',
    ', encoding: csv, csv: {columns: [message, host]}',
    /^text\/csv \|  \| \/v1\/ingest\/logs \| message,host,json\n/,
  ],
  [
    'an envelope',
    ', encoding: json, json: {envelope: true}, labels: {n: 1}',
    /^application\/json \|  \| .* \| \[\{"time".*"labels":\{"n":1\}/s,
  ],
  ['labels', ', labels: {n: 2}', /^application\/x-ndjson \| \{"n":2\} \| /],
  [
    'a field of the time',
    ', timestamp_field: message, timestamp_format: unix',
    /logs\?timestamp-field=message&timestamp-format=unix \| \{/,
  ],
];

test.each(FORMS.map(([what, keys, wire], n) => ({ what, keys, wire, before: FORMS.at(n - 1)! })))(
  'batches under way keep key, body and form when a reload brings $what; those after it have the new form',
  async ({ keys, wire: form, before: [, formerKeys, formerForm] }) => {
    const rig = await startRig();
    const { service, folder, configure, reload, program, messages } = rig;
    configure({ store: formerKeys });
    expect(await reload()).toMatchObject(IN_PLACE);
    const { send, isClosed } = await openConnection(rig);
    let isAway = true;
    service.respond = (request, response) =>
      isAway ? void response.writeHead(500).end() : service.storeAll(request, response);
    appendFileSync(join(folder, 'a.log'), '1\n');
    send('2');
    await until('both are sent in vain', () => wireOf(rig).size === 2);
    const before = new Set(wireOf(rig).keys());
    const tries = service.requests.length;

    configure({ store: keys });
    expect(await reload()).toMatchObject(IN_PLACE);
    appendFileSync(join(folder, 'a.log'), '3\n');
    send('4');
    await until('they are tried again', () => service.requests.length > tries + 4);
    isAway = false;
    await until('all is stored', () => messages().length === 4);
    expect(messages().toSorted()).toEqual(['1', '2', '3', '4']);
    for (const [key, seen] of wireOf(rig)) {
      expect(seen.size).toBe(1);
      expect([...seen][0]).toMatch(before.has(key) ? formerForm : form);
    }
    expect(isClosed()).toBe(false);
    expect(await program.end('SIGTERM')).toBe(0);
  },
);

test('what the disk buffer holds keeps its form and its key over a kill and a start with another encoding', async ({
  rig,
}) => {
  const { service, folder, configure, program, messages } = rig;
  const { send } = await openConnection(rig);
  let isAway = true;
  service.respond = (request, response) =>
    isAway ? void response.writeHead(500).end() : service.storeAll(request, response);
  send('held');
  await until('it is sent in vain', () => service.requests.length > 0);
  await program.end('SIGKILL');
  configure({ store: ', encoding: json, labels: {n: 1}' });
  const again = startProgram(['run', '--config', join(folder, 'tailrace.yaml')]);
  await again.says('tailrace runs');
  const tries = service.requests.length;
  await until('it is sent again', () => service.requests.length > tries);
  isAway = false;
  await until('it is stored', () => messages().length === 1);
  expect([...wireOf(rig).values()].map(({ size }) => size)).toEqual([1]);
  appendFileSync(join(folder, 'a.log'), 'new\n');
  await until('a new one is stored', () => messages().length === 2);
  expect(service.requests.at(-1)!.headers['content-type']).toBe('application/json');
  expect(await again.end('SIGTERM')).toBe(0);
});

test('requests at once grow and shrink in place, and a shrink waits for those in flight', async ({ rig }) => {
  const { folder, configure, reload, program, messages } = rig;
  const { waiting, answer } = hold(rig);
  const requests = (concurrency: number): Parts => ({
    store: `, concurrency: ${concurrency}, timeout: 5m`,
    batch: ', max_events: 10',
  });
  const write = (from: number, to: number): void => {
    for (let n = from; n < to; n += 1) appendFileSync(join(folder, 'a.log'), `${n}\n`);
  };
  configure(requests(1));
  expect(await reload()).toMatchObject(IN_PLACE);
  write(0, 400);
  await until('one is under way', () => waiting() === 1);
  configure(requests(6));
  expect(await reload()).toMatchObject(IN_PLACE);
  await until('six are under way', () => waiting() === 6);
  configure(requests(2));
  expect(await reload()).toMatchObject(IN_PLACE);
  expect(waiting()).toBe(6);
  let most = 0;
  while (messages().length < 400) {
    answer();
    await until('more are under way, or all is stored', () => waiting() > 0 || messages().length === 400);
    most = Math.max(most, waiting());
  }
  expect(most).toBeLessThanOrEqual(2);
  expect(messages().length).toBe(400);
  expect(await program.end('SIGTERM')).toBe(0);
});

test('memory grows and shrinks in place while it is full, and nothing of it is lost or sent twice', async ({ rig }) => {
  const { service, folder, configure, reload, program, samples, messages } = rig;
  const memory = (bytes: string, batch: string, concurrency: number): Parts => ({
    store: `, compression: none, buffer: {max_memory: ${bytes}, disk: {max_bytes: 1MiB}}, concurrency: ${concurrency}, timeout: 5m`,
    batch: `, max_bytes: ${batch}`,
  });
  const { isClosed } = await openConnection(rig);
  const used = async (): Promise<number> =>
    (await samples()).find(({ name, labels }) => name === 'tailrace_buffer_bytes' && labels['kind'] === 'memory')
      ?.value ?? 0;
  configure(memory('1MiB', '128KiB', 2));
  expect(await reload()).toMatchObject(IN_PLACE);
  const { waiting, answer } = hold(rig);
  const text = 'x'.repeat(1000);
  let lines = 0;
  const write = (count: number): void =>
    appendFileSync(join(folder, 'a.log'), Array.from({ length: count }, () => `${++lines} ${text}\n`).join(''));
  write(4000);
  await until('requests wait', () => waiting() === 2);
  const before = await used();
  expect(before).toBeLessThanOrEqual(2 ** 20);

  configure(memory('16MiB', '1MiB', 8));
  expect(await reload()).toMatchObject(IN_PLACE);
  write(4000);
  await until('more is read', async () => (await used()) > 2 ** 20 && waiting() > 2);
  const underWay = waiting();

  configure(memory('1MiB', '64KiB', 2));
  expect(await reload()).toMatchObject(IN_PLACE);
  write(4000);
  // Requests in flight keep their memory.
  expect(await used()).toBeGreaterThan(2 ** 20);
  expect(waiting()).toBeGreaterThanOrEqual(underWay);
  while (messages().length < lines) {
    answer();
    await until('more is under way, or all is stored', () => waiting() > 0 || messages().length === lines);
  }
  expect(await used()).toBeLessThanOrEqual(2 ** 20);
  const numbers = messages().map((message) => Number.parseInt(message, 10));
  expect(numbers.toSorted((a, b) => a - b)).toEqual(Array.from({ length: lines }, (_, i) => i + 1));
  const small = service.requests.slice(-3).map(({ body }) => body.length);
  expect(Math.max(...small)).toBeLessThanOrEqual(64 * 1024);
  expect(isClosed()).toBe(false);
  expect(await program.end('SIGTERM')).toBe(0);
});

test('where to_dataset says where events go, a sink’s form, requests and memory change in place', async ({ rig }) => {
  const { service, configure, reload, program, messages, telemetry } = rig;
  const top = `telemetry: {listen: "127.0.0.1:${telemetry}"}\ntransform: 'to_dataset("routed")'`;
  configure({ top });
  expect(await reload()).toMatchObject({ code: 0, ok: true });
  const { send, isClosed } = await openConnection(rig);
  send('before');
  await until('it is stored', () => messages().length === 1);
  configure({ top, store: ', encoding: json, concurrency: 2, buffer: {max_memory: 16MiB}, labels: {n: 1}' });
  expect(await reload()).toMatchObject(IN_PLACE);
  send('after');
  await until('it is stored, too', () => messages().length === 2);
  expect(service.requests.map(({ url, headers }) => [url, headers['content-type']])).toEqual([
    ['/v1/ingest/routed', 'application/x-ndjson'],
    ['/v1/ingest/routed', 'application/json'],
  ]);
  expect(isClosed()).toBe(false);
  expect(await program.end('SIGTERM')).toBe(0);
});

test('a reload just after a kill waits for what the last process left, and changes in place', async ({ rig }) => {
  const { service, folder, configure, reload, program, messages } = rig;
  let isAway = true;
  service.respond = (request, response) =>
    isAway ? void response.writeHead(500).end() : service.storeAll(request, response);
  appendFileSync(join(folder, 'a.log'), 'left behind\n');
  await until('it is sent in vain', () => service.requests.length > 0);
  const { key } = service.requests[0]!;
  await program.end('SIGKILL');
  const again = startProgram(['run', '--config', join(folder, 'tailrace.yaml')]);
  await again.says('tailrace runs');
  configure({ store: ', encoding: json' });
  expect(await reload()).toMatchObject(IN_PLACE);
  appendFileSync(join(folder, 'a.log'), 'new\n');
  isAway = false;
  await until('both are stored', () => messages().length === 2);
  expect(
    service.requests.filter(({ body }) => body.includes('left behind')).every((request) => request.key === key),
  ).toBe(true);
  expect([...wireOf(rig).values()].map(({ size }) => size)).toEqual([1, 1]);
  expect(await again.end('SIGTERM')).toBe(0);
});
