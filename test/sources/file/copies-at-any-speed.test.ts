/**
 * `copytruncate` with a pattern that matches the copies, looked at by scans and read at any moment of it: no line is missing, none comes
 * twice. Generations are of one size and end alike, as lines of a fixed width do: nothing but their content tells them apart.
 */
import {
  appendFileSync,
  closeSync,
  existsSync,
  openSync,
  readFileSync,
  renameSync,
  truncateSync,
  writeSync,
} from 'node:fs';
import { expect, test } from 'vitest';
import { TailRig } from './tail-rig.ts';

/** Moments of a rotation at which the source may look. */
const MOMENTS = ['written', 'half copied', 'copied', 'truncated', 'half refilled'] as const;
const LOOKS = ['nothing', 'poll', 'restart'] as const;
type Look = (typeof LOOKS)[number];

const GENERATIONS = 3;
const PAD = 'pad'.repeat(25);
const linesOf = (generation: number, count = 60): string[] =>
  Array.from({ length: count }, (_, n) => `gen ${generation} line ${String(n).padStart(3, '0')} ${PAD}`);

/** A log that is rotated by copying. */
class Rotated {
  readonly rig: TailRig;
  readonly written: string[] = [];
  readonly #names: 'seq' | 'ts';
  #generation = 0;

  constructor(rig: TailRig, names: 'seq' | 'ts') {
    this.rig = rig;
    this.#names = names;
  }

  get log(): string {
    return this.rig.path('a.log');
  }

  async refill(look: () => Promise<void>, lines = linesOf(this.#generation)): Promise<void> {
    this.written.push(...lines);
    const half = lines.length / 2;
    appendFileSync(this.log, textOf(lines.slice(0, half)));
    await look();
    appendFileSync(this.log, textOf(lines.slice(half)));
  }

  async copy(look: () => Promise<void>): Promise<void> {
    const to = this.#makeRoom();
    const bytes = readFileSync(this.log);
    const half = Math.floor(bytes.length / 2);
    const fd = openSync(to, 'w');
    writeSync(fd, bytes, 0, half);
    await look();
    writeSync(fd, bytes, half);
    closeSync(fd);
  }

  truncate(): void {
    truncateSync(this.log, 0);
    this.#generation += 1;
  }

  #makeRoom(): string {
    if (this.#names === 'ts') return this.rig.path(`a.log.20260101-00000${this.#generation}`);
    for (let n = this.#generation; n > 0; n -= 1)
      if (existsSync(`${this.log}.${n}`)) renameSync(`${this.log}.${n}`, `${this.log}.${n + 1}`);
    return `${this.log}.1`;
  }
}

function textOf(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('');
}

function* looksAtMoments(): Generator<readonly Look[]> {
  for (let n = 0; n < LOOKS.length ** MOMENTS.length; n += 1)
    yield MOMENTS.map((_, moment) => LOOKS[Math.floor(n / LOOKS.length ** moment) % LOOKS.length]!);
}

/** Missing and repeated lines. */
function faultsOf(written: readonly string[], read: readonly string[]): string {
  const left = new Map<string, number>();
  for (const line of written) left.set(line, (left.get(line) ?? 0) + 1);
  for (const line of read) left.set(line, (left.get(line) ?? 0) - 1);
  const counts = [...left.values()];
  const sum = (of: readonly number[]): number => of.reduce((a, b) => a + b, 0);
  const missing = sum(counts.filter((count) => count > 0));
  const twice = -sum(counts.filter((count) => count < 0));
  return missing + twice === 0 ? '' : `${missing} missing, ${twice} twice`;
}

interface Way {
  readonly glob: string;
  readonly names: 'seq' | 'ts';
  readonly looks: readonly Look[];
  readonly order: 'fair' | 'oldest_first';
  /** Begins every generation. */
  readonly banner: readonly string[];
}

async function play({ glob, names, looks, order, banner }: Way): Promise<string> {
  const rig = await new TailRig({ glob, order }).start();
  const rotated = new Rotated(rig, names);
  const read: string[] = [];
  const at = (moment: (typeof MOMENTS)[number]) => async () => {
    rig.clock.advance(20);
    const look = looks[MOMENTS.indexOf(moment)];
    if (look === 'poll') await rig.source.pollOnce();
    if (look !== 'restart') return;
    await rig.source.pollOnce();
    read.push(...rig.texts);
    rig.commit();
    await rig.source.stop();
    await rig.start();
  };
  for (let generation = 0; generation < GENERATIONS; generation += 1) {
    await rotated.refill(at('half refilled'), [...banner, ...linesOf(generation)]);
    await at('written')();
    await rotated.copy(at('half copied'));
    await at('copied')();
    rotated.truncate();
    await at('truncated')();
  }
  await rig.pass(30, 5);
  read.push(...rig.texts);
  await rig.source.stop();
  return faultsOf(rotated.written, read);
}

/** With the banner, generations differ only between the first KiB and the last bytes. */
const ways: readonly Omit<Way, 'looks'>[] = [
  { glob: '*', names: 'seq', order: 'fair', banner: [] },
  { glob: '*', names: 'ts', order: 'oldest_first', banner: ['banner '.repeat(200)] },
];

test.for(ways)(
  'copytruncate of generations of one size, looked at at any moment, loses and repeats nothing: %o',
  { timeout: 600_000 },
  async (way) => {
    const wrong: string[] = [];
    for (const looks of looksAtMoments()) {
      const faults = await play({ ...way, looks });
      if (faults !== '') wrong.push(`${looks.join()}: ${faults}`);
    }
    expect(wrong).toEqual([]);
  },
);
