import { spawn } from 'node:child_process';
import { mkdtempSync, openSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { PassThrough } from 'node:stream';
import { crc32 } from 'node:zlib';
import { expect, test } from 'vitest';
import type { LineConfig } from '../../src/sources/common/line-fields.ts';
import type { SourceStats } from '../../src/core/source.ts';
import { createStdinSource } from '../../src/sources/stdin/stdin.ts';
import { loadShaping } from '../../src/sources/framing/line-shaping.ts';
import { plainLineConfig } from '../support/source-config.ts';
import { type Clock, systemClock } from '../../src/core/time/clock.ts';
import { SteppedClock } from '../support/stepped-clock.ts';
import { until } from '../support/until.ts';
import { createTestContext } from './source-context.ts';
import { contentSum } from '../../src/kernel/content-sum.ts';

const config: LineConfig = {
  ...plainLineConfig,
  id: 'pipe',
  fields: { team: 'core' },
  maxEventBytes: 100,
  format: 'text',
};

async function start(changes: Partial<LineConfig> = {}, clock: Clock = systemClock) {
  const context = createTestContext({ clock });
  const input = new PassThrough();
  const source = createStdinSource({ ...config, ...changes }, context, {
    input,
    shaping: await loadShaping({ ...config, ...changes }),
  });
  await source.open();
  return { context, input, source, running: source.run() };
}

test('stdin hands over whole lines, then the unfinished one with a newline, and ends', async () => {
  const { context, input, source, running } = await start();
  input.write('one\ntw');
  input.write('o\nthr');
  input.end('ee');
  await running;
  expect(context.lane.texts).toEqual(['one', 'two', 'three']);
  const last = context.lane.blocks.at(-1);
  expect(last?.single).toMatchObject({
    length: 5,
    sum: contentSum(Buffer.from('three'), 8),
    tail: { length: 13, crc: crc32('one\ntwo\nthree') },
  });
  expect(last?.shape).toEqual({
    format: 'text',
    wrapFields: { host: 'testhost' },
    fields: { team: 'core' },
    objects: 'none',
  });
  expect(last?.offset).toBe(8);
  expect(context.minted.map(({ source, path }) => ({ source, path }))).toEqual([{ source: 'pipe', path: '' }]);
  expect(source.stats).toMatchObject({ readBytes: 13, truncatedEvents: 0, lostBytes: 0 });
});

test('stdin cuts an oversize line, counts it, and the next line arrives', async () => {
  const { context, input, source, running } = await start();
  input.end(`first\n${'é'.repeat(100_000)}\nnext\n`);
  await running;
  expect(context.lane.texts).toEqual(['first', 'é'.repeat(50), 'next']);
  expect(context.lane.blocks[1]!.single).toMatchObject({
    length: 200_001,
    marks: { truncated: true, original_bytes: 200_000 },
  });
  expect(source.stats.truncatedEvents).toBe(1);
});

test('stdin reads no more while the lane waits', async () => {
  const { context, input, running } = await start();
  context.lane.hold();
  const write = () => input.write(Buffer.alloc(10_000, 'line\n'));
  while (write());
  await context.lane.until((lane) => lane.waiting === 1);
  for (let tries = 0; tries < 100; tries += 1) write();
  expect(input.writableNeedDrain).toBe(true);
  expect(context.lane.blocks).toHaveLength(0);
  context.lane.release();
  input.end();
  await running;
  expect(context.lane.lines.length % 2000).toBe(0);
  expect(context.lane.lines.length).toBeGreaterThan(200_000);
});

test('stdin sends joined lines when the writer pauses, and what comes minutes later is an event of its own', async () => {
  const multiline = { kind: 'start', pattern: '^[A-Z]', timeoutMs: 5000, maxLines: 1000, maxBytes: Infinity } as const;
  const clock = new SteppedClock();
  const { context, input, running } = await start({ multiline, maxEventBytes: 10_000 }, clock);
  input.write('A one\n more\n unfin');
  await until('it waits', () => clock.sleeping === 1);
  await clock.advance(4999);
  expect(context.lane.blocks).toHaveLength(0);
  await clock.advance(1);
  await context.lane.until(({ blocks }) => blocks.length === 1);
  expect(context.lane.blocks[0]!.events.map(String)).toEqual(['A one\n more']);
  await clock.advance(10 * 60_000);
  input.write('ished\nB\n');
  await until('it waits again', () => clock.sleeping === 1);
  input.write(' b\n');
  await until('a new wait', () => clock.sleeps.length === 3);
  input.end(' last');
  await running;
  expect(context.lane.blocks.flatMap(({ events }) => events.map(String))).toEqual([
    'A one\n more',
    ' unfinished',
    'B\n b\n last',
  ]);
  expect(context.lane.blocks.reduce((sum, { length }) => sum + length, 0)).toBe(34);
});

test('stdin counts the bytes of its own that made events did not take any more', async () => {
  const { context, input, source, running } = await start({ format: 'logfmt', maxEventBytes: 10_000 });
  context.lane.hold();
  input.write('a=1 b=2\nc="3"\nunfinished');
  await context.lane.until((lane) => lane.waiting === 1);
  context.lane.giveUp();
  await running;
  expect(source.stats.lostBytes).toBe(24);
  expect(context.losses).toMatchObject([
    { path: '', stream: context.minted[0]!.id, from: 0, bytes: 24, reason: 'not_taken' },
  ]);
});

interface ChildResult {
  readonly lines: { readonly line: string; readonly single?: boolean }[];
  readonly stats: SourceStats;
  readonly logged: string[];
}

const script = join(import.meta.dirname, 'stdin-child.ts');

function startChild(stdin: 'pipe' | number, command: readonly [string, ...string[]] = [process.execPath, script]) {
  const child = spawn(command[0], command.slice(1), { stdio: [stdin, 'pipe', 'pipe'] });
  const isRunning = new Promise<void>((resolve) => child.stderr!.once('data', () => resolve()));
  const result = Promise.all([text(child.stdout!), new Promise((resolve) => child.once('close', resolve))]).then(
    ([out, code]): ChildResult => {
      expect(code).toBe(0);
      const rows = out
        .trimEnd()
        .split('\n')
        .map((row) => JSON.parse(row));
      return { ...rows.pop(), lines: rows };
    },
  );
  return { child, isRunning, result };
}

test('stdin of a process takes every line of a pipe, whatever the writes', async () => {
  const { child, result } = startChild('pipe');
  const lines = Array.from({ length: 20_000 }, (_, n) => `line ${n} ${'x'.repeat(n % 300)}`);
  child.stdin!.end(lines.join('\n'));
  const { lines: got, stats } = await result;
  expect(got.map(({ line }) => line)).toEqual(lines);
  expect(stats.readBytes).toBe(Buffer.byteLength(lines.join('\n')));
});

test('stdin of a process takes every line of a shell pipe whose writer pauses', async () => {
  const shell = `{ seq 1 200000; sleep 1; printf unfinished; } | "${process.execPath}" "${script}"`;
  const { lines } = await startChild('pipe', ['sh', '-c', shell]).result;
  expect(lines).toHaveLength(200_001);
  expect(lines.slice(0, -1).every(({ line }, n) => line === String(n + 1))).toBe(true);
  expect(lines.at(-1)).toEqual({ line: 'unfinished', single: false });
});

test('stdin of a process reads a file', async () => {
  const file = join(mkdtempSync(join(tmpdir(), 'tailrace-stdin-')), 'input.log');
  writeFileSync(file, `one\n${'y'.repeat(3_000_000)}\nlast`);
  const { lines, stats } = await startChild(openSync(file, 'r')).result;
  expect(lines.map(({ line, single }) => [line.length, single])).toEqual([
    [3, undefined],
    [1 << 20, true],
    [4, false],
  ]);
  expect(stats.truncatedEvents).toBe(1);
});

test('stdin of a process says so when it cannot be read', async () => {
  const { lines, logged } = await startChild(openSync(tmpdir(), 'r')).result;
  expect(lines).toEqual([]);
  expect(logged.join()).toMatch(/error: reading standard input failed, taking it for its end: EISDIR/);
});

test('stdin of a process takes an end at once', async () => {
  const { lines } = await startChild(openSync('/dev/null', 'r')).result;
  expect(lines).toEqual([]);
});

test('stdin of a process is stopped by a signal while the writer pauses', async () => {
  const { child, isRunning, result } = startChild('pipe');
  await isRunning;
  child.kill('SIGTERM');
  expect((await result).lines).toEqual([]);
});
