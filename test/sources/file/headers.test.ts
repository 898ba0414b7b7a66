/** Columns from a file's own header: each row has those of the last header before it, whenever and wherever it is read again. */
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { createW3cParser } from '../../../src/parsers/formats/w3c.ts';
import {
  MAX_HEADER_SEARCH_BYTES,
  MAX_SAVED_HEADER_CHARACTERS,
  MAX_SAVED_HEADERS,
} from '../../../src/sources/file/limits.ts';
import { headersWith, savedHeader } from '../../../src/sources/file/read/in-line.ts';
import type { LaneDouble } from '../lane-double.ts';
import { type AgentProcess, type Sent, startProcess } from './agent-process.ts';
import { writeStill } from './steps.ts';
import { freshFolders, makeFolder, StepClock, TailRig } from './tail-rig.ts';

const eventsIn = (lane: LaneDouble): unknown[] => lane.events.map((text) => JSON.parse(text) as unknown);
/** Rows of two values that are `bytes` long together. */
const fill = (bytes: number): string => `${'x'.repeat(60_000)} y\n`.repeat(Math.ceil(bytes / 60_003));

// Symptom: rows behind a second header had the columns of the first after a restart. Cause: it was looked for in the last 16 MiB and the first 64 KiB alone.
test('w3c reads on in mid-file, and spans again, under a header that no search finds', async () => {
  const rig = new TailRig({ format: 'w3c' });
  const first = `#Fields: a b\n${fill(70_000)}#Fields: c d\n1 2\n${fill(MAX_HEADER_SEARCH_BYTES)}`;
  const second = `${first}3 4\n`;
  await rig.play`write a.log ${`${second}#Fields: e f\n5 6\n${fill(MAX_HEADER_SEARCH_BYTES)}`}; start; drain; commit`;
  const headers = rig.lane.blocks.map(({ header }) => header);
  await rig.play`start; append a.log ${'7 8\n'}; drain`;
  expect(eventsIn(rig.lane)).toEqual([{ e: '7', f: '8' }]);
  const { end, lane } = await rig.reread(first.length, second.length);
  expect(end).toBe(second.length);
  expect(eventsIn(lane)).toEqual([{ c: '3', d: '4' }]);
  expect(lane.blocks.map(({ header }) => header)).toEqual(['#Fields: c d']);
  expect(new Set(headers)).toEqual(new Set(['', '#Fields: a b', '#Fields: c d', '#Fields: e f']));
});

test('w3c killed between two headers gives each row its own columns again, and its block the same header', async () => {
  const rig = new TailRig({ format: 'w3c' });
  const blocks = (): unknown[] => rig.lane.blocks.map(({ offset, length, header }) => ({ offset, length, header }));
  await rig.play`write a.log ${'#Fields: a b\n1 2\n'}; start; drain; commit; append a.log ${'3 4\n#Fields: c d\n5 6\n#Fields: e\n'}; drain`;
  const once = { events: eventsIn(rig.lane).slice(-2), blocks: blocks().slice(-2) };
  expect(once.events).toEqual([
    { a: '3', b: '4' },
    { c: '5', d: '6' },
  ]);
  await rig.play`start; drain`;
  expect({ events: eventsIn(rig.lane), blocks: blocks() }).toEqual(once);
  await rig.play`commit; start; append a.log ${'7\n'}; drain`;
  expect(eventsIn(rig.lane)).toEqual([{ e: '7' }]);
});

test('w3c batches are sent again after a kill under the same keys with the same events, whatever header came since', async () => {
  const folder = makeFolder();
  for (const name of ['logs', 'data']) mkdirSync(join(folder, name));
  const log = join(folder, 'logs/a.log');
  const clock = new StepClock();
  const sent: Sent[] = [];
  let agent: AgentProcess | undefined;
  const restart = async (): Promise<AgentProcess> => {
    await agent?.kill();
    sent.length = 0;
    return (agent = await startProcess({
      folder,
      clock,
      fileSystem: freshFolders,
      config: { format: 'w3c' },
      sent: (each) => sent.push(each),
    }));
  };
  const rows = (from: number, to: number): string =>
    Array.from({ length: to - from }, (_, n) => `l${from + n} r${from + n}\n`).join('');
  writeFileSync(log, `#Fields: message b\n${rows(0, 7)}#Fields: a message\n${rows(7, 12)}`);
  await restart();
  await agent!.poll();
  const first = [...sent];
  expect(first.flatMap(({ messages }) => messages)).toEqual(
    Array.from({ length: 12 }, (_, n) => `${n < 7 ? 'l' : 'r'}${n}`),
  );
  appendFileSync(log, `#Fields: message c\n${rows(12, 14)}`);
  await restart();
  expect(sent).toEqual(first);
  await agent!.poll();
  const all = [...sent];
  expect(all.slice(first.length).flatMap(({ messages }) => messages)).toEqual(['l12', 'l13']);
  await restart();
  expect(sent).toEqual(all);
  await agent!.kill();
});

test('w3c whose text after the last saved row was lost takes the headers of the present text', async () => {
  const rig = new TailRig({ format: 'w3c' });
  const kept = `#Fields: a b\n${'1 2\n'.repeat(500)}`;
  await rig.play`write a.log ${kept}; start; drain; commit; append a.log ${'#Fields: c d\n3 4\n'}; drain`;
  const now = '5 6\n7 8\n9 0\n1 2\n3 4\n';
  await rig.play`write a.log ${kept + now}; start; drain; commit; append a.log ${'1 1\n'}; drain`;
  expect(eventsIn(rig.lane)).toEqual(['56', '78', '90', '12', '34', '11'].map(([a, b]) => ({ a, b })));
  const { lane } = await rig.reread(kept.length + now.length - 4, kept.length + now.length);
  expect(eventsIn(lane)).toEqual([{ a: '3', b: '4' }]);
});

test('w3c in a compressed file goes on under the last header, in appended members and after its plain form was read', async () => {
  const rig = new TailRig({ format: 'w3c', readCompressed: true, glob: '*.log*' });
  const content = `#Fields: a b\n${fill(70_000)}#Fields: c d\n1 2\n`;
  await rig.start();
  writeStill(rig.path('a.log.gz'), gzipSync(content));
  await rig.play`pass 3`;
  expect(eventsIn(rig.lane).at(-1)).toEqual({ c: '1', d: '2' });
  await rig.play`commit; pass 3`;
  writeStill(rig.path('a.log.gz'), Buffer.concat([gzipSync(content), gzipSync('3 4\n')]));
  await rig.play`start; pass 70`;
  expect(eventsIn(rig.lane)).toEqual([{ c: '3', d: '4' }]);
  const { lane } = await rig.reread(content.length - 4, content.length);
  expect(eventsIn(lane)).toEqual([{ c: '1', d: '2' }]);

  const plain = `#Fields: p q\n${fill(70_000)}#Fields: r s\n`;
  const next = new TailRig({ format: 'w3c', readCompressed: true, glob: '*.log*' });
  await next.play`write b.log ${plain}; start; drain; commit; stop; append b.log ${'5 6\n'}; mv b.log b.log.1; compress b.log.1; start; pass 70`;
  expect(eventsIn(next.lane)).toEqual([{ r: '5', s: '6' }]);
});

test.each([',', '\t'])(
  'csv with the delimiter %j has the columns of the first record in plain and compressed files, over restarts and rotation',
  async (delimiter) => {
    const rig = new TailRig({
      format: 'csv',
      csv: { delimiter, columns: undefined },
      readCompressed: true,
      glob: '*.log*',
    });
    const row = (...values: string[]): string => `${values.join(delimiter)}\n`;
    const text = row('a', 'b') + row('1', '2').repeat(20_000);
    await rig.play`write a.log ${text}; start; drain; commit; start; append a.log ${row('3', '4') + row('a', 'b')}; drain`;
    // A later record is a row, whatever it holds.
    expect(eventsIn(rig.lane)).toEqual([
      { a: '3', b: '4' },
      { a: 'a', b: 'b' },
    ]);
    expect(eventsIn((await rig.reread(text.length, text.length + 4)).lane)).toEqual([{ a: '3', b: '4' }]);
    await rig.play`commit; stop; append a.log ${row('5', '6')}; mv a.log a.log.1; write a.log ${row('c') + row('7')}; compress a.log.1; start; pass 70`;
    expect(eventsIn(rig.lane)).toEqual(expect.arrayContaining([{ a: '5', b: '6' }, { c: '7' }]));
    expect(eventsIn(rig.lane)).toHaveLength(2);
  },
);

test('unparsed row of a w3c log has its time in UTC, as the others', async () => {
  const time = { kind: 'auto', timezone: 'Asia/Tokyo' } as const;
  const rig = new TailRig({ format: 'w3c', time });
  const rows = '2023-11-10 08:09:10 /a\n2023-11-10 08:09:11 /a b c\n';
  await rig.play`write a.log ${`${rows}#Fields: date time path\n${rows}#Time Format: Local\n2023-11-10 08:09:12 /b c\n`}; start; drain`;
  const times = eventsIn(rig.lane).map((event) => (event as { _time?: string })._time);
  expect(times).toEqual([...[10, 11, 10, 11].map((second) => `2023-11-10T08:09:${second}Z`), undefined]);
});

test('saved headers are bounded, and the last one is always among them', () => {
  const block = (at: number, header: string | undefined) =>
    ({ offset: at, header }) as Parameters<typeof headersWith>[2];
  let headers: ReturnType<typeof headersWith>;
  const note = (n: number, text: string): void => {
    headers = headersWith(
      { headers: headers ?? [] },
      { header: text },
      block(n * 10, savedHeader({ headers: headers ?? [] }, n * 10)),
      10,
    );
  };
  for (let n = 0; n < 2 * MAX_SAVED_HEADERS; n += 1) note(n, `#Fields: a${n}`);
  expect(headers).toHaveLength(MAX_SAVED_HEADERS);
  note(100, `#Fields: ${'x'.repeat(MAX_SAVED_HEADER_CHARACTERS)}`);
  expect(headers).toHaveLength(1);
  expect(savedHeader({ headers: headers! }, 1000)).toBeUndefined();
  expect(
    headersWith({ headers: headers! }, { header: headers![0]!.text }, block(1010, headers![0]!.text), 10),
  ).toBeUndefined();
});

test('w3c parser goes on under the header that it says, of columns, date and kind of time', () => {
  const parser = createW3cParser(['x', 'y y']);
  for (const line of [
    '#Date: 2023-11-10',
    '#Fields: time a',
    '#Time Format: Local',
    '#Fields: ',
    '#Fields: time b',
    '#Fields: time  b',
    `#Fields: ${'c '.repeat(40_000)}`,
  ]) {
    parser.parse(line);
    const other = createW3cParser(['x', 'y y']);
    other.learn!(parser.header!());
    expect(other.header!()).toBe(parser.header!());
    for (const row of ['08:09:10 1', '1', '']) expect(other.parse(row)).toEqual(parser.parse(row));
  }
  parser.restart!();
  expect(parser.header!()).toBe('');
});

test.each([
  ['a character in hexadecimal', '\\x2c', ','],
  ['a character', '|', '|'],
  ['a tab', '\\x09', '\t'],
])('w3c obeys the separator that a header names: %s', async (_, written, separator) => {
  const rig = new TailRig({ format: 'w3c' });
  const row = (...values: string[]): string => `${values.join(separator)}\n`;
  const header = `#separator ${written}\n${row('#set_separator', ';')}${row('#fields', 'host', 'uri')}${row('#types', 'addr', 'string')}`;
  await rig.play`write a.log ${`${header}${row('10.0.0.1', '/a b')}`}; start; drain; commit`;
  expect(eventsIn(rig.lane)).toEqual([{ host: '10.0.0.1', uri: '/a b' }]);
  await rig.play`start; append a.log ${row('10.0.0.2', '/c d')}; drain`;
  expect(eventsIn(rig.lane)).toEqual([{ host: '10.0.0.2', uri: '/c d' }]);
});
