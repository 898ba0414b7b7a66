/** Compressed files: what was never read in its plain form is read once, over restarts and damage. */
import { appendFileSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { LaneDouble } from '../lane-double.ts';
import type { FileStat } from '../../../src/sources/file/scan/file-system.ts';
import { failingFileSystem, systemError, TailRig, startRig } from './tail-rig.ts';
import { scenario } from './scenario.ts';
import { writeStill } from './steps.ts';

const linesOf = (from: number, to: number, prefix = 'line'): string =>
  Array.from({ length: to - from }, (_, n) => `${prefix} ${from + n}\n`).join('');

const COMPRESSED = { readCompressed: true, glob: '*.log*' } as const;

test('compressed files are read to their ends, once, with positions in their content', async () => {
  const rig = await startRig(COMPRESSED);
  writeStill(rig.path('a.log.gz'), gzipSync(linesOf(0, 3)));
  writeStill(rig.path('b.log.zst'), Buffer.concat([zstdCompressSync('one\ntw'), zstdCompressSync('o\nthree')]));
  writeStill(rig.path('c.log.gz'), Buffer.concat([gzipSync('x\n'), gzipSync('y\n')]));
  await rig.play`drain; drain; by-file a.log.gz "line 0" "line 1" "line 2" + b.log.zst one two three + c.log.gz x y`;
  const [first] = rig.lane.blocks.filter(({ shape }) => shape.wrapFields['file'] === rig.path('a.log.gz'));
  expect(first).toMatchObject({ offset: 0, length: 21 });
  expect(rig.source.stats).toMatchObject({ readBytes: 21 + 13 + 4, lostBytes: 0 });
});

test('compressed file is left out, and said so once, unless it is asked for', async () => {
  const rig = await startRig({ ...COMPRESSED, readCompressed: false });
  await rig.play`pack a.log.gz one; write b.log plain; drain; pass 3; reads plain; said 1 compressed files are left out`;
});

scenario('compressed file of a file that was read is not read again, nor after a restart', COMPRESSED)`
  start; write a.log ${linesOf(0, 500)}; drain; commit; mv a.log a.log.1; write a.log ${linesOf(500, 600)}; drain; compress a.log.1
  pass 130; count 600; said 1 holds what was read in its plain form; commit; start; pass 70; reads-nothing
`;

test('compressed file that was made while the agent was stopped is read from where its plain form was left', async () => {
  const rig = await startRig(COMPRESSED);
  await rig.play`
    write a.log ${linesOf(0, 500)}; drain; commit; stop; append a.log ${linesOf(500, 700)}; mv a.log a.log.1; compress a.log.1; start
    // Its plain form is looked for as long as it may come back.
    pass 70
  `;
  expect(rig.texts).toEqual(linesOf(500, 700).trimEnd().split('\n'));
});

// Symptom: a compressed file was read again. Cause: files were noted after each scan, and what was read of one that an earlier process had only
// seen was not, as it was truncated before the first scan after the start.
test('compressed file of a copy is not read again where its original was read and truncated before the first scan', async () => {
  const rig = await startRig(COMPRESSED);
  await rig.play`write a.log one; scan; start`;
  const running = rig.source.run();
  await rig.lane.until(({ count }) => count === 1);
  await rig.play`pack a.log.1.gz one; cut a.log; pass 130; reads one; stop`;
  await running;
});

test('compressed file that merely begins like a file that was read is read whole', async () => {
  const rig = await startRig(COMPRESSED);
  const banner = `${'='.repeat(2000)}\n`;
  await rig.play`write a.log ${`${banner}mine\n`}; drain; pack b.log.gz ${`${banner}other\n`}; pass 3`;
  expect(rig.byFile['b.log.gz']).toEqual(['='.repeat(2000), 'other']);
});

test('compressed file waits while its plain form is there, and while it is being written', async () => {
  const rig = await startRig(COMPRESSED);
  await rig.play`write a.log ${linesOf(0, 50)}; drain; pack a.log.gz ${linesOf(0, 50)}; write fresh.log.gz ${gzipSync('fresh\n')}`;
  const now = new Date(rig.clock.now());
  utimesSync(rig.path('fresh.log.gz'), now, now);
  await rig.play`pass 3; count 50; pass 5`;
  expect(rig.byFile['fresh.log.gz']).toEqual(['fresh']);
  expect(rig.byFile['a.log.gz']).toBeUndefined();
});

test('compressed file that is left in its middle goes on there after a restart', async () => {
  const rig = await startRig(COMPRESSED);
  const content = linesOf(0, 60_000);
  writeStill(rig.path('a.log.gz'), gzipSync(content));
  const polling = rig.source.pollOnce();
  await rig.lane.until(({ count }) => count > 20_000);
  rig.lane.giveUp();
  await expect(polling).rejects.toMatchObject({ code: 'E_STOPPED' });
  rig.commit();
  const before = rig.texts;
  expect(before.length).toBeGreaterThan(1000);
  expect(before.length).toBeLessThan(60_000);
  await rig.play`start; drain`;
  expect([...before, ...rig.texts].join('\n')).toBe(content.trimEnd());
});

test('compressed file that is damaged is said so, what can be read of it is read, and it is tried again when it changes', async () => {
  const rig = await startRig(COMPRESSED);
  const whole = gzipSync(Array.from({ length: 40_000 }, (_, n) => `${n} ${(n * 2654435761) % 4294967296}\n`).join(''));
  await rig.play`
    still a.log.gz ${whole.subarray(0, whole.length / 2)}; still b.log.gz ${Buffer.from('not compressed at all\n')}; write c.log plain
    drain; pass 3
  `;
  expect(rig.said(/is damaged/)).toMatchObject([{ level: 'warn', fields: { path: rig.path('a.log.gz'), reason: 'it ends too soon' } }]);
  expect(rig.said(/and is none/)).toMatchObject([{ fields: { path: rig.path('b.log.gz') } }]);
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
  const whole = gzipSync(linesOf(0, 40_000));
  await rig.play`still a.log.gz ${whole}; drain; commit`;
  const [stream] = rig.streams.records.keys();
  rig.streams.unsettled.add(stream!);
  await rig.pass(2);
  const damage = (): void => writeStill(rig.path('a.log.gz'), Buffer.concat([whole.subarray(0, 2000), Buffer.alloc(whole.length - 2000)]));
  damage();
  await rig.play`start; drain; said 1 is damaged; still a.log.gz ${whole}`;
  rig.streams.unsettled.clear();
  await rig.play`start; pass 2`;
  damage();
  await rig.play`start; drain; said 1 is damaged; reads-nothing`;
});

test('compressed files that are there at the first start are left alone with start_at: end, later ones are read', async () => {
  const rig = new TailRig({ ...COMPRESSED, startAt: 'end' });
  writeStill(rig.path('old.log.gz'), gzipSync('old\n'));
  await rig.start();
  await rig.play`pack new.log.gz new; drain; reads new; commit`;
  await rig.start();
  await rig.play`drain; reads-nothing`;
});

scenario('compressed file under another name is the same one, and its stream is forgotten once it is gone', COMPRESSED)`
  start; pack a.log.1.gz one; drain; commit; mv a.log.1.gz a.log.2.gz; pass 2; start; drain; reads-nothing; rm a.log.2.gz; pass 130
  forgotten 1
`;

// Symptom: every compressed file of a folder was read again. Cause: a scan that could not list the folder had them forgotten at once.
test.each([
  ['while the source runs', false],
  ['at its start', true],
])('compressed files of a folder that cannot be listed for a while are not read again, %s', async (_, isRestarted) => {
  let isFailing = false;
  const fileSystem = failingFileSystem((real) => ({
    readdir(path) {
      if (isFailing) throw systemError('EIO');
      return real.readdir(path);
    },
    stat(path) {
      const stat = real.stat(path);
      return stat?.kind === 'directory' ? { ...stat, mtimeMs: Number.NaN } : stat;
    },
  }));
  const rig = await startRig({ ...COMPRESSED, fileSystem });
  await rig.play`pack a.log.gz one; pass 3; reads one; commit; pass 3`;
  isFailing = true;
  if (isRestarted) await rig.start();
  await rig.pass(30);
  isFailing = false;
  await rig.pass(70);
  expect(rig.texts).toEqual(isRestarted ? [] : ['one']);
});

test('compressed file is the same one under another device number, and with stable_inodes: false under another inode', async () => {
  let device = 1;
  let inode = 0;
  const numbered = (stat: FileStat): FileStat => (stat.kind === 'file' ? { ...stat, device, inode: Number(stat.inode) + inode } : stat);
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

scenario('compressed file that is written over another one is read from its beginning', COMPRESSED)`
  start; pack a.log.gz ${linesOf(0, 100)}; pass 3; commit; pass 3; pack a.log.gz ${linesOf(200, 300)}; pass 3
  reads ${linesOf(0, 100).trimEnd().split('\n')} ${linesOf(200, 300).trimEnd().split('\n')}
`;

test('span of a compressed file is read again as the same events', async () => {
  const rig = await startRig(COMPRESSED);
  await rig.play`pack a.log.zst one two three four; drain`;
  const [block] = rig.lane.blocks;
  const lane = new LaneDouble();
  const span = { source: 'app', stream: block!.stream, from: 4, to: 14, events: 2, sum: 0, tail: { length: 0, crc: 0 } };
  expect(await rig.source.reread!(span, lane)).toBe(span.to);
  expect(lane.texts).toEqual(['two', 'three']);
  expect(await rig.source.reread!({ ...span, to: 900 }, new LaneDouble())).toBe(span.from);
});

test('span of a compressed file that is gone, or has another one in its place, is not there', async () => {
  const rig = await startRig(COMPRESSED);
  await rig.play`pack a.log.gz one two; drain`;
  const [block] = rig.lane.blocks;
  const lane = new LaneDouble();
  const span = { source: 'app', stream: block!.stream, from: 0, to: 8, events: 2, sum: 0, tail: { length: 0, crc: 0 } };
  writeStill(rig.path('a.log.gz'), gzipSync('six\nten\n'));
  expect(await rig.source.reread!(span, lane)).toBe(span.from);
  rmSync(rig.path('a.log.gz'));
  expect(await rig.source.reread!(span, lane)).toBe(span.from);
  expect(lane.texts).toEqual([]);
});

// Symptom: lines of a batch that was under way at a kill were lost, though a compressed file had them. Cause: they were looked for in plain
// files alone.
test('span of a file that was compressed while the agent was stopped is read again from the compressed file, as of that file', async () => {
  const rig = await startRig(COMPRESSED);
  await rig.play`write a.log ${linesOf(0, 500)}; drain; commit`;
  const [block] = rig.lane.blocks;
  await rig.play`stop; pack other.log.gz other; mv a.log a.log.1; compress a.log.1; start`;
  const lane = new LaneDouble();
  const span = { source: 'app', stream: block!.stream, from: 7, to: 21, events: 2, sum: 0, tail: { length: 0, crc: 0 } };
  expect(await rig.source.reread!(span, lane)).toBe(span.to);
  expect(lane.texts).toEqual(['line 1', 'line 2']);
  expect(lane.blocks).toMatchObject([{ stream: span.stream, shape: { wrapFields: { file: rig.path('a.log') } } }]);
});

test('span of a compressed file that is damaged is not there, and one that cannot be read now is left for later', async () => {
  let isFailing = false;
  const fileSystem = failingFileSystem((real) => ({
    open(path) {
      if (isFailing) throw systemError('EACCES');
      return real.open(path);
    },
  }));
  const rig = await startRig({ ...COMPRESSED, fileSystem });
  const whole = gzipSync(linesOf(0, 40_000));
  await rig.play`still a.log.gz ${whole}; drain`;
  const [block] = rig.lane.blocks;
  const span = { source: 'app', stream: block!.stream, from: 250_000, to: 250_010, events: 1, sum: 0, tail: { length: 0, crc: 0 } };
  writeStill(rig.path('a.log.gz'), Buffer.concat([whole.subarray(0, 2000), Buffer.alloc(whole.length - 2000)]));
  expect(await rig.source.reread!(span, new LaneDouble())).toBe(span.from);
  isFailing = true;
  await expect(rig.source.reread!(span, new LaneDouble())).rejects.toMatchObject({ code: 'E_UNREADABLE' });
});

test('compressed file in UTF-16 is read by its mark, its joined lines to the last', async () => {
  const multiline = { kind: 'start', pattern: '^[A-Z]', timeoutMs: 5000, maxLines: 1000, maxBytes: Infinity } as const;
  const rig = await startRig({ ...COMPRESSED, multiline, once: true });
  await rig.play`pack a.log.gz ${Buffer.from('\ufeffÄ eins\n zwei\nB\n ü', 'utf16le')}; run`;
  expect(rig.lane.blocks.flatMap(({ events }) => events.map(String))).toEqual(['Ä eins\n zwei', 'B\n ü']);
});

test('compressed file that begins with a hole is read from behind it, and not again where that was read', async () => {
  const rig = await startRig(COMPRESSED);
  const hole = Buffer.alloc(3_000_000);
  await rig.play`still a.log.gz ${gzipSync(Buffer.concat([hole, Buffer.from(linesOf(0, 3))]))}; drain; reads "line 0" "line 1" "line 2"`;
  expect(rig.said(/begins with NUL bytes/).map(({ fields }) => fields['holeBytes'])).toEqual([hole.length]);
  await rig.play`
    write b.log ${Buffer.concat([hole, Buffer.from(linesOf(3, 6))])}; drain; compress b.log; pass 130
    reads-after 3 "line 3" "line 4" "line 5"; pack c.log.gz ${'\0'.repeat(1000) + 'few\n'}; drain
    reads-after 6 ${`${'\0'.repeat(1000)}few`}
  `;
});

// Symptom: a member that was appended to a compressed file never arrived, without a word. Cause: a compressed file that was read to its end was final,
// whatever its size. Fix: its size is kept with that, and what is behind it is read.
const packs = { gzip: { pack: gzipSync, name: 'a.log.gz' }, zstd: { pack: zstdCompressSync, name: 'a.log.zst' } };
const append = (rig: TailRig, name: string, bytes: Buffer): void =>
  writeStill(rig.path(name), Buffer.concat([readFileSync(rig.path(name)), bytes]));
const noise = (from: number, to: number): string =>
  Array.from({ length: to - from }, (_, n) => `${from + n} ${((from + n) * 2654435761) % 4294967296}\n`).join('');

test.each(['gzip', 'zstd'] as const)('what is appended to a %s file that was read is read, once, also after restarts', async (kind) => {
  const { pack, name } = packs[kind];
  const rig = await startRig(COMPRESSED);
  const pieces = [noise(0, 2000), 'three\n', noise(2000, 4000), 'five\n'];
  writeStill(rig.path(name), pack(pieces[0]!));
  await rig.pass(3);
  append(rig, name, pack(pieces[1]!));
  await rig.pass(3);
  const read = rig.texts;
  await rig.play`commit; pass 3; start`;
  append(rig, name, pack(pieces[2]!));
  await rig.pass(3);
  read.push(...rig.texts);
  // Killed before the end of this one is saved, with more of it when the next agent starts.
  rig.commit();
  append(rig, name, pack(pieces[3]!));
  await rig.play`start; pass 3`;
  expect([...read, ...rig.texts]).toEqual(pieces.join('').trimEnd().split('\n'));
  expect(new Set(rig.lanes.flatMap(({ blocks }) => blocks.map(({ stream }) => stream))).size).toBe(1);
  expect(rig.source.stats.lostBytes).toBe(0);
});

test('only what is appended is decompressed, and its span is read again as the same events', async () => {
  let readBytes = 0;
  const fileSystem = failingFileSystem((real) => ({
    async read(fd, into, position) {
      const count = await real.read(fd, into, position);
      readBytes += count;
      return count;
    },
  }));
  const rig = await startRig({ ...COMPRESSED, fileSystem });
  const packed = gzipSync(noise(0, 200_000));
  await rig.play`still a.log.gz ${packed}; drain`;
  const before = readBytes;
  rig.lane.blocks.splice(0);
  await rig.play`pack+ a.log.gz one two; pass 2`;
  // Two reads of the first bytes, by which the format is told.
  expect(readBytes - before).toBeLessThan(packed.length / 2);
  const [block] = rig.lane.blocks;
  expect(block).toMatchObject({ offset: noise(0, 200_000).length, length: 8 });
  const lane = new LaneDouble();
  const span = {
    source: 'app',
    stream: block!.stream,
    from: block!.offset + 4,
    to: block!.offset + 8,
    events: 1,
    sum: 0,
    tail: { length: 0, crc: 0 },
  };
  expect(await rig.source.reread!(span, lane)).toBe(span.to);
  expect(lane.texts).toEqual(['two']);
});

test('appended member is read by a run with once, which goes on where the agent before ended', async () => {
  const rig = await startRig(COMPRESSED);
  await rig.play`pack a.log.gz one; pass 2; commit; pass 2; pack+ a.log.gz two`;
  await rig.start({ once: true });
  await rig.play`run; reads two`;
});

test('appended member that is not whole yet is waited for, line by line, and sent as it is after a minute', async () => {
  const rig = await startRig(COMPRESSED);
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

test.each(['gzip', 'zstd'] as const)('what is appended to a %s file and is none is counted as lost, and said', async (kind) => {
  const { pack, name } = packs[kind];
  const rig = await startRig(COMPRESSED);
  writeStill(rig.path(name), pack('one\n'));
  await rig.pass(2);
  const size = pack('one\n').length;
  const junk = Buffer.from('no member of a compressed file\n');
  append(rig, name, junk);
  await rig.pass(3);
  append(rig, name, junk);
  await rig.play`pass 3; reads one`;
  expect(rig.source.stats.lostBytes).toBe(2 * junk.length);
  expect(rig.said(/behind the damage cannot be read/)).toMatchObject([
    { level: 'warn', fields: { path: rig.path(name), compressedOffset: size, lostBytes: junk.length } },
    { level: 'warn', fields: { lostBytes: junk.length } },
  ]);
});

test('compressed file that was read and is shorter, or changed before its end, is read from its beginning', async () => {
  const rig = await startRig(COMPRESSED);
  const first = gzipSync(noise(0, 2000));
  writeStill(rig.path('a.log.gz'), Buffer.concat([first, gzipSync('two\n')]));
  await rig.play`pass 2; commit; pass 2; still a.log.gz ${first}; pass 2`;
  expect(rig.texts.length).toBe(2001 + 2000);
  writeStill(rig.path('a.log.gz'), Buffer.concat([gzipSync(noise(0, 1000) + noise(5000, 6000)), gzipSync('three\n'.repeat(1000))]));
  await rig.play`pass 2; last three; said 1 was replaced`;
});

test('what is appended to a compressed file that start_at: end left out is read', async () => {
  const rig = new TailRig({ ...COMPRESSED, startAt: 'end' });
  await rig.play`pack old.log.gz old; start; pass 2; pack+ old.log.gz new; pass 2; reads new`;
  expect(rig.lane.blocks).toMatchObject([{ offset: 4 }]);
  await rig.play`commit; pass 2; start; pass 2; reads-nothing`;
});

test('compressed file that an earlier version read is not read again, and what is appended to it is read', async () => {
  const rig = await startRig(COMPRESSED);
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

test('position in a compressed file is told by its content, and what is behind by its compressed bytes', async () => {
  const rig = await startRig(COMPRESSED);
  const text = noise(0, 5000);
  writeStill(rig.path('a.log.gz'), gzipSync(text));
  const { length } = gzipSync(text);
  await rig.pass(2);
  expect(rig.source.explain(rig.path('a.log.gz'))).toMatchObject({
    ...{ isCompressed: true, offset: text.length, compressedOffset: length, size: length, lagBytes: 0 },
  });
  const more = gzipSync('more\n');
  append(rig, 'a.log.gz', more);
  expect(rig.source.explain(rig.path('a.log.gz'))).toMatchObject({
    offset: text.length,
    size: length + more.length,
    lagBytes: more.length,
  });
});
