/** Compressed files: lines that were never read in plain form are read once, over restarts and damage. */
import { appendFileSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { expect, test as base } from 'vitest';
import { LaneDouble } from '../lane-double.ts';
import type { FileStat } from '../../../src/sources/file/scan/file-system.ts';
import { failingFileSystem, hooked, type TailRig, startRig } from './tail-rig.ts';
import { scenario, scenarios } from './scenario.ts';
import { steps, writeStill } from './steps.ts';

const linesOf = (from: number, to: number): string[] => Array.from({ length: to - from }, (_, n) => `line ${from + n}`);
const packOf = (lines: readonly string[]): Buffer => gzipSync(lines.map((line) => `${line}\n`).join(''));
const damaged = (whole: Buffer): Buffer => Buffer.concat([whole.subarray(0, 2000), Buffer.alloc(whole.length - 2000)]);
const BANNER = '='.repeat(2000);

const COMPRESSED = { readCompressed: true, glob: '*.log*' } as const;
const test = base.extend('rig', () => startRig(COMPRESSED));

scenarios(
  {
    'compressed files are read to their ends, once, with positions in their content': steps`
      pack a.log.gz "line 0" "line 1" "line 2"; pack b.log.zst one tw…; pack+ b.log.zst o three…; pack c.log.gz x; pack+ c.log.gz y
      drain; drain; by-file a.log.gz "line 0" "line 1" "line 2" + b.log.zst one two three + c.log.gz x y; spans A0-21 B0-8 B8-13 C0-4
      stats readBytes=38 lostBytes=0`,
    'compressed file of a file that was read is not read again, nor after a restart': steps`
      write a.log ${linesOf(0, 500)}; drain; commit; mv a.log a.log.1; write a.log ${linesOf(500, 600)}; drain; compress a.log.1
      pass 130; count 600; said 1 holds what was read in its plain form; commit; start; pass 70; reads-nothing`,
    // Its plain form is looked for as long as it may come back.
    'compressed file that was made while the agent was stopped is read from where its plain form was left': steps`
      write a.log ${linesOf(0, 500)}; drain; commit; stop; append a.log ${linesOf(500, 700)}; mv a.log a.log.1; compress a.log.1; start
      pass 70; reads ${linesOf(500, 700)}`,
    'compressed file that merely begins like a file that was read is read whole': steps`
      write a.log ${[BANNER]} mine; drain; pack b.log.gz ${[BANNER]} other; pass 3; by-file a.log * + b.log.gz ${[BANNER]} other`,
    'compressed file under another name is the same one, and its stream is forgotten once it is gone': `
      pack a.log.1.gz one; drain; commit; mv a.log.1.gz a.log.2.gz; pass 2; start; drain; reads-nothing; rm a.log.2.gz; pass 130
      forgotten 1`,
    // Symptom: every compressed file of a folder was read again. Cause: a scan that could not list the folder had them forgotten at once.
    'compressed files of a folder that cannot be listed for a while are not read again, while the source runs':
      'pack a.log.gz one; pass 3; reads one; commit; pass 3; fail readdir "" EIO; pass 30; mend; pass 70; reads one',
    'compressed files of a folder that cannot be listed for a while are not read again, at its start':
      'pack a.log.gz one; pass 3; reads one; commit; pass 3; fail readdir "" EIO; start; pass 30; mend; pass 70; reads-nothing',
    'compressed file that is written over another one is read from its beginning': steps`
      pack a.log.gz ${linesOf(0, 100)}; pass 3; commit; pass 3; pack a.log.gz ${linesOf(200, 300)}; pass 3
      reads ${linesOf(0, 100)} ${linesOf(200, 300)}`,
    'span of a compressed file is read again as the same events':
      'pack a.log.zst one two three four; drain; reread 4-14 two three; reread 4-900',
    'span of a compressed file that is gone, or has another one in its place, is not there':
      'pack a.log.gz one two; drain; pack a.log.gz six ten; unread 0-8; rm a.log.gz; unread 0-8',
  },
  COMPRESSED,
  'start',
);

scenario('compressed file is left out, and said so once, unless it is asked for', {
  ...COMPRESSED,
  readCompressed: false,
})`
  start; pack a.log.gz one; write b.log plain; drain; pass 3; reads plain; said 1 compressed files are left out
`;

// Symptom: a compressed file was read again. Cause: files were recorded after each scan, but not one that only an earlier process had seen,
// as it was truncated before the first scan after the start.
test('compressed file of a copy is not read again where its original was read and truncated before the first scan', async ({
  rig,
}) => {
  await rig.play`write a.log one; scan; start`;
  const running = rig.source.run();
  await rig.lane.until(({ count }) => count === 1);
  await rig.play`pack a.log.1.gz one; cut a.log; pass 130; reads one; stop`;
  await running;
});

test('file that is deleted while its turn waits for a compressed file is read by one reader', async () => {
  const rescueLane = new LaneDouble();
  const rig = await startRig({ ...COMPRESSED, rescueLane });
  rig.lane.hold();
  await rig.play`pack a.log.gz packed`;
  const compressed = rig.source.pollOnce();
  await rig.lane.until(({ waiting }) => waiting === 1);
  await rig.play`write b.log plain; scan`;
  const plain = rig.source.readRound();
  await rig.play`rm b.log; scan`;
  rescueLane.hold();
  const rescued = rig.source.pollOnce();
  await rescueLane.until(({ waiting }) => waiting === 1);
  expect(rig.lane.waiting).toBe(1);
  rig.lane.release();
  await Promise.all([compressed, plain]);
  rescueLane.release();
  await rescued;
  expect([rig.texts, rescueLane.texts]).toEqual([['packed'], ['plain']]);
});

test('compressed file waits while its plain form is there, and while it is being written', async ({ rig }) => {
  await rig.play`write a.log ${linesOf(0, 50)}; drain; pack a.log.gz ${linesOf(0, 50)}; write fresh.log.gz ${gzipSync('fresh\n')}`;
  const now = new Date(rig.clock.now());
  utimesSync(rig.path('fresh.log.gz'), now, now);
  await rig.play`pass 3; count 50; pass 5`;
  expect(rig.byFile['fresh.log.gz']).toEqual(['fresh']);
  expect(rig.byFile['a.log.gz']).toBeUndefined();
});

test('compressed file that is left in its middle goes on there after a restart', async ({ rig }) => {
  const content = linesOf(0, 60_000);
  await rig.play`pack a.log.gz ${content}`;
  const polling = rig.source.pollOnce();
  await rig.lane.until(({ count }) => count > 20_000);
  rig.lane.giveUp();
  await expect(polling).rejects.toMatchObject({ code: 'E_STOPPED' });
  rig.commit();
  const before = rig.texts;
  expect(before.length).toBeGreaterThan(1000);
  expect(before.length).toBeLessThan(60_000);
  await rig.play`start; drain; reads ${content.slice(before.length)}`;
  expect(before).toEqual(content.slice(0, before.length));
});

test('damaged compressed file is logged, read as far as possible, and tried again when it changes', async () => {
  const rig = await startRig(COMPRESSED);
  const whole = gzipSync(noise(0, 40_000));
  await rig.play`
    still a.log.gz ${whole.subarray(0, whole.length / 2)}; still b.log.gz ${Buffer.from('not compressed at all\n')}; write c.log plain
    drain; pass 3
  `;
  expect(rig.said(/is damaged/)).toMatchObject([
    { level: 'warn', fields: { path: rig.path('a.log.gz'), reason: 'it ends too soon' } },
  ]);
  expect(rig.said(/is not compressed with/)).toMatchObject([{ fields: { path: rig.path('b.log.gz') } }]);
  const read = rig.byFile['a.log.gz']!.length;
  expect(read).toBeGreaterThan(1000);
  expect(rig.byFile['c.log']).toEqual(['plain']);
  appendFileSync(rig.path('a.log.gz'), whole.subarray(whole.length / 2));
  utimesSync(rig.path('a.log.gz'), 0, 0);
  await rig.drain();
  // The line that the damage cut is two events.
  expect(rig.byFile['a.log.gz']!.length).toBe(40_001);
});

test('compressed file that was read and is settled is not decompressed again after a restart, one that is not settled is', async () => {
  const rig = await startRig(COMPRESSED);
  const whole = packOf(linesOf(0, 40_000));
  await rig.play`still a.log.gz ${whole}; drain; commit`;
  const [stream] = rig.streams.records.keys();
  rig.streams.unsettled.add(stream!);
  await rig.play`pass 2; still a.log.gz ${damaged(whole)}; start; drain; said 1 is damaged; still a.log.gz ${whole}`;
  rig.streams.unsettled.clear();
  await rig.play`start; pass 2; still a.log.gz ${damaged(whole)}; start; drain; said 1 is damaged; reads-nothing`;
});

scenario('compressed files that are there at the first start are left alone with start_at: end, later ones are read', {
  ...COMPRESSED,
  startAt: 'end',
})`pack old.log.gz old; start; pack new.log.gz new; drain; reads new; commit; start; drain; reads-nothing`;

test('compressed file is the same one under another device number, and with stable_inodes: false under another inode', async () => {
  let device = 1;
  let inode = 0;
  const numbered = (stat: FileStat): FileStat =>
    stat.kind === 'file' ? { ...stat, device, inode: Number(stat.inode) + inode } : stat;
  const fileSystem = failingFileSystem((real) => ({
    stat(path) {
      const stat = real.stat(path);
      return stat && numbered(stat);
    },
    fstat: (fd) => numbered(real.fstat(fd)),
  }));
  const rig = await startRig({ ...COMPRESSED, fileSystem, stableInodes: false });
  await rig.play`pack a.log.gz one; pass 3; reads one; commit; pass 3`;
  inode = 1;
  await rig.play`pass 3; reads one`;
  device = 2;
  await rig.start({ stableInodes: true });
  await rig.play`pass 70; reads-nothing`;
});

// Symptom: lines of a batch in flight at a kill were lost, though a compressed file had them. Cause: they were searched for in plain files
// alone.
test('span of a file that was compressed while the agent was stopped is read again from the compressed file, as of that file', async () => {
  const rig = await startRig(COMPRESSED);
  await rig.play`
    write a.log ${linesOf(0, 500)}; drain; commit; stop; pack other.log.gz other; mv a.log a.log.1; compress a.log.1; start
    reread 7-21 "line 1" "line 2"
  `;
  const [stream] = rig.streams.records.keys();
  const { lane } = await rig.reread(7, 21);
  expect(lane.blocks).toMatchObject([{ stream, shape: { wrapFields: { file: rig.path('a.log') } } }]);
});

test('span of a compressed file that is damaged is not there, and one that cannot be read now is left for later', async ({
  rig,
}) => {
  const whole = packOf(linesOf(0, 40_000));
  await rig.play`still a.log.gz ${whole}; drain; still a.log.gz ${damaged(whole)}; reread 250000-250010; fail open "" EACCES`;
  await expect(rig.reread(250_000, 250_010)).rejects.toMatchObject({ code: 'E_UNREADABLE' });
});

scenario('compressed file in UTF-16 is read by its mark, its joined lines to the last', {
  ...COMPRESSED,
  multiline: { kind: 'start', pattern: '^[A-Z]', timeoutMs: 5000, maxLines: 1000, maxBytes: Infinity },
  once: true,
})`start; pack a.log.gz ${Buffer.from('\ufeffÄ eins\n zwei\nB\n ü', 'utf16le')}; run; events "Ä eins\n zwei" "B\n ü"`;

test('compressed file that begins with a hole is read from behind it, and not again where that was read', async ({
  rig,
}) => {
  const hole = Buffer.alloc(3_000_000);
  await rig.play`still a.log.gz ${gzipSync(Buffer.concat([hole, Buffer.from('line 0\nline 1\nline 2\n')]))}; drain; reads "line 0" "line 1" "line 2"`;
  expect(rig.said(/begins with NUL bytes/).map(({ fields }) => fields['holeBytes'])).toEqual([hole.length]);
  await rig.play`
    write b.log ${Buffer.concat([hole, Buffer.from('line 3\nline 4\nline 5\n')])}; drain; compress b.log; pass 130
    reads-after 3 "line 3" "line 4" "line 5"; pack c.log.gz ${'\0'.repeat(1000) + 'few\n'}; drain
    reads-after 6 ${`${'\0'.repeat(1000)}few`}
  `;
});

// Symptom: a member that was appended to a compressed file never arrived, without a word. Cause: a compressed file that was read to its end
// was final, whatever its size. Fix: its size is kept with that, and bytes beyond it are read.
const append = (rig: TailRig, name: string, bytes: Buffer): void =>
  writeStill(rig.path(name), Buffer.concat([readFileSync(rig.path(name)), bytes]));
const noiseLines = (from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, n) => `${from + n} ${((from + n) * 2654435761) % 4294967296}`);
const noise = (from: number, to: number): string =>
  noiseLines(from, to)
    .map((line) => `${line}\n`)
    .join('');

for (const name of ['a.log.gz', 'a.log.zst'])
  scenario(`what is appended to ${name} that was read is read, once, also after restarts`, COMPRESSED)`
    start; pack ${name} ${noiseLines(0, 2000)}; pass 3; pack+ ${name} three; pass 3; reads ${noiseLines(0, 2000)} three; commit; pass 3
    start; pack+ ${name} ${noiseLines(2000, 4000)}; pass 3; reads ${noiseLines(2000, 4000)}
    // Killed before the end of this one is saved, with more of it when the next agent starts.
    commit; pack+ ${name} five; start; pass 3; reads five; lost 0; known ${name}
  `;

test('only appended members are decompressed, and their span is read again as the same events', async () => {
  let readBytes = 0;
  const after = (call: string, _: unknown, count: unknown): void => {
    if (call === 'read') void Promise.resolve(count as number).then((bytes) => (readBytes += bytes));
  };
  const rig = await startRig({ ...COMPRESSED, fileSystem: hooked({ after }) });
  const packed = gzipSync(noise(0, 200_000));
  await rig.play`still a.log.gz ${packed}; drain`;
  const before = readBytes;
  rig.lane.blocks.splice(0);
  await rig.play`pack+ a.log.gz one two; pass 2`;
  // Two reads of the first bytes, which show the format.
  expect(readBytes - before).toBeLessThan(packed.length / 2);
  const { length } = noise(0, 200_000);
  await rig.play`spans A${length}-${length + 8}; reread ${length + 4}-${length + 8} two`;
});

scenario('appended member is read by a run with once, which goes on where the agent before ended', COMPRESSED)`
  start; pack a.log.gz one; pass 2; commit; pass 2; pack+ a.log.gz two; start once; run; reads two
`;

test('appended member that is not whole yet is waited for, line by line, and sent as it is after a minute', async ({
  rig,
}) => {
  const now = (): void => utimesSync(rig.path('a.log.gz'), new Date(rig.clock.now()), new Date(rig.clock.now()));
  await rig.play`pack a.log.gz one; pass 2`;
  const whole = gzipSync(noise(0, 40_000));
  append(rig, 'a.log.gz', whole.subarray(0, whole.length / 2));
  now();
  await rig.pass(20);
  const lines = `one\n${noise(0, 40_000)}`.trimEnd().split('\n');
  const read = rig.texts.length;
  expect(read).toBeGreaterThan(1000);
  expect(rig.texts).toEqual(lines.slice(0, read));
  expect(rig.said(/damaged/)).toEqual([]);
  append(rig, 'a.log.gz', whole.subarray(whole.length / 2));
  await rig.play`pass 2; reads ${lines}`;
  append(rig, 'a.log.gz', whole.subarray(0, whole.length / 2));
  now();
  await rig.pass(70);
  expect(rig.texts.length).toBe(lines.length + read);
  expect(rig.said(/damaged/)).toMatchObject([{ fields: { reason: 'it ends too soon' } }]);
  expect(rig.source.stats.lostBytes).toBe(0);
});

test.each(['a.log.gz', 'a.log.zst'])(
  'what is appended to %s and is none is counted as lost, and said',
  async (name) => {
    const rig = await startRig(COMPRESSED);
    await rig.play`pack ${name} one; pass 2`;
    const { size } = statSync(rig.path(name));
    const junk = Buffer.from('no member of a compressed file\n');
    append(rig, name, junk);
    await rig.pass(3);
    append(rig, name, junk);
    await rig.play`pass 3; reads one; lost ${2 * junk.length}`;
    expect(rig.said(/behind the damage cannot be read/)).toMatchObject([
      { level: 'warn', fields: { path: rig.path(name), compressedOffset: size, lostBytes: junk.length } },
      { level: 'warn', fields: { lostBytes: junk.length } },
    ]);
  },
);

scenario(
  'compressed file that was read and is shorter, or changed before its end, is read from its beginning',
  COMPRESSED,
)`
  start; pack a.log.gz ${noiseLines(0, 2000)}; pack+ a.log.gz two; pass 2; commit; pass 2; pack a.log.gz ${noiseLines(0, 2000)}; pass 2
  count 4001; pack a.log.gz ${noiseLines(0, 1000)} ${noiseLines(5000, 6000)}; pack+ a.log.gz ${'three\n'.repeat(1000)}; pass 2
  last three; said 1 was replaced
`;

scenario('what is appended to a compressed file that start_at: end left out is read', {
  ...COMPRESSED,
  startAt: 'end',
})`
  pack old.log.gz old; start; pass 2; pack+ old.log.gz new; pass 2; reads new; spans A4-8; commit; pass 2; start; pass 2; reads-nothing
`;

test('compressed file that an earlier version read is not read again, and appended members are read', async ({
  rig,
}) => {
  await rig.play`pack a.log.gz one; pack b.log.gz eins; pass 2; commit; stop`;
  for (const [id, record] of rig.streams.records) {
    const { compressedEnd: _, identity, ...rest } = record;
    rig.streams.records.set(id, { ...rest, identity: { ...identity!, headHash: `done ${identity!.headHash}` } });
  }
  // Appended before this version ran.
  const later = new Date(Date.now() + 1000);
  writeFileSync(rig.path('b.log.gz'), Buffer.concat([gzipSync('eins\n'), gzipSync('zwei\n')]));
  utimesSync(rig.path('b.log.gz'), later, later);
  await rig.start({ once: true });
  await rig.play`run; reads zwei; pack+ a.log.gz two; start; pass 2; reads two`;
});

test('position in a compressed file is recognised by its content, and its lag by its compressed bytes', async ({
  rig,
}) => {
  await rig.play`pack a.log.gz ${noiseLines(0, 5000)}; pass 2`;
  const path = rig.path('a.log.gz');
  const { size } = statSync(path);
  const offset = noise(0, 5000).length;
  expect(rig.source.explain(path)).toMatchObject({
    isCompressed: true,
    offset,
    compressedOffset: size,
    size,
    lagBytes: 0,
  });
  const more = gzipSync('more\n');
  append(rig, 'a.log.gz', more);
  expect(rig.source.explain(path)).toMatchObject({ offset, size: size + more.length, lagBytes: more.length });
});
