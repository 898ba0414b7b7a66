/**
 * The storm: an application writes without a pause, logrotate rotates twenty times a second and keeps two files, the agent is
 * killed every few seconds, and for two thirds of the time the service answers 500 or is not there. Afterwards a judge
 * compares the lines written with those stored.
 *
 * `TAILRACE_STORM_SECONDS` (8) and `TAILRACE_STORM_RATE` (20000 lines a second) make it longer or fiercer; `TMPDIR` sets on
 * which file system it rages.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { FaultService } from '../support/fault-service.ts';
import { makeTree } from '../support/temp-tree.ts';
import { until } from '../support/until.ts';
import { Agents } from './storm-agents.ts';
import {
  countStored,
  judge,
  ranges,
  repeated,
  repeatedWithoutCopies,
  type Stored,
  Truncations,
  type Verdict,
} from './storm-judge.ts';
import { lineOf, seqOf } from './storm-lines.ts';
import { LOGROTATE, Rotation, type Scheme } from './storm-rotation.ts';

const SECONDS = Number(process.env['TAILRACE_STORM_SECONDS'] ?? 8);
const RATE = Number(process.env['TAILRACE_STORM_RATE'] ?? 20_000);
const ROTATE_EVERY_MS = 50;
/** How long each agent lives, until it has saved the files removed by then, and a few rotations more. */
const KILL_AFTER_MS = 3000;
const ROTATIONS_BEFORE_KILL = 3;

const skipped = LOGROTATE === undefined;
const named = skipped ? ' (apt-get install logrotate)' : '';

/** The application, in a process of its own. */
class Writer {
  /** The number of the first line in each file that it opened. */
  readonly opened: number[] = [];
  /** The number after the last line, once it has ended. */
  lines = 0;
  readonly #process;

  constructor(log: string) {
    this.#process = spawn(process.execPath, [join(import.meta.dirname, 'storm-writer.ts'), log, String(RATE)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => void this.#process.kill('SIGKILL'));
    let text = '';
    this.#process.stdout.setEncoding('utf8').on('data', (more: string) => {
      text += more;
      for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n')) {
        const said = JSON.parse(text.slice(0, end)) as { openedAt?: number; endedAt?: number };
        if (said.openedAt !== undefined) this.opened.push(said.openedAt);
        if (said.endedAt !== undefined) this.lines = said.endedAt;
        text = text.slice(end + 1);
      }
    });
  }

  get pid(): number {
    return this.#process.pid!;
  }

  async end(): Promise<void> {
    const closed = once(this.#process, 'close');
    this.#process.kill('SIGTERM');
    await closed;
  }
}

/** Repeats `work`, each time `everyMs` after the last began, until `signal` aborts. */
async function repeat(everyMs: number, signal: AbortSignal, work: () => Promise<void>): Promise<void> {
  for (let nextMs = performance.now() + everyMs; ; nextMs = Math.max(nextMs + everyMs, performance.now())) {
    await pause(nextMs - performance.now(), signal);
    if (signal.aborted) return;
    await work();
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const timer = setTimeout(resolve, Math.max(0, ms));
    signal.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true });
  });
}

/** A third of the time it answers 500, another third it refuses connections; before and after that it works. */
async function misbehave(service: FaultService, port: number, signal: AbortSignal): Promise<void> {
  await pause((SECONDS * 1000) / 6, signal);
  service.respond = () => ({ status: 500 });
  await pause((SECONDS * 1000) / 3, signal);
  await service.stop();
  service.respond = () => undefined;
  await pause((SECONDS * 1000) / 3, signal);
  await service.listen(port);
}

interface Storm {
  readonly log: string;
  readonly service: FaultService;
  readonly writer: Writer;
  readonly rotation: Rotation;
  readonly agents: Agents;
  /** The rotated files' contents, each read right after its rotation, then the file's own; of copytruncate only. */
  readonly contents: readonly string[];
}

/** Rages for SECONDS, then lets all of it come to rest. `include` is a glob beside the log. */
async function rage(scheme: Scheme, include: string): Promise<Storm> {
  const folder = makeTree({});
  mkdirSync(join(folder, 'logs'), { mode: 0o755 });
  const log = join(folder, 'logs', 'app.log');
  const service = await FaultService.start();
  const { url } = service;
  const writer = new Writer(log);
  await until('the application has the file open', () => writer.opened.length === 1);
  const rotation = new Rotation(
    join(folder, 'rotation'),
    log,
    scheme,
    scheme === 'rename' ? `kill -USR1 ${writer.pid}` : 'true',
  );
  const agents = new Agents(folder, join(folder, 'logs', include), url);
  await agents.start();
  const contents: string[] = [];
  const rotate = async (): Promise<void> => {
    await rotation.rotate();
    if (scheme === 'copytruncate') contents.push(readFileSync(`${log}.1`, 'latin1'));
    else await until('the application opens the new file', () => writer.opened.length === rotation.done.length + 1);
  };
  // The agent infers missed rotations from earlier ones.
  await rotate();
  await until('the agent knows the first rotated file', () => agents.knows(`${log}.1`));

  const storm = new AbortController();
  const over = setTimeout(() => storm.abort(), SECONDS * 1000);
  onTestFinished(() => clearTimeout(over));
  /** Resolves when rotation may go on. */
  let calm = Promise.resolve();
  await Promise.all([
    misbehave(service, Number(new URL(url).port), storm.signal),
    repeat(ROTATE_EVERY_MS, storm.signal, async () => {
      await calm;
      await rotate();
    }),
    (async () => {
      for (await pause(KILL_AFTER_MS, storm.signal); !storm.signal.aborted; await pause(KILL_AFTER_MS, storm.signal)) {
        const { promise, resolve } = Promise.withResolvers<void>();
        calm = promise;
        await until('no rotation is under way', () => !rotation.isBusy);
        await agents.saveRemoved(log);
        const rotations = rotation.done.length + ROTATIONS_BEFORE_KILL;
        resolve();
        await until('the log is rotated', () => rotation.done.length >= rotations || storm.signal.aborted);
        if (storm.signal.aborted) return;
        await agents.kill();
        await agents.start();
      }
    })(),
  ]);
  // Some for the last agent, however slow the machine is.
  for (let nth = 0; nth < 4; nth += 1) await rotate();
  onTestFinished(() => service.stop());
  await writer.end();
  if (scheme === 'copytruncate') contents.push(readFileSync(log, 'latin1'));
  await agents.finish();
  return { log, service, writer, rotation, agents, contents };
}

/** How many of the files that were deleted were deleted under an agent's eyes: of these nothing may be missing. */
function countSeen({ rotation, agents }: Storm): number {
  return rotation.done.filter((_, nth) => rotation.removalOf(nth) && agents.sawAll(rotation.removalOf(nth)!)).length;
}

function report(storm: Storm, stored: Stored, excused: readonly number[], missingBytes: number): void {
  const { writer, rotation, agents, service } = storm;
  console.log(
    `storm: ${writer.lines} lines, ${rotation.done.length} rotations, ${agents.kills} kills, ${service.requests.length} requests; ` +
      `${countSeen(storm)} files deleted under an agent's eyes, ${rotation.done.length - countSeen(storm)} while none ran or near a kill: ` +
      `${excused.length} lines went with these; ${missingBytes} bytes missing, ${agents.lostBytes} counted, ${lengthOf(storedUnawares(storm))} of them stored unknown to the agent at most; ${stored.pieces.length} pieces, ${repeated(stored).length} lines twice`,
  );
}

function reportUnopened({ rotation, agents }: Storm, { neverOpened, gaps }: Verdict): void {
  console.log(
    `storm: ${neverOpened} of ${rotation.done.length} files never opened, in ${gaps} gaps; ${agents.missedRotations} rotations reported as missed`,
  );
}

/**
 * Lines that the service stored under a key that was retired later: the agent was killed before it knew of that, and a file of
 * theirs was deleted before the next one came. These may be stored twice, and are counted as lost where their file is gone.
 */
function storedUnawares({ service, agents }: Storm): Set<number> {
  const requests = service.requests.filter(({ key }) => agents.retiredKeys.has(key) && service.hasStored(key));
  return new Set(requests.flatMap(({ events }) => events.flatMap((event) => seqOf(event) ?? [])));
}

const lengthOf = (seqs: Iterable<number>): number => [...seqs].reduce((sum, seq) => sum + lineOf(seq).length + 1, 0);

test.skipIf(skipped)(
  `storm of renames, kills and outages loses no line that was on disk, or seen, while an agent ran${named}`,
  { timeout: (SECONDS + 120) * 1000 },
  async () => {
    const storm = await rage('rename', 'app.log');
    const { service, writer, rotation, agents } = storm;
    const stored = countStored(service.stored);
    const files = writer.opened.map((first, nth) => {
      const removal = rotation.removalOf(nth);
      const lines = Array.from(
        { length: (writer.opened[nth + 1] ?? writer.lines) - first },
        (_, index) => first + index,
      );
      return { lines, isRemoved: removal !== undefined, isSeen: removal === undefined || agents.sawAll(removal) };
    });
    const verdict = judge(files, (seq) => stored.counts.has(seq), false);
    const { missing, excused } = verdict;
    report(storm, stored, excused, lengthOf(excused));
    reportUnopened(storm, verdict);
    expect(verdict.gaps).toBeLessThanOrEqual(agents.missedRotations);
    expect(ranges(missing)).toBe('');
    const unawares = storedUnawares(storm);
    expect(ranges(repeated(stored).filter((seq) => !unawares.has(seq)))).toBe('');
    expect(stored.pieces).toEqual([]);
    expect(service.misusedKeys).toEqual([]);
    expect(agents.lostBytes).toBeLessThanOrEqual(lengthOf(excused) + lengthOf(unawares));
    expect(countSeen(storm)).toBeGreaterThan(0);
  },
);

test.skipIf(skipped)(
  `storm of copytruncate, kills and outages loses nothing but what the truncation destroyed${named}`,
  { timeout: (SECONDS + 120) * 1000 },
  async () => {
    const storm = await rage('copytruncate', 'app.log*');
    const { service, writer, rotation, agents, contents } = storm;
    const stored = countStored(service.stored);
    const truncations = new Truncations(writer.lines, contents);
    const touched = truncations.touched();
    const destroyed = [...touched].filter((line) => !stored.counts.has(line));
    let seq = 0;
    const files = truncations.held.map(({ to }, nth) => {
      const removal = rotation.removalOf(nth);
      const lines: number[] = [];
      for (; seq < writer.lines && truncations.starts[seq]! < to; seq += 1) if (!touched.has(seq)) lines.push(seq);
      return { lines, isRemoved: removal !== undefined, isSeen: removal === undefined || agents.sawAll(removal) };
    });
    const verdict = judge(files, (line) => stored.counts.has(line), true);
    const { missing, excused } = verdict;
    const missingBytes =
      lengthOf([...excused, ...destroyed]) - stored.pieces.reduce((sum, piece) => sum + piece.length, 0);
    report(storm, stored, excused, missingBytes);
    reportUnopened(storm, verdict);
    // A look between the two halves of a rotation (renamed, not copied yet) knows too little to tell of those after it.
    expect(verdict.gaps).toBeLessThanOrEqual(agents.missedRotations + 1);
    expect(ranges(missing)).toBe('');
    const unawares = storedUnawares(storm);
    const twice = repeatedWithoutCopies(files, stored, (line) => unawares.has(line));
    console.log(`storm: ${twice.copies} of ${rotation.done.length} copies read again`);
    expect(ranges(twice.lines)).toBe('');
    expect(agents.lostBytes).toBeLessThanOrEqual(missingBytes + lengthOf(unawares));
    const lines = [...touched].map(lineOf);
    expect(stored.pieces.filter((piece) => !lines.some((line) => line.includes(piece)))).toEqual([]);
    expect(service.misusedKeys).toEqual([]);
    expect(countSeen(storm)).toBeGreaterThan(0);
  },
);
