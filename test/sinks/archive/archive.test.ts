import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { zstdDecompressSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { loadConfigText } from '../../../src/config/load/load.ts';
import { silentLog } from '../../../src/core/log.ts';
import type { SinkRequest } from '../../../src/core/sink.ts';
import { type ArchiveConfig, createArchiveSink } from '../../../src/sinks/archive/sink.ts';
import { SteppedClock } from '../../support/stepped-clock.ts';
import { makeTree } from '../../support/temp-tree.ts';
import { fillDisk, mountTmpfs } from '../../support/tmpfs.ts';

const HOUR = '2026-11-27/01';
const readAtMs = Date.parse('2026-11-27T01:59:59Z');
const never = new AbortController().signal;

function requestOf(changes: Partial<SinkRequest> = {}): SinkRequest {
  return {
    key: 'a1',
    dataset: 'logs',
    events: 2,
    body: Buffer.from('{"n":1}\n{"n":2}\n'),
    encoding: 'identity',
    readAtMs,
    ...changes,
  };
}

/** Each is a process of its own: it knows only the files on disk. */
function sinkOf(path: string, changes: Partial<ArchiveConfig> = {}) {
  const config = { id: 'keep', compression: 'zstd', path, maxBytes: undefined, keepMs: undefined, ...changes } as const;
  return createArchiveSink(config, new SteppedClock(), silentLog);
}

function manifestOf(path: string, hour = `logs/${HOUR}`): Record<string, unknown>[] {
  const lines = readFileSync(join(path, hour, 'manifest.ndjson'), 'utf8')
    .split('\n')
    .slice(0, -1);
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

test('archive writes a batch under its key into the hour of its first event, and its line into the manifest', async () => {
  const path = join(makeTree({}), 'new', 'archive');
  const { outcome } = await sinkOf(path).send(requestOf(), never);
  const bytes = readFileSync(join(path, 'logs', HOUR, 'a1.ndjson.zst'));
  expect(zstdDecompressSync(bytes).toString()).toBe('{"n":1}\n{"n":2}\n');
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  expect(manifestOf(path)).toEqual([{ file: 'a1.ndjson.zst', key: 'a1', events: 2, bytes: bytes.length, sha256 }]);
  expect(outcome).toMatchObject({
    kind: 'delivered',
    stored: 2,
    facts: { archive_files_total: 1, archive_written_bytes_total: bytes.length },
  });
});

test('archive that is sent a batch again has one file and one line for it, in another process, too', async () => {
  const path = makeTree({});
  const sink = sinkOf(path);
  for (const each of [sink, sink, sinkOf(path)])
    expect((await each.send(requestOf(), never)).outcome.kind).toBe('delivered');
  expect(readdirSync(join(path, 'logs', HOUR)).sort()).toEqual(['a1.ndjson.zst', 'manifest.ndjson']);
  expect(manifestOf(path)).toHaveLength(1);
});

test.each([
  ['the manifest has no line for a file', (hour: string) => writeFileSync(join(hour, 'manifest.ndjson'), '')],
  ['the manifest is not there', (hour: string) => rmSync(join(hour, 'manifest.ndjson'))],
  [
    'the line was cut off',
    (hour: string) =>
      writeFileSync(join(hour, 'manifest.ndjson'), readFileSync(join(hour, 'manifest.ndjson')).subarray(0, -9)),
  ],
])('archive makes the manifest complete after a crash: %s', async (_, crash) => {
  const path = makeTree({});
  await sinkOf(path).send(requestOf(), never);
  const before = manifestOf(path);
  crash(join(path, 'logs', HOUR));
  writeFileSync(join(path, 'logs', HOUR, '.b2.ndjson.zst.tmp'), 'half');
  await sinkOf(path).send(requestOf({ key: 'c3', readAtMs: readAtMs + 3_600_000 }), never);
  expect(manifestOf(path)).toEqual(before);
  expect(readdirSync(join(path, 'logs', HOUR)).sort()).toEqual(['a1.ndjson.zst', 'manifest.ndjson']);
});

test.each(['..', '../../etc', 'a/b', '', '.hidden', 'a\0b'])(
  'archive makes no folder of the dataset name %j',
  async (dataset) => {
    const path = join(makeTree({}), 'archive');
    expect((await sinkOf(path).send(requestOf({ dataset }), never)).outcome.kind).toBe('bisect');
    expect(existsSync(path)).toBe(false);
  },
);

test('archive removes the oldest hours over max_bytes, never the one of the batch, and leaves other files alone', async () => {
  const path = makeTree({ 'logs/notes.txt': 'mine' });
  const sink = sinkOf(path, { compression: 'none', maxBytes: 40 });
  const facts = [];
  for (let hour = 0; hour < 4; hour++) {
    const { outcome } = await sink.send(requestOf({ key: `k${hour}`, readAtMs: readAtMs + hour * 3_600_000 }), never);
    facts.push('facts' in outcome && outcome.facts?.['archive_removed_hours_total']);
  }
  expect(facts).toEqual([0, 0, 1, 1]);
  expect(readdirSync(join(path, 'logs', '2026-11-27')).sort()).toEqual(['03', '04']);
  expect(readFileSync(join(path, 'logs/notes.txt'), 'utf8')).toBe('mine');
  // Larger than max_bytes alone.
  const large = requestOf({
    key: 'large',
    readAtMs: readAtMs + 4 * 3_600_000,
    body: Buffer.alloc(800, '{"n":1}\n'),
    events: 100,
  });
  expect((await sink.send(large, never)).outcome).toMatchObject({
    kind: 'delivered',
    facts: { archive_removed_hours_total: 2 },
  });
  expect(readdirSync(join(path, 'logs', '2026-11-27', '05')).sort()).toEqual(['large.ndjson', 'manifest.ndjson']);
});

test('archive removes hours older than keep, those of an earlier process included', async () => {
  const path = makeTree({});
  await sinkOf(path).send(requestOf({ readAtMs: Date.parse('2020-01-01T00:00:00Z') }), never);
  const clock = new SteppedClock();
  await sinkOf(path, { keepMs: 3_600_000 }).send(requestOf({ key: 'b2', readAtMs: clock.now() }), never);
  expect(existsSync(join(path, 'logs', '2020-01-01'))).toBe(false);
});

test('archive tries again within a second of a full disk that has room again, and names no HTTP status', async () => {
  const path = makeTree({});
  const { sinks } = loadConfigText(
    `sources: {in: {type: stdin}}\nsinks: {keep: {type: archive, path: "${path}", dataset: logs}}`,
    {},
  );
  expect(sinks[0]?.retry).toEqual({ initialBackoffMs: 250, maxBackoffMs: 1000, maxElapsedMs: Infinity });
  for (const changes of [{}, { dataset: '..' }])
    expect(await sinkOf(path).send(requestOf(changes), never)).not.toHaveProperty('status');
});

test('archive on a full disk pauses with nothing half written, and goes on when there is room', async () => {
  const path = join(mountTmpfs(256), 'archive');
  mkdirSync(path);
  const sink = sinkOf(path, { compression: 'none' });
  const large = requestOf({ key: 'b2', body: Buffer.alloc(64 * 1024, '{"n":1}\n'), events: 8192 });
  await sink.send(requestOf(), never);
  const free = fillDisk(path);
  const { outcome, unsent } = await sink.send(large, never);
  expect([outcome, unsent]).toEqual([expect.objectContaining({ kind: 'pause', reason: 'unwritable' }), 'unconnected']);
  expect(readdirSync(join(path, 'logs', HOUR)).sort()).toEqual(['a1.ndjson', 'manifest.ndjson']);
  free();
  expect((await sink.send(large, never)).outcome).toMatchObject({ kind: 'delivered', stored: 8192 });
  expect(manifestOf(path).map(({ key }) => key)).toEqual(['a1', 'b2']);
});
