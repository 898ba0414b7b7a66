/** What an archive takes from its surroundings: full disks, wrong clocks, a second agent, readers beside it, names and files of others. */
import { mkdirSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { silentLog } from '../../../src/core/log.ts';
import type { SinkRequest, Sink } from '../../../src/core/sink.ts';
import { deleteHidden, hideHour } from '../../../src/sinks/archive/hours.ts';
import { proveArchive } from '../../../src/sinks/archive/prove.ts';
import { readHour } from '../../../src/sinks/archive/reading/read-hour.ts';
import { type ArchiveConfig, createArchiveSink } from '../../../src/sinks/archive/sink.ts';
import { SteppedClock } from '../../support/stepped-clock.ts';
import { makeTree } from '../../support/temp-tree.ts';
import { fillDisk, mountTmpfs } from '../../support/tmpfs.ts';

const NOW = Date.parse('2026-11-27T05:30:00Z');
const HOUR_MS = 3_600_000;
const PAGE_BYTES = 4096;
const body = Buffer.from('{"n":1}\n{"n":2}\n');

const requestOf = (key: string, hour: number, changes: Partial<SinkRequest> = {}): SinkRequest => ({
  ...{ key, dataset: 'logs', events: 2, body, encoding: 'identity', readAtMs: NOW + hour * HOUR_MS },
  ...changes,
});

function sinkOf(path: string, changes: Partial<ArchiveConfig> = {}, nowMs = NOW): Sink {
  const clock = new SteppedClock();
  clock.now = () => nowMs;
  return createArchiveSink(
    { id: 'keep', compression: 'none', path, maxBytes: undefined, keepMs: undefined, ...changes },
    clock,
    silentLog,
  );
}

async function send(sink: Sink, ...requests: SinkRequest[]): Promise<string[]> {
  const kinds: string[] = [];
  for (const request of requests) kinds.push((await sink.send(request, new AbortController().signal)).outcome.kind);
  return kinds;
}

const hoursIn = (path: string): string[] =>
  readdirSync(join(path, 'logs')).flatMap((day) =>
    readdirSync(join(path, 'logs', day)).map((hour) => `${day}/${hour}`),
  );

test('archive on a disk that is full after any page has no batch twice, and none without its line, once there is room', async () => {
  const large = Buffer.alloc(2 * PAGE_BYTES + 1, body);
  const request = requestOf('b', 1, { body: large, events: 1 });
  for (let pages = 0; pages <= 12; pages++) {
    const path = join(mountTmpfs(256), 'archive');
    mkdirSync(path);
    const sink = sinkOf(path);
    expect(await send(sink, requestOf('a', 0))).toEqual(['delivered']);
    const free = fillDisk(path);
    const filler = join(path, 'filler');
    truncateSync(filler, readFileSync(filler).length - pages * PAGE_BYTES);
    await send(sink, request, request);
    free();
    expect(await send(sink, request)).toEqual(['delivered']);
    expect(await proveArchive(path, [])).toMatchObject({
      held: { batches: 2 },
      unlisted: 0,
      unfinished: 0,
      fault_count: 0,
    });
  }
});

test('archive on a full disk goes on with a lower max_bytes', async () => {
  const path = join(mountTmpfs(256), 'archive');
  const large = requestOf('old', -1, { body: Buffer.alloc(64 * 1024, body), events: 1 });
  expect(await send(sinkOf(path), large)).toEqual(['delivered']);
  fillDisk(path);
  expect(await send(sinkOf(path), requestOf('b', 0))).toEqual(['pause']);
  expect(await send(sinkOf(path, { maxBytes: 32 * 1024 }), requestOf('b', 0))).toEqual(['delivered']);
});

test('archive whose clock was years ahead removes the hours of that time first', async () => {
  const path = makeTree({});
  const keys = { maxBytes: 3 * body.length };
  const ahead = 24 * 365 * 4;
  expect(
    await send(sinkOf(path, keys, NOW + ahead * HOUR_MS), ...[0, 1, 2].map((n) => requestOf(`f${n}`, ahead + n))),
  ).toHaveLength(3);
  await send(sinkOf(path, keys), ...[0, 1, 2].map((n) => requestOf(`k${n}`, n - 2)));
  expect(hoursIn(path)).toEqual(['2026-11-27/03', '2026-11-27/04', '2026-11-27/05']);
});

test('archive whose clock falls back keeps the hours that it wrote just before', async () => {
  const path = makeTree({});
  await send(sinkOf(path), requestOf('old', -9), requestOf('later', 1));
  await send(sinkOf(path, { maxBytes: 2 * body.length }), requestOf('now', 0));
  expect(hoursIn(path)).toEqual(['2026-11-27/05', '2026-11-27/06']);
});

test('two agents on one folder deliver every batch and remove hours beside each other', async () => {
  const path = makeTree({});
  // The folder by another name: nothing of theirs is shared in this process.
  const agents = [path, `${path}/.`].map((name) => sinkOf(name, { maxBytes: 40 * body.length }));
  const lost = new Set<string>();
  await Promise.all(
    agents.map(async (sink, agent) => {
      for (let n = 0; n < 60; n++) {
        const request = requestOf(`${agent}-${n}`, Math.floor(n / 10) - 6);
        for (let tries = 0; (await send(sink, request))[0] !== 'delivered'; tries++)
          if (tries === 3) return lost.add(request.key);
      }
      return lost;
    }),
  );
  expect([...lost]).toEqual([]);
  expect(await send(sinkOf(path), requestOf('end', 0))).toEqual(['delivered']);
  const { held, fault_count: faults, unlisted, unfinished } = await proveArchive(path, []);
  expect({ faults, unlisted, unfinished }).toEqual({ faults: 0, unlisted: 0, unfinished: 0 });
  expect(held.batches).toBeGreaterThanOrEqual(20);
});

test('archive removes an hour that another agent removed meanwhile, or of which a hidden rest is left', async () => {
  const path = makeTree({});
  const sink = sinkOf(path, { maxBytes: 2 * body.length });
  await send(sink, requestOf('a', -3), requestOf('b', -2));
  await hideHour(path, 'logs/2026-11-27/02');
  await deleteHidden(path, 'logs/2026-11-27/02');
  mkdirSync(join(path, 'logs/2026-11-27/.03.gone/rest'), { recursive: true });
  expect(await send(sink, requestOf('c', -1), requestOf('d', 0))).toEqual(['delivered', 'delivered']);
  expect(hoursIn(path)).toEqual(['2026-11-27/04', '2026-11-27/05']);
});

test.each(['it is gone', 'a late batch made it anew'])(
  'reader of an hour that is removed meanwhile ends without a fault: %s',
  async (how) => {
    const path = makeTree({});
    await send(sinkOf(path), requestOf('a', 0), requestOf('b', 0), requestOf('c', 0));
    const kinds: string[] = [];
    for await (const part of readHour(join(path, 'logs/2026-11-27/05'))) {
      kinds.push(part.kind);
      if (kinds.length > 1) continue;
      await hideHour(path, 'logs/2026-11-27/05');
      await deleteHidden(path, 'logs/2026-11-27/05');
      if (how !== 'it is gone') await send(sinkOf(path), requestOf('late', 0));
    }
    expect(kinds).toEqual(['listed']);
  },
);

test.each(['-', '--', '-rf', '01', '2026-11-27', 'manifest', 'constructor', 'CON', 'a'.repeat(128)])(
  'archive keeps, proves and removes a dataset that is called %s',
  async (dataset) => {
    const path = makeTree({});
    const sink = sinkOf(path, { maxBytes: body.length });
    expect(await send(sink, requestOf('a', -1, { dataset }))).toEqual(['delivered']);
    expect(await proveArchive(path, [])).toMatchObject({ held: { batches: 1, events: 2 }, fault_count: 0 });
    expect(await send(sink, requestOf('b', 0, { dataset: 'other' }))).toEqual(['delivered']);
    expect(readdirSync(path).toSorted()).toEqual(['other', 'removed.json']);
  },
);

test.each([
  'a'.repeat(129),
  '.',
  'a.b',
  'a b',
  'a\n',
  'ä',
  '__proto__',
  '%2e%2e',
  String.raw`..\x`,
  '\u202Ea',
  'a:b',
  '~',
  '$HOME',
])('archive makes no folder of the dataset name %j', async (dataset) => {
  const path = makeTree({});
  expect(await send(sinkOf(path), requestOf('a', 0, { dataset }))).toEqual(['bisect']);
  expect(readdirSync(path)).toEqual([]);
});

test.each(['', '..', 'a/b', '.a', 'a\0', 'a\n', 'k'.repeat(129), 'a.ndjson'])(
  'archive makes no file of the key %j',
  async (key) => {
    const path = makeTree({});
    expect(await send(sinkOf(path), requestOf(key, 0))).toEqual(['bisect']);
    expect(readdirSync(path)).toEqual([]);
  },
);

test('archive leaves hidden files of others alone when it tidies up after a crash', async () => {
  const path = makeTree({});
  await send(sinkOf(path), requestOf('a', 0));
  const others = ['.notes.tmp', '.manifest.ndjson.swp', 'notes.txt'];
  for (const name of others) writeFileSync(join(path, 'logs/2026-11-27/05', name), 'mine');
  mkdirSync(join(path, 'logs/2026-11-27/05/.folder.tmp'));
  expect(await send(sinkOf(path), requestOf('b', 0))).toEqual(['delivered']);
  expect(readdirSync(join(path, 'logs/2026-11-27/05'))).toEqual(expect.arrayContaining([...others, '.folder.tmp']));
});
