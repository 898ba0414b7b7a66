/** Files of checkpoints that are not there at a start: what is known of them is counted, and no line says more than that. */
import { appendFileSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { makeFolder, startRig, TailRig } from './tail-rig.ts';

const start = (rig: TailRig): Promise<TailRig> => rig.start({ once: true });

// Symptom: after a kill, "all that was seen of it was read" with seenSize 0 of files that were open and unread, and 0 bytes lost. Cause: the size
// that was seen was not saved.
test('what was seen of a file and not read before a kill is lost with the file, and counted once', async () => {
  const rig = await startRig();
  await rig.play`write a.log one; write b.log "never read"; drain; commit; append a.log two; write c.log seen; scan; rm a.log; rm c.log`;
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
  await rig.play`run; lost 0`;
});

test('file that was read as far as it was seen is gone: nothing is counted, and nothing is claimed of what came after', async () => {
  const rig = await startRig();
  await rig.play`write a.log one; drain; commit; pass 1; rm a.log`;
  await start(rig);
  await rig.play`run; lost 0; said 0 all that was seen`;
  expect(rig.said(/nothing of it is known to be unread.*is not counted/)).toMatchObject([
    { level: 'info', fields: { seenSize: 4, lostBytes: 0 } },
  ]);
});

test.each([
  ['left out', false, 0],
  ['read', true, 1],
])('what was not read is in a compressed file that is %s: it is not lost', async (_, readCompressed, arrived) => {
  const rig = new TailRig({ readCompressed, include: [] }, makeFolder());
  const include = [rig.path(readCompressed ? '*.log*' : '*.log')];
  await rig.start({ include });
  for (const [name, text] of [
    ['a.log', 'one\n'],
    ['b.log', ''],
  ] as const)
    writeFileSync(rig.path(name), text);
  await rig.play`
    drain; commit; append a.log two; scan
    // What was written to it after the look is in the compressed file, too.
    write a.log.1.gz ${gzipSync('one\ntwo\nthree\n')}; rm a.log
  `;
  await rig.start({ include, once: true });
  await rig.play`run; lost 0`;
  expect(rig.texts.length).toBe(2 * arrived);
  expect(rig.said(/compressed file is left out/)).toHaveLength(1 - arrived);
});

test('what a compressed file lacks of what was seen is lost', async () => {
  const rig = await startRig();
  const text = `${'x'.repeat(2000)}\n`;
  await rig.play`write a.log ${`${text}three\n`}; scan; write a.log.1.gz ${gzipSync(text)}; rm a.log`;
  await start(rig);
  await rig.play`run; lost 6`;
});

test('what was seen of a file is lost where its end was cut off while no agent ran, or its copy is shorter', async () => {
  const rig = await startRig();
  const long = 'x'.repeat(2000);
  await rig.play`write a.log ${`${long}\n`}; write b.log ${`${long}b\n`}; drain; commit`;
  for (const name of ['a.log', 'b.log']) appendFileSync(rig.path(name), 'two\nthree\n');
  await rig.play`scan; cut a.log 2005; cp b.log b.log.1; cut b.log.1 2006; cut b.log`;
  await start(rig);
  await rig.play`run; reads two two`;
  expect(rig.source.stats.lostBytes).toBe(2 * 'three\n'.length);
});

// Symptom: 224,952 bytes that copytruncate destroyed were logged as `lostBytes: 0`, as if that were exact.
test('every line that tells of a loss says that it is a lower bound, also where nothing lost was seen', async () => {
  const rig = await startRig();
  const each = ['copied', 'truncated', 'gone'];
  for (const name of each) writeFileSync(rig.path(`${name}.log`), `${name}\n`);
  await rig.play`drain; pass 30; cp copied.log copied.log.1; cut copied.log; cut truncated.log; rm gone.log; pass 3`;
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
  await rig.play`write a.log one; drain`;
  rig.log.splice(0);
  for (let round = 0; round < 3; round += 1) {
    await rig.play`mv a.log a.log.1; write a.log next; pass 2`;
  }
  expect(rig.log.filter(({ level }) => level !== 'debug')).toEqual([]);
  await rig.play`append a.log late; mv a.log a.log.1; write a.log next; pass 2; append a.log.1 later; rm a.log.1; pass 2`;
  expect(rig.log.filter(({ level }) => level !== 'debug')).toMatchObject([
    { level: 'info', text: 'file was renamed, reading on', fields: { unreadBytes: 5 } },
  ]);
});
