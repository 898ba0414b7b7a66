/** Files of checkpoints that are not there at a start: what is known of them is counted, and no line says more than that. */
import { appendFileSync, copyFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { makeFolder, startBench, TailBench } from './tail-bench.ts';

const start = (bench: TailBench): Promise<TailBench> => bench.start({ once: true });

// Symptom: after a kill, "all that was seen of it was read" with seenSize 0 of files that were open and unread, and 0 bytes lost. Cause: the size
// that was seen was not saved.
test('what was seen of a file and not read before a kill is lost with the file, and counted once', async () => {
  const bench = await startBench();
  writeFileSync(bench.path('a.log'), 'one\n');
  writeFileSync(bench.path('b.log'), 'never read\n');
  await bench.drain();
  bench.commit();
  appendFileSync(bench.path('a.log'), 'two\n');
  writeFileSync(bench.path('c.log'), 'seen\n');
  await bench.source.scanOnce();
  rmSync(bench.path('a.log'));
  rmSync(bench.path('c.log'));
  await start(bench);
  await bench.source.run();
  expect(bench.source.stats.lostBytes).toBe(4 + 5);
  expect(
    bench.said(/was not read to its end.*after its size was last saved.*not counted/).map(({ level, fields }) => ({ level, ...fields })),
  ).toEqual([
    { level: 'warn', path: bench.path('c.log'), offset: 0, seenSize: 5, lostBytes: 5 },
    { level: 'warn', path: bench.path('a.log'), offset: 4, seenSize: 8, lostBytes: 4 },
  ]);
  await start(bench);
  await bench.source.run();
  expect(bench.source.stats.lostBytes).toBe(0);
});

test('file that was read as far as it was seen is gone: nothing is counted, and nothing is claimed of what came after', async () => {
  const bench = await startBench();
  writeFileSync(bench.path('a.log'), 'one\n');
  await bench.drain();
  bench.commit();
  await bench.pass(1);
  rmSync(bench.path('a.log'));
  await start(bench);
  await bench.source.run();
  expect(bench.source.stats.lostBytes).toBe(0);
  expect(bench.said(/all that was seen/)).toEqual([]);
  expect(bench.said(/nothing of it is known to be unread.*is not counted/)).toMatchObject([
    { level: 'info', fields: { seenSize: 4, lostBytes: 0 } },
  ]);
});

test.each([
  ['left out', false, 0],
  ['read', true, 1],
])('what was not read is in an archive that is %s: it is not lost', async (_, readCompressed, arrived) => {
  const bench = new TailBench({ readCompressed, include: [] }, makeFolder());
  const include = [bench.path(readCompressed ? '*.log*' : '*.log')];
  await bench.start({ include });
  for (const [name, text] of [
    ['a.log', 'one\n'],
    ['b.log', ''],
  ] as const)
    writeFileSync(bench.path(name), text);
  await bench.drain();
  bench.commit();
  appendFileSync(bench.path('a.log'), 'two\n');
  await bench.source.scanOnce();
  // What was written to it after the look is in the archive, too.
  writeFileSync(bench.path('a.log.1.gz'), gzipSync('one\ntwo\nthree\n'));
  rmSync(bench.path('a.log'));
  await bench.start({ include, once: true });
  await bench.source.run();
  expect(bench.source.stats.lostBytes).toBe(0);
  expect(bench.texts.length).toBe(2 * arrived);
  expect(bench.said(/archive is left out/)).toHaveLength(1 - arrived);
});

test('what an archive lacks of what was seen is lost', async () => {
  const bench = await startBench();
  const text = `${'x'.repeat(2000)}\n`;
  writeFileSync(bench.path('a.log'), `${text}three\n`);
  await bench.source.scanOnce();
  writeFileSync(bench.path('a.log.1.gz'), gzipSync(text));
  rmSync(bench.path('a.log'));
  await start(bench);
  await bench.source.run();
  expect(bench.source.stats.lostBytes).toBe(6);
});

test('what was seen of a file is lost where its end was cut off while no agent ran, or its copy is shorter', async () => {
  const bench = await startBench();
  const long = 'x'.repeat(2000);
  writeFileSync(bench.path('a.log'), `${long}\n`);
  writeFileSync(bench.path('b.log'), `${long}b\n`);
  await bench.drain();
  bench.commit();
  for (const name of ['a.log', 'b.log']) appendFileSync(bench.path(name), 'two\nthree\n');
  await bench.source.scanOnce();
  truncateSync(bench.path('a.log'), 2005);
  copyFileSync(bench.path('b.log'), bench.path('b.log.1'));
  truncateSync(bench.path('b.log.1'), 2006);
  truncateSync(bench.path('b.log'), 0);
  await start(bench);
  await bench.source.run();
  expect(bench.texts).toEqual(['two', 'two']);
  expect(bench.source.stats.lostBytes).toBe(2 * 'three\n'.length);
});

// Symptom: 224,952 bytes that copytruncate destroyed were logged as `lostBytes: 0`, as if that were exact.
test('every line that tells of a loss says that it is a lower bound, also where nothing lost was seen', async () => {
  const bench = await startBench();
  const each = ['copied', 'truncated', 'gone'];
  for (const name of each) writeFileSync(bench.path(`${name}.log`), `${name}\n`);
  await bench.drain();
  await bench.pass(30);
  copyFileSync(bench.path('copied.log'), bench.path('copied.log.1'));
  truncateSync(bench.path('copied.log'), 0);
  truncateSync(bench.path('truncated.log'), 0);
  rmSync(bench.path('gone.log'));
  await bench.pass(3);
  const told = bench.log.filter(({ fields }) => 'lostBytes' in fields);
  expect(told.map(({ text }) => text.split(/[;,]/)[0])).toEqual(
    expect.arrayContaining(['file was copied and truncated', 'file was truncated or replaced', 'file is gone']),
  );
  for (const { text } of told)
    expect(text).toContain('; lostBytes is what was seen of it, what was written after the last look is not counted');
  expect(bench.source.stats.lostBytes).toBe(0);
});

test('rotation of a file that was read to its end is told by no line but at debug, and of one that was not by one', async () => {
  const bench = await startBench();
  writeFileSync(bench.path('a.log'), 'one\n');
  await bench.drain();
  bench.log.splice(0);
  for (let round = 0; round < 3; round += 1) {
    renameSync(bench.path('a.log'), bench.path('a.log.1'));
    writeFileSync(bench.path('a.log'), 'next\n');
    await bench.pass(2);
  }
  expect(bench.log.filter(({ level }) => level !== 'debug')).toEqual([]);
  appendFileSync(bench.path('a.log'), 'late\n');
  renameSync(bench.path('a.log'), bench.path('a.log.1'));
  writeFileSync(bench.path('a.log'), 'next\n');
  await bench.pass(2);
  appendFileSync(bench.path('a.log.1'), 'later\n');
  rmSync(bench.path('a.log.1'));
  await bench.pass(2);
  expect(bench.log.filter(({ level }) => level !== 'debug')).toMatchObject([
    { level: 'info', text: 'file was renamed, reading on', fields: { unreadBytes: 5 } },
  ]);
});
