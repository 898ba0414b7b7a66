/** Files whose lines interleave (`group`): when events of a file end, what a restart goes on with, and what each turn reads. */
import { appendFileSync, closeSync, openSync, truncateSync, writeFileSync, writeSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import type { Span } from '../../../src/core/block.ts';
import type { StreamRecord } from '../../../src/core/stream.ts';
import { LaneDouble } from '../lane-double.ts';
import { scenarios } from './scenario.ts';
import { hooked, TailRig } from './tail-rig.ts';

const group = { by: 'k=(\\w)', withinMs: 3000 };
const options = { group, time: { kind: 'auto', timezone: 'UTC' } } as const;
const at = (second: number): string => `2023-11-14T22:10:${String(second).padStart(2, '0')}Z`;

scenarios(
  {
    'an event waits for more of its lines, and comes once nothing follows for `within`': `
      write a.log "k=a 1" "k=b 1" "k=a 2"; start; drain; no-events; append a.log "k=b 2"; drain; no-events
      pass 6; messages "k=a 1\nk=a 2" "k=b 1\nk=b 2"; append a.log "k=a 3"; pass 6; messages "k=a 1\nk=a 2" "k=b 1\nk=b 2" "k=a 3"`,
    'an event of a log that goes on is over by the times of its lines': `
      write a.log "${at(0)} k=a 1" "${at(1)} k=b 1" "${at(2)} k=a 2" "${at(4)} k=c 1"; start; drain
      messages "${at(0)} k=a 1\n${at(2)} k=a 2"; append a.log "${at(5)} k=d 1"; drain; messages "${at(0)} k=a 1\n${at(2)} k=a 2" "${at(1)} k=b 1"`,
    'events of a rotated file end with it': `
      write a.log "k=a 1" "k=b 1"; start; drain; mv a.log a.log.1; write a.log "k=a 2"; pass 15; messages "k=a 1" "k=b 1" "k=a 2"`,
    'events of a rotated file take what is appended before its end': `
      write a.log "k=a 1" "k=b 1"; start; drain; mv a.log a.log.1; append a.log.1 "k=a 2"; pass 15; messages "k=a 1\nk=a 2" "k=b 1"`,
    'events of a deleted file end with it, with the unfinished line': `
      write a.log "k=a 1" "k=b 1" "k=a 2…"; start; drain; rm a.log; pass 15; messages "k=a 1\nk=a 2" "k=b 1"; lost 0`,
    'events of a truncated file that were not over are lost and counted': `
      write a.log "k=a 1" "k=b 1"; start; drain; cut a.log; append a.log "k=c 1"; pass 15; messages "k=c 1"; lost 12`,
    'events of a file that was copied and truncated come from the copy': `
      write a.log "k=a 1" "k=b 1" "k=a 2"; start; drain; cp a.log a.log.1; cut a.log; append a.log "k=c 1"; pass 30
      messages "k=c 1" "k=a 1\nk=a 2" "k=b 1"; lost 0`,
    'events end at the end of the files under --once': `
      write a.log "k=a 1" "k=b 1" "k=a 2…"; start once; run; messages "k=a 1\nk=a 2" "k=b 1"`,
    'an unfinished line that was sent is not made whole': `
      write a.log "k=a 1" "k=b 1" "k=a 2…"; start; pass 15; messages "k=a 1" "k=b 1" "k=a 2"; append a.log " more"; pass 6
      messages "k=a 1" "k=b 1" "k=a 2" " more"`,
  },
  options,
);

test('events end before NULs that are passed over, and not at those that a file ends in', async () => {
  const rig = new TailRig(options);
  writeFileSync(rig.path('a.log'), Buffer.alloc(5000));
  const fd = openSync(rig.path('a.log'), 'r+');
  onTestFinished(() => closeSync(fd));
  writeSync(fd, 'k=a 1\nk=b 1\n', 0);
  await rig.play`start; drain; no-events`;
  writeSync(fd, 'k=a 2\n', 12);
  await rig.play`drain; no-events`;
  writeSync(fd, 'k=a 3\n', 5000);
  await rig.play`pass 30`;
  const messages = rig.events.map((text) => (JSON.parse(text) as { message: string }).message);
  expect(messages).toEqual(['k=a 1\nk=a 2', 'k=b 1', 'k=a 3']);
});

const LINES = ['k=a 1', 'k=b 1', 'k=a 2', 'k=c 1', 'k=b 2', 'k=c 2'].map((text, n) => `${at(n)} ${text}`);
const messagesOf = (lane: LaneDouble): string[] =>
  lane.events.map((text) => (JSON.parse(text) as { message: string }).message);

/** The events of a log by one reader, restarted each time that something came. */
test('a restart goes on behind each event with the lines of those before, and does not where these changed', async () => {
  const rig = new TailRig({ ...options, group: { ...group, withinMs: 2500 } });
  writeFileSync(rig.path('a.log'), '');
  await rig.start();
  const came: string[] = [];
  for (const line of [...LINES, `${at(40)} x`]) {
    appendFileSync(rig.path('a.log'), `${line}\n`);
    await rig.drain();
    if (rig.events.length === 0) continue;
    came.push(...messagesOf(rig.lane));
    rig.commit();
    await rig.start();
    await rig.drain();
  }
  const [a1, b1, a2, c1, b2, c2] = LINES;
  expect(came).toEqual([`${a1}\n${a2}`, b1, `${c1}\n${c2}`, b2, `${at(40)} x`]);

  // The second line of the first event is after the position, and is another one now.
  const other = new TailRig({ ...options, group: { ...group, withinMs: 2500 } });
  // Behind the fingerprint.
  const head = 'x'.repeat(1200);
  writeFileSync(other.path('a.log'), `${[head, ...LINES.slice(0, 4)].join('\n')}\n`);
  await other.play`start; drain; commit`;
  expect(messagesOf(other.lane)).toEqual([head, `${a1}\n${a2}`]);
  truncateSync(other.path('a.log'), head.length + a1!.length + b1!.length + 3);
  appendFileSync(other.path('a.log'), `${a2!.replace('k=a 2', 'k=a 7')}\n${c1}\n`);
  await other.play`start; pass 10`;
  expect(messagesOf(other.lane)).toEqual([b1, a2!.replace('k=a 2', 'k=a 7'), c1]);
});

test('no event goes on over the place where another sink resumes', async () => {
  const rig = new TailRig(options);
  const lines = ['k=a 1', 'k=b 1', 'k=a 2', 'k=b 2'];
  writeFileSync(rig.path('a.log'), `${lines.join('\n')}\n`);
  await rig.play`start; drain; no-events`;
  const [[id, record]] = [...rig.streams.records] as [[string, StreamRecord]];
  rig.streams.records.set(id, { ...record, cuts: [12] });
  await rig.play`start; drain; pass 10; messages "k=a 1" "k=b 1" "k=a 2" "k=b 2"`;
});

test('a file that was compressed meanwhile goes on behind the events that were sent, and its spans are read again from there', async () => {
  const rig = new TailRig({ ...options, group: { ...group, withinMs: 2500 }, glob: '*.log*', readCompressed: true });
  writeFileSync(rig.path('a.log'), `${LINES.slice(0, 4).join('\n')}\n`);
  await rig.play`start; drain; commit`;
  const [a1, b1, a2, c1, b2, c2] = LINES;
  expect(messagesOf(rig.lane)).toEqual([`${a1}\n${a2}`]);
  const [block] = rig.lane.blocks;
  appendFileSync(rig.path('a.log'), `${b2}\n${c2}\n`);
  await rig.play`compress a.log; start`;
  const span: Span = {
    ...{
      source: 'app',
      stream: block!.stream,
      from: 0,
      to: block!.length,
      events: 1,
      sum: 0,
      tail: { length: 0, crc: 0 },
    },
    groups: block!.groups,
  };
  const lane = new LaneDouble();
  expect(await rig.source.reread!(span, lane)).toBe(span.to);
  expect(messagesOf(lane)).toEqual([`${a1}\n${a2}`]);
  await rig.play`pass 30`;
  expect(messagesOf(rig.lane)).toEqual([b1, `${c1}\n${c2}`, b2]);
});

test('spans are read again as the same events, with the lines behind them; where these changed, their state differs', async () => {
  const rig = new TailRig({ ...options, group: { ...group, withinMs: 2500 } });
  writeFileSync(rig.path('a.log'), `${LINES.slice(0, 4).join('\n')}\n`);
  await rig.play`start; drain`;
  appendFileSync(rig.path('a.log'), `${[...LINES.slice(4), `${at(40)} x`].join('\n')}\n`);
  await rig.play`drain; pass 10`;
  for (const block of rig.lane.blocks) {
    const { stream, offset: from, length, groups, readAtMs } = block;
    const span: Span = {
      source: 'app',
      stream,
      from,
      to: from + length,
      events: 1,
      sum: 0,
      tail: { length: 0, crc: 0 },
      groups,
      reads: [{ from, atMs: readAtMs }],
    };
    const lane = new LaneDouble();
    expect(await rig.source.reread!(span, lane)).toBe(span.to);
    expect([lane.events, lane.blocks.at(-1)!.groups!.after.sum]).toEqual([block.events.map(String), groups!.after.sum]);
  }
  const {
    stream,
    offset: from,
    length,
    groups,
  } = rig.lane.blocks.find((block) => block.groups!.after.gate > block.offset + block.length)!;
  const span: Span = {
    source: 'app',
    stream,
    from,
    to: from + length,
    events: 1,
    sum: 0,
    tail: { length: 0, crc: 0 },
    groups,
  };
  writeFileSync(rig.path('a.log'), `${[...LINES, `${at(40)} x`].join('\n').replace('k=a 2', 'k=a 7')}\n`);
  const lane = new LaneDouble();
  await rig.source.reread!(span, lane);
  expect(lane.blocks.at(-1)!.groups!.after.sum).not.toBe(groups!.after.sum);
});

test('lines that wait are read once, also by many turns, unless another file takes one between', async () => {
  let bytes = 0;
  const after = (call: string, _: unknown, result: unknown): void =>
    void (call === 'read' && void Promise.resolve(result).then((count) => (bytes += Number(count))));
  const rig = new TailRig({ ...options, group: { ...group, withinMs: 3_600_000 }, fileSystem: hooked({ after }) });
  const line = `k=a ${'x'.repeat(1000)}\n`;
  writeFileSync(rig.path('a.log'), line);
  await rig.start();
  for (let n = 0; n < 50; n += 1) {
    appendFileSync(rig.path('a.log'), line);
    await rig.drain();
  }
  expect(bytes).toBe(51 * line.length);
  writeFileSync(rig.path('b.log'), line);
  await rig.drain();
  appendFileSync(rig.path('a.log'), line);
  await rig.drain();
  expect(bytes).toBe(51 * line.length + line.length + 52 * line.length);
});
