/**
 * Joined lines under random schedules. TAILRACE_JOINING_RUNS sets how many (40; kernel memory is there for 800 with kills),
 * TAILRACE_JOINING_SEED repeats a run.
 */
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { STREAM_ORDER_MS } from '../../../src/sources/file/limits.ts';
import { type AgentProcess, messagesOf, type Sent, startProcess } from './agent-process.ts';
import { multiline } from './joining-cases.ts';
import { steppedTimes, systemTimes } from './file-times.ts';
import type { FileTimes } from './steps.ts';
import { hooked, makeFolder, StepClock, systemError, TailRig } from './tail-rig.ts';

const numRuns = Number(process.env['TAILRACE_JOINING_RUNS'] ?? 40);
const seed = Number(process.env['TAILRACE_JOINING_SEED'] ?? Date.now() % 1_000_000_000);
const PAUSE_MS = STREAM_ORDER_MS + 5;

/** A step of a schedule: a kind, each as often as its weight says, with a number that it may use. */
interface Step<Kind> {
  readonly kind: Kind;
  readonly n: number;
}

function schedules<Kind extends string>(
  weights: Readonly<Record<Kind, number>>,
  minLength: number,
): fc.Arbitrary<Step<Kind>[]> {
  const kinds = Object.entries<number>(weights) as [Kind, number][];
  const step = fc.oneof(
    ...kinds.map(([kind, weight]) => ({ weight, arbitrary: fc.record({ kind: fc.constant(kind), n: fc.nat(5) }) })),
  );
  return fc.array(step, { minLength, maxLength: 40 });
}

// A file that is rotated, restarts and looks: every event is whole and comes once, wherever a rotation cut it, by the system's clock, and
// by one under which looks take any time, which is what a loaded machine does.
const looks = { event: 4, more: 6, rotate: 4, scan: 2, poll: 4, restart: 1 };

/** Of a loaded machine: the file system's clock ticks rarely, and between two scans anything may pass. */
const stepped = fc
  .record({
    tickMs: fc.integer({ min: 1, max: PAUSE_MS - 1 }),
    lookMs: fc.array(fc.oneof(fc.constant(0), fc.nat(200)), { minLength: 1 }),
  })
  .map(({ tickMs, lookMs }) => ({
    toString: () => `tick ${tickMs}, looks ${lookMs.join(' ')}`,
    start: () => steppedTimes(tickMs, lookMs),
  }));
const system = fc.constant({ toString: () => 'the system', start: systemTimes });

/** Runs the steps; returns the events that were written, and those that came. */
async function look(
  steps: readonly Step<keyof typeof looks>[],
  how: 'rename' | 'copytruncate',
  glob: string,
  times: FileTimes,
) {
  // Longer than a schedule, except for rotated files, which wait for 10 s.
  const rig = new TailRig({
    multiline: { ...multiline, timeoutMs: 100_000 },
    glob,
    fileSystem: times.fileSystem,
    nowMs: times.nowMs,
  });
  const log = rig.path('a.log');
  const written: string[][] = [['E begin']];
  times.append(log, 'E begin\n');
  await rig.start();
  let rotations = 0;
  const came: string[] = [];
  const take = (): void => {
    came.push(...rig.lane.blocks.flatMap(({ events }) => events.map(String)));
    rig.commit();
  };
  let lines = 0;
  for (const each of [...steps.map(({ kind }) => kind), 'poll', 'poll', 'event', 'poll', 'poll', 'poll'] as const) {
    if (each === 'event' || each === 'more') {
      const line = each === 'event' ? `E ${(lines += 1)}` : `  more ${(lines += 1)}`;
      if (each === 'event') written.push([line]);
      else written.at(-1)!.push(line);
      times.append(log, `${line}\n`);
    } else if (each === 'rotate' && existsSync(log)) {
      const aside = `${log}.${(rotations += 1)}`;
      if (how === 'rename') renameSync(log, aside);
      else {
        // A file truncated before any look at it belongs to nobody.
        await rig.source.pollOnce();
        times.copy(log, aside);
        times.truncate(log);
      }
      times.pass(PAUSE_MS);
    } else if (each === 'scan') await rig.source.scanOnce();
    else if (each === 'poll') for (let n = 0; n < 4; n += 1) await rig.source.pollOnce();
    else if (each === 'restart') {
      take();
      await rig.start();
    }
  }
  // The unfinished event at the end of each file.
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
  ).flatMap(([how, glob]) => [
    { how, glob, clock: "the system's", times: system },
    { how, glob, clock: 'its own', times: stepped },
  ]),
)(
  `events come whole and once under random schedules of $how, with $glob, by $clock clock (seed ${seed})`,
  { timeout: 600_000 },
  async ({ how, glob, times }) => {
    const property = fc.asyncProperty(schedules(looks, 5), times, async (steps, clock) => {
      const { written, came } = await look(steps, how, glob, clock.start());
      expect(came.sort()).toEqual(written.sort());
    });
    await fc.assert(property, { seed, numRuns });
  },
);

// Kills: whatever happens to the files of joined events, or to the rules, in between, no key ever names two lists of events, settled events
// are not sent again, and only lost bytes are missing, or counted as lost.
const deaths = {
  ...{ event: 4, more: 6, rotate: 4, poll: 4, restart: 4 },
  // What becomes of batches, …
  ...{ wait: 1, settle: 1, split: 2 },
  // … of a rotated file, …
  ...{ delete: 2, hide: 1, show: 1, edit: 2, refuse: 1, allow: 1 },
  // … and of the configuration.
  ...{ rules: 1 },
};

/** The events sent, by their lines. Throws where a promise is broken. */
class Judge {
  readonly sent = new Set<string>();
  readonly settled = new Set<string>();
  readonly #byKey = new Map<string, string>();

  take({ key, messages }: Sent): void {
    const text = JSON.stringify(messages);
    if ((this.#byKey.get(key) ?? text) !== text)
      throw new Error(`key ${key} stood for ${this.#byKey.get(key)}, and stands for ${text}`);
    this.#byKey.set(key, text);
    for (const line of messages.flatMap((message) => message.split('\n'))) {
      if (this.settled.has(line)) throw new Error(`sent again although it was settled: ${line}`);
      this.sent.add(line);
    }
  }
}

async function kill(steps: readonly Step<keyof typeof deaths>[]): Promise<{ missing: string[]; overcounted: number }> {
  const folder = makeFolder();
  for (const name of ['logs', 'hidden']) mkdirSync(join(folder, name));
  const log = join(folder, 'logs/a.log');
  const times = steppedTimes();
  const clock = new StepClock();
  const refused = new Set<string>();
  const before = (call: string, of: string | number): void => {
    if (call === 'open' && refused.has(of as string)) throw systemError('EACCES');
  };
  const fileSystem = hooked({ before }, times.fileSystem);
  const judge = new Judge();
  /** Of the file under the path, and of each that was rotated away. */
  let lines: string[] = [];
  const rotated = new Map<string, string[]>();
  const written: string[] = [];
  const gone = new Set<string>();
  let maxLines = 1000;
  let lostBytes = 0;
  let agent: AgentProcess | undefined;
  const restart = async (): Promise<AgentProcess> => {
    lostBytes += agent?.lostBytes ?? 0;
    await agent?.kill();
    const sent = (each: Sent): void => judge.take(each);
    return (agent = await startProcess({
      folder,
      clock,
      fileSystem,
      config: { multiline: { ...multiline, maxLines } },
      sent,
    }));
  };
  const write = (line: string): void => {
    times.append(log, `${line}\n`);
    lines.push(line);
    written.push(line);
  };
  const hiddenAt = (path: string): string => join(folder, 'hidden', basename(path));
  const lose = (path: string): void => rotated.get(path)!.forEach((line) => gone.add(line));
  write('E begin');
  agent = await restart();
  for (const { kind, n } of steps) {
    const there = [...rotated.keys()].filter((path) => existsSync(path));
    const path = there[n % there.length];
    const batch = agent.held[n % agent.held.length];
    if (kind === 'event' || kind === 'more')
      write(`${kind === 'event' ? 'E' : ' more'} ${written.length} ${'x'.repeat(250 * n)}`);
    else if (kind === 'poll') await agent.poll();
    else if (kind === 'restart') agent = await restart();
    else if (kind === 'rules') maxLines = maxLines === 1000 ? 3 : 1000;
    else if (kind === 'allow') refused.clear();
    else if (kind === 'show') {
      for (const each of rotated.keys()) if (existsSync(hiddenAt(each))) renameSync(hiddenAt(each), each);
    } else if (kind === 'rotate' && existsSync(log)) {
      const to = `${log}.${rotated.size + 1}`;
      renameSync(log, to);
      rotated.set(to, lines);
      lines = [];
      times.pass(10);
    } else if (kind === 'wait') {
      clock.advance(6000);
      await agent.poll();
    } else if (kind === 'settle' && batch) {
      for (const line of messagesOf(batch).flatMap((message) => message.split('\n'))) judge.settled.add(line);
      agent.settle(batch);
    } else if (kind === 'split' && batch && batch.events > 1) agent.split(batch, n % 2 === 0 ? 0 : 1);
    else if (kind === 'refuse' && path) refused.add(path);
    else if (kind === 'delete' && path) {
      rmSync(path);
      lose(path);
    } else if (kind === 'hide' && path) {
      renameSync(path, hiddenAt(path));
      lose(path);
    } else if (kind === 'edit' && path) {
      const bytes = readFileSync(path);
      // Behind what a file is known by, and before what a position is.
      const at = bytes.lastIndexOf('x', -80 - 200 * n);
      if (at <= 1024) continue;
      bytes[at] = 'y'.charCodeAt(0);
      writeFileSync(path, bytes);
      lose(path);
    }
  }
  refused.clear();
  agent = await restart();
  for (let polls = 0; polls < 8; polls += 1) {
    clock.advance(6000);
    await agent.poll();
  }
  lostBytes += agent.lostBytes;
  await agent.kill();
  const goneBytes = [...gone].reduce((sum, line) => sum + line.length + 1, 0);
  return {
    missing: written.filter((line) => !judge.sent.has(line) && !gone.has(line)),
    overcounted: Math.max(0, lostBytes - goneBytes),
  };
}

test(
  `events over rotations keep their keys through random kills, losses and rules (seed ${seed})`,
  { timeout: 600_000 },
  async () => {
    const property = fc.asyncProperty(schedules(deaths, 8), async (steps) => {
      expect(await kill(steps)).toEqual({ missing: [], overcounted: 0 });
    });
    await fc.assert(property, { seed, numRuns });
  },
);
