/**
 * The storm: an application writes without a pause, logrotate rotates twenty times a second (twice where it copies and
 * truncates) and keeps two files, the agent is
 * killed every few seconds, and for two thirds of the time the service answers 500 or is not there. Afterwards a judge
 * compares what was written with what was stored, line by line.
 *
 * `TAILRACE_STORM_SECONDS` (8) and `TAILRACE_STORM_RATE` (20000 lines a second) make it longer or fiercer; `TMPDIR` says on
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
import { countStored, ranges, repeated, type Stored, Truncations } from './storm-judge.ts';
import { lineOf, seqOf } from './storm-lines.ts';
import { LOGROTATE, Rotation, type Scheme } from './storm-rotation.ts';

const SECONDS = Number(process.env['TAILRACE_STORM_SECONDS'] ?? 8);
const RATE = Number(process.env['TAILRACE_STORM_RATE'] ?? 20_000);
/** What copies and truncates leaves most of its content in a file that lives as short as this: only a read in between has it. */
const ROTATE_EVERY_MS: Readonly<Record<Scheme, number>> = { rename: 50, copytruncate: 500 };
/** How long each agent lives. */
const KILL_AFTER_MS = 3000;

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
  await service.start(port);
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
  const service = new FaultService();
  const url = await service.start();
  const writer = new Writer(log);
  await until('the application has the file open', () => writer.opened.length === 1);
  const rotation = new Rotation(join(folder, 'rotation'), log, scheme, scheme === 'rename' ? `kill -USR1 ${writer.pid}` : 'true');
  const agents = new Agents(folder, join(folder, 'logs', include), url);
  await agents.start();
  const contents: string[] = [];

  const storm = new AbortController();
  const over = setTimeout(() => storm.abort(), SECONDS * 1000);
  onTestFinished(() => clearTimeout(over));
  await Promise.all([
    misbehave(service, Number(new URL(url).port), storm.signal),
    repeat(ROTATE_EVERY_MS[scheme], storm.signal, async () => {
      await rotation.rotate();
      if (scheme === 'copytruncate') contents.push(readFileSync(`${log}.1`, 'latin1'));
      else await until('the application opens the new file', () => writer.opened.length === rotation.done.length + 1);
    }),
    (async () => {
      for (await pause(KILL_AFTER_MS, storm.signal); !storm.signal.aborted; await pause(KILL_AFTER_MS, storm.signal)) {
        await agents.kill();
        await agents.start();
      }
    })(),
  ]);
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
    const missing: number[] = [];
    const excused: number[] = [];
    /** Files that came and went between two looks of a machine that was busy. */
    let neverOpened = 0;
    for (const [nth, first] of writer.opened.entries()) {
      const removal = rotation.removalOf(nth);
      const isSeen = removal === undefined || agents.sawAll(removal);
      const lines = Array.from({ length: (writer.opened[nth + 1] ?? writer.lines) - first }, (_, index) => first + index);
      const gone = lines.filter((seq) => !stored.counts.has(seq));
      const isWhole = gone.length > 0 && gone.length === lines.length && removal !== undefined;
      if (isSeen && isWhole) neverOpened += 1;
      (isSeen && !isWhole ? missing : excused).push(...gone);
    }
    report(storm, stored, excused, lengthOf(excused));
    console.log(`storm: ${neverOpened} files never opened, ${agents.missedRotations} rotations reported as missed`);
    expect(neverOpened).toBeLessThanOrEqual(agents.missedRotations);
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
    const missing: number[] = [];
    const excused: number[] = [];
    const destroyed: number[] = [];
    let seq = 0;
    for (const [nth, { to }] of truncations.held.entries()) {
      const removal = rotation.removalOf(nth);
      const isSeen = removal === undefined || agents.sawAll(removal);
      for (; seq < writer.lines && truncations.starts[seq]! < to; seq += 1)
        if (!stored.counts.has(seq)) (touched.has(seq) ? destroyed : isSeen ? missing : excused).push(seq);
    }
    const missingBytes = lengthOf([...excused, ...destroyed]) - stored.pieces.reduce((sum, piece) => sum + piece.length, 0);
    report(storm, stored, excused, missingBytes);
    expect(ranges(missing)).toBe('');
    const unawares = storedUnawares(storm);
    expect(ranges(repeated(stored).filter((seq) => !unawares.has(seq)))).toBe('');
    expect(agents.lostBytes).toBeLessThanOrEqual(missingBytes + lengthOf(unawares));
    const lines = [...touched].map(lineOf);
    expect(stored.pieces.filter((piece) => !lines.some((line) => line.includes(piece)))).toEqual([]);
    expect(service.misusedKeys).toEqual([]);
    expect(countSeen(storm)).toBeGreaterThan(0);
  },
);
