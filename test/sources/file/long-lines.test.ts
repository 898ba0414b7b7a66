import { closeSync, openSync, statSync, writeSync } from 'node:fs';
import { expect } from 'vitest';
import { hooked, TailRig, test } from './tail-rig.ts';
import { contentSum } from '../../../src/kernel/content-sum.ts';
import { scenario } from './scenario.ts';

const MEBIBYTE = 1024 * 1024;

test('line of 100 MB is cut and marked, the lines around it arrive, memory stays flat', async ({ rig }) => {
  const fd = openSync(rig.path('a.log'), 'w');
  writeSync(fd, 'before\n');
  const part = Buffer.alloc(MEBIBYTE, 'x');
  for (let n = 0; n < 100; n += 1) writeSync(fd, part);
  writeSync(fd, '\nafter\n');
  closeSync(fd);
  await rig.play`start; poll`;
  const before = process.memoryUsage.rss();
  let most = before;
  for (let isMore = true; isMore; most = Math.max(most, process.memoryUsage.rss()))
    isMore = (await rig.source.pollOnce()).moreToRead;
  expect(rig.lane.lines.map((line) => line.length)).toEqual([6, MEBIBYTE, 5]);
  expect(rig.lane.blocks[1]).toMatchObject({
    offset: 7,
    length: 100 * MEBIBYTE + 1,
    single: { marks: { truncated: true, original_bytes: 100 * MEBIBYTE } },
  });
  expect(rig.lane.lines[1]!.equals(part)).toBe(true);
  expect(rig.source.stats).toMatchObject({ truncatedEvents: 1, readBytes: 100 * MEBIBYTE + 14, lagBytes: 0 });
  expect((most - before) / MEBIBYTE).toBeLessThan(40);
});

test('long line that grows from turn to turn is read once, not again from its beginning', async () => {
  let bytesRead = 0;
  const after = (call: string, _: unknown, count: unknown): void => {
    if (call === 'read') void Promise.resolve(count as number).then((bytes) => (bytesRead += bytes));
  };
  const rig = new TailRig({ fileSystem: hooked({ after }), maxEventBytes: 1000 });
  await rig.play`write a.log before; start`;
  // An é across the limit: cut before it.
  const line = `${'a'.repeat(999)}é${'b'.repeat(500_000)}`;
  for (let at = 0; at < line.length; at += 10_000) {
    await rig.play`
      append a.log ${line.slice(at, at + 10_000)}; drain
      // Others use the same window meanwhile.
      append b.log ${`${at}\n`}; drain
    `;
  }
  expect(rig.byFile['a.log']).toEqual(['before']);
  expect(rig.source.stats.lagBytes).toBe(Buffer.byteLength(line));
  await rig.play`append a.log "\r" after; drain`;
  const cut = rig.lane.blocks.find((block) => block.single)!;
  const whole = Buffer.from(`${line}\r\n`);
  expect(cut.lines[0]!.toString()).toBe('a'.repeat(999));
  expect(cut).toMatchObject({
    offset: 7,
    length: whole.length,
    single: { sum: contentSum(whole, 7), marks: { truncated: true, original_bytes: whole.length - 2 } },
  });
  expect(rig.byFile['a.log']!.at(-1)).toBe('after');
  expect(bytesRead).toBeLessThan(whole.length * 1.1 + 3000);
});

scenario('long line that is truncated away while it grows leaves no trace in what follows', { maxEventBytes: 1000 })`
  write a.log ${`before\n${'x'.repeat(5000)}`}; start; drain; write a.log other lines; drain; reads before other lines; lost 5000
`;

test('long line that is cut back and grows again with other bytes is counted by its present bytes', async () => {
  const rig = new TailRig({ maxEventBytes: 1000 });
  const head = `${'h'.repeat(2000)}\n`;
  await rig.play`
    write a.log ${`${head}${'x'.repeat(5000)}`}; start; drain; write a.log ${`${head}${'y'.repeat(3000)}`}; drain
    append a.log ${`${'z'.repeat(50)}\nafter\n`}; drain
  `;
  const whole = Buffer.from(`${'y'.repeat(3000)}${'z'.repeat(50)}\n`);
  const cut = rig.lane.blocks.at(-2);
  expect(cut).toMatchObject({ offset: 2001, length: whole.length, single: { sum: contentSum(whole, 2001) } });
  expect(cut?.lines[0]?.toString()).toBe('y'.repeat(1000));
  expect(rig.texts.at(-1)).toBe('after');
});

test('unfinished long line of a --once run is sent, with the length it has', async () => {
  const rig = new TailRig({ once: true, maxEventBytes: 1000 });
  await rig.play`write a.log ${'x'.repeat(9_000_000)}; start; run`;
  expect(rig.lane.blocks).toMatchObject([
    { offset: 0, length: 9_000_000, single: { marks: { truncated: true, original_bytes: 9_000_000 } } },
  ]);
  expect(rig.lane.lines[0]!.toString()).toBe('x'.repeat(1000));
  expect(statSync(rig.path('a.log')).size).toBe(9_000_000);
});

test('event limit larger than a turn still gets its lines whole', async () => {
  const rig = new TailRig({ maxEventBytes: 6 * MEBIBYTE });
  const long = 'x'.repeat(6 * MEBIBYTE - 1);
  await rig.play`write a.log ${`${long}\n${long}\n${'y'.repeat(5 * MEBIBYTE)}`}; start; drain`;
  expect(rig.lane.lines.map((line) => line.length)).toEqual([long.length, long.length]);
});

test('long line in parts goes on with the next number in the next turn and after a restart', async () => {
  const rig = new TailRig({ maxEventBytes: 1000, onOversize: 'split' });
  const line = Array.from({ length: 3000 }, (_, n) => String(n)).join(' ');
  await rig.play`write a.log ${`before\n${line.slice(0, 4500)}`}; start; drain; commit`;
  const texts = [...rig.texts];
  await rig.play`append a.log ${line.slice(4500, 9000)}; drain`;
  texts.push(...rig.texts.slice(texts.length));
  const marks = (): unknown[] => rig.lane.blocks.flatMap(({ single }) => (single?.marks ? [single.marks] : []));
  const seen = marks();
  await rig.play`commit; start; append a.log ${`${line.slice(9000)}\nafter\n`}; drain`;
  seen.push(...marks());
  texts.push(...rig.texts);
  expect(texts.join('')).toBe(`before${line}after`);
  const count = Math.ceil(line.length / 1000);
  expect(seen).toEqual(
    Array.from({ length: count }, (_, n) => ({ part: n + 1, ...(n + 1 === count ? { part_last: true } : {}) })),
  );
});

test('part of a long line that is read again for its batch has the same number', async () => {
  const rig = new TailRig({ maxEventBytes: 1000, onOversize: 'split' });
  await rig.play`write a.log ${`${'x'.repeat(3500)}\nafter\n`}; start; drain`;
  const [, , third] = rig.lane.blocks;
  expect(third).toMatchObject({ offset: 2000, length: 1000, single: { marks: { part: 3 } } });
  const { end, lane } = await rig.reread(2000, 3000);
  expect(end).toBe(3000);
  expect(lane.blocks).toMatchObject([{ offset: 2000, length: 1000, single: third!.single }]);
  expect(lane.blocks[0]!.single).toEqual(third!.single);
});

// Symptom: cut lines showed only in a metric by source, and a line after the hole that copytruncate leaves to a program which does not
// append was nothing but NUL bytes, without a log line.
test('line that is cut is named with its place, and the likely cause where it begins with a hole', async () => {
  const rig = new TailRig({ maxEventBytes: 1000 });
  await rig.play`write a.log ${`short\n${'x'.repeat(2000)}\n`}; write b.log ${`appended\n${'\0'.repeat(1000)}${'y'.repeat(4005)}\nnext\n`}; start; drain`;
  expect(rig.said(/was cut/).map(({ level, fields, text }) => ({ level, fields, text }))).toMatchObject([
    {
      level: 'warn',
      fields: { path: rig.path('a.log'), offset: 6, lineBytes: 2001 },
      text: 'line is longer than max_event_bytes, and was cut',
    },
    {
      level: 'warn',
      fields: { path: rig.path('b.log'), offset: 9, lineBytes: 5006 },
      text: expect.stringContaining('begins with NUL bytes'),
    },
  ]);
  expect(rig.texts.filter((text) => text === 'next' || text === 'short')).toHaveLength(2);
});
