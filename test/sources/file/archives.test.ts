/** Compressed files: what was never read in its plain form is read once, over restarts and damage. */
import { appendFileSync, readFileSync, renameSync, rmSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { LaneDouble } from '../lane-double.ts';
import type { FileStat } from '../../../src/sources/file/scan/file-system.ts';
import { failingFileSystem, systemError, TailBench } from './tail-bench.ts';

const OLD = new Date('2020-01-01');
const linesOf = (from: number, to: number, prefix = 'line'): string =>
  Array.from({ length: to - from }, (_, n) => `${prefix} ${from + n}\n`).join('');

class ArchiveBench extends TailBench {
  /** Writes an archive that stands still. */
  write(name: string, bytes: Buffer): void {
    writeFileSync(this.path(name), bytes);
    utimesSync(this.path(name), OLD, OLD);
  }

  /** What `gzip` does: the plain file goes. */
  compress(name: string): void {
    this.write(`${name}.gz`, gzipSync(readFileSync(this.path(name))));
    rmSync(this.path(name));
  }
}

async function start(options: ConstructorParameters<typeof TailBench>[0] = {}): Promise<ArchiveBench> {
  const bench = new ArchiveBench({ readCompressed: true, ...options });
  return bench.start({ include: [bench.path('*.log*')] });
}

const again = (bench: ArchiveBench): Promise<TailBench> => bench.start({ include: [bench.path('*.log*')] });

test('archives are read to their ends, once, with positions in their content', async () => {
  const bench = await start();
  bench.write('a.log.gz', gzipSync(linesOf(0, 3)));
  bench.write('b.log.zst', Buffer.concat([zstdCompressSync('one\ntw'), zstdCompressSync('o\nthree')]));
  bench.write('c.log.gz', Buffer.concat([gzipSync('x\n'), gzipSync('y\n')]));
  await bench.drain();
  await bench.drain();
  expect(bench.byFile).toEqual({
    'a.log.gz': ['line 0', 'line 1', 'line 2'],
    'b.log.zst': ['one', 'two', 'three'],
    'c.log.gz': ['x', 'y'],
  });
  const [first] = bench.lane.blocks.filter(({ shape }) => shape.wrapFields['file'] === bench.path('a.log.gz'));
  expect(first).toMatchObject({ offset: 0, length: 21 });
  expect(bench.source.stats).toMatchObject({ readBytes: 21 + 13 + 4, lostBytes: 0 });
});

test('archive is left out, and said so once, unless it is asked for', async () => {
  const bench = await start({ readCompressed: false });
  bench.write('a.log.gz', gzipSync('one\n'));
  writeFileSync(bench.path('b.log'), 'plain\n');
  await bench.drain();
  await bench.pass(3);
  expect(bench.texts).toEqual(['plain']);
  expect(bench.said(/compressed files are left out/)).toHaveLength(1);
});

test('archive of a file that was read is not read again, nor after a restart', async () => {
  const bench = await start();
  writeFileSync(bench.path('a.log'), linesOf(0, 500));
  await bench.drain();
  bench.commit();
  renameSync(bench.path('a.log'), bench.path('a.log.1'));
  writeFileSync(bench.path('a.log'), linesOf(500, 600));
  await bench.drain();
  bench.compress('a.log.1');
  await bench.pass(130);
  expect(bench.texts).toHaveLength(600);
  expect(bench.said(/holds what was read in its plain form/)).toHaveLength(1);
  bench.commit();
  await again(bench);
  await bench.pass(70);
  expect(bench.texts).toEqual([]);
});

test('archive that was made while the agent was stopped is read from where its plain form was left', async () => {
  const bench = await start();
  writeFileSync(bench.path('a.log'), linesOf(0, 500));
  await bench.drain();
  bench.commit();
  await bench.source.stop();
  appendFileSync(bench.path('a.log'), linesOf(500, 700));
  renameSync(bench.path('a.log'), bench.path('a.log.1'));
  bench.compress('a.log.1');
  await again(bench);
  // Its plain form is looked for as long as it may come back.
  await bench.pass(70);
  expect(bench.texts).toEqual(linesOf(500, 700).trimEnd().split('\n'));
});

// Symptom: an archive was read again. Cause: files were noted after each scan, and what was read of one that an earlier process had only
// seen was not, as it was truncated before the first scan after the start.
test('archive of a copy is not read again where its original was read and truncated before the first scan', async () => {
  const bench = await start();
  writeFileSync(bench.path('a.log'), 'one\n');
  await bench.source.scanOnce();
  await again(bench);
  const running = bench.source.run();
  await bench.lane.until(({ count }) => count === 1);
  bench.write('a.log.1.gz', gzipSync('one\n'));
  truncateSync(bench.path('a.log'), 0);
  await bench.pass(130);
  expect(bench.texts).toEqual(['one']);
  await bench.source.stop();
  await running;
});

test('archive that merely begins like a file that was read is read whole', async () => {
  const bench = await start();
  const banner = `${'='.repeat(2000)}\n`;
  writeFileSync(bench.path('a.log'), `${banner}mine\n`);
  await bench.drain();
  bench.write('b.log.gz', gzipSync(`${banner}other\n`));
  await bench.pass(3);
  expect(bench.byFile['b.log.gz']).toEqual(['='.repeat(2000), 'other']);
});

test('archive waits while its plain form is there, and while it is being written', async () => {
  const bench = await start();
  writeFileSync(bench.path('a.log'), linesOf(0, 50));
  await bench.drain();
  bench.write('a.log.gz', gzipSync(linesOf(0, 50)));
  writeFileSync(bench.path('fresh.log.gz'), gzipSync('fresh\n'));
  const now = new Date(bench.clock.now());
  utimesSync(bench.path('fresh.log.gz'), now, now);
  await bench.pass(3);
  expect(bench.texts).toHaveLength(50);
  await bench.pass(5);
  expect(bench.byFile['fresh.log.gz']).toEqual(['fresh']);
  expect(bench.byFile['a.log.gz']).toBeUndefined();
});

test('archive that is left in its middle goes on there after a restart', async () => {
  const bench = await start();
  const content = linesOf(0, 60_000);
  bench.write('a.log.gz', gzipSync(content));
  const polling = bench.source.pollOnce();
  await bench.lane.until(({ count }) => count > 20_000);
  bench.lane.giveUp();
  await expect(polling).rejects.toMatchObject({ code: 'E_STOPPED' });
  bench.commit();
  const before = bench.texts;
  expect(before.length).toBeGreaterThan(1000);
  expect(before.length).toBeLessThan(60_000);
  await again(bench);
  await bench.drain();
  expect([...before, ...bench.texts].join('\n')).toBe(content.trimEnd());
});

test('archive that is damaged is said so, what can be read of it is read, and it is tried again when it changes', async () => {
  const bench = await start();
  const whole = gzipSync(Array.from({ length: 40_000 }, (_, n) => `${n} ${(n * 2654435761) % 4294967296}\n`).join(''));
  bench.write('a.log.gz', whole.subarray(0, whole.length / 2));
  bench.write('b.log.gz', Buffer.from('not compressed at all\n'));
  writeFileSync(bench.path('c.log'), 'plain\n');
  await bench.drain();
  await bench.pass(3);
  expect(bench.said(/is damaged/)).toMatchObject([{ level: 'warn', fields: { path: bench.path('a.log.gz'), reason: 'it ends too soon' } }]);
  expect(bench.said(/and is none/)).toMatchObject([{ fields: { path: bench.path('b.log.gz') } }]);
  const read = bench.byFile['a.log.gz']!.length;
  expect(read).toBeGreaterThan(1000);
  expect(bench.byFile['c.log']).toEqual(['plain']);
  appendFileSync(bench.path('a.log.gz'), whole.subarray(whole.length / 2));
  utimesSync(bench.path('a.log.gz'), OLD, OLD);
  await bench.drain();
  // The line that the damage cut is two events.
  expect(bench.byFile['a.log.gz']!.length).toBe(40_001);
});

test('archive that was read and is settled is not decompressed again after a restart, one that is not settled is', async () => {
  const bench = await start();
  const whole = gzipSync(linesOf(0, 40_000));
  bench.write('a.log.gz', whole);
  await bench.drain();
  bench.commit();
  const [stream] = bench.streams.records.keys();
  bench.streams.unsettled.add(stream!);
  await bench.pass(2);
  const damage = (): void => bench.write('a.log.gz', Buffer.concat([whole.subarray(0, 2000), Buffer.alloc(whole.length - 2000)]));
  damage();
  await again(bench);
  await bench.drain();
  expect(bench.said(/is damaged/)).toHaveLength(1);
  bench.write('a.log.gz', whole);
  bench.streams.unsettled.clear();
  await again(bench);
  await bench.pass(2);
  damage();
  await again(bench);
  await bench.drain();
  expect(bench.said(/is damaged/)).toHaveLength(1);
  expect(bench.texts).toEqual([]);
});

test('archives that are there at the first start are left alone with start_at: end, later ones are read', async () => {
  const bench = new ArchiveBench({ readCompressed: true, startAt: 'end' });
  bench.write('old.log.gz', gzipSync('old\n'));
  await bench.start({ include: [bench.path('*.log*')] });
  bench.write('new.log.gz', gzipSync('new\n'));
  await bench.drain();
  expect(bench.texts).toEqual(['new']);
  bench.commit();
  await bench.start({ include: [bench.path('*.log*')] });
  await bench.drain();
  expect(bench.texts).toEqual([]);
});

test('archive under another name is the same one, and its stream is forgotten once it is gone', async () => {
  const bench = await start();
  bench.write('a.log.1.gz', gzipSync('one\n'));
  await bench.drain();
  bench.commit();
  renameSync(bench.path('a.log.1.gz'), bench.path('a.log.2.gz'));
  await bench.pass(2);
  await again(bench);
  await bench.drain();
  expect(bench.texts).toEqual([]);
  rmSync(bench.path('a.log.2.gz'));
  await bench.pass(130);
  expect(bench.streams.forgotten).toHaveLength(1);
});

// Symptom: every archive of a folder was read again. Cause: a scan that could not list the folder had them forgotten at once.
test.each([
  ['while the source runs', false],
  ['at its start', true],
])('archives of a folder that cannot be listed for a while are not read again, %s', async (_, isRestarted) => {
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
  const bench = await start({ fileSystem });
  bench.write('a.log.gz', gzipSync('one\n'));
  await bench.pass(3);
  expect(bench.texts).toEqual(['one']);
  bench.commit();
  await bench.pass(3);
  isFailing = true;
  if (isRestarted) await again(bench);
  await bench.pass(30);
  isFailing = false;
  await bench.pass(70);
  expect(bench.texts).toEqual(isRestarted ? [] : ['one']);
});

test('archive is the same one under another device number, and with stable_inodes: false under another inode', async () => {
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
  const bench = await start({ fileSystem, stableInodes: false });
  bench.write('a.log.gz', gzipSync('one\n'));
  await bench.pass(3);
  expect(bench.texts).toEqual(['one']);
  bench.commit();
  await bench.pass(3);
  inode = 1;
  await bench.pass(3);
  expect(bench.texts).toEqual(['one']);
  device = 2;
  await bench.start({ include: [bench.path('*.log*')], stableInodes: true });
  await bench.pass(70);
  expect(bench.texts).toEqual([]);
});

test('archive that is written over another one is read from its beginning', async () => {
  const bench = await start();
  bench.write('a.log.gz', gzipSync(linesOf(0, 100)));
  await bench.pass(3);
  bench.commit();
  await bench.pass(3);
  bench.write('a.log.gz', gzipSync(linesOf(200, 300)));
  await bench.pass(3);
  expect(bench.texts).toEqual([...linesOf(0, 100).trimEnd().split('\n'), ...linesOf(200, 300).trimEnd().split('\n')]);
});

test('span of an archive is read again as the same events', async () => {
  const bench = await start();
  bench.write('a.log.zst', zstdCompressSync('one\ntwo\nthree\nfour\n'));
  await bench.drain();
  const [block] = bench.lane.blocks;
  const lane = new LaneDouble();
  const span = { source: 'app', stream: block!.stream, from: 4, to: 14, events: 2, sum: 0, tail: { length: 0, crc: 0 } };
  expect(await bench.source.reread!(span, lane)).toBe(span.to);
  expect(lane.texts).toEqual(['two', 'three']);
  expect(await bench.source.reread!({ ...span, to: 900 }, new LaneDouble())).toBe(span.from);
});

test('span of an archive that is gone, or has another one in its place, is not there', async () => {
  const bench = await start();
  bench.write('a.log.gz', gzipSync('one\ntwo\n'));
  await bench.drain();
  const [block] = bench.lane.blocks;
  const lane = new LaneDouble();
  const span = { source: 'app', stream: block!.stream, from: 0, to: 8, events: 2, sum: 0, tail: { length: 0, crc: 0 } };
  bench.write('a.log.gz', gzipSync('six\nten\n'));
  expect(await bench.source.reread!(span, lane)).toBe(span.from);
  rmSync(bench.path('a.log.gz'));
  expect(await bench.source.reread!(span, lane)).toBe(span.from);
  expect(lane.texts).toEqual([]);
});

// Symptom: lines of a batch that was under way at a kill were lost, though an archive had them. Cause: they were looked for in plain
// files alone.
test('span of a file that was compressed while the agent was stopped is read again from the archive, as of that file', async () => {
  const bench = await start();
  writeFileSync(bench.path('a.log'), linesOf(0, 500));
  await bench.drain();
  bench.commit();
  const [block] = bench.lane.blocks;
  await bench.source.stop();
  bench.write('other.log.gz', gzipSync('other\n'));
  renameSync(bench.path('a.log'), bench.path('a.log.1'));
  bench.compress('a.log.1');
  await again(bench);
  const lane = new LaneDouble();
  const span = { source: 'app', stream: block!.stream, from: 7, to: 21, events: 2, sum: 0, tail: { length: 0, crc: 0 } };
  expect(await bench.source.reread!(span, lane)).toBe(span.to);
  expect(lane.texts).toEqual(['line 1', 'line 2']);
  expect(lane.blocks).toMatchObject([{ stream: span.stream, shape: { wrapFields: { file: bench.path('a.log') } } }]);
});

test('span of an archive that is damaged is not there, and one that cannot be read now is left for later', async () => {
  let isFailing = false;
  const fileSystem = failingFileSystem((real) => ({
    open(path) {
      if (isFailing) throw systemError('EACCES');
      return real.open(path);
    },
  }));
  const bench = await start({ fileSystem });
  const whole = gzipSync(linesOf(0, 40_000));
  bench.write('a.log.gz', whole);
  await bench.drain();
  const [block] = bench.lane.blocks;
  const span = { source: 'app', stream: block!.stream, from: 250_000, to: 250_010, events: 1, sum: 0, tail: { length: 0, crc: 0 } };
  bench.write('a.log.gz', Buffer.concat([whole.subarray(0, 2000), Buffer.alloc(whole.length - 2000)]));
  expect(await bench.source.reread!(span, new LaneDouble())).toBe(span.from);
  isFailing = true;
  await expect(bench.source.reread!(span, new LaneDouble())).rejects.toMatchObject({ code: 'E_UNREADABLE' });
});

test('archive in UTF-16 is read by its mark, its joined lines to the last', async () => {
  const multiline = { kind: 'start', pattern: '^[A-Z]', timeoutMs: 5000, maxLines: 1000, maxBytes: Infinity } as const;
  const bench = await start({ multiline, once: true });
  bench.write('a.log.gz', gzipSync(Buffer.from('\ufeffÄ eins\n zwei\nB\n ü', 'utf16le')));
  await bench.source.run();
  expect(bench.lane.blocks.flatMap(({ events }) => events.map(String))).toEqual(['Ä eins\n zwei', 'B\n ü']);
});

test('archive that begins with a hole is read from behind it, and not again where that was read', async () => {
  const bench = await start();
  const hole = Buffer.alloc(3_000_000);
  bench.write('a.log.gz', gzipSync(Buffer.concat([hole, Buffer.from(linesOf(0, 3))])));
  await bench.drain();
  expect(bench.texts).toEqual(['line 0', 'line 1', 'line 2']);
  expect(bench.said(/begins with NUL bytes/).map(({ fields }) => fields['holeBytes'])).toEqual([hole.length]);
  writeFileSync(bench.path('b.log'), Buffer.concat([hole, Buffer.from(linesOf(3, 6))]));
  await bench.drain();
  bench.compress('b.log');
  await bench.pass(130);
  expect(bench.texts.slice(3)).toEqual(['line 3', 'line 4', 'line 5']);
  bench.write('c.log.gz', gzipSync('\0'.repeat(1000) + 'few\n'));
  await bench.drain();
  expect(bench.texts.slice(6)).toEqual([`${'\0'.repeat(1000)}few`]);
});

// Symptom: a member that was appended to an archive never arrived, without a word. Cause: an archive that was read to its end was final,
// whatever its size. Fix: its size is kept with that, and what is behind it is read.
const packs = { gzip: { pack: gzipSync, name: 'a.log.gz' }, zstd: { pack: zstdCompressSync, name: 'a.log.zst' } };
const append = (bench: ArchiveBench, name: string, bytes: Buffer): void =>
  bench.write(name, Buffer.concat([readFileSync(bench.path(name)), bytes]));
const noise = (from: number, to: number): string =>
  Array.from({ length: to - from }, (_, n) => `${from + n} ${((from + n) * 2654435761) % 4294967296}\n`).join('');

test.each(['gzip', 'zstd'] as const)('what is appended to a %s archive that was read is read, once, also after restarts', async (kind) => {
  const { pack, name } = packs[kind];
  const bench = await start();
  const pieces = [noise(0, 2000), 'three\n', noise(2000, 4000), 'five\n'];
  bench.write(name, pack(pieces[0]!));
  await bench.pass(3);
  append(bench, name, pack(pieces[1]!));
  await bench.pass(3);
  const read = bench.texts;
  bench.commit();
  await bench.pass(3);
  await again(bench);
  append(bench, name, pack(pieces[2]!));
  await bench.pass(3);
  read.push(...bench.texts);
  // Killed before the end of this one is saved, with more of it when the next agent starts.
  bench.commit();
  append(bench, name, pack(pieces[3]!));
  await again(bench);
  await bench.pass(3);
  expect([...read, ...bench.texts]).toEqual(pieces.join('').trimEnd().split('\n'));
  expect(new Set(bench.lanes.flatMap(({ blocks }) => blocks.map(({ stream }) => stream))).size).toBe(1);
  expect(bench.source.stats.lostBytes).toBe(0);
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
  const bench = await start({ fileSystem });
  const packed = gzipSync(noise(0, 200_000));
  bench.write('a.log.gz', packed);
  await bench.drain();
  const before = readBytes;
  bench.lane.blocks.splice(0);
  append(bench, 'a.log.gz', gzipSync('one\ntwo\n'));
  await bench.pass(2);
  // Two reads of the first bytes, by which the format is told.
  expect(readBytes - before).toBeLessThan(packed.length / 2);
  const [block] = bench.lane.blocks;
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
  expect(await bench.source.reread!(span, lane)).toBe(span.to);
  expect(lane.texts).toEqual(['two']);
});

test('appended member is read by a run with once, which goes on where the agent before ended', async () => {
  const bench = await start();
  bench.write('a.log.gz', gzipSync('one\n'));
  await bench.pass(2);
  bench.commit();
  await bench.pass(2);
  append(bench, 'a.log.gz', gzipSync('two\n'));
  await bench.start({ include: [bench.path('*.log*')], once: true });
  await bench.source.run();
  expect(bench.texts).toEqual(['two']);
});

test('appended member that is not whole yet is waited for, line by line, and sent as it is after a minute', async () => {
  const bench = await start();
  const now = (): void => utimesSync(bench.path('a.log.gz'), new Date(bench.clock.now()), new Date(bench.clock.now()));
  bench.write('a.log.gz', gzipSync('one\n'));
  await bench.pass(2);
  const whole = gzipSync(noise(0, 40_000));
  append(bench, 'a.log.gz', whole.subarray(0, whole.length / 2));
  now();
  await bench.pass(20);
  const lines = `one\n${noise(0, 40_000)}`.trimEnd().split('\n');
  const read = bench.texts.length;
  expect(read).toBeGreaterThan(1000);
  expect(bench.texts).toEqual(lines.slice(0, read));
  expect(bench.said(/damaged/)).toEqual([]);
  append(bench, 'a.log.gz', whole.subarray(whole.length / 2));
  await bench.pass(2);
  expect(bench.texts).toEqual(lines);
  append(bench, 'a.log.gz', whole.subarray(0, whole.length / 2));
  now();
  await bench.pass(70);
  expect(bench.texts.length).toBe(lines.length + read);
  expect(bench.said(/damaged/)).toMatchObject([{ fields: { reason: 'it ends too soon' } }]);
  expect(bench.source.stats.lostBytes).toBe(0);
});

test.each(['gzip', 'zstd'] as const)('what is appended to a %s archive and is none is counted as lost, and said', async (kind) => {
  const { pack, name } = packs[kind];
  const bench = await start();
  bench.write(name, pack('one\n'));
  await bench.pass(2);
  const size = pack('one\n').length;
  const junk = Buffer.from('no member of an archive\n');
  append(bench, name, junk);
  await bench.pass(3);
  append(bench, name, junk);
  await bench.pass(3);
  expect(bench.texts).toEqual(['one']);
  expect(bench.source.stats.lostBytes).toBe(2 * junk.length);
  expect(bench.said(/behind the damage cannot be read/)).toMatchObject([
    { level: 'warn', fields: { path: bench.path(name), compressedOffset: size, lostBytes: junk.length } },
    { level: 'warn', fields: { lostBytes: junk.length } },
  ]);
});

test('archive that was read and is shorter, or changed before its end, is read from its beginning', async () => {
  const bench = await start();
  const first = gzipSync(noise(0, 2000));
  bench.write('a.log.gz', Buffer.concat([first, gzipSync('two\n')]));
  await bench.pass(2);
  bench.commit();
  await bench.pass(2);
  bench.write('a.log.gz', first);
  await bench.pass(2);
  expect(bench.texts.length).toBe(2001 + 2000);
  bench.write('a.log.gz', Buffer.concat([gzipSync(noise(0, 1000) + noise(5000, 6000)), gzipSync('three\n'.repeat(1000))]));
  await bench.pass(2);
  expect(bench.texts.at(-1)).toBe('three');
  expect(bench.said(/was replaced/)).toHaveLength(1);
});

test('what is appended to an archive that start_at: end left out is read', async () => {
  const bench = new ArchiveBench({ readCompressed: true, startAt: 'end' });
  bench.write('old.log.gz', gzipSync('old\n'));
  await again(bench);
  await bench.pass(2);
  append(bench, 'old.log.gz', gzipSync('new\n'));
  await bench.pass(2);
  expect(bench.texts).toEqual(['new']);
  expect(bench.lane.blocks).toMatchObject([{ offset: 4 }]);
  bench.commit();
  await bench.pass(2);
  await again(bench);
  await bench.pass(2);
  expect(bench.texts).toEqual([]);
});

test('archive that an earlier version read is not read again, and what is appended to it is read', async () => {
  const bench = await start();
  bench.write('a.log.gz', gzipSync('one\n'));
  bench.write('b.log.gz', gzipSync('eins\n'));
  await bench.pass(2);
  bench.commit();
  await bench.source.stop();
  for (const [id, record] of bench.streams.records) {
    const { archiveEnd: _, identity, ...rest } = record;
    bench.streams.records.set(id, { ...rest, identity: { ...identity!, headHash: `done ${identity!.headHash}` } });
  }
  // Appended before this version ran.
  const later = new Date(Date.now() + 1000);
  writeFileSync(bench.path('b.log.gz'), Buffer.concat([gzipSync('eins\n'), gzipSync('zwei\n')]));
  utimesSync(bench.path('b.log.gz'), later, later);
  await bench.start({ include: [bench.path('*.log*')], once: true });
  await bench.source.run();
  expect(bench.texts).toEqual(['zwei']);
  append(bench, 'a.log.gz', gzipSync('two\n'));
  await again(bench);
  await bench.pass(2);
  expect(bench.texts).toEqual(['two']);
});

test('position in an archive is told by its content, and what is behind by its compressed bytes', async () => {
  const bench = await start();
  const text = noise(0, 5000);
  bench.write('a.log.gz', gzipSync(text));
  const { length } = gzipSync(text);
  await bench.pass(2);
  expect(bench.source.explain(bench.path('a.log.gz'))).toMatchObject({
    ...{ isCompressed: true, offset: text.length, compressedOffset: length, size: length, lagBytes: 0 },
  });
  const more = gzipSync('more\n');
  append(bench, 'a.log.gz', more);
  expect(bench.source.explain(bench.path('a.log.gz'))).toMatchObject({
    offset: text.length,
    size: length + more.length,
    lagBytes: more.length,
  });
});
