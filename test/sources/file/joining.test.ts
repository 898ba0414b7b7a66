/** Joined lines over a rotation: an event that began in one file and goes on in the next is one event, and nothing else is. */
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { LaneDouble } from '../lane-double.ts';
import { type RigOptions, failingFileSystem, TailRig } from './tail-rig.ts';
import { scenario } from './scenario.ts';
import type { Value } from './steps.ts';

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

/** A test that is a scenario behind such a rotation. */
function rotatedScenario(name: string, ...begin: Parameters<typeof rotated>): (strings: TemplateStringsArray, ...values: Value[]) => void {
  return (strings, ...values) => test(name, async () => (await rotated(...begin)).play(strings, ...values));
}

test('event that a rename rotation cuts is one event', async () => {
  const rig = await rotated();
  await rig.play`write a.log " three" " four" "B next"; drain; events "A one\n two\n three\n four"`;
  const [block] = rig.lane.blocks;
  expect(block).toMatchObject({ offset: 0, length: 11, continued: [{ from: 0, to: 13 }] });
  await rig.play`pass 6; events "A one\n two\n three\n four" "B next"`;
  expect(rig.lane.blocks[1]).toMatchObject({ stream: block!.continued![0]!.stream, offset: 13 });
  expect(rig.source.stats).toMatchObject({ readBytes: 31, lagBytes: 0, lostBytes: 0 });
});

rotatedScenario('event goes on in the next file also when that is empty for a while')`
  write a.log; pass 2; append a.log " th…"; pass 1; append a.log ree; pass 1; no-events; append a.log B; pass 1
  events "A one\n two\n three"
`;

test('file that begins with an event of its own does not wait for the file before', async () => {
  const rig = await rotated();
  await rig.play`write a.log "B one" " two" C; pass 1; events "B one\n two"; pass 6; events-any "A one\n two" "B one\n two" C`;
  expect(rig.lane.blocks.every(({ continued }) => continued === undefined)).toBe(true);
});

rotatedScenario('lines that come after the timeout are no part of the event before the rotation')`
  write a.log; pass 6; events "A one\n two"; append a.log " three" B; pass 1; events "A one\n two" " three"
`;

rotatedScenario('event over a rotation is sent when nothing follows it for the timeout')`
  write a.log " three"; pass 3; append a.log " four" " unfinished…"; pass 4; no-events; pass 3
  events "A one\n two\n three\n four" " unfinished"
`;

test.each([
  ['maxLines', { maxLines: 3 }, ['A one\n two\n three', ' four\n five']],
  ['maxBytes', { maxBytes: 20 }, ['A one\n two\n three', ' four\n five']],
])('%s holds over a rotation', async (_, limits, expected) => {
  const rig = await rotated({ multiline: { ...multiline, ...limits } });
  await rig.play`write a.log " three" " four" " five" B; drain; events ${expected}`;
});

test('line over the limit in the next file ends the event', async () => {
  const rig = await rotated({ maxEventBytes: 64 });
  await rig.play`write a.log ${` three\n${'x'.repeat(1000)}\nB\n`}; drain; events "A one\n two\n three" ${'x'.repeat(64)}`;
});

test('event that takes too much as UTF-8 is cut over a rotation, too, and both files go on behind it', async () => {
  const rig = await rotated({ maxEventBytes: 64 }, Buffer.from(`A ${'\xff'.repeat(10)}\n`, 'latin1'));
  await rig.play`write a.log ${Buffer.from(` ${'\xff'.repeat(20)}\nB\nC\n`, 'latin1')}; drain`;
  const [block] = rig.lane.blocks;
  expect(block!.single!.marks).toMatchObject({ truncated: true });
  expect(block!.continued).toMatchObject([{ from: 0, to: 22 }]);
  expect(eventsOf(rig.lane).at(-1)).toBe('B');
});

test('event goes on over several rotations between two looks', async () => {
  const rig = await rotated();
  await rig.play`mv a.log.1 a.log.2; born; write a.log.1 " three"; born; write a.log " four" B; drain; events "A one\n two\n three\n four"`;
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

scenario('event that a copytruncate rotation cuts is one event', { multiline })`
  write a.log "Z zero" "A one" " two"; start; drain; cp a.log a.log.1; cut a.log; append a.log " three" B; drain
  events "Z zero" "A one\n two\n three"; lost 0
`;

rotatedScenario('event of a deleted file goes on in the one that was made in its place')`
  scan; rm a.log.1; write a.log " three" B; drain; events "A one\n two\n three"
`;

rotatedScenario('event that a rotation cut is joined after a restart, before or after it was read', {}, 'Z\nA one\n two\n')`
  commit; write a.log " three" B; start; drain; events "A one\n two\n three"
  // Not committed: all of it once more.
  start; drain; events "A one\n two\n three"; commit; start; pass 6; events B
`;

test('event is not joined with a file that came so late after it that it was over', async () => {
  const rig = await rotated({ multiline: { ...multiline, timeoutMs: 100 } });
  for (const until = Date.now() + 200; Date.now() < until;);
  await rig.play`write a.log " three" B; start; drain; pass 6; events-any " three" "A one\n two" B`;
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

rotatedScenario('unfinished last line of a rotated file is sent with its event, and nothing is joined to it', {}, 'A one\n tw')`
  write a.log " three" B; drain; pass 11; events-any " three" "A one\n tw" B
`;

test('spans of an event over a rotation are read again as the same event, or by themselves', async () => {
  const rig = await rotated({}, 'Z\nA one\n two\n');
  await rig.play`write a.log " three" " four" B; drain`;
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
  await rig.play`rm a.log; write a.log`;
  expect(await rig.source.reread!(span, new LaneDouble(), [{ ...rest, to: 100 }])).toBe(span.from);
});

test('pieces of a container message that a rotation cut are put together', async () => {
  const T = '2026-11-21T10:15:00Z';
  const rig = await rotated({ format: 'cri', multiline: undefined }, `${T} stdout F whole\n${T} stdout P first \n`);
  await rig.play`write a.log ${`${T} stderr F other\n${T} stdout F last\n${T} stdout F next\n`}; drain`;
  const messages = eventsOf(rig.lane).map((text) => (JSON.parse(text) as { message: string }).message);
  expect(messages).toEqual(['whole', 'first last', 'other', 'next']);
});

test('traces in container messages are joined over a rotation', async () => {
  const T = '2026-11-21T10:15:00Z';
  const rig = await rotated({ format: 'cri' }, `${T} stdout F A\n${T} stdout F  one\n`);
  await rig.play`write a.log ${`${T} stdout F  two\n${T} stdout F B\n`}; drain`;
  expect(eventsOf(rig.lane).map((text) => (JSON.parse(text) as { message: string }).message)).toEqual(['A\n one\n two']);
});

test('utf-16 files with byte order marks are joined without the second mark, files in different encodings are not', async () => {
  const utf16 = (text: string): Buffer => Buffer.from(`\ufeff${text}`, 'utf16le');
  const rig = new TailRig({ multiline });
  await rig.play`write a.log ${utf16('A ü\n two\n')}; write b.log "A ü" " two"; start; drain`;
  for (const name of ['a.log', 'b.log']) {
    renameSync(rig.path(name), rig.path(`${name}.1`));
    writeFileSync(rig.path(name), utf16(' three €\nB\n'));
  }
  await rig.play`drain; pass 6; events-any " three €" "A ü\n two" "A ü\n two\n three €" B B`;
  const joined = rig.lane.blocks.find(({ continued }) => continued)!;
  expect(joined.continued![0]!.to).toBe(2 + 2 * ' three €\n'.length);
});

test('csv records are not joined over a rotation', async () => {
  const rig = await rotated({ format: 'csv', multiline: undefined }, 'a,b\n1,"2\n');
  await rig.play`write a.log "a,b" "3,4"; drain; pass 6`;
  expect(eventsOf(rig.lane)).toContain('{"a":"3","b":"4"}');
});

test('event over a rotation that the lane refuses is read again', async () => {
  const rig = await rotated();
  await rig.play`write a.log " three" B; poll`;
  rig.lane.hold();
  const polled = rig.source.readRound();
  await rig.lane.until(({ waiting }) => waiting > 0);
  rig.lane.giveUp();
  await expect(polled).rejects.toThrow();
  await rig.play`start; drain; events "A one\n two\n three"`;
});

rotatedScenario('with --once everything is read, events over a rotation joined', {}, 'Z\nA one\n two\n')`
  commit; write a.log " three" " fo…"; start once; run; events "A one\n two\n three" " fo"
`;

scenario('timeout of joined lines holds where it is longer than that of unfinished ones', {
  multiline: { ...multiline, timeoutMs: 30_000 },
  partialTimeoutMs: 5000,
})`
  write a.log "A one" " two"; start; pass 20; no-events; pass 15; events "A one\n two"
`;

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
  await rig.play`events "A one\n two\n three" B; lost 0`;
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
  await rig.play`drain; mv a.log a.log.1; born; write a.log " two"`;
  rotate = () => {
    for (const [n, text] of [' three\n', ' four\nB\n more\n'].entries()) {
      renameSync(log, `${log}.${n + 2}`);
      rig.bornNow();
      writeFileSync(log, text);
    }
    renameSync(log, `${log}.4`);
  };
  await rig.play`scan; born; write a.log " and more" C; drain; events "A one\n two\n three\n four" "B\n more\n and more"`;
});
