/** Joined lines over a rotation: an event that began in one file and goes on in the next is one event, and nothing else is. */
import { appendFileSync, copyFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { LaneDouble } from '../lane-double.ts';
import { type BenchOptions, failingFileSystem, TailBench } from './tail-bench.ts';

const multiline = { kind: 'start', pattern: '^[A-Z]', timeoutMs: 5000, maxLines: 1000, maxBytes: Infinity } as const;

/** The text of each event, joined lines as one. */
function eventsOf(lane: LaneDouble): string[] {
  return lane.blocks.flatMap(({ events }) => events.map((event) => event.toString())).filter((text) => text !== '');
}

/** A file that was read, and rotated away within an event. */
async function rotated(options: BenchOptions = {}, text: string | Buffer = 'A one\n two\n'): Promise<TailBench> {
  const bench = new TailBench({ multiline, ...options });
  writeFileSync(bench.path('a.log'), text);
  await bench.start();
  await bench.drain();
  renameSync(bench.path('a.log'), bench.path('a.log.1'));
  return bench;
}

test('event that a rename rotation cuts is one event', async () => {
  const bench = await rotated();
  writeFileSync(bench.path('a.log'), ' three\n four\nB next\n');
  await bench.drain();
  expect(eventsOf(bench.lane)).toEqual(['A one\n two\n three\n four']);
  const [block] = bench.lane.blocks;
  expect(block).toMatchObject({ offset: 0, length: 11, continued: [{ from: 0, to: 13 }] });
  await bench.pass(6);
  expect(eventsOf(bench.lane)).toEqual(['A one\n two\n three\n four', 'B next']);
  expect(bench.lane.blocks[1]).toMatchObject({ stream: block!.continued![0]!.stream, offset: 13 });
  expect(bench.source.stats).toMatchObject({ readBytes: 31, lagBytes: 0, lostBytes: 0 });
});

test('event goes on in the next file also when that is empty for a while', async () => {
  const bench = await rotated();
  writeFileSync(bench.path('a.log'), '');
  await bench.pass(2);
  appendFileSync(bench.path('a.log'), ' th');
  await bench.pass(1);
  appendFileSync(bench.path('a.log'), 'ree\n');
  await bench.pass(1);
  expect(eventsOf(bench.lane)).toEqual([]);
  appendFileSync(bench.path('a.log'), 'B\n');
  await bench.pass(1);
  expect(eventsOf(bench.lane)).toEqual(['A one\n two\n three']);
});

test('file that begins with an event of its own does not wait for the file before', async () => {
  const bench = await rotated();
  writeFileSync(bench.path('a.log'), 'B one\n two\nC\n');
  await bench.pass(1);
  expect(eventsOf(bench.lane)).toEqual(['B one\n two']);
  await bench.pass(6);
  expect(eventsOf(bench.lane).sort()).toEqual(['A one\n two', 'B one\n two', 'C']);
  expect(bench.lane.blocks.every(({ continued }) => continued === undefined)).toBe(true);
});

test('lines that come after the timeout are no part of the event before the rotation', async () => {
  const bench = await rotated();
  writeFileSync(bench.path('a.log'), '');
  await bench.pass(6);
  expect(eventsOf(bench.lane)).toEqual(['A one\n two']);
  appendFileSync(bench.path('a.log'), ' three\nB\n');
  await bench.pass(1);
  expect(eventsOf(bench.lane)).toEqual(['A one\n two', ' three']);
});

test('event over a rotation is sent when nothing follows it for the timeout', async () => {
  const bench = await rotated();
  writeFileSync(bench.path('a.log'), ' three\n');
  await bench.pass(3);
  appendFileSync(bench.path('a.log'), ' four\n unfinished');
  await bench.pass(4);
  expect(eventsOf(bench.lane)).toEqual([]);
  await bench.pass(3);
  expect(eventsOf(bench.lane)).toEqual(['A one\n two\n three\n four', ' unfinished']);
});

test.each([
  ['maxLines', { maxLines: 3 }, ['A one\n two\n three', ' four\n five']],
  ['maxBytes', { maxBytes: 20 }, ['A one\n two\n three', ' four\n five']],
])('%s holds over a rotation', async (_, limits, expected) => {
  const bench = await rotated({ multiline: { ...multiline, ...limits } });
  writeFileSync(bench.path('a.log'), ' three\n four\n five\nB\n');
  await bench.drain();
  expect(eventsOf(bench.lane)).toEqual(expected);
});

test('line over the limit in the next file ends the event', async () => {
  const bench = await rotated({ maxEventBytes: 64 });
  writeFileSync(bench.path('a.log'), ` three\n${'x'.repeat(1000)}\nB\n`);
  await bench.drain();
  expect(eventsOf(bench.lane)).toEqual(['A one\n two\n three', 'x'.repeat(64)]);
});

test('event that takes too much as UTF-8 is cut over a rotation, too, and both files go on behind it', async () => {
  const bench = await rotated({ maxEventBytes: 64 }, Buffer.from(`A ${'\xff'.repeat(10)}\n`, 'latin1'));
  writeFileSync(bench.path('a.log'), Buffer.from(` ${'\xff'.repeat(20)}\nB\nC\n`, 'latin1'));
  await bench.drain();
  const [block] = bench.lane.blocks;
  expect(block!.single!.marks).toMatchObject({ truncated: true });
  expect(block!.continued).toMatchObject([{ from: 0, to: 22 }]);
  expect(eventsOf(bench.lane).at(-1)).toBe('B');
});

test('event goes on over several rotations between two looks', async () => {
  const bench = await rotated();
  renameSync(bench.path('a.log.1'), bench.path('a.log.2'));
  bench.bornNow();
  writeFileSync(bench.path('a.log.1'), ' three\n');
  bench.bornNow();
  writeFileSync(bench.path('a.log'), ' four\nB\n');
  await bench.drain();
  expect(eventsOf(bench.lane)).toEqual(['A one\n two\n three\n four']);
  expect(bench.lane.blocks[0]!.continued).toMatchObject([{ to: 7 }, { to: 6 }]);
});

test('event goes on in the file that was rotated away unseen, not in the one behind it', async () => {
  const bench = await rotated({ include: ['*.log*'] });
  const all = new TailBench({ multiline, include: [bench.path('*.log*')] }, bench.folder);
  rmSync(bench.path('a.log.1'));
  writeFileSync(all.path('a.log'), 'A one\n two\n');
  await all.start();
  await all.drain();
  renameSync(all.path('a.log'), all.path('a.log.2'));
  all.bornNow();
  writeFileSync(all.path('a.log.1'), 'M\n more\n');
  all.bornNow();
  writeFileSync(all.path('a.log'), ' rest of M\nB\n');
  await all.drain();
  await all.pass(6);
  expect(eventsOf(all.lane).sort()).toEqual(['A one\n two', 'B', 'M\n more\n rest of M']);
});

test('event that a copytruncate rotation cuts is one event', async () => {
  const bench = new TailBench({ multiline });
  writeFileSync(bench.path('a.log'), 'Z zero\nA one\n two\n');
  await bench.start();
  await bench.drain();
  copyFileSync(bench.path('a.log'), bench.path('a.log.1'));
  truncateSync(bench.path('a.log'));
  appendFileSync(bench.path('a.log'), ' three\nB\n');
  await bench.drain();
  expect(eventsOf(bench.lane)).toEqual(['Z zero', 'A one\n two\n three']);
  expect(bench.source.stats.lostBytes).toBe(0);
});

test('event of a deleted file goes on in the one that was made in its place', async () => {
  const bench = await rotated();
  await bench.source.scanOnce();
  rmSync(bench.path('a.log.1'));
  writeFileSync(bench.path('a.log'), ' three\nB\n');
  await bench.drain();
  expect(eventsOf(bench.lane)).toEqual(['A one\n two\n three']);
});

test('event that a rotation cut is joined after a restart, before or after it was read', async () => {
  const bench = await rotated({}, 'Z\nA one\n two\n');
  bench.commit();
  writeFileSync(bench.path('a.log'), ' three\nB\n');
  await bench.start();
  await bench.drain();
  expect(eventsOf(bench.lane)).toEqual(['A one\n two\n three']);
  // Not committed: all of it once more.
  await bench.start();
  await bench.drain();
  expect(eventsOf(bench.lane)).toEqual(['A one\n two\n three']);
  bench.commit();
  await bench.start();
  await bench.pass(6);
  expect(eventsOf(bench.lane)).toEqual(['B']);
});

test('event is not joined with a file that came so late after it that it was over', async () => {
  const bench = await rotated({ multiline: { ...multiline, timeoutMs: 100 } });
  for (const until = Date.now() + 200; Date.now() < until;);
  writeFileSync(bench.path('a.log'), ' three\nB\n');
  await bench.start();
  await bench.drain();
  await bench.pass(6);
  expect(eventsOf(bench.lane).sort()).toEqual([' three', 'A one\n two', 'B']);
});

test('files that are merely alike by name are not joined', async () => {
  const bench = new TailBench({ multiline, include: [] });
  const all = new TailBench({ multiline, include: [bench.path('*')] }, bench.folder);
  writeFileSync(all.path('worker'), ' rest\nA\n one\n');
  writeFileSync(all.path('worker-1'), ' rest\nB\n one\n');
  writeFileSync(all.path('worker-2'), ' rest\nC\n one\n');
  await all.start();
  await all.drain();
  await all.pass(6);
  expect(eventsOf(all.lane).sort()).toEqual([' rest', ' rest', ' rest', 'A\n one', 'B\n one', 'C\n one']);
});

test('unfinished last line of a rotated file is sent with its event, and nothing is joined to it', async () => {
  const bench = await rotated({}, 'A one\n tw');
  writeFileSync(bench.path('a.log'), ' three\nB\n');
  await bench.drain();
  await bench.pass(11);
  expect(eventsOf(bench.lane).sort()).toEqual([' three', 'A one\n tw', 'B']);
});

test('spans of an event over a rotation are read again as the same event, or by themselves', async () => {
  const bench = await rotated({}, 'Z\nA one\n two\n');
  writeFileSync(bench.path('a.log'), ' three\n four\nB\n');
  await bench.drain();
  const block = bench.lane.blocks.at(-1)!;
  const span = { source: 'app', stream: block.stream, from: 2, to: 13, events: 1, ...block.single! };
  const rest = { source: 'app', events: 0, ...block.continued![0]! };
  const lane = new LaneDouble();
  expect(await bench.source.reread!(span, lane, [rest])).toBe(span.to);
  expect(eventsOf(lane)).toEqual(['A one\n two\n three\n four']);
  expect(lane.blocks[0]).toMatchObject({ single: block.single, continued: block.continued });
  const alone = new LaneDouble();
  expect(await bench.source.reread!(rest, alone)).toBe(rest.to);
  expect(eventsOf(alone)).toEqual([' three\n four']);
  // By other rules it is no such event any more.
  await bench.start({ multiline: { ...multiline, maxLines: 3 } });
  expect(await bench.source.reread!(span, new LaneDouble(), [rest])).toBe(span.from);
  rmSync(bench.path('a.log'));
  writeFileSync(bench.path('a.log'), '');
  expect(await bench.source.reread!(span, new LaneDouble(), [{ ...rest, to: 100 }])).toBe(span.from);
});

test('pieces of a container message that a rotation cut are put together', async () => {
  const T = '2026-11-21T10:15:00Z';
  const bench = await rotated({ format: 'cri', multiline: undefined }, `${T} stdout F whole\n${T} stdout P first \n`);
  writeFileSync(bench.path('a.log'), `${T} stderr F other\n${T} stdout F last\n${T} stdout F next\n`);
  await bench.drain();
  const messages = eventsOf(bench.lane).map((text) => (JSON.parse(text) as { message: string }).message);
  expect(messages).toEqual(['whole', 'first last', 'other', 'next']);
});

test('traces in container messages are joined over a rotation', async () => {
  const T = '2026-11-21T10:15:00Z';
  const bench = await rotated({ format: 'cri' }, `${T} stdout F A\n${T} stdout F  one\n`);
  writeFileSync(bench.path('a.log'), `${T} stdout F  two\n${T} stdout F B\n`);
  await bench.drain();
  expect(eventsOf(bench.lane).map((text) => (JSON.parse(text) as { message: string }).message)).toEqual(['A\n one\n two']);
});

test('utf-16 files with byte order marks are joined without the second mark, files in different encodings are not', async () => {
  const utf16 = (text: string): Buffer => Buffer.from(`\ufeff${text}`, 'utf16le');
  const bench = new TailBench({ multiline });
  writeFileSync(bench.path('a.log'), utf16('A ü\n two\n'));
  writeFileSync(bench.path('b.log'), 'A ü\n two\n');
  await bench.start();
  await bench.drain();
  for (const name of ['a.log', 'b.log']) {
    renameSync(bench.path(name), bench.path(`${name}.1`));
    writeFileSync(bench.path(name), utf16(' three €\nB\n'));
  }
  await bench.drain();
  await bench.pass(6);
  expect(eventsOf(bench.lane).sort()).toEqual([' three €', 'A ü\n two', 'A ü\n two\n three €', 'B', 'B'].sort());
  const joined = bench.lane.blocks.find(({ continued }) => continued)!;
  expect(joined.continued![0]!.to).toBe(2 + 2 * ' three €\n'.length);
});

test('csv records are not joined over a rotation', async () => {
  const bench = await rotated({ format: 'csv', multiline: undefined }, 'a,b\n1,"2\n');
  writeFileSync(bench.path('a.log'), 'a,b\n3,4\n');
  await bench.drain();
  await bench.pass(6);
  expect(eventsOf(bench.lane)).toContain('{"a":"3","b":"4"}');
});

test('event over a rotation that the lane refuses is read again', async () => {
  const bench = await rotated();
  writeFileSync(bench.path('a.log'), ' three\nB\n');
  await bench.source.pollOnce();
  bench.lane.hold();
  const polled = bench.source.readRound();
  await bench.lane.until(({ waiting }) => waiting > 0);
  bench.lane.giveUp();
  await expect(polled).rejects.toThrow();
  await bench.start();
  await bench.drain();
  expect(eventsOf(bench.lane)).toEqual(['A one\n two\n three']);
});

test('with --once everything is read, events over a rotation joined', async () => {
  const bench = await rotated({}, 'Z\nA one\n two\n');
  bench.commit();
  writeFileSync(bench.path('a.log'), ' three\n fo');
  await bench.start({ once: true });
  await bench.source.run();
  expect(eventsOf(bench.lane)).toEqual(['A one\n two\n three', ' fo']);
});

test('timeout of joined lines holds where it is longer than that of unfinished ones', async () => {
  const bench = new TailBench({ multiline: { ...multiline, timeoutMs: 30_000 }, partialTimeoutMs: 5000 });
  writeFileSync(bench.path('a.log'), 'A one\n two\n');
  await bench.start();
  await bench.pass(20);
  expect(eventsOf(bench.lane)).toEqual([]);
  await bench.pass(15);
  expect(eventsOf(bench.lane)).toEqual(['A one\n two']);
});

/** The lane holds the event while the next file is changed; then everything is read. */
async function changeWhileTaken(change: (path: string) => void): Promise<TailBench> {
  const bench = await rotated();
  writeFileSync(bench.path('a.log'), ' three\nB\n');
  await bench.source.pollOnce();
  bench.lane.hold();
  const reading = bench.source.readRound();
  await bench.lane.until(({ waiting }) => waiting > 0);
  change(bench.path('a.log'));
  await bench.source.scanOnce();
  bench.lane.release();
  await reading;
  await bench.drain();
  await bench.pass(12);
  return bench;
}

test('next file that is removed while the event is taken is read on behind it', async () => {
  const bench = await changeWhileTaken((path) => rmSync(path));
  expect(eventsOf(bench.lane)).toEqual(['A one\n two\n three', 'B']);
  expect(bench.source.stats.lostBytes).toBe(0);
});

test('next file that is truncated while the event is taken begins anew', async () => {
  const bench = await changeWhileTaken((path) => writeFileSync(path, 'C new\n'));
  expect(eventsOf(bench.lane)).toEqual(['A one\n two\n three', 'C new']);
  expect(bench.source.stats.lostBytes).toBe('B\n'.length);
});

test('files that are rotated away between being found and being opened are joined in the order in which they were made', async () => {
  const bench = new TailBench({ multiline: { ...multiline, timeoutMs: 60_000 } });
  const log = bench.path('a.log');
  let rotate: (() => void) | undefined;
  const fileSystem = failingFileSystem((real) => ({
    open(path) {
      const act = path === log ? rotate : undefined;
      rotate = act ? undefined : rotate;
      act?.();
      return real.open(path);
    },
  }));
  writeFileSync(log, 'A one\n');
  await bench.start({ fileSystem });
  await bench.drain();
  renameSync(log, `${log}.1`);
  bench.bornNow();
  writeFileSync(log, ' two\n');
  rotate = () => {
    for (const [n, text] of [' three\n', ' four\nB\n more\n'].entries()) {
      renameSync(log, `${log}.${n + 2}`);
      bench.bornNow();
      writeFileSync(log, text);
    }
    renameSync(log, `${log}.4`);
  };
  await bench.source.scanOnce();
  bench.bornNow();
  writeFileSync(log, ' and more\nC\n');
  await bench.drain();
  expect(eventsOf(bench.lane)).toEqual(['A one\n two\n three\n four', 'B\n more\n and more']);
});
