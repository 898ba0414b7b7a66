import { appendFileSync, copyFileSync, existsSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type RigOptions, failingFileSystem, TailRig } from './tail-rig.ts';

const inGlobs = ['*.log', '*.log*'];

async function startWith(include: string, options: RigOptions = {}): Promise<TailRig> {
  const rig = new TailRig(options);
  return rig.start({ include: [rig.path(include)] });
}

/** What logrotate does with `copytruncate`. */
function copyTruncate(path: string, keep = 3): void {
  for (let n = keep; n > 0; n -= 1) if (existsSync(`${path}.${n}`)) renameSync(`${path}.${n}`, `${path}.${n + 1}`);
  copyFileSync(path, `${path}.1`);
  truncateSync(path, 0);
}

test.for(inGlobs)('copytruncate with %s: what was not read yet is read from the copy, and nothing twice', async (include) => {
  const rig = await startWith(include);
  writeFileSync(rig.path('a.log'), 'one\ntwo\n');
  await rig.drain();
  appendFileSync(rig.path('a.log'), 'three\n');
  await rig.source.scanOnce();
  appendFileSync(rig.path('a.log'), 'four\n');
  copyTruncate(rig.path('a.log'));
  appendFileSync(rig.path('a.log'), 'five\n');
  await rig.drain();
  expect(rig.texts.toSorted()).toEqual(['five', 'four', 'one', 'three', 'two']);
  expect(Object.keys(rig.byFile)).toEqual(['a.log']);
  // Once more, and the copy of the first time is renamed.
  copyTruncate(rig.path('a.log'));
  appendFileSync(rig.path('a.log'), 'six\n');
  await rig.drain();
  await rig.pass(60);
  expect(rig.texts).toHaveLength(6);
  expect(rig.source.stats.lostBytes).toBe(0);
  expect(rig.said(/copied and truncated/)).toHaveLength(2);
});

// Symptom: two lines at info for one rotation. Cause: where a scan came between copy and truncation, the copy was told as a new
// file. Fix: a file is told as new once it has bytes and is known to be no copy.
test('copytruncate with *.log*: a copy that is seen before the truncation is not told as a new file, other files are', async () => {
  const rig = await startWith('*.log*');
  writeFileSync(rig.path('a.log'), 'one\ntwo\n');
  await rig.drain();
  appendFileSync(rig.path('a.log'), 'three\n');
  writeFileSync(rig.path('a.log.1'), '');
  writeFileSync(rig.path('b.log'), 'of its own\n');
  await rig.source.scanOnce();
  copyFileSync(rig.path('a.log'), rig.path('a.log.1'));
  await rig.source.scanOnce();
  truncateSync(rig.path('a.log'), 0);
  await rig.drain();
  expect(rig.texts.toSorted()).toEqual(['of its own', 'one', 'three', 'two']);
  const told = (): unknown[] => rig.said(/^new file$/).map(({ level, fields }) => `${level} ${String(fields['path'])}`);
  expect(told()).toEqual([`info ${rig.path('a.log')}`, `info ${rig.path('b.log')}`]);
  expect(rig.said(/copied and truncated/)).toHaveLength(1);
  // One that only begins alike is told once that is known.
  writeFileSync(rig.path('b.log.1'), 'of its own\n');
  await rig.pass(60);
  expect(rig.texts.filter((text) => text === 'of its own')).toHaveLength(2);
  expect(told().slice(2)).toEqual([`info ${rig.path('b.log.1')}`]);
});

test.for(inGlobs)('copytruncate with %s after everything was read sends nothing twice, also after a restart', async (include) => {
  const rig = await startWith(include);
  writeFileSync(rig.path('a.log'), 'one\ntwo\n');
  await rig.drain();
  copyTruncate(rig.path('a.log'));
  await rig.drain();
  rig.commit();
  await rig.start({ include: [rig.path(include)] });
  appendFileSync(rig.path('a.log'), 'three\n');
  await rig.pass(30);
  expect(rig.texts).toEqual(['three']);
});

test.for(inGlobs)('copytruncate with %s while the source is stopped, twice: the copies are read on and read', async (include) => {
  const rig = await startWith(include);
  rig.bornNow();
  writeFileSync(rig.path('a.log'), 'one\ntwo\n');
  await rig.drain();
  rig.commit();
  appendFileSync(rig.path('a.log'), 'three\n');
  copyTruncate(rig.path('a.log'));
  appendFileSync(rig.path('a.log'), 'four\n');
  copyTruncate(rig.path('a.log'));
  appendFileSync(rig.path('a.log'), 'five and six and seven\n');
  await rig.start({ include: [rig.path(include)] });
  await rig.pass(30);
  expect(rig.texts.toSorted()).toEqual(['five and six and seven', 'four', 'three']);
  expect(rig.source.stats.lostBytes).toBe(0);
});

test.for(inGlobs)('copytruncate with %s, twice between two looks: nothing is missing', async (include) => {
  const rig = await startWith(include);
  writeFileSync(rig.path('a.log'), 'one\ntwo\n');
  await rig.drain();
  appendFileSync(rig.path('a.log'), 'three\n');
  copyTruncate(rig.path('a.log'));
  appendFileSync(rig.path('a.log'), 'four\n');
  copyTruncate(rig.path('a.log'));
  appendFileSync(rig.path('a.log'), 'five\n');
  await rig.pass(30);
  expect(rig.texts.toSorted()).toEqual(['five', 'four', 'one', 'three', 'two']);
});

test.for(inGlobs)('copytruncate with %s: bytes that were read after the copy was made make no difference', async (include) => {
  const rig = await startWith(include);
  const lines = Array.from({ length: 5000 }, (_, n) => `line ${n} of the first\n`);
  writeFileSync(rig.path('a.log'), lines.join(''));
  await rig.drain();
  copyFileSync(rig.path('a.log'), rig.path('a.log.1'));
  appendFileSync(rig.path('a.log'), 'in no copy, but read\n');
  await rig.source.pollOnce();
  appendFileSync(rig.path('a.log'), 'in no copy, and seen by a scan\n');
  await rig.source.scanOnce();
  appendFileSync(rig.path('a.log'), 'in no copy, and never seen\n');
  truncateSync(rig.path('a.log'), 0);
  appendFileSync(rig.path('a.log'), 'new\n');
  await rig.pass(30);
  expect(rig.texts).toHaveLength(5002);
  expect(rig.texts.slice(-2)).toEqual(['in no copy, but read', 'new']);
  expect(rig.source.stats.lostBytes).toBe('in no copy, and seen by a scan\n'.length);
  rig.commit();
  await rig.start({ include: [rig.path(include)] });
  await rig.pass(30);
  expect(rig.texts).toEqual([]);
});

// Symptom: with a rotation every 50 ms, whole copies came twice. Cause: a sum was known for each read alone, and a copy that ended inside
// of a large one was not proven by the one before. Fix: the last bytes that are read are summed up in parts.
test.for(inGlobs.flatMap((include) => [[include, 2000, 1500] as const, [include, 20_000, 8000] as const]))(
  'copytruncate with %s: a copy that ends inside of %i lines that were read at one go, after %i, sends nothing twice',
  async ([include, count, copied]) => {
    const rig = await startWith(include);
    const lines = Array.from({ length: count }, (_, n) => `line ${n} of the log`);
    writeFileSync(rig.path('a.log'), `${lines[0]}\n`);
    await rig.drain();
    appendFileSync(rig.path('a.log'), `${lines.slice(1, copied).join('\n')}\n`);
    copyFileSync(rig.path('a.log'), rig.path('a.log.1'));
    appendFileSync(rig.path('a.log'), `${lines.slice(copied).join('\n')}\n`);
    await rig.drain();
    truncateSync(rig.path('a.log'), 0);
    await rig.pass(30);
    expect(rig.texts.toSorted()).toEqual(lines.toSorted());
  },
);

// The same symptom. Cause: a copy and the file that it was made of, seen for the first time in one scan, passed for two files.
test.for(inGlobs)('copytruncate with %s: a copy that is seen together with what it was made of sends nothing twice', async (include) => {
  const rig = await startWith(include);
  writeFileSync(rig.path('a.log'), 'one\n');
  await rig.drain();
  copyTruncate(rig.path('a.log'));
  appendFileSync(rig.path('a.log'), 'two\n');
  renameSync(rig.path('a.log.1'), rig.path('a.log.2'));
  copyFileSync(rig.path('a.log'), rig.path('a.log.1'));
  await rig.drain();
  truncateSync(rig.path('a.log'), 0);
  await rig.pass(30);
  expect(rig.texts.toSorted()).toEqual(['one', 'two']);
});

// Symptom: a copy that logrotate compressed at once counted as lost, though its original was read. Cause: it was gone between the scan's stat
// and the first open, and nothing told that it was a copy. Fix: it is held against what was cut off, by its name and size.
test.for(['in the same scan', 'before'])(
  'copy that is gone before it could be opened is not lost; its original was cut off %s',
  async (when) => {
    const rig = new TailRig();
    let isVanishing = false;
    const fileSystem = failingFileSystem((real) => ({
      open(path) {
        if (isVanishing && path.endsWith('.1')) rmSync(path, { force: true });
        return real.open(path);
      },
      stat(path) {
        const stat = real.stat(path);
        return stat?.kind === 'directory' ? { ...stat, mtimeMs: Number.NaN } : stat;
      },
    }));
    await rig.start({ include: [rig.path('*.log*')], fileSystem });
    writeFileSync(rig.path('a.log'), 'one\n');
    await rig.drain();
    appendFileSync(rig.path('a.log'), 'two\n');
    await rig.source.scanOnce();
    if (when === 'before') {
      const copy = readFileSync(rig.path('a.log'));
      truncateSync(rig.path('a.log'), 0);
      await rig.source.scanOnce();
      writeFileSync(rig.path('a.log.1'), copy);
    } else copyTruncate(rig.path('a.log'));
    isVanishing = true;
    appendFileSync(rig.path('a.log'), 'three\n');
    await rig.pass(60);
    expect(rig.texts).toEqual(['one', 'three']);
    // Seen by a scan, not read, and in no file any more: once.
    expect(rig.source.stats.lostBytes).toBe('two\n'.length);
  },
);

test('copy in the globs waits as long as its original is there and it may still grow, then it is a file of its own', async () => {
  const rig = await startWith('*.log*');
  writeFileSync(rig.path('a.log'), 'one\ntwo\n');
  await rig.drain();
  writeFileSync(rig.path('a.log.1'), 'one\n');
  await rig.pass(8);
  expect(rig.texts).toEqual(['one', 'two']);
  expect(rig.source.stats.lagBytes).toBe(0);
  appendFileSync(rig.path('a.log.1'), 'two\n');
  await rig.pass(8);
  expect(rig.texts).toEqual(['one', 'two']);
  await rig.pass(4);
  expect(rig.texts).toEqual(['one', 'two', 'one', 'two']);
});

test('file with a longer name that begins alike is a file of its own as soon as it differs', async () => {
  const rig = await startWith('*.log*');
  writeFileSync(rig.path('a.log'), 'one\ntwo\n');
  await rig.drain();
  writeFileSync(rig.path('a.log.json'), 'one\n');
  await rig.pass(2);
  expect(rig.texts).toHaveLength(2);
  appendFileSync(rig.path('a.log.json'), 'three\n');
  await rig.pass(2);
  expect(rig.byFile).toEqual({ 'a.log': ['one', 'two'], 'a.log.json': ['one', 'three'] });
});

test('copy of a large file is compared over several scans, and everything else is read meanwhile', async () => {
  const rig = await startWith('*.log');
  const line = `${'x'.repeat(1023)}\n`;
  writeFileSync(rig.path('a.log'), line.repeat(150 * 1024));
  await rig.drain();
  appendFileSync(rig.path('a.log'), 'the last of the old\n');
  copyTruncate(rig.path('a.log'));
  appendFileSync(rig.path('a.log'), 'the first of the new\n');
  await rig.source.pollOnce();
  expect(rig.texts.at(-1)).toBe('the first of the new');
  await rig.pass(3);
  expect(rig.texts.at(-1)).toBe('the last of the old');
  expect(rig.texts).toHaveLength(150 * 1024 + 2);
});

test('copy with one byte changed is not what was read', async () => {
  const rig = await startWith('*.log*');
  const lines = Array.from({ length: 20_000 }, (_, n) => `line ${n}\n`).join('');
  writeFileSync(rig.path('a.log'), lines);
  await rig.drain();
  const copy = readFileSync(rig.path('a.log'));
  copy[copy.indexOf('line 9999\n')]! ^= 1;
  writeFileSync(rig.path('a.log.1'), copy);
  truncateSync(rig.path('a.log'), 0);
  await rig.pass(30);
  expect(rig.texts).toHaveLength(40_000);
});

test('file that was copied and removed is read on in its copy', async () => {
  const rig = await startWith('*.log*');
  writeFileSync(rig.path('a.log'), 'one\n');
  await rig.drain();
  appendFileSync(rig.path('a.log'), 'two\n');
  copyFileSync(rig.path('a.log'), rig.path('a.log.1'));
  rmSync(rig.path('a.log'));
  await rig.pass(30);
  expect(rig.texts).toEqual(['one', 'two']);
});

// Symptom: what was written to a file after it was copied and truncated, and rotated away while no agent ran, was not read. Cause: the file was
// made before its stream, and only what was made after that was looked for; on a fast machine that did not show for 50 ms.
test('what was written after a copy, and rotated away while no agent ran, is read', async () => {
  const rig = new TailRig();
  const [path, first, second, ancient] = ['a.log', 'a.log.1', 'a.log.2', 'a.log.3'].map((name) => rig.path(name)) as [
    string,
    string,
    string,
    string,
  ];
  writeFileSync(ancient, 'ancient\n');
  writeFileSync(path, 'one\n');
  rig.bornNow();
  await rig.start();
  await rig.drain();
  rig.commit();
  copyFileSync(path, first);
  truncateSync(path, 0);
  await rig.drain();
  await rig.source.stop();
  appendFileSync(path, 'two\n');
  renameSync(first, second);
  renameSync(path, first);
  await rig.start();
  await rig.drain();
  expect(rig.byFile).toEqual({ 'a.log': ['two'] });
  expect(rig.source.stats.lostBytes).toBe(0);
});

test('file that is born and rotated out of the globs while the source is stopped is read, older ones beside it are not', async () => {
  const rig = new TailRig();
  writeFileSync(rig.path('a.log.7'), 'long before\n');
  rig.bornNow();
  writeFileSync(rig.path('a.log'), 'one\n');
  await rig.start();
  await rig.drain();
  rig.commit();
  const rotate = (text: string): void => {
    for (let n = 5; n > 0; n -= 1) if (existsSync(rig.path(`a.log.${n}`))) renameSync(rig.path(`a.log.${n}`), rig.path(`a.log.${n + 1}`));
    renameSync(rig.path('a.log'), rig.path('a.log.1'));
    writeFileSync(rig.path('a.log'), text);
  };
  rotate('two\n');
  rotate('three\n');
  rotate('four\n');
  writeFileSync(rig.path('a.log.bak'), 'no rotation\n');
  await rig.start();
  await rig.drain();
  expect(rig.texts.toSorted()).toEqual(['four', 'three', 'two']);
  expect(rig.byFile).toEqual({ 'a.log': expect.anything() });
  // And the same between two looks of a running source.
  rotate('five\n');
  rotate('six\n');
  await rig.drain();
  expect(rig.texts.slice(3).toSorted()).toEqual(['five', 'six']);
  rig.commit();
  await rig.start();
  await rig.drain();
  expect(rig.texts).toEqual([]);
});
