/** Files that take another one's place: a new file under a freed inode, a link that is pointed elsewhere, delete and create in a loop. */
import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  renameSync,
  statfsSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { gzipSync } from 'node:zlib';
import { expect } from 'vitest';
import { nodeFileSystem } from '../../../src/sources/file/scan/file-system.ts';
import { type RigOptions, startRig, TailRig, test } from './tail-rig.ts';
import { reused, type Value } from './steps.ts';

const EXT4 = 0xef53;
const ATTEMPTS = 10;
const BANNER = '#'.repeat(1500);

/**
 * Plays a scenario until its `reuse` met the inode again, which ext4 gives to the next file unless another process is quicker: there one
 * of them must have met it.
 */
async function untilReused(options: RigOptions, play: (rig: TailRig) => Promise<void>): Promise<void> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const rig = new TailRig(options);
    await play(rig);
    if (reused.get(rig) === true) return;
    if (statfsSync(rig.folder).type !== EXT4) return;
  }
  expect.fail(`the inode was not given again in ${ATTEMPTS} attempts`);
}

/** A test that is a scenario with a `reuse`. */
function reusing(name: string, options: RigOptions = {}): (strings: TemplateStringsArray, ...values: Value[]) => void {
  return (strings, ...values) => test(name, () => untilReused(options, (rig) => rig.play(strings, ...values)));
}

test.each([
  ['while the source runs', false],
  ['while it is stopped', true],
])('new file under the inode of a deleted one is read from its beginning, made %s', async (_, isStopped) => {
  await untilReused({}, async (rig) => {
    // Closed, so that the inode is free once the file is deleted.
    await rig.play`start; write a.log "old one" "old two"; drain; commit; pass 30`;
    const [old] = rig.streams.records.keys();
    if (isStopped) await rig.source.stop();
    await rig.play`reuse a.log a.log "new one, and longer" "than the position that is known"`;
    if (isStopped) await rig.start();
    await rig.play`drain; reads-after ${isStopped ? 0 : 2} "new one, and longer" "than the position that is known"; lost 0`;
    expect(rig.lane.blocks.at(-1)!.stream).not.toBe(old);
  });
});

reusing('new file under the inode of a deleted one that begins alike is read from its beginning')`
  start; write a.log ${[BANNER]} "old one"; drain; pass 30; reuse a.log a.log ${[BANNER]} "new one" "new two"; drain
  reads-after 2 ${BANNER} "new one" "new two"
`;

// Symptom: a copy of a truncated file was read again. Cause: it had the inode of the rotated file that was deleted before, and was compared
// with the bytes read of that one alone.
for (const glob of ['*.log', '*.log*'])
  reusing(`copy of a truncated file under the inode of the rotated one before it is not read again, with ${glob}`, {
    glob,
  })`
    start; write a.log ${[`${BANNER} first, and longer`]}; drain; mv a.log a.log.1; write a.log ${[`${BANNER} second`]}; drain; pass 30
    reuse a.log.1 a.log.1 ${[`${BANNER} second`]}; cut a.log; append a.log third; pass 90
    reads ${`${BANNER} first, and longer`} ${`${BANNER} second`} third; lost 0
  `;

// Symptom: a copy was read again, and its lines had another file's name. Cause: it had the inode of an empty file, without any content to
// differ from, so that it counted as that file, renamed.
reusing('copy under the inode of an empty file that was deleted is not read again', { glob: '*.log*' })`
  write a.log "old one"; write empty.log; start; drain; pass 30; reuse empty.log a.log.1 "old one"
  rm a.log; pass 30; append a.log.1 late; pass 30; by-file a.log "old one" late
`;

// Symptom: a file that was rotated away unseen was never read. Cause: it had the inode of an empty file that was gone for longer than
// it is looked for, and counted as known. It is moved to where nobody looks, so that nobody else gets its inode.
reusing('file that was rotated away unseen is read, under the inode of an empty file that is gone for long')`
  start; write empty.log; write a.log one; pass 30; mkdir elsewhere; mv empty.log elsewhere/gone; pass 15
  born; mv a.log a.log.2; reuse elsewhere/gone a.log two; mv a.log a.log.1; pass 15; by-file a.log one two
`;

reusing('file that was rotated away unseen is read once, under the inode of one before it that is gone for long')`
  start; write a.log one; pass 30; mkdir elsewhere; mv a.log elsewhere/gone; pass 15
  reuse elsewhere/gone a.log two; mv a.log a.log.1; pass 15; by-file a.log one two
`;

// Symptom: a copy was read again after a restart. Cause: it had the inode of a file of which nothing was saved and that began alike, and
// was taken for that file; what it is a copy of was then not found.
reusing(
  'copy under the inode of a file that began alike, of which nothing was saved, is not read again after a restart',
  {
    glob: '*.log*',
  },
)`
  start; write a.log ${[BANNER]} second; drain; commit; write a.log.1 ${[BANNER]} first; scan; stop; born
  reuse a.log.1 a.log.1 ${[BANNER]} second; cut a.log; start; pass 30; reads-nothing
`;

// Symptom: lines written between two rotations were never read. Cause: its copy had the inode of a file that was deleted since the last
// scan, and counted as that one; by the time that one was missed, the copy of the lines before was found, and no more were looked for.
reusing('second of two copies is read, under the inode of a file that no scan has missed yet')`
  start; write a.log one; write b.log other; pass 30; cp a.log a.log.2; write a.log two; reuse b.log a.log.1 two
  cut a.log; pass 15; by-file a.log one two + b.log other; lost 0
`;

// Symptom: lines written between two rotations were never read, and not counted. Cause: the file that had the inode of its copy could not
// be compared with it just then, and once the copy of the lines before was found, no more were looked for.
for (const code of ['EIO', 'EMFILE', 'EACCES'])
  reusing(`second of two copies is read, under the inode of a file that it cannot be compared with at first: ${code}`)`
    start; write a.log one; write b.log other; pass 30; cp a.log a.log.2; write a.log two; reuse b.log a.log.1 two; cut a.log
    fail open /a.log.1 ${code}; pass 3; mend; pass 15; by-file a.log one two + b.log other; lost 0; lag 0
  `;

// Symptom: after a restart, lines had another file's name, and a copy of it was read again. Cause: an empty file that was compared with a
// lost one got a stream without a first byte to know it by; then any file under its inode was taken for it.
reusing(
  'file under the inode of an empty one that was compared with what is gone is not taken for it after a restart',
  { glob: '*.log*' },
)`
  start; write a.log one; drain; commit; rm a.log; write a.log.1; start; pass 2; stop; reuse a.log.1 b.log two; start; drain; by-file b.log two
`;

// Symptom: a file that no glob matches was read, as a deleted one's new place. Cause: a closed file was searched by its inode alone, and
// the file found under it was read from its beginning, whatever it was.
reusing('file that no glob matches is not read when it gets the inode of a deleted one')`
  start; write a.log one; drain; pass 30; reuse a.log private.txt "nobody asked for it"; pass 90; reads one; lost 0; lag 0
`;

// Symptom: a compressed file was never read. Cause: compressed files were known by inode alone, and it had that of one that was read, and deleted since the
// last scan; rotation deletes the oldest compressed file just before it makes the newest.
reusing('compressed file under the inode of one that was read and deleted is read', {
  glob: '*.log*',
  readCompressed: true,
})`
  start; pack a.log.2.gz one; pass 3; commit; pass 3; reuse a.log.2.gz a.log.1.gz ${gzipSync('two\n')}; old a.log.1.gz; pass 3
  by-file a.log.2.gz one + a.log.1.gz two; commit; pass 130; known a.log.1.gz
`;

test('file that is deleted and made again in a loop: every line of every one that a scan saw, once; nothing is left of them', async () => {
  const rig = await startRig();
  const path = rig.path('a.log');
  const written: string[] = [];
  for (let round = 0; round < 200; round += 1) {
    const lines = Array.from({ length: 1 + (round % 7) }, (_, n) => `round ${round} line ${n}`);
    written.push(...lines);
    writeFileSync(path, `${lines.join('\n')}\n`);
    // Sometimes read before it is deleted, sometimes only seen, and sometimes it grows in between.
    if (round % 3 === 0) await rig.source.pollOnce();
    else await rig.source.scanOnce();
    if (round % 5 === 0) {
      appendFileSync(path, `round ${round} late\n`);
      written.push(`round ${round} late`);
    }
    unlinkSync(path);
    rig.clock.advance(100);
  }
  await rig.play`drain; reads-any ${written}; lost 0; commit; pass 100 10; stats active=0 deleted=0`;
  expect(rig.streams.records.size).toBe(0);
  const held = readdirSync('/proc/self/fd').filter(
    (fd) => nodeFileSystem.pathOf(Number(fd))?.startsWith(rig.folder) === true,
  );
  expect(held).toEqual([]);
});

test('symbolic link that is pointed elsewhere again and again under load: every line of every target, once', async ({
  rig,
}) => {
  mkdirSync(rig.path('real'));
  const written: string[] = [];
  let lines = 0;
  const append = (target: number, count: number): void => {
    const text = Array.from({ length: count }, () => `target ${target} line ${(lines += 1)}`);
    written.push(...text);
    appendFileSync(rig.path(`real/${target}`), `${text.join('\n')}\n`);
  };
  append(0, 100);
  await rig.play`link real/0 current.log; start`;
  for (let target = 1; target <= 40; target += 1) {
    append(target, 50);
    append(target - 1, 50);
    symlinkSync(`real/${target}`, rig.path('next'));
    renameSync(rig.path('next'), rig.path('current.log'));
    // The writer of the old target goes on for a moment.
    append(target - 1, 20);
    if (target % 3 === 0) await rig.source.pollOnce();
    else await rig.source.scanOnce();
    append(target - 1, 5);
    append(target, 300);
    rig.clock.advance(1000);
  }
  await rig.play`drain; reads-any ${written}; files current.log; lost 0`;
});

test('file that is deleted while much of it is unread is read to its end, while the lane is full and a new one is in its place', async () => {
  const rig = new TailRig();
  const lines = Array.from({ length: 200_000 }, (_, n) => `line ${n} ${'x'.repeat(80)}`);
  await rig.play`write a.log ${`${lines.join('\n')}\n`}; start`;
  const { moreToRead } = await rig.source.pollOnce();
  expect(moreToRead).toBe(true);
  await rig.play`hold; rm a.log; write a.log fresh; scan; rm a.log; release; drain`;
  expect(rig.texts.filter((text) => text !== 'fresh')).toEqual(lines);
  expect(rig.texts).toContain('fresh');
  expect(rig.source.stats.lostBytes).toBe(0);
});
