/** Files of checkpoints that are not there at a start: what is known of them is counted, and no line says more than that. */
import { appendFileSync, copyFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { makeFolder, startRig, TailRig } from './tail-rig.ts';

const start = (rig: TailRig): Promise<TailRig> => rig.start({ once: true });

// Symptom: after a kill, "all that was seen of it was read" with seenSize 0 of files that were open and unread, and 0 bytes lost. Cause: the size
// that was seen was not saved.
test('what was seen of a file and not read before a kill is lost with the file, and counted once', async () => {
  const rig = await startRig();
  writeFileSync(rig.path('a.log'), 'one\n');
  writeFileSync(rig.path('b.log'), 'never read\n');
  await rig.drain();
  rig.commit();
  appendFileSync(rig.path('a.log'), 'two\n');
  writeFileSync(rig.path('c.log'), 'seen\n');
  await rig.source.scanOnce();
  rmSync(rig.path('a.log'));
  rmSync(rig.path('c.log'));
  await start(rig);
  await rig.source.run();
  expect(rig.source.stats.lostBytes).toBe(4 + 5);
  expect(
    rig.said(/was not read to its end.*after its size was last saved.*not counted/).map(({ level, fields }) => ({ level, ...fields })),
  ).toEqual([
    { level: 'warn', path: rig.path('c.log'), offset: 0, seenSize: 5, lostBytes: 5 },
    { level: 'warn', path: rig.path('a.log'), offset: 4, seenSize: 8, lostBytes: 4 },
  ]);
  await start(rig);
  await rig.source.run();
  expect(rig.source.stats.lostBytes).toBe(0);
});

test('file that was read as far as it was seen is gone: nothing is counted, and nothing is claimed of what came after', async () => {
  const rig = await startRig();
  writeFileSync(rig.path('a.log'), 'one\n');
  await rig.drain();
  rig.commit();
  await rig.pass(1);
  rmSync(rig.path('a.log'));
  await start(rig);
  await rig.source.run();
  expect(rig.source.stats.lostBytes).toBe(0);
  expect(rig.said(/all that was seen/)).toEqual([]);
  expect(rig.said(/nothing of it is known to be unread.*is not counted/)).toMatchObject([
    { level: 'info', fields: { seenSize: 4, lostBytes: 0 } },
  ]);
});

test.each([
  ['left out', false, 0],
  ['read', true, 1],
])('what was not read is in an archive that is %s: it is not lost', async (_, readCompressed, arrived) => {
  const rig = new TailRig({ readCompressed, include: [] }, makeFolder());
  const include = [rig.path(readCompressed ? '*.log*' : '*.log')];
  await rig.start({ include });
  for (const [name, text] of [
    ['a.log', 'one\n'],
    ['b.log', ''],
  ] as const)
    writeFileSync(rig.path(name), text);
  await rig.drain();
  rig.commit();
  appendFileSync(rig.path('a.log'), 'two\n');
  await rig.source.scanOnce();
  // What was written to it after the look is in the archive, too.
  writeFileSync(rig.path('a.log.1.gz'), gzipSync('one\ntwo\nthree\n'));
  rmSync(rig.path('a.log'));
  await rig.start({ include, once: true });
  await rig.source.run();
  expect(rig.source.stats.lostBytes).toBe(0);
  expect(rig.texts.length).toBe(2 * arrived);
  expect(rig.said(/archive is left out/)).toHaveLength(1 - arrived);
});

test('what an archive lacks of what was seen is lost', async () => {
  const rig = await startRig();
  const text = `${'x'.repeat(2000)}\n`;
  writeFileSync(rig.path('a.log'), `${text}three\n`);
  await rig.source.scanOnce();
  writeFileSync(rig.path('a.log.1.gz'), gzipSync(text));
  rmSync(rig.path('a.log'));
  await start(rig);
  await rig.source.run();
  expect(rig.source.stats.lostBytes).toBe(6);
});

test('what was seen of a file is lost where its end was cut off while no agent ran, or its copy is shorter', async () => {
  const rig = await startRig();
  const long = 'x'.repeat(2000);
  writeFileSync(rig.path('a.log'), `${long}\n`);
  writeFileSync(rig.path('b.log'), `${long}b\n`);
  await rig.drain();
  rig.commit();
  for (const name of ['a.log', 'b.log']) appendFileSync(rig.path(name), 'two\nthree\n');
  await rig.source.scanOnce();
  truncateSync(rig.path('a.log'), 2005);
  copyFileSync(rig.path('b.log'), rig.path('b.log.1'));
  truncateSync(rig.path('b.log.1'), 2006);
  truncateSync(rig.path('b.log'), 0);
  await start(rig);
  await rig.source.run();
  expect(rig.texts).toEqual(['two', 'two']);
  expect(rig.source.stats.lostBytes).toBe(2 * 'three\n'.length);
});

// Symptom: 224,952 bytes that copytruncate destroyed were logged as `lostBytes: 0`, as if that were exact.
test('every line that tells of a loss says that it is a lower bound, also where nothing lost was seen', async () => {
  const rig = await startRig();
  const each = ['copied', 'truncated', 'gone'];
  for (const name of each) writeFileSync(rig.path(`${name}.log`), `${name}\n`);
  await rig.drain();
  await rig.pass(30);
  copyFileSync(rig.path('copied.log'), rig.path('copied.log.1'));
  truncateSync(rig.path('copied.log'), 0);
  truncateSync(rig.path('truncated.log'), 0);
  rmSync(rig.path('gone.log'));
  await rig.pass(3);
  const told = rig.log.filter(({ fields }) => 'lostBytes' in fields);
  expect(told.map(({ text }) => text.split(/[;,]/)[0])).toEqual(
    expect.arrayContaining(['file was copied and truncated', 'file was truncated or replaced', 'file is gone']),
  );
  for (const { text } of told)
    expect(text).toContain('; lostBytes is what was seen of it, what was written after the last look is not counted');
  expect(rig.source.stats.lostBytes).toBe(0);
});

test('rotation of a file that was read to its end is told by no line but at debug, and of one that was not by one', async () => {
  const rig = await startRig();
  writeFileSync(rig.path('a.log'), 'one\n');
  await rig.drain();
  rig.log.splice(0);
  for (let round = 0; round < 3; round += 1) {
    renameSync(rig.path('a.log'), rig.path('a.log.1'));
    writeFileSync(rig.path('a.log'), 'next\n');
    await rig.pass(2);
  }
  expect(rig.log.filter(({ level }) => level !== 'debug')).toEqual([]);
  appendFileSync(rig.path('a.log'), 'late\n');
  renameSync(rig.path('a.log'), rig.path('a.log.1'));
  writeFileSync(rig.path('a.log'), 'next\n');
  await rig.pass(2);
  appendFileSync(rig.path('a.log.1'), 'later\n');
  rmSync(rig.path('a.log.1'));
  await rig.pass(2);
  expect(rig.log.filter(({ level }) => level !== 'debug')).toMatchObject([
    { level: 'info', text: 'file was renamed, reading on', fields: { unreadBytes: 5 } },
  ]);
});
