/** Joined lines over a rotation: an event that began in one file and goes on in the next is one event, and nothing else is. */
import { appendFileSync, copyFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { LaneDouble } from '../lane-double.ts';
import { type RigOptions, failingFileSystem, TailRig } from './tail-rig.ts';

const multiline = { kind: 'start', pattern: '^[A-Z]', timeoutMs: 5000, maxLines: 1000, maxBytes: Infinity } as const;

/** The text of each event, joined lines as one. */
function eventsOf(lane: LaneDouble): string[] {
  return lane.blocks.flatMap(({ events }) => events.map((event) => event.toString())).filter((text) => text !== '');
}

/** A file that was read, and rotated away within an event. */
async function rotated(options: RigOptions = {}, text: string | Buffer = 'A one\n two\n'): Promise<TailRig> {
  const rig = new TailRig({ multiline, ...options });
  writeFileSync(rig.path('a.log'), text);
  await rig.start();
  await rig.drain();
  renameSync(rig.path('a.log'), rig.path('a.log.1'));
  return rig;
}

test('event that a rename rotation cuts is one event', async () => {
  const rig = await rotated();
  writeFileSync(rig.path('a.log'), ' three\n four\nB next\n');
  await rig.drain();
  expect(eventsOf(rig.lane)).toEqual(['A one\n two\n three\n four']);
  const [block] = rig.lane.blocks;
  expect(block).toMatchObject({ offset: 0, length: 11, continued: [{ from: 0, to: 13 }] });
  await rig.pass(6);
  expect(eventsOf(rig.lane)).toEqual(['A one\n two\n three\n four', 'B next']);
  expect(rig.lane.blocks[1]).toMatchObject({ stream: block!.continued![0]!.stream, offset: 13 });
  expect(rig.source.stats).toMatchObject({ readBytes: 31, lagBytes: 0, lostBytes: 0 });
});

test('event goes on in the next file also when that is empty for a while', async () => {
  const rig = await rotated();
  writeFileSync(rig.path('a.log'), '');
  await rig.pass(2);
  appendFileSync(rig.path('a.log'), ' th');
  await rig.pass(1);
  appendFileSync(rig.path('a.log'), 'ree\n');
  await rig.pass(1);
  expect(eventsOf(rig.lane)).toEqual([]);
  appendFileSync(rig.path('a.log'), 'B\n');
  await rig.pass(1);
  expect(eventsOf(rig.lane)).toEqual(['A one\n two\n three']);
});

test('file that begins with an event of its own does not wait for the file before', async () => {
  const rig = await rotated();
  writeFileSync(rig.path('a.log'), 'B one\n two\nC\n');
  await rig.pass(1);
  expect(eventsOf(rig.lane)).toEqual(['B one\n two']);
  await rig.pass(6);
  expect(eventsOf(rig.lane).sort()).toEqual(['A one\n two', 'B one\n two', 'C']);
  expect(rig.lane.blocks.every(({ continued }) => continued === undefined)).toBe(true);
});

test('lines that come after the timeout are no part of the event before the rotation', async () => {
  const rig = await rotated();
  writeFileSync(rig.path('a.log'), '');
  await rig.pass(6);
  expect(eventsOf(rig.lane)).toEqual(['A one\n two']);
  appendFileSync(rig.path('a.log'), ' three\nB\n');
  await rig.pass(1);
  expect(eventsOf(rig.lane)).toEqual(['A one\n two', ' three']);
});

test('event over a rotation is sent when nothing follows it for the timeout', async () => {
  const rig = await rotated();
  writeFileSync(rig.path('a.log'), ' three\n');
  await rig.pass(3);
  appendFileSync(rig.path('a.log'), ' four\n unfinished');
  await rig.pass(4);
  expect(eventsOf(rig.lane)).toEqual([]);
  await rig.pass(3);
  expect(eventsOf(rig.lane)).toEqual(['A one\n two\n three\n four', ' unfinished']);
});

test.each([
  ['maxLines', { maxLines: 3 }, ['A one\n two\n three', ' four\n five']],
  ['maxBytes', { maxBytes: 20 }, ['A one\n two\n three', ' four\n five']],
])('%s holds over a rotation', async (_, limits, expected) => {
  const rig = await rotated({ multiline: { ...multiline, ...limits } });
  writeFileSync(rig.path('a.log'), ' three\n four\n five\nB\n');
  await rig.drain();
  expect(eventsOf(rig.lane)).toEqual(expected);
});

test('line over the limit in the next file ends the event', async () => {
  const rig = await rotated({ maxEventBytes: 64 });
  writeFileSync(rig.path('a.log'), ` three\n${'x'.repeat(1000)}\nB\n`);
  await rig.drain();
  expect(eventsOf(rig.lane)).toEqual(['A one\n two\n three', 'x'.repeat(64)]);
});

test('event that takes too much as UTF-8 is cut over a rotation, too, and both files go on behind it', async () => {
  const rig = await rotated({ maxEventBytes: 64 }, Buffer.from(`A ${'\xff'.repeat(10)}\n`, 'latin1'));
  writeFileSync(rig.path('a.log'), Buffer.from(` ${'\xff'.repeat(20)}\nB\nC\n`, 'latin1'));
  await rig.drain();
  const [block] = rig.lane.blocks;
  expect(block!.single!.marks).toMatchObject({ truncated: true });
  expect(block!.continued).toMatchObject([{ from: 0, to: 22 }]);
  expect(eventsOf(rig.lane).at(-1)).toBe('B');
});

test('event goes on over several rotations between two looks', async () => {
  const rig = await rotated();
  renameSync(rig.path('a.log.1'), rig.path('a.log.2'));
  rig.bornNow();
  writeFileSync(rig.path('a.log.1'), ' three\n');
  rig.bornNow();
  writeFileSync(rig.path('a.log'), ' four\nB\n');
  await rig.drain();
  expect(eventsOf(rig.lane)).toEqual(['A one\n two\n three\n four']);
  expect(rig.lane.blocks[0]!.continued).toMatchObject([{ to: 7 }, { to: 6 }]);
});

test('event goes on in the file that was rotated away unseen, not in the one behind it', async () => {
  const rig = await rotated({ include: ['*.log*'] });
  const all = new TailRig({ multiline, include: [rig.path('*.log*')] }, rig.folder);
  rmSync(rig.path('a.log.1'));
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
  const rig = new TailRig({ multiline });
  writeFileSync(rig.path('a.log'), 'Z zero\nA one\n two\n');
  await rig.start();
  await rig.drain();
  copyFileSync(rig.path('a.log'), rig.path('a.log.1'));
  truncateSync(rig.path('a.log'));
  appendFileSync(rig.path('a.log'), ' three\nB\n');
  await rig.drain();
  expect(eventsOf(rig.lane)).toEqual(['Z zero', 'A one\n two\n three']);
  expect(rig.source.stats.lostBytes).toBe(0);
});

test('event of a deleted file goes on in the one that was made in its place', async () => {
  const rig = await rotated();
  await rig.source.scanOnce();
  rmSync(rig.path('a.log.1'));
  writeFileSync(rig.path('a.log'), ' three\nB\n');
  await rig.drain();
  expect(eventsOf(rig.lane)).toEqual(['A one\n two\n three']);
});

test('event that a rotation cut is joined after a restart, before or after it was read', async () => {
  const rig = await rotated({}, 'Z\nA one\n two\n');
  rig.commit();
  writeFileSync(rig.path('a.log'), ' three\nB\n');
  await rig.start();
  await rig.drain();
  expect(eventsOf(rig.lane)).toEqual(['A one\n two\n three']);
  // Not committed: all of it once more.
  await rig.start();
  await rig.drain();
  expect(eventsOf(rig.lane)).toEqual(['A one\n two\n three']);
  rig.commit();
  await rig.start();
  await rig.pass(6);
  expect(eventsOf(rig.lane)).toEqual(['B']);
});

test('event is not joined with a file that came so late after it that it was over', async () => {
  const rig = await rotated({ multiline: { ...multiline, timeoutMs: 100 } });
  for (const until = Date.now() + 200; Date.now() < until;);
  writeFileSync(rig.path('a.log'), ' three\nB\n');
  await rig.start();
  await rig.drain();
  await rig.pass(6);
  expect(eventsOf(rig.lane).sort()).toEqual([' three', 'A one\n two', 'B']);
});

test('files that are merely alike by name are not joined', async () => {
  const rig = new TailRig({ multiline, include: [] });
  const all = new TailRig({ multiline, include: [rig.path('*')] }, rig.folder);
  writeFileSync(all.path('worker'), ' rest\nA\n one\n');
  writeFileSync(all.path('worker-1'), ' rest\nB\n one\n');
  writeFileSync(all.path('worker-2'), ' rest\nC\n one\n');
  await all.start();
  await all.drain();
  await all.pass(6);
  expect(eventsOf(all.lane).sort()).toEqual([' rest', ' rest', ' rest', 'A\n one', 'B\n one', 'C\n one']);
});

test('unfinished last line of a rotated file is sent with its event, and nothing is joined to it', async () => {
  const rig = await rotated({}, 'A one\n tw');
  writeFileSync(rig.path('a.log'), ' three\nB\n');
  await rig.drain();
  await rig.pass(11);
  expect(eventsOf(rig.lane).sort()).toEqual([' three', 'A one\n tw', 'B']);
});

test('spans of an event over a rotation are read again as the same event, or by themselves', async () => {
  const rig = await rotated({}, 'Z\nA one\n two\n');
  writeFileSync(rig.path('a.log'), ' three\n four\nB\n');
  await rig.drain();
  const block = rig.lane.blocks.at(-1)!;
  const span = { source: 'app', stream: block.stream, from: 2, to: 13, events: 1, ...block.single! };
  const rest = { source: 'app', events: 0, ...block.continued![0]! };
  const lane = new LaneDouble();
  expect(await rig.source.reread!(span, lane, [rest])).toBe(span.to);
  expect(eventsOf(lane)).toEqual(['A one\n two\n three\n four']);
  expect(lane.blocks[0]).toMatchObject({ single: block.single, continued: block.continued });
  const alone = new LaneDouble();
  expect(await rig.source.reread!(rest, alone)).toBe(rest.to);
  expect(eventsOf(alone)).toEqual([' three\n four']);
  // By other rules it is no such event any more.
  await rig.start({ multiline: { ...multiline, maxLines: 3 } });
  expect(await rig.source.reread!(span, new LaneDouble(), [rest])).toBe(span.from);
  rmSync(rig.path('a.log'));
  writeFileSync(rig.path('a.log'), '');
  expect(await rig.source.reread!(span, new LaneDouble(), [{ ...rest, to: 100 }])).toBe(span.from);
});

test('pieces of a container message that a rotation cut are put together', async () => {
  const T = '2026-11-21T10:15:00Z';
  const rig = await rotated({ format: 'cri', multiline: undefined }, `${T} stdout F whole\n${T} stdout P first \n`);
  writeFileSync(rig.path('a.log'), `${T} stderr F other\n${T} stdout F last\n${T} stdout F next\n`);
  await rig.drain();
  const messages = eventsOf(rig.lane).map((text) => (JSON.parse(text) as { message: string }).message);
  expect(messages).toEqual(['whole', 'first last', 'other', 'next']);
});

test('traces in container messages are joined over a rotation', async () => {
  const T = '2026-11-21T10:15:00Z';
  const rig = await rotated({ format: 'cri' }, `${T} stdout F A\n${T} stdout F  one\n`);
  writeFileSync(rig.path('a.log'), `${T} stdout F  two\n${T} stdout F B\n`);
  await rig.drain();
  expect(eventsOf(rig.lane).map((text) => (JSON.parse(text) as { message: string }).message)).toEqual(['A\n one\n two']);
});

test('utf-16 files with byte order marks are joined without the second mark, files in different encodings are not', async () => {
  const utf16 = (text: string): Buffer => Buffer.from(`\ufeff${text}`, 'utf16le');
  const rig = new TailRig({ multiline });
  writeFileSync(rig.path('a.log'), utf16('A ü\n two\n'));
  writeFileSync(rig.path('b.log'), 'A ü\n two\n');
  await rig.start();
  await rig.drain();
  for (const name of ['a.log', 'b.log']) {
    renameSync(rig.path(name), rig.path(`${name}.1`));
    writeFileSync(rig.path(name), utf16(' three €\nB\n'));
  }
  await rig.drain();
  await rig.pass(6);
  expect(eventsOf(rig.lane).sort()).toEqual([' three €', 'A ü\n two', 'A ü\n two\n three €', 'B', 'B'].sort());
  const joined = rig.lane.blocks.find(({ continued }) => continued)!;
  expect(joined.continued![0]!.to).toBe(2 + 2 * ' three €\n'.length);
});

test('csv records are not joined over a rotation', async () => {
  const rig = await rotated({ format: 'csv', multiline: undefined }, 'a,b\n1,"2\n');
  writeFileSync(rig.path('a.log'), 'a,b\n3,4\n');
  await rig.drain();
  await rig.pass(6);
  expect(eventsOf(rig.lane)).toContain('{"a":"3","b":"4"}');
});

test('event over a rotation that the lane refuses is read again', async () => {
  const rig = await rotated();
  writeFileSync(rig.path('a.log'), ' three\nB\n');
  await rig.source.pollOnce();
  rig.lane.hold();
  const polled = rig.source.readRound();
  await rig.lane.until(({ waiting }) => waiting > 0);
  rig.lane.giveUp();
  await expect(polled).rejects.toThrow();
  await rig.start();
  await rig.drain();
  expect(eventsOf(rig.lane)).toEqual(['A one\n two\n three']);
});

test('with --once everything is read, events over a rotation joined', async () => {
  const rig = await rotated({}, 'Z\nA one\n two\n');
  rig.commit();
  writeFileSync(rig.path('a.log'), ' three\n fo');
  await rig.start({ once: true });
  await rig.source.run();
  expect(eventsOf(rig.lane)).toEqual(['A one\n two\n three', ' fo']);
});

test('timeout of joined lines holds where it is longer than that of unfinished ones', async () => {
  const rig = new TailRig({ multiline: { ...multiline, timeoutMs: 30_000 }, partialTimeoutMs: 5000 });
  writeFileSync(rig.path('a.log'), 'A one\n two\n');
  await rig.start();
  await rig.pass(20);
  expect(eventsOf(rig.lane)).toEqual([]);
  await rig.pass(15);
  expect(eventsOf(rig.lane)).toEqual(['A one\n two']);
});

/** The lane holds the event while the next file is changed; then everything is read. */
async function changeWhileTaken(change: (path: string) => void): Promise<TailRig> {
  const rig = await rotated();
  writeFileSync(rig.path('a.log'), ' three\nB\n');
  await rig.source.pollOnce();
  rig.lane.hold();
  const reading = rig.source.readRound();
  await rig.lane.until(({ waiting }) => waiting > 0);
  change(rig.path('a.log'));
  await rig.source.scanOnce();
  rig.lane.release();
  await reading;
  await rig.drain();
  await rig.pass(12);
  return rig;
}

test('next file that is removed while the event is taken is read on behind it', async () => {
  const rig = await changeWhileTaken((path) => rmSync(path));
  expect(eventsOf(rig.lane)).toEqual(['A one\n two\n three', 'B']);
  expect(rig.source.stats.lostBytes).toBe(0);
});

test('next file that is truncated while the event is taken begins anew', async () => {
  const rig = await changeWhileTaken((path) => writeFileSync(path, 'C new\n'));
  expect(eventsOf(rig.lane)).toEqual(['A one\n two\n three', 'C new']);
  expect(rig.source.stats.lostBytes).toBe('B\n'.length);
});

test('files that are rotated away between being found and being opened are joined in the order in which they were made', async () => {
  const rig = new TailRig({ multiline: { ...multiline, timeoutMs: 60_000 } });
  const log = rig.path('a.log');
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
  await rig.start({ fileSystem });
  await rig.drain();
  renameSync(log, `${log}.1`);
  rig.bornNow();
  writeFileSync(log, ' two\n');
  rotate = () => {
    for (const [n, text] of [' three\n', ' four\nB\n more\n'].entries()) {
      renameSync(log, `${log}.${n + 2}`);
      rig.bornNow();
      writeFileSync(log, text);
    }
    renameSync(log, `${log}.4`);
  };
  await rig.source.scanOnce();
  rig.bornNow();
  writeFileSync(log, ' and more\nC\n');
  await rig.drain();
  expect(eventsOf(rig.lane)).toEqual(['A one\n two\n three\n four', 'B\n more\n and more']);
});
