/** Formats, charsets and joined lines of files: over turns, restarts and rotations, with positions in the file's own bytes. */

import { expect, test } from 'vitest';
import { LaneDouble } from '../lane-double.ts';
import { TailRig } from './tail-rig.ts';

const multiline = { kind: 'start', pattern: '^[A-Z]', timeoutMs: 5000, maxLines: 1000, maxBytes: Infinity } as const;

/** The text of each event, joined lines as one. */
function eventsOf(lane: LaneDouble): string[] {
  return lane.blocks.flatMap(({ events }) => events.map((event) => event.toString()));
}

test('joined lines are read again until their event is over, and then come once', async () => {
  const rig = new TailRig({ multiline });
  await rig.play`write a.log "A first" " second"; start; drain`;
  expect(eventsOf(rig.lane)).toEqual([]);
  await rig.play`lag 16; append a.log " third" "B next"; drain`;
  expect(eventsOf(rig.lane)).toEqual(['A first\n second\n third']);
  expect(rig.lane.blocks[0]).toMatchObject({ offset: 0, length: 23 });
});

test('joined lines of an event that is not over are read again after a restart', async () => {
  const rig = new TailRig({ multiline });
  await rig.play`write a.log "A one" "B two" " more"; start; drain; commit`;
  expect(eventsOf(rig.lane)).toEqual(['A one']);
  await rig.play`start; append a.log " and more" C; drain`;
  expect(eventsOf(rig.lane)).toEqual(['B two\n more\n and more']);
});

test('joined lines are sent when nothing follows them for the timeout, the unfinished line only later', async () => {
  const rig = new TailRig({ multiline: { ...multiline, timeoutMs: 3000 }, partialTimeoutMs: 60_000 });
  await rig.play`write a.log "A one" " more" " unfin…"; start; drain; pass 1`;
  expect(eventsOf(rig.lane)).toEqual([]);
  await rig.pass(2);
  expect(eventsOf(rig.lane)).toEqual(['A one\n more']);
  await rig.play`append a.log ished B; drain`;
  expect(eventsOf(rig.lane)).toEqual(['A one\n more', ' unfinished']);
});

test('joined lines at the end of a rotated file are sent, also the unfinished one', async () => {
  const rig = new TailRig({ multiline, once: true });
  await rig.play`write a.log "A one" " more" " last…"; start; run`;
  expect(eventsOf(rig.lane)).toEqual(['A one\n more\n last']);
});

test('span of joined lines is read again as the same events', async () => {
  const rig = new TailRig({ multiline });
  await rig.play`write a.log "A one" " more" "B two" "C three" " four" D; start; drain`;
  const [block] = rig.lane.blocks;
  expect(eventsOf(rig.lane)).toEqual(['A one\n more', 'B two', 'C three\n four']);
  const lane = new LaneDouble();
  const span = { source: 'app', stream: block!.stream, from: 12, to: 32, events: 2, sum: 0, tail: { length: 0, crc: 0 } };
  expect(await rig.source.reread!(span, lane)).toBe(span.to);
  expect(eventsOf(lane)).toEqual(['B two', 'C three\n four']);
});

test('csv finds the columns of each file again, from turn to turn and after a restart', async () => {
  const rig = new TailRig({ format: 'csv' });
  const parsed = (): unknown[] =>
    eventsOf(rig.lane)
      .filter((text) => text !== '')
      .map((text) => JSON.parse(text) as unknown);
  await rig.play`write a.log "a,b" "1,2"; write b.log "x;y,z" "3,4"; start; drain; append a.log ${'5,"6\n'}; append b.log "7,8"; drain`;
  expect(parsed()).toEqual([
    { a: '1', b: '2' },
    { 'x;y': '3', z: '4' },
    { 'x;y': '7', z: '8' },
  ]);
  await rig.play`commit; start; append a.log ${'7"\n9,10\n'}; drain`;
  expect(parsed()).toEqual([
    { a: '5', b: '6\n7' },
    { a: '9', b: '10' },
  ]);
  expect(rig.source.stats.slowPathEvents).toBe(2);
});

test('utf-16 with a byte order mark is read on in its middle, by the mark at its beginning', async () => {
  const rig = new TailRig();
  const utf16 = (text: string): Buffer => Buffer.from(text, 'utf16le');
  await rig.play`write a.log ${utf16('\ufeffÄrger\r\nzwei €\r\nhal')}; start; drain`;
  expect(eventsOf(rig.lane)).toEqual(['Ärger', 'zwei €']);
  await rig.play`commit; start; append a.log ${utf16('b\nü\n')}; drain`;
  expect(eventsOf(rig.lane)).toEqual(['halb', 'ü']);
  expect(rig.lane.blocks.at(-1)).toMatchObject({ offset: 2 + utf16('Ärger\r\nzwei €\r\n').length });
  expect(rig.source.stats.lagBytes).toBe(0);
});

test('utf-16 line over the limit that grows from turn to turn is cut between its characters', async () => {
  const rig = new TailRig({ charset: 'utf-16be', maxEventBytes: 1024 });
  const utf16 = (text: string): Buffer => Buffer.from(text, 'utf16le').swap16();
  await rig.play`write a.log ${utf16('😀'.repeat(300))}; start`;
  for (let n = 0; n < 5; n += 1) {
    await rig.play`drain; append a.log ${utf16('é'.repeat(400))}`;
  }
  await rig.play`append a.log ${utf16('\nnext\n')}; drain`;
  const [cut, next] = eventsOf(rig.lane);
  expect(cut).toBe('😀'.repeat(256));
  expect(next).toBe('next');
  expect(rig.lane.blocks[0]!.single!.marks).toEqual({ truncated: true, original_bytes: 300 * 4 + 2000 * 2 });
});

test('pieces of a container message wait for their last, over turns', async () => {
  const rig = new TailRig({ format: 'cri' });
  const T = '2026-11-21T10:15:00Z';
  await rig.play`write a.log ${`${T} stdout F whole\n${T} stdout P first \n`}; start; drain`;
  expect(eventsOf(rig.lane)).toHaveLength(1);
  await rig.play`append a.log ${`${T} stdout F last\n`}; drain`;
  expect(eventsOf(rig.lane).map((text) => (JSON.parse(text) as { message: string }).message)).toEqual(['whole', 'first last']);
  expect(rig.lane.blocks[0]!.shape).toMatchObject({ format: 'auto', fields: { host: 'testhost', file: rig.path('a.log') } });
});
