/** Formats and charsets of files: over turns, restarts and rotations, with positions in the file's own bytes. */

import { expect, test } from 'vitest';
import { scenario } from './scenario.ts';
import { TailRig } from './tail-rig.ts';

test('csv finds the columns of each file again, from turn to turn and after a restart', async () => {
  const rig = new TailRig({ format: 'csv' });
  const parsed = (): unknown[] => rig.events.map((text) => JSON.parse(text) as unknown);
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

// Symptom: lines behind a second header had the names of the first. Cause: to go on in a file's middle, only its first bytes were read again.
test('w3c has the columns of the last header before each line, from file to file, from turn to turn and after a restart', async () => {
  const rig = new TailRig({ format: 'w3c' });
  const parsed = (): unknown[] => rig.events.map((text) => JSON.parse(text) as unknown);
  const rows = '1 2\n'.repeat(20_000);
  await rig.play`write a.log ${`#Fields: a b\n${rows}#Version: 1.0\n#Fields: c d\n3 4\n`}; write b.log ${'#fields\tx\ty\n5\t6\n'}; start; drain`;
  expect(rig.source.stats.readBytes).toBeGreaterThan(64 * 1024);
  expect(parsed().filter((event) => !Object.hasOwn(event as object, 'a'))).toEqual([
    { c: '3', d: '4' },
    { x: '5', y: '6' },
  ]);
  await rig.play`append b.log ${'7\t8\n'}; append a.log ${'9 10\n'}; drain`;
  expect(parsed()).toEqual(
    expect.arrayContaining([
      { x: '7', y: '8' },
      { c: '9', d: '10' },
    ]),
  );
  await rig.play`commit; start; append a.log ${'11 12\n#Fields: e\n13\n'}; append b.log ${'- 14\n9\t\n1 2 3\n'}; drain`;
  expect(parsed()).toEqual(expect.arrayContaining([{ c: '11', d: '12' }, { e: '13' }, { y: '14' }, { x: '9' }]));
  expect(parsed()).toContainEqual({ message: '1 2 3', parse_error: '3 values for 2 columns' });
});

const le = (text: string): Buffer => Buffer.from(text, 'utf16le');
const be = (text: string): Buffer => le(text).swap16();

scenario('utf-16 with a byte order mark is read on in its middle, by the mark at its beginning')`
  write a.log ${le('\ufeffÄrger\r\nzwei €\r\nhal')}; start; drain; events Ärger "zwei €"; commit; start
  append a.log ${le('b\nü\n')}; drain; events halb ü; spans A32-46; lag 0
`;

test('utf-16 line over the limit that grows from turn to turn is cut between its characters', async () => {
  const rig = new TailRig({ charset: 'utf-16be', maxEventBytes: 1024 });
  await rig.play`write a.log ${be('😀'.repeat(300))}; start`;
  for (let n = 0; n < 5; n += 1) {
    await rig.play`drain; append a.log ${be('é'.repeat(400))}`;
  }
  await rig.play`append a.log ${be('\nnext\n')}; drain; events ${'😀'.repeat(256)} next`;
  expect(rig.lane.blocks[0]!.single!.marks).toEqual({ truncated: true, original_bytes: 300 * 4 + 2000 * 2 });
});

test('pieces of a container message wait for their last, over turns', async () => {
  const rig = new TailRig({ format: 'cri' });
  const T = '2026-11-21T10:15:00Z';
  await rig.play`
    write a.log ${`${T} stdout F whole\n${T} stdout P first \n`}; start; drain; messages whole
    append a.log ${`${T} stdout F last\n`}; drain; messages whole "first last"
  `;
  expect(rig.lane.blocks[0]!.shape).toMatchObject({
    format: 'auto',
    fields: { host: 'testhost', file: rig.path('a.log') },
  });
});
