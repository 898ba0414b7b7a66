/** Formats, charsets and joined lines of files: over turns, restarts and rotations, with positions in the file's own bytes. */
import { appendFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { LaneDouble } from '../lane-double.ts';
import { TailBench } from './tail-bench.ts';

const multiline = { kind: 'start', pattern: '^[A-Z]', timeoutMs: 5000, maxLines: 1000, maxBytes: Infinity } as const;

/** The text of each event, joined lines as one. */
function eventsOf(lane: LaneDouble): string[] {
  return lane.blocks.flatMap(({ events }) => events.map((event) => event.toString()));
}

test('joined lines are read again until their event is over, and then come once', async () => {
  const bench = new TailBench({ multiline });
  writeFileSync(bench.path('a.log'), 'A first\n second\n');
  await bench.start();
  await bench.drain();
  expect(eventsOf(bench.lane)).toEqual([]);
  expect(bench.source.stats.lagBytes).toBe(16);
  appendFileSync(bench.path('a.log'), ' third\nB next\n');
  await bench.drain();
  expect(eventsOf(bench.lane)).toEqual(['A first\n second\n third']);
  expect(bench.lane.blocks[0]).toMatchObject({ offset: 0, length: 23 });
});

test('joined lines of an event that is not over are read again after a restart', async () => {
  const bench = new TailBench({ multiline });
  writeFileSync(bench.path('a.log'), 'A one\nB two\n more\n');
  await bench.start();
  await bench.drain();
  bench.commit();
  expect(eventsOf(bench.lane)).toEqual(['A one']);
  await bench.start();
  appendFileSync(bench.path('a.log'), ' and more\nC\n');
  await bench.drain();
  expect(eventsOf(bench.lane)).toEqual(['B two\n more\n and more']);
});

test('joined lines are sent when nothing follows them for the timeout, the unfinished line only later', async () => {
  const bench = new TailBench({ multiline: { ...multiline, timeoutMs: 3000 }, partialTimeoutMs: 60_000 });
  writeFileSync(bench.path('a.log'), 'A one\n more\n unfin');
  await bench.start();
  await bench.drain();
  await bench.pass(1);
  expect(eventsOf(bench.lane)).toEqual([]);
  await bench.pass(2);
  expect(eventsOf(bench.lane)).toEqual(['A one\n more']);
  appendFileSync(bench.path('a.log'), 'ished\nB\n');
  await bench.drain();
  expect(eventsOf(bench.lane)).toEqual(['A one\n more', ' unfinished']);
});

test('joined lines at the end of a rotated file are sent, also the unfinished one', async () => {
  const bench = new TailBench({ multiline, once: true });
  writeFileSync(bench.path('a.log'), 'A one\n more\n last');
  await bench.start();
  await bench.source.run();
  expect(eventsOf(bench.lane)).toEqual(['A one\n more\n last']);
});

test('span of joined lines is read again as the same events', async () => {
  const bench = new TailBench({ multiline });
  writeFileSync(bench.path('a.log'), 'A one\n more\nB two\nC three\n four\nD\n');
  await bench.start();
  await bench.drain();
  const [block] = bench.lane.blocks;
  expect(eventsOf(bench.lane)).toEqual(['A one\n more', 'B two', 'C three\n four']);
  const lane = new LaneDouble();
  const span = { source: 'app', stream: block!.stream, from: 12, to: 32, events: 2, sum: 0, tail: { length: 0, crc: 0 } };
  expect(await bench.source.reread!(span, lane)).toBe(span.to);
  expect(eventsOf(lane)).toEqual(['B two', 'C three\n four']);
});

test('csv finds the columns of each file again, from turn to turn and after a restart', async () => {
  const bench = new TailBench({ format: 'csv' });
  const parsed = (): unknown[] =>
    eventsOf(bench.lane)
      .filter((text) => text !== '')
      .map((text) => JSON.parse(text) as unknown);
  writeFileSync(bench.path('a.log'), 'a,b\n1,2\n');
  writeFileSync(bench.path('b.log'), 'x;y,z\n3,4\n');
  await bench.start();
  await bench.drain();
  appendFileSync(bench.path('a.log'), '5,"6\n');
  appendFileSync(bench.path('b.log'), '7,8\n');
  await bench.drain();
  expect(parsed()).toEqual([
    { a: '1', b: '2' },
    { 'x;y': '3', z: '4' },
    { 'x;y': '7', z: '8' },
  ]);
  bench.commit();
  await bench.start();
  appendFileSync(bench.path('a.log'), '7"\n9,10\n');
  await bench.drain();
  expect(parsed()).toEqual([
    { a: '5', b: '6\n7' },
    { a: '9', b: '10' },
  ]);
  expect(bench.source.stats.slowPathEvents).toBe(2);
});

test('utf-16 with a byte order mark is read on in its middle, by the mark at its beginning', async () => {
  const bench = new TailBench();
  const utf16 = (text: string): Buffer => Buffer.from(text, 'utf16le');
  writeFileSync(bench.path('a.log'), utf16('\ufeffÄrger\r\nzwei €\r\nhal'));
  await bench.start();
  await bench.drain();
  expect(eventsOf(bench.lane)).toEqual(['Ärger', 'zwei €']);
  bench.commit();
  await bench.start();
  appendFileSync(bench.path('a.log'), utf16('b\nü\n'));
  await bench.drain();
  expect(eventsOf(bench.lane)).toEqual(['halb', 'ü']);
  expect(bench.lane.blocks.at(-1)).toMatchObject({ offset: 2 + utf16('Ärger\r\nzwei €\r\n').length });
  expect(bench.source.stats.lagBytes).toBe(0);
});

test('utf-16 line over the limit that grows from turn to turn is cut between its characters', async () => {
  const bench = new TailBench({ charset: 'utf-16be', maxEventBytes: 1024 });
  const utf16 = (text: string): Buffer => Buffer.from(text, 'utf16le').swap16();
  writeFileSync(bench.path('a.log'), utf16('😀'.repeat(300)));
  await bench.start();
  for (let n = 0; n < 5; n += 1) {
    await bench.drain();
    appendFileSync(bench.path('a.log'), utf16('é'.repeat(400)));
  }
  appendFileSync(bench.path('a.log'), utf16('\nnext\n'));
  await bench.drain();
  const [cut, next] = eventsOf(bench.lane);
  expect(cut).toBe('😀'.repeat(256));
  expect(next).toBe('next');
  expect(bench.lane.blocks[0]!.single!.marks).toEqual({ truncated: true, original_bytes: 300 * 4 + 2000 * 2 });
});

test('pieces of a container message wait for their last, over turns', async () => {
  const bench = new TailBench({ format: 'cri' });
  const T = '2026-11-21T10:15:00Z';
  writeFileSync(bench.path('a.log'), `${T} stdout F whole\n${T} stdout P first \n`);
  await bench.start();
  await bench.drain();
  expect(eventsOf(bench.lane)).toHaveLength(1);
  appendFileSync(bench.path('a.log'), `${T} stdout F last\n`);
  await bench.drain();
  expect(eventsOf(bench.lane).map((text) => (JSON.parse(text) as { message: string }).message)).toEqual(['whole', 'first last']);
  expect(bench.lane.blocks[0]!.shape).toMatchObject({ format: 'auto', fields: { host: 'testhost', file: bench.path('a.log') } });
});
