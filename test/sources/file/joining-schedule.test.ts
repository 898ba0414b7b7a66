/**
 * Random schedules of writes, rotations, restarts and looks: every event is whole and comes once, wherever a rotation cut it.
 * TAILRACE_JOINING_RUNS sets how many (40), TAILRACE_JOINING_SEED repeats a run.
 */
import { appendFileSync, copyFileSync, existsSync, renameSync, truncateSync } from 'node:fs';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { BIRTH_TICK_MS } from '../../../src/core/limits.ts';
import { TailBench } from './tail-bench.ts';

const RUNS = Number(process.env['TAILRACE_JOINING_RUNS'] ?? 40);
const seed = Number(process.env['TAILRACE_JOINING_SEED'] ?? Date.now() % 1_000_000_000);
// Longer than a schedule, but for what was rotated away, which waits for 10 s.
const multiline = { kind: 'start', pattern: '^E', timeoutMs: 100_000, maxLines: 1000, maxBytes: Infinity } as const;

type Step = 'event' | 'more' | 'rotate' | 'scan' | 'poll' | 'restart';

const step = fc.oneof(
  { weight: 4, arbitrary: fc.constant<Step>('event') },
  { weight: 6, arbitrary: fc.constant<Step>('more') },
  { weight: 4, arbitrary: fc.constant<Step>('rotate') },
  { weight: 2, arbitrary: fc.constant<Step>('scan') },
  { weight: 4, arbitrary: fc.constant<Step>('poll') },
  { weight: 1, arbitrary: fc.constant<Step>('restart') },
);

/** Runs the steps; returns the events that were written, and those that came. */
async function run(steps: readonly Step[], how: 'rename' | 'copytruncate', include: string) {
  const bench = new TailBench({ multiline });
  const log = bench.path('a.log');
  const written: string[][] = [['E begin']];
  appendFileSync(log, 'E begin\n');
  await bench.start({ multiline, include: [bench.path(include)] });
  let rotations = 0;
  const came: string[] = [];
  const take = (): void => {
    came.push(...bench.lane.blocks.flatMap(({ events }) => events.map(String)));
    bench.commit();
  };
  let lines = 0;
  for (const each of [...steps, 'poll', 'poll', 'event', 'poll', 'poll', 'poll'] as const) {
    if (each === 'event' || each === 'more') {
      const line = each === 'event' ? `E ${(lines += 1)}` : `  more ${(lines += 1)}`;
      if (each === 'event') written.push([line]);
      else written.at(-1)!.push(line);
      appendFileSync(log, `${line}\n`);
    } else if (each === 'rotate' && existsSync(log)) {
      const aside = `${log}.${(rotations += 1)}`;
      if (how === 'rename') renameSync(log, aside);
      else {
        // What was never looked at when it is truncated is no one's.
        await bench.source.pollOnce();
        copyFileSync(log, aside);
        truncateSync(log);
      }
      for (const later = Date.now() + BIRTH_TICK_MS + 5; Date.now() < later;);
    } else if (each === 'scan') await bench.source.scanOnce();
    else if (each === 'poll') for (let n = 0; n < 4; n += 1) await bench.source.pollOnce();
    else if (each === 'restart') {
      take();
      await bench.start({ multiline, include: [bench.path(include)] });
    }
  }
  // What is open at the end of each file.
  await bench.pass(120, 10);
  take();
  return { written: written.map((event) => event.join('\n')), came, bench };
}

test.each([
  ['rename', 'a.log'],
  ['rename', '*.log*'],
  ['copytruncate', 'a.log'],
] as const)(
  `events come whole and once under random schedules of %s, include %s (seed ${seed})`,
  { timeout: 600_000 },
  async (how, include) => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
        const { written, came } = await run(steps, how, include);
        expect(came.sort()).toEqual(written.sort());
      }),
      { seed, numRuns: RUNS },
    );
  },
);
