/**
 * Programs that do not open their log for appending: after a truncation they write on at their old position, behind a gap of NUL
 * bytes. Symptom: the gap and the first line behind it were one line; where it was over `max_event_bytes`, that line was cut away.
 */
import { closeSync, openSync, statSync, truncateSync, writeFileSync, writeSync } from 'node:fs';
import { expect, onTestFinished, test as base } from 'vitest';
import { TURN_BYTES } from '../../../src/sources/file/limits.ts';
import type { FileSystem } from '../../../src/sources/file/scan/file-system.ts';
import { freshFolders, TailRig, startRig } from './tail-rig.ts';
import { copyTruncate } from './steps.ts';

const test = base.extend('rig', () => startRig({ glob: '*.log' }));

const KiB = 1024;
const MiB = 1024 * KiB;
const inGlobs = ['*.log', '*.log*'];

/** A program that does not append: its position is its own. */
class Writer {
  readonly written: string[] = [];
  readonly path: string;
  readonly #fd: number;
  #rows = 0;

  constructor(path: string) {
    this.path = path;
    this.#fd = openSync(path, 'w');
    onTestFinished(() => closeSync(this.#fd));
  }

  /** New lines, of `bytes` together, at least one. */
  write(bytes = 0): void {
    for (let left = bytes; ;) {
      const line = `${(this.#rows += 1)} ${'x'.repeat(Math.max(0, Math.min(left, 64 * KiB) - 10))}`;
      this.written.push(line);
      writeSync(this.#fd, `${line}\n`);
      left -= line.length + 1;
      if (left <= 0) return;
    }
  }

  copyTruncate(): void {
    copyTruncate(this.path);
  }
}

const sorted = (texts: readonly string[]): string[] =>
  texts.toSorted((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10));
const holesIn = (rig: TailRig): unknown[] => rig.said(/begins with NUL bytes/).map(({ fields }) => fields['holeBytes']);

const sizes = [60, 5000, 200 * KiB, 3 * MiB, 2 * TURN_BYTES + MiB];
test.for(inGlobs.flatMap((include) => sizes.map((bytes) => [include, bytes] as const)))(
  'lines behind a NUL gap arrive, and those of the copies once, with %s and %i bytes',
  async ([include, bytes]) => {
    const rig = await startRig({ glob: include });
    const writer = new Writer(rig.path('a.log'));
    writer.write(bytes);
    await rig.drain();
    const holes: number[] = [];
    for (let round = 0; round < 3; round += 1) {
      // Not all of it is read before the copy is made.
      writer.write();
      writer.copyTruncate();
      await rig.source.scanOnce();
      writer.write();
      holes.push(statSync(writer.path).size - writer.written.at(-1)!.length - 1);
      writer.write();
      await rig.drain();
    }
    await rig.pass(60);
    expect(sorted(rig.texts)).toEqual(writer.written);
    expect(rig.texts.some((text) => text.includes('\0'))).toBe(false);
    expect(holesIn(rig)).toEqual(holes);
    await rig.play`stats lostBytes=0 lagBytes=0 truncatedEvents=0; commit; start`;
    writer.write();
    await rig.pass(30);
    expect(rig.texts).toEqual([writer.written.at(-1)]);
    expect(holesIn(rig)).toEqual(holes);
  },
);

test.for(inGlobs)(
  'file that was rotated with NUL gaps while the source was stopped is read whole, once, with %s',
  async (include) => {
    const rig = await startRig({ glob: include });
    rig.bornNow();
    const writer = new Writer(rig.path('a.log'));
    writer.write(300);
    await rig.play`drain; commit`;
    const before = rig.texts;
    writer.write(MiB);
    writer.copyTruncate();
    writer.write(2 * MiB);
    writer.copyTruncate();
    writer.write(20);
    await rig.play`start; drain; pass 60`;
    expect(sorted([...before, ...rig.texts])).toEqual(writer.written);
    expect(holesIn(rig)).toHaveLength(2);
    expect(rig.source.stats.lostBytes).toBe(0);
  },
);

test('hole that is shorter than a file is known by was left while the source was stopped', async ({ rig }) => {
  const writer = new Writer(rig.path('a.log'));
  writer.write(100);
  await rig.play`drain; commit`;
  truncateSync(writer.path, 0);
  writer.write();
  await rig.play`start; drain`;
  expect(rig.texts).toEqual([writer.written.at(-1)]);
});

test('hole with nothing behind it is no event and no lag, and what comes behind it arrives', async ({ rig }) => {
  const writer = new Writer(rig.path('a.log'));
  writer.write(5 * MiB);
  await rig.drain();
  const count = rig.texts.length;
  const { size: position } = statSync(writer.path);
  truncateSync(writer.path, 0);
  for (const size of [3000, 2 * MiB, position + 2]) {
    truncateSync(writer.path, size);
    await rig.play`pass 20; stats lagBytes=0 idle=1`;
  }
  expect(holesIn(rig)).toEqual([]);
  writer.write();
  await rig.pass(2);
  // It is written over the end of what looked like the gap.
  expect(rig.texts.slice(count)).toEqual([writer.written.at(-1)]);
  expect(rig.source.stats).toMatchObject({ lagBytes: 0, lostBytes: 0 });
});

test('hole with nothing behind it that is deleted, or cut, is no loss', async ({ rig }) => {
  await rig.play`write a.log ${Buffer.alloc(2 * MiB)}; pass 12`;
  truncateSync(rig.path('a.log'), MiB);
  await rig.pass(12);
  truncateSync(rig.path('a.log'), 10 * MiB);
  await rig.source.scanOnce();
  truncateSync(rig.path('a.log'), 5 * MiB);
  await rig.play`drain; lag 0; cut a.log 5000; pass 12`;
  expect(rig.source.stats).toMatchObject({ lagBytes: 0, lostBytes: 0 });
  // Where NULs were before.
  await rig.play`append a.log text; pass 12; reads text`;
  expect(rig.source.stats).toMatchObject({ lagBytes: 0, lostBytes: 0 });
});

test('lines of and with NULs are events as they are, but behind a NUL gap of 1 KiB', async ({ rig }) => {
  writeFileSync(rig.path('few.log'), `${'\0'.repeat(1023)}a\n\0\nb\n`);
  const nuls = '\0'.repeat(5000);
  await rig.play`
    write many.log ${`${nuls}a\n${nuls}b\nc${nuls}\n`}; drain; by-file few.log ${`${'\0'.repeat(1023)}a`} "\0" b
    // It may be filled yet.
    pass 12; drain; events ${`${'\0'.repeat(1023)}a`} "\0" b a; pass 12; drain; pass 12
    events ${`${'\0'.repeat(1023)}a`} "\0" b a b ${`c${nuls}`}
    // Shorter than before: a program that appends wrote them.
    cut few.log; append few.log "\0\0c"; drain; last "\0\0c"
  `;
});

test('hole at the beginning of UTF-16 is passed over in whole characters', async () => {
  const rig = new TailRig({ charset: 'utf-16be', maxEventBytes: 64 * KiB });
  await rig.play`
    write a.log ${Buffer.from(`${'\0'.repeat(3000)}text\nnext\n`, 'utf16le').swap16()}; start; drain; pass 12
    events text next; stats nulBytes=6000 lagBytes=0
  `;
});

test.for(['before a look', 'in its middle', 'behind its end'])(
  'a kill %s of the gap loses nothing and repeats nothing',
  async (when) => {
    const rig = await startRig({ glob: '*.log*' });
    const writer = new Writer(rig.path('a.log'));
    writer.write(3 * TURN_BYTES);
    await rig.play`drain; commit`;
    const before = rig.texts;
    writer.copyTruncate();
    writer.write(100);
    await rig.source.scanOnce();
    if (when === 'in its middle') await rig.source.readRound();
    if (when === 'behind its end') while (holesIn(rig).length === 0) await rig.source.scanOnce();
    expect(holesIn(rig)).toHaveLength(when === 'behind its end' ? 1 : 0);
    await rig.play`reads ${before}; start; drain; pass 30`;
    expect([...before, ...rig.texts]).toEqual(writer.written);
  },
);

test('span behind a NUL gap is read again as it was, without the gap', async () => {
  const reads: number[] = [];
  const read: FileSystem['read'] = (fd, into, position) => {
    reads.push(position);
    return freshFolders.read(fd, into, position);
  };
  const rig = await startRig({ maxEventBytes: 1000, onOversize: 'split', fileSystem: { ...freshFolders, read } });
  await rig.play`write a.log ${`${'\0'.repeat(5 * MiB)}${'x'.repeat(2500)}\nnext\n`}; drain; pass 12`;
  expect(rig.lane.blocks.map(({ offset, single }) => [offset - 5 * MiB, single?.marks?.['part']])).toEqual([
    [0, 1],
    [1000, 2],
    [2000, 3],
    [2501, undefined],
  ]);
  await rig.play`commit; start`;
  reads.length = 0;
  for (const [from, length, part] of [
    [0, 1000, 1],
    [1000, 1000, 2],
    [2501, 5, undefined],
  ] as const) {
    const at = 5 * MiB + from;
    const { end, lane } = await rig.reread(at, at + length);
    expect(end).toBe(at + length);
    expect(lane.blocks.map(({ offset, single }) => [offset, single?.marks?.['part']])).toEqual([[at, part]]);
  }
  expect(Math.min(...reads)).toBe(5 * MiB);
});

// Cause: of a generation of which nothing was read, only its first bytes are known, and those of all NUL gaps are alike.
test.for(inGlobs.flatMap((include) => [false, true].map((isKilled) => [include, isKilled] as const)))(
  'generations with holes that come while the sinks take nothing are all read, with %s, killed: %s',
  async ([include, isKilled]) => {
    const rig = await startRig({ glob: include });
    const writer = new Writer(rig.path('a.log'));
    writer.write(300 * KiB);
    await rig.play`drain; commit`;
    const before = rig.texts;
    writeFileSync(rig.path('b.log'), 'holds\n');
    rig.lane.hold();
    const reading = rig.source.pollOnce();
    await rig.lane.until(({ waiting }) => waiting === 1);
    for (let round = 0; round < 3; round += 1) {
      writer.copyTruncate();
      writer.write(300 * KiB);
      // One of them comes and goes between two scans.
      if (round !== 1) await rig.source.scanOnce();
      else if (isKilled) await rig.start();
    }
    for (const lane of rig.lanes) lane.release();
    if (!isKilled) await reading;
    await rig.play`drain; pass 60`;
    const texts = [...(isKilled ? before : []), ...rig.texts].filter((text) => text !== 'holds');
    expect(sorted(texts)).toEqual(writer.written);
    expect(rig.source.stats.lostBytes).toBe(0);
  },
);

test('file that is truncated at any moment while its hole is looked at is read whole', async () => {
  const rows = Array.from({ length: 100_000 }, (_, n) => `row ${n}`);
  for (let nth = 1, isOver = false; !isOver; nth += 1) {
    let calls = -Infinity;
    const rig = await startRig();
    rig.afterCalls.add((call) => {
      if ((call === 'fstat' || call === 'peek') && (calls += 1) === nth)
        writeFileSync(rig.path('a.log'), rows.join('\n') + '\n');
    });
    await rig.play`write a.log; drain; write a.log ${Buffer.concat([Buffer.alloc(600 * KiB), Buffer.from('old\n')])}`;
    calls = 0;
    await rig.source.pollOnce();
    isOver = calls < nth;
    calls = -Infinity;
    await rig.drain();
    expect(rig.texts.filter((text) => text !== 'old')).toEqual(isOver ? [] : rows);
  }
});

// Cause: bytes before the beginning of a stream counted as compared.
test('file that only begins with a NUL gap like the one that was read is no copy of it', async () => {
  const rig = await startRig({ glob: '*.log*' });
  const hole = Buffer.alloc(MiB);
  await rig.play`
    write a.log ${Buffer.concat([hole, Buffer.from('one\n'.repeat(100))])}; drain; cut a.log
    write a.log.1 ${Buffer.concat([hole, Buffer.from('two\n'.repeat(50))])}; pass 120
  `;
  expect(rig.texts.filter((text) => text === 'two')).toHaveLength(50);
});

test('event that a rotation cuts is joined to its lines behind the gap', async () => {
  const rig = new TailRig({
    multiline: { kind: 'start', pattern: '^\\d', timeoutMs: 5000, maxLines: 2000, maxBytes: Infinity },
    glob: '*.log*',
  });
  await rig.start();
  const fd = openSync(rig.path('a.log'), 'w');
  onTestFinished(() => closeSync(fd));
  writeSync(fd, `1 one\n2 two\n${' at x\n'.repeat(1000)}`);
  await rig.play`poll; cp a.log a.log.1; cut a.log`;
  writeSync(fd, ' at y\n3 three\n');
  await rig.pass(30);
  const events = rig.lane.blocks.flatMap((block) => block.events.map(String));
  expect(events).toEqual(['1 one', `2 two\n${' at x\n'.repeat(1000)} at y`, '3 three']);
});

// Symptom: the source took turns with it for ever. Cause: in a file that is shorter than its gap, a stream begins anew, and the copy was found again.
test('copy that is shorter than the NULs seen of its original is read', async () => {
  const rig = await startRig({ glob: '*.log' });
  await rig.play`write a.log ${Buffer.alloc(3 * TURN_BYTES)}; drain
    write a.log.1 ${Buffer.concat([Buffer.alloc(TURN_BYTES / 2), Buffer.from('one\n'), Buffer.alloc(TURN_BYTES, 'x'), Buffer.from('\ntwo\n')])}
    cut a.log; append a.log three; drain; pass 30`;
  expect(rig.texts.map((text) => text.slice(0, 8)).toSorted()).toEqual(['one', 'three', 'two', 'xxxxxxxx']);
});
