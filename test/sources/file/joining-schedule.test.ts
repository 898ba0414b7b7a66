/**
 * Random schedules of writes, rotations, restarts and looks: every event is whole and comes once, wherever a rotation cut it,
 * by the system's clock, and by one under which looks take any time, which is what a loaded machine does.
 * TAILRACE_JOINING_RUNS sets how many (40), TAILRACE_JOINING_SEED repeats a run.
 */
import { existsSync, renameSync } from 'node:fs';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { STREAM_ORDER_MS } from '../../../src/sources/file/limits.ts';
import { steppedTimes, systemTimes } from './file-times.ts';
import type { FileTimes } from './steps.ts';
import { TailRig } from './tail-rig.ts';

const RUNS = Number(process.env['TAILRACE_JOINING_RUNS'] ?? 40);
const seed = Number(process.env['TAILRACE_JOINING_SEED'] ?? Date.now() % 1_000_000_000);
// Longer than a schedule, but for what was rotated away, which waits for 10 s.
const multiline = { kind: 'start', pattern: '^E', timeoutMs: 100_000, maxLines: 1000, maxBytes: Infinity } as const;
const PAUSE_MS = STREAM_ORDER_MS + 5;

type Step = 'event' | 'more' | 'rotate' | 'scan' | 'poll' | 'restart';

const step = fc.oneof(
  { weight: 4, arbitrary: fc.constant<Step>('event') },
  { weight: 6, arbitrary: fc.constant<Step>('more') },
  { weight: 4, arbitrary: fc.constant<Step>('rotate') },
  { weight: 2, arbitrary: fc.constant<Step>('scan') },
  { weight: 4, arbitrary: fc.constant<Step>('poll') },
  { weight: 1, arbitrary: fc.constant<Step>('restart') },
);

/** Of a loaded machine: the file system's clock ticks rarely, and between two looks anything may pass. */
const stepped = fc
  .record({ tickMs: fc.integer({ min: 1, max: PAUSE_MS - 1 }), lookMs: fc.array(fc.oneof(fc.constant(0), fc.nat(200)), { minLength: 1 }) })
  .map(({ tickMs, lookMs }) => ({
    toString: () => `tick ${tickMs}, looks ${lookMs.join(' ')}`,
    start: () => steppedTimes(tickMs, lookMs),
  }));
const system = fc.constant({ toString: () => 'the system', start: systemTimes });

/** Runs the steps; returns the events that were written, and those that came. */
async function run(steps: readonly Step[], how: 'rename' | 'copytruncate', include: string, times: FileTimes) {
  const { fileSystem, nowMs } = times;
  const rig = new TailRig({ multiline, fileSystem, nowMs });
  const log = rig.path('a.log');
  const written: string[][] = [['E begin']];
  times.append(log, 'E begin\n');
  await rig.start({ multiline, include: [rig.path(include)] });
  let rotations = 0;
  const came: string[] = [];
  const take = (): void => {
    came.push(...rig.lane.blocks.flatMap(({ events }) => events.map(String)));
    rig.commit();
  };
  let lines = 0;
  for (const each of [...steps, 'poll', 'poll', 'event', 'poll', 'poll', 'poll'] as const) {
    if (each === 'event' || each === 'more') {
      const line = each === 'event' ? `E ${(lines += 1)}` : `  more ${(lines += 1)}`;
      if (each === 'event') written.push([line]);
      else written.at(-1)!.push(line);
      times.append(log, `${line}\n`);
    } else if (each === 'rotate' && existsSync(log)) {
      const aside = `${log}.${(rotations += 1)}`;
      if (how === 'rename') renameSync(log, aside);
      else {
        // What was never looked at when it is truncated is no one's.
        await rig.source.pollOnce();
        times.copy(log, aside);
        times.truncate(log);
      }
      times.pass(PAUSE_MS);
    } else if (each === 'scan') await rig.source.scanOnce();
    else if (each === 'poll') for (let n = 0; n < 4; n += 1) await rig.source.pollOnce();
    else if (each === 'restart') {
      take();
      await rig.start({ multiline, include: [rig.path(include)] });
    }
  }
  // What is open at the end of each file.
  await rig.pass(120, 10);
  take();
  return { written: written.map((event) => event.join('\n')), came };
}

test.each(
  (
    [
      ['rename', 'a.log'],
      ['rename', '*.log*'],
      ['copytruncate', 'a.log'],
    ] as const
  ).flatMap(([how, include]) => [
    { how, include, clock: "the system's", times: system },
    { how, include, clock: 'its own', times: stepped },
  ]),
)(
  `events come whole and once under random schedules of $how, include $include, by $clock clock (seed ${seed})`,
  { timeout: 600_000 },
  async ({ how, include, times }) => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), times, async (steps, clock) => {
        const { written, came } = await run(steps, how, include, clock.start());
        expect(came.sort()).toEqual(written.sort());
      }),
      { seed, numRuns: RUNS },
    );
  },
);
