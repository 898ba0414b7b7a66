/**
 * Programs that make a file larger than its text: they reserve it, map it, write whole blocks, or a network file system shows its size
 * first. Symptom: the NULs were sent as an unfinished line, and the text written in their place was never read; or each line was a
 * truncation, and all of the file came again. Cause: NULs at the end of a file counted as content.
 */
import { closeSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { expect, onTestFinished, test as base } from 'vitest';
import { writeStill } from './steps.ts';
import { startRig, TailRig } from './tail-rig.ts';

const test = base.extend('rig', () => startRig());
const KiB = 1024;
const MiB = 1024 * KiB;

/** A file that is written to at any place. */
class Placed {
  readonly #fd: number;
  /** Where its text ends. */
  end = 0;

  constructor(path: string) {
    this.#fd = openSync(path, 'w+');
    onTestFinished(() => closeSync(this.#fd));
  }

  size(bytes: number): void {
    ftruncateSync(this.#fd, bytes);
  }

  put(text: string | Buffer, at = this.end): void {
    const bytes = Buffer.from(text as string);
    writeSync(this.#fd, bytes, 0, bytes.length, at);
    this.end = Math.max(this.end, at + bytes.length);
  }
}

const rows = (count: number, from = 0): string[] =>
  Array.from({ length: count }, (_, n) => `row ${from + n} of the log`);
const textOf = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('');

type Write = (file: Placed, lines: readonly string[], look: () => Promise<void>) => Promise<void>;

/** Each line, or block, is looked at when it was written. */
const WRITERS: Readonly<Record<string, Write>> = {
  'reserves 1 MiB': async (file, lines, look) => {
    file.size(MiB);
    await look();
    for (const line of lines) {
      file.put(`${line}\n`);
      await look();
    }
  },
  'reserves 9 MiB after its first lines, and 20 MiB more later': async (file, lines, look) => {
    for (const [n, line] of lines.entries()) {
      if (n === 3) file.size(9 * MiB);
      if (n === 40) file.size(29 * MiB);
      file.put(`${line}\n`);
      await look();
    }
  },
  'maps 64 KiB at a time, and cuts the file when it closes it': async (file, lines, look) => {
    for (const line of lines) {
      file.size(Math.ceil((file.end + line.length + 1) / (64 * KiB)) * 64 * KiB);
      file.put(line);
      await look();
      file.put('\n');
      await look();
    }
    file.size(file.end);
    await look();
  },
  'writes whole blocks of 512 bytes': async (file, lines, look) => {
    const text = Buffer.from(textOf(lines));
    for (let at = 0; at < text.length; at += 100) {
      const block = Buffer.alloc(Math.ceil((at + 100) / 512) * 512);
      text.copy(block, 0, 0, Math.min(text.length, at + 100));
      file.put(block, 0);
      await look();
    }
    file.size(text.length);
    await look();
  },
  'makes blocks of 4 KiB, of which the last come first': async (file, lines, look) => {
    const text = Buffer.from(textOf(lines.map((line) => line.padEnd(500))));
    file.put('begun\n');
    await look();
    file.size(6 + text.length);
    await look();
    for (const turn of [2, 1, 0]) {
      for (let at = 0, n = 0; at < text.length; at += 4 * KiB, n += 1) {
        if (n % 3 !== turn) continue;
        file.put(text.subarray(at, at + 4 * KiB), 6 + at);
        await look();
      }
    }
  },
  'makes such blocks, the first of the file last': async (file, lines, look) => {
    const text = Buffer.from(textOf(lines.map((line) => line.padEnd(500))));
    file.size(text.length);
    await look();
    const blocks = Array.from({ length: Math.ceil(text.length / (4 * KiB)) }, (_, n) => n * 4 * KiB);
    for (const at of blocks.toReversed()) {
      file.put(text.subarray(at, at + 4 * KiB), at);
      if (at % (16 * KiB) === 0) await look();
    }
    await look();
  },
};

const LOOKS: Readonly<Record<string, (rig: TailRig) => Promise<void>>> = {
  'at once': (rig) => rig.drain(),
  'each after 6 s': (rig) => rig.pass(6, 6),
  'after a kill': async (rig) => {
    await rig.drain();
    rig.commit();
    await rig.start();
  },
};

const begun = (lines: readonly string[]): string[] =>
  lines.filter((line) => line !== 'begun').map((line) => line.trimEnd());
const cases = Object.keys(WRITERS).flatMap((writer) => {
  // Blocks that come out of order come within seconds.
  const looks = Object.keys(LOOKS).filter((look) => look === 'at once' || !writer.includes('such blocks'));
  return looks.map((look) => [writer, look] as const);
});
test.for(cases)(
  '80 lines of a program that %s arrive once, looked at %s',
  { timeout: 60_000 },
  async ([writer, look], { rig }) => {
    const lines = rows(80);
    const events: string[] = [];
    const file = new Placed(rig.path('a.log'));
    let known = rig.lane;
    const take = (): void => void events.push(...known.texts.filter((text) => text !== ''));
    // Blocks that come out of order come within seconds.
    const isSlow = look === 'each after 6 s' && writer.includes('blocks of 4 KiB') ? 'at once' : look;
    await WRITERS[writer]!(file, lines, async () => {
      await LOOKS[isSlow]!(rig);
      if (rig.lane === known) return;
      take();
      known = rig.lane;
    });
    await rig.pass(30);
    take();
    expect(begun(events)).toEqual(begun(lines));
    expect(rig.source.stats).toMatchObject({ lagBytes: 0, lostBytes: 0 });
    expect(rig.said(/cut off|truncated/).filter(({ level }) => level === 'warn')).toEqual([]);
  },
);

test('unfinished line before NULs is sent after partial_timeout, and its rest is read where it is written', async ({
  rig,
}) => {
  const file = new Placed(rig.path('a.log'));
  file.size(MiB);
  file.put('one\ntw');
  await rig.play`drain; events one; stats lagBytes=2; pass 6; events one tw; stats lagBytes=0 lostBytes=0`;
  file.put('o\nthree\n');
  await rig.play`pass 2; events one tw o three; stats lagBytes=0 lostBytes=0`;
});

test('text in place of NULs is seen, though neither size nor time of the file change', async () => {
  const rig = new TailRig();
  await rig.start();
  const file = new Placed(rig.path('a.log'));
  file.size(64 * KiB);
  file.put('one\n');
  await rig.play`old a.log; pass 20; events one`;
  file.put('two\n');
  await rig.play`old a.log; pass 2; events one two`;
});

test.for(['mv a.log b.out', 'rm a.log', 'mv a.log a.log.1', 'cp a.log a.log.1; cut a.log'])(
  'NULs that a file ends in are dropped and counted after %s',
  async (rotate) => {
    for (const isCommitted of [false, true]) {
      const rig = await startRig({ glob: '*.log*' });
      const file = new Placed(rig.path('a.log'));
      file.size(3 * MiB);
      file.put('one\ntwo\nth');
      await rig.play`drain; events one two`;
      if (isCommitted) {
        await rig.play`commit`;
        if (!rotate.startsWith('rm')) await rig.start();
      }
      file.put('ree\nfo');
      await rig.run(`scan; ${rotate}; drain; pass 80`);
      const events = isCommitted && !rotate.startsWith('rm') ? ['three', 'fo'] : ['one', 'two', 'three', 'fo'];
      expect(rig.events).toEqual(events);
      expect(rig.source.stats).toMatchObject({ lagBytes: 0, lostBytes: 0, nulBytes: 3 * MiB - file.end });
    }
  },
);

test('NULs that a file ends in are dropped and counted under --once, also where nothing else is in it', async () => {
  const rig = new TailRig();
  const file = new Placed(rig.path('a.log'));
  file.put('one\ntwo');
  file.size(5 * MiB);
  new Placed(rig.path('b.log')).size(6 * MiB);
  await rig.play`start once; run; events one two; stats lagBytes=0 lostBytes=0 nulBytes=${11 * MiB - 7}; commit; start once; run; no-events`;
});

test('span with NULs that were dropped is read again as it was', async ({ rig }) => {
  const file = new Placed(rig.path('a.log'));
  file.put('one\n');
  file.put('two\nth', 10 * KiB);
  file.size(MiB);
  await rig.play`pass 12; mv a.log b.out; pass 30; events one two th; stats nulBytes=${MiB - 10}; commit; start`;
  await rig.play`reread 0-${MiB} one two th; reread 0-${10 * KiB + 4} one two`;
});

test('hole that is never filled is passed over and counted, and the lines behind it arrive', async ({ rig }) => {
  const file = new Placed(rig.path('a.log'));
  file.put('one\n');
  file.put('two\n', 2 * MiB);
  await rig.play`drain; events one; pass 12; events one two; stats nulBytes=${2 * MiB - 4} lagBytes=0 lostBytes=0`;
});

test('file of nothing but NULs is no event, no lag and no loss, and is counted when it is gone', async ({ rig }) => {
  for (const bytes of [100, 5000, 9 * MiB]) {
    const before = rig.source.stats.nulBytes ?? 0;
    new Placed(rig.path('a.log')).size(bytes);
    await rig.play`drain; pass 20; stats lagBytes=0 lostBytes=0; mv a.log b.out; pass 30`;
    expect(rig.source.stats).toMatchObject({ lagBytes: 0, lostBytes: 0, nulBytes: before + bytes });
  }
  expect(rig.lane.events).toEqual([]);
});

test.for(['utf-16le', 'utf-16be'])('NULs behind text in %s end at whole characters', async (charset) => {
  const encode = (text: string): Buffer =>
    charset === 'utf-16le' ? Buffer.from(text, 'utf16le') : Buffer.from(text, 'utf16le').swap16();
  for (const mark of ['', '\ufeff']) {
    const rig = await startRig({ charset });
    const file = new Placed(rig.path('a.log'));
    file.size(64 * KiB);
    const text = encode(`${mark}${textOf([...rows(50), 'Āਊ', 'end'])}`);
    for (let at = 0; at < text.length; at += 77) {
      file.put(text.subarray(at, at + 77));
      await rig.play`drain`;
    }
    await rig.play`mv a.log b.out; pass 30`;
    expect(rig.events).toEqual([...rows(50), 'Āਊ', 'end']);
    expect(rig.source.stats).toMatchObject({ lagBytes: 0, lostBytes: 0, nulBytes: 64 * KiB - text.length });
  }
});

test('start_at: end begins at the last line before the NULs that a file ends in', async () => {
  const rig = new TailRig({ startAt: 'end', maxEventBytes: KiB });
  const file = new Placed(rig.path('a.log'));
  file.size(5 * MiB);
  file.put('old\nhalf');
  await rig.play`start; drain; no-events`;
  file.put(' of it\nnew\n');
  await rig.play`pass 2; events "half of it" new`;
});

test('compressed file that ends in NULs gives its lines, and the NULs are counted', async () => {
  const rig = new TailRig({ glob: '*.log*', readCompressed: true });
  const plain = Buffer.concat([Buffer.from('one\ntwo\n'), Buffer.alloc(3 * MiB)]);
  writeStill(rig.path('a.log.1.gz'), gzipSync(plain));
  await rig.play`start; drain; pass 70; events one two; stats nulBytes=${3 * MiB} lostBytes=0; commit; start; drain; pass 70; no-events`;
});

test('joined lines of a file that ends in NULs are one event', async () => {
  const rig = await startRig({
    multiline: { kind: 'start', pattern: '^\\d', timeoutMs: 5000, maxLines: 2000, maxBytes: Infinity },
    glob: '*.log*',
  });
  const file = new Placed(rig.path('a.log'));
  file.size(MiB);
  file.put('1 one\n at x\n');
  await rig.play`drain; mv a.log a.log.1; write a.log " at y" "2 two"; drain; pass 30`;
  expect(rig.lane.events).toEqual(['1 one\n at x\n at y', '2 two']);
  expect(rig.source.stats).toMatchObject({ lagBytes: 0, lostBytes: 0, nulBytes: MiB - file.end });
});
