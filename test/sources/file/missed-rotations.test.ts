/** Files of checkpoints that are missing at a start: their known bytes are counted, and no log line claims more than that. */
import { writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { expect } from 'vitest';
import { scenario } from './scenario.ts';
import { startRig, test } from './tail-rig.ts';

// Symptom: after a kill, "all that was seen of it was read" with seenSize 0 of files that were open and unread, and 0 bytes lost. Cause: the size
// that was seen was not saved.
test('bytes that were seen and not read before a kill are lost with the file, and counted once', async ({
  openRig: rig,
}) => {
  await rig.play`write a.log one; write b.log "never read"; drain; commit; append a.log two; write c.log seen; scan; rm a.log; rm c.log; start once; run; lost 9`;
  expect(
    rig
      .said(/was not read to its end.*after its size was last saved.*not counted/)
      .map(({ level, fields }) => ({ level, ...fields })),
  ).toEqual([
    { level: 'warn', path: rig.path('c.log'), offset: 0, seenSize: 5, lostBytes: 5 },
    { level: 'warn', path: rig.path('a.log'), offset: 4, seenSize: 8, lostBytes: 4 },
  ]);
  await rig.play`start once; run; lost 0`;
});

test('file that was read as far as it was seen is gone: nothing is counted, and nothing is claimed of what came after', async () => {
  const rig = await startRig();
  await rig.play`write a.log one; drain; commit; pass 1; rm a.log; start once; run; lost 0; said 0 all that was seen`;
  expect(rig.said(/nothing of it is known to be unread.*is not counted/)).toMatchObject([
    { level: 'info', fields: { seenSize: 4, lostBytes: 0 } },
  ]);
});

for (const [what, options, count] of [
  ['left out', { glob: '*.log' }, 0],
  ['read', { glob: '*.log*', readCompressed: true }, 2],
] as const)
  // Lines written to it after the look are in the compressed file, too.
  scenario(`what was not read is in a compressed file that is ${what}: it is not lost`, options)`
    start; write a.log one; write b.log; drain; commit; append a.log two; scan; write a.log.1.gz ${gzipSync('one\ntwo\nthree\n')}
    rm a.log; start once; run; lost 0; count ${count}; said ${count === 0 ? 1 : 0} compressed file is left out
  `;

const LONG = 'x'.repeat(2000);

scenario('what a compressed file lacks of what was seen is lost')`
  start; write a.log ${[LONG]} three; scan; write a.log.1.gz ${gzipSync(`${LONG}\n`)}; rm a.log; start once; run; lost 6
`;

scenario('what was seen of a file is lost where its end was cut off while no agent ran, or its copy is shorter')`
  start; write a.log ${[LONG]}; write b.log ${[`${LONG}b`]}; drain; commit; append a.log two three; append b.log two three; scan
  cut a.log 2005; cp b.log b.log.1; cut b.log.1 2006; cut b.log; start once; run; reads two two; lost 12
`;

// Symptom: 224,952 bytes that copytruncate destroyed were logged as `lostBytes: 0`, as if that were exact.
test('every line that tells of a loss says that it is a lower bound, also where nothing lost was seen', async ({
  openRig: rig,
}) => {
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

test('rotation of a file that was read to its end is logged at debug only, and of another one by one line', async () => {
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
