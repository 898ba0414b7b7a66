/**
 * Random schedules of kills: whatever became of the files of joined events, or of the rules, in between, no key ever stands for two lists
 * of events, what was settled is not sent again, and nothing else than what is gone is missing, or counted as lost.
 * TAILRACE_JOINING_RUNS sets how many (40; kernel memory is there for 800), TAILRACE_JOINING_SEED repeats a run.
 */
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { type AgentProcess, messagesOf, type Sent, startProcess } from './agent-process.ts';
import { steppedTimes } from './file-times.ts';
import { makeFolder, StepClock, systemError } from './tail-rig.ts';

const RUNS = Number(process.env['TAILRACE_JOINING_RUNS'] ?? 40);
const seed = Number(process.env['TAILRACE_JOINING_SEED'] ?? Date.now() % 1_000_000_000);
const multiline = { kind: 'start', pattern: '^E', timeoutMs: 5000, maxLines: 1000, maxBytes: Infinity } as const;

const WEIGHTS = {
  ...{ event: 4, more: 6, rotate: 4, poll: 4, restart: 4 },
  // What becomes of batches, …
  ...{ wait: 1, settle: 1, split: 2 },
  // … of a rotated file, …
  ...{ delete: 2, hide: 1, show: 1, edit: 2, refuse: 1, allow: 1 },
  // … and of the configuration.
  ...{ rules: 1 },
};
type Kind = keyof typeof WEIGHTS;
const step = fc.oneof(
  ...(Object.keys(WEIGHTS) as Kind[]).map((kind) => ({
    weight: WEIGHTS[kind],
    arbitrary: fc.record({ kind: fc.constant(kind), n: fc.nat(5) }),
  })),
);

/** What was sent, told by its lines. Throws where a promise is broken. */
class Judge {
  readonly sent = new Set<string>();
  readonly settled = new Set<string>();
  readonly #byKey = new Map<string, string>();

  take({ key, messages }: Sent): void {
    const text = JSON.stringify(messages);
    if ((this.#byKey.get(key) ?? text) !== text) throw new Error(`key ${key} stood for ${this.#byKey.get(key)}, and stands for ${text}`);
    this.#byKey.set(key, text);
    for (const line of messages.flatMap((message) => message.split('\n'))) {
      if (this.settled.has(line)) throw new Error(`sent again although it was settled: ${line}`);
      this.sent.add(line);
    }
  }
}

async function run(steps: readonly { readonly kind: Kind; readonly n: number }[]): Promise<{ missing: string[]; overcounted: number }> {
  const folder = makeFolder();
  for (const name of ['logs', 'hidden']) mkdirSync(join(folder, name));
  const log = join(folder, 'logs/a.log');
  const times = steppedTimes();
  const clock = new StepClock();
  const refused = new Set<string>();
  const fileSystem = {
    ...times.fileSystem,
    open(path: string) {
      if (refused.has(path)) throw systemError('EACCES');
      return times.fileSystem.open(path);
    },
  };
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
    return (agent = await startProcess({ folder, clock, fileSystem, multiline: { ...multiline, maxLines }, sent }));
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
    if (kind === 'event' || kind === 'more') write(`${kind === 'event' ? 'E' : ' more'} ${written.length} ${'x'.repeat(250 * n)}`);
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
  return { missing: written.filter((line) => !judge.sent.has(line) && !gone.has(line)), overcounted: Math.max(0, lostBytes - goneBytes) };
}

test(`events over rotations keep their keys through random kills, losses and rules (seed ${seed})`, { timeout: 600_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 8, maxLength: 40 }), async (steps) => {
      expect(await run(steps)).toEqual({ missing: [], overcounted: 0 });
    }),
    { seed, numRuns: RUNS },
  );
});
