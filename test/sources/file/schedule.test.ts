/**
 * Random schedules of the changes that applications and logrotate make to files, against a model that knows only the lines written. Each
 * line is `<generation>.<number>;`, so that the events alone tell which bytes of which file generation arrived. Promise: without a kill
 * every complete line arrives exactly once and in order; after a kill none is missing.
 */
import { appendFileSync, existsSync, mkdtempSync, realpathSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { TailRig } from './tail-rig.ts';

type Step =
  | { readonly kind: 'append'; readonly file: number; readonly lines: number; readonly isCut: boolean }
  | { readonly kind: 'appendRotated'; readonly file: number }
  | { readonly kind: 'rotate' | 'delete'; readonly file: number }
  | { readonly kind: 'poll' | 'scan' | 'pass' | 'commit' | 'restart' };

const file = fc.nat({ max: 1 });
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('append' as const),
      file,
      lines: fc.integer({ min: 0, max: 200 }),
      isCut: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('appendRotated' as const), file }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('rotate' as const), file }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('delete' as const), file }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constantFrom('poll' as const, 'scan' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('pass' as const, 'commit' as const) }) },
);
const restart = fc.record({ kind: fc.constant('restart' as const) });

const KEPT = 3;

class Model {
  /** By path: generation, and the rest of a line that was cut. */
  readonly files = new Map<string, { generation: number; rest: string; wasSeen: boolean }>();
  /** Complete lines by generation. */
  readonly lines: number[] = [];

  write(path: string, count: number, isCut: boolean): void {
    let known = this.files.get(path);
    // It makes no file that could be seen.
    if (count === 0 && !isCut && (known?.rest ?? '') === '') return;
    if (!known) this.files.set(path, (known = { generation: this.lines.push(0) - 1, rest: '', wasSeen: false }));
    let text = known.rest;
    if (known.rest !== '') this.lines[known.generation]! += 1;
    for (let line = 0; line < count; line += 1) text += `${known.generation}.${this.lines[known.generation]!++};\n`;
    known.rest = '';
    if (isCut) {
      const next = `${known.generation}.${this.lines[known.generation]!};\n`;
      text += next.slice(0, 2);
      known.rest = next.slice(2);
    }
    appendFileSync(path, text);
  }

  rename(from: string, to: string): void {
    renameSync(from, to);
    this.files.set(to, this.files.get(from)!);
    this.files.delete(from);
  }
}

/** The numbers that arrived, by generation, in order of arrival. */
function arrived(texts: readonly string[], generations: number): number[][] {
  const numbers: number[][] = Array.from({ length: generations }, () => []);
  for (const [, generation, number] of texts.join('\n').matchAll(/(\d+)\.(\d+);/g))
    numbers[Number(generation)]?.push(Number(number));
  return numbers;
}

async function play(steps: readonly Step[], include: string): Promise<void> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'tailrace-schedule-')));
  const rig = new TailRig({ include: [join(folder, include)], partialTimeoutMs: Infinity }, folder);
  const model = new Model();
  /** By stream, so that the two halves of a line that was sent in two are beside each other. */
  const texts = new Map<string, string>();
  const collect = (): void => {
    for (const { stream, lines } of rig.lane.blocks)
      texts.set(stream, (texts.get(stream) ?? '') + lines.map(String).join(''));
  };
  const see = (): void => model.files.forEach((known) => (known.wasSeen = true));
  /** A file that no scan ever saw is not known under its new name. */
  const show = async (path: string): Promise<void> => {
    if (model.files.get(path)?.wasSeen) return;
    await rig.source.scanOnce();
    see();
  };
  const remove = async (path: string): Promise<void> => {
    await rig.source.scanOnce();
    see();
    rmSync(path);
    model.files.delete(path);
    // Until the disk buffer takes deleted files, a kill before their last bytes are committed would lose them.
    await rig.drain();
    rig.commit();
  };
  try {
    await rig.start();
    for (const each of steps) {
      const path = 'file' in each ? join(folder, `app${each.file}.log`) : '';
      if (each.kind === 'append') model.write(path, each.lines, each.isCut);
      else if (each.kind === 'appendRotated' && existsSync(`${path}.1`)) model.write(`${path}.1`, 3, false);
      else if (each.kind === 'rotate' && existsSync(path)) {
        await show(path);
        if (existsSync(`${path}.${KEPT}`)) await remove(`${path}.${KEPT}`);
        for (let n = KEPT - 1; n > 0; n -= 1)
          if (existsSync(`${path}.${n}`)) model.rename(`${path}.${n}`, `${path}.${n + 1}`);
        model.rename(path, `${path}.1`);
      } else if (each.kind === 'delete' && existsSync(path)) await remove(path);
      else if (each.kind === 'scan') await rig.source.scanOnce().then(see);
      else if (each.kind === 'poll') await rig.source.pollOnce().then(see);
      else if (each.kind === 'pass') await rig.pass(12).then(see);
      else if (each.kind === 'commit') rig.commit();
      else if (each.kind === 'restart') {
        // So that every file has its stream; lines read and not committed are read again.
        await rig.source.pollOnce();
        see();
        collect();
        await rig.source.stop();
        await rig.start();
      }
    }
    await rig.drain();
    collect();
    const isKilled = steps.some((each) => each.kind === 'restart');
    const numbers = arrived([...texts.values()], model.lines.length).map((each) =>
      isKilled ? [...new Set(each)].sort((a, b) => a - b) : each,
    );
    expect(numbers).toEqual(model.lines.map((count) => Array.from({ length: count }, (_, n) => n)));
    expect(rig.source.stats.lostBytes).toBe(0);
    await rig.source.stop();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const runs = Number(process.env['TAILRACE_SCHEDULES'] ?? 150);

for (const include of ['*.log', '*.log*']) {
  test(
    `schedule without a kill: every complete line once and in order, with ${include}`,
    { timeout: 600_000 },
    async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 40 }), (steps) => play(steps, include)),
        { numRuns: runs },
      );
    },
  );

  test(`schedule with kills: no complete line is missing, with ${include}`, { timeout: 600_000 }, async () => {
    const steps = fc.array(fc.oneof({ weight: 8, arbitrary: step }, { weight: 1, arbitrary: restart }), {
      maxLength: 40,
    });
    await fc.assert(
      fc.asyncProperty(steps, (each) => play(each, include)),
      { numRuns: runs },
    );
  });
}
