/**
 * Compares tail-file, @logdna/tail-file and Tailrace's own reader on rotation, position and backpressure, by using them:
 *
 *     scripts/node bench/tail-libraries/compare.ts [follower [scenario]]
 *
 * The arguments are parts of names, for some of them only; all take about six minutes. Each follower runs as a child process on
 * real files; lines are numbered, and after each scenario the numbers that arrived are compared with those that were written.
 * Prints one Markdown table; docs/adr/0001 draws the conclusion from it.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, existsSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Job, readRecords, type Usage } from './follower.ts';
import { followers } from './followers.ts';

const LINE_BYTES = 100;
/** A follower that was silent for this long has finished. */
const QUIET_MS = 3000;

/** One run of one follower in a folder of its own. */
class Run {
  readonly file: string;
  readonly out: string;
  #written = 0;
  readonly #job: Job;
  #child: ChildProcess | undefined;

  constructor(follower: string, slow?: Job['slow']) {
    const folder = mkdtempSync(join(tmpdir(), 'tail-libraries-'));
    this.file = join(folder, 'app.log');
    this.out = join(folder, 'records');
    this.#job = { follower, file: this.file, out: this.out, ...(slow && { slow }) };
  }

  /** Appends the next `count` numbered lines. */
  write(count: number): void {
    let text = '';
    const end = this.#written + count;
    for (; this.#written < end; this.#written++) {
      text += `${String(this.#written).padStart(8, '0')} ${'x'.repeat(LINE_BYTES - 10)}\n`;
    }
    appendFileSync(this.file, text);
  }

  /** As logrotate does it: app.log.1 becomes app.log.2, app.log becomes app.log.1, and a new app.log is made. */
  rotate(): void {
    let oldest = 1;
    while (existsSync(`${this.file}.${oldest}`)) oldest++;
    for (let n = oldest; n > 1; n--) renameSync(`${this.file}.${n - 1}`, `${this.file}.${n}`);
    renameSync(this.file, `${this.file}.1`);
    appendFileSync(this.file, '');
  }

  /** Resolves when it begins to follow: how long a busy machine takes to start a process must not look like silence. */
  async start(): Promise<void> {
    const child = spawn(process.execPath, [join(import.meta.dirname, 'child.ts'), JSON.stringify(this.#job)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.#child = child;
    await Promise.race([once(child.stdout, 'data'), once(child, 'exit')]);
  }

  async kill(): Promise<void> {
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  }

  /** Resolves once this many lines were handed over, or nothing came for QUIET_MS. */
  async handedOver(count: number): Promise<void> {
    await this.#growing((records) => records >= count);
  }

  async quiet(): Promise<void> {
    await this.#growing(() => false);
  }

  async #growing(enough: (records: number) => boolean): Promise<void> {
    let size = -1;
    let grewAt = performance.now();
    for (;;) {
      const now = existsSync(this.out) ? statSync(this.out).size : 0;
      if (now !== size) grewAt = performance.now();
      size = now;
      // A record has at least 10 bytes, so that most looks cost only a stat.
      if (enough(size / 10) && enough(readRecords(this.out).length)) return;
      if (performance.now() - grewAt > QUIET_MS) return;
      await sleep(5);
    }
  }

  /** Stops the follower, counts, cleans up. */
  async finish(): Promise<{ lost: number; repeated: number; grownMiB: number }> {
    await this.kill();
    const times = new Map<number, number>();
    for (const { number } of readRecords(this.out)) times.set(number, (times.get(number) ?? 0) + 1);
    let lost = 0;
    let repeated = 0;
    for (let number = 0; number < this.#written; number++) {
      const count = times.get(number) ?? 0;
      if (count === 0) lost++;
      else repeated += count - 1;
    }
    const usage = existsSync(`${this.out}.usage`)
      ? (JSON.parse(readFileSync(`${this.out}.usage`, 'utf8')) as Usage)
      : { rssAtStart: 0, rssPeak: 0 };
    rmSync(join(this.file, '..'), { recursive: true });
    return { lost, repeated, grownMiB: (usage.rssPeak - usage.rssAtStart) / 1024 / 1024 };
  }
}

const lostAndRepeated = async (run: Run) => {
  const { lost, repeated } = await run.finish();
  return `${lost} / ${repeated}`;
};

const scenarios: readonly (readonly [name: string, play: (follower: string) => Promise<string>])[] = [
  [
    'killed twice in 100,000 lines, restarted at the last position: lost / repeated',
    async (follower) => {
      const run = new Run(follower);
      run.write(100_000);
      for (const count of [30_000, 60_000]) {
        await run.start();
        await run.handedOver(count);
        await run.kill();
      }
      await run.start();
      await run.quiet();
      return lostAndRepeated(run);
    },
  ],
  [
    'renamed 10 times while 100,000 lines are written, 0.3 s apart: lost / repeated',
    async (follower) => {
      const run = new Run(follower);
      run.write(100);
      await run.start();
      await run.handedOver(100);
      for (let n = 0; n < 10; n++) {
        for (let part = 0; part < 100; part++) run.write(100);
        run.rotate();
        run.write(1);
        await sleep(300);
      }
      await run.quiet();
      return lostAndRepeated(run);
    },
  ],
  [
    'renamed 5 times at once, 1,000 lines each: lost / repeated',
    async (follower) => {
      const run = new Run(follower);
      run.write(100);
      await run.start();
      await run.handedOver(100);
      for (let n = 0; n < 5; n++) {
        run.write(1000);
        run.rotate();
      }
      run.write(1000);
      await run.quiet();
      return lostAndRepeated(run);
    },
  ],
  [
    'renamed once while it was not running: lost / repeated',
    async (follower) => {
      const run = new Run(follower);
      run.write(50_000);
      await run.start();
      await run.handedOver(20_000);
      await run.kill();
      run.rotate();
      run.write(50_000);
      await run.start();
      await run.quiet();
      return lostAndRepeated(run);
    },
  ],
  [
    'renamed 3 times, 5,000 lines each, under a consumer of 4,000 lines/s: lost / repeated',
    async (follower) => {
      const run = new Run(follower, { lines: 200, pauseMs: 50 });
      run.write(5000);
      await run.start();
      await run.handedOver(100);
      for (let n = 0; n < 3; n++) {
        run.rotate();
        run.write(5000);
        await sleep(300);
      }
      await run.quiet();
      return lostAndRepeated(run);
    },
  ],
  [
    '100 MB waiting, a consumer of 20,000 lines/s, after 10 s: growth of memory',
    async (follower) => {
      const run = new Run(follower, { lines: 200, pauseMs: 10 });
      for (let part = 0; part < 10; part++) run.write(100_000);
      await run.start();
      await sleep(10_000);
      const { grownMiB } = await run.finish();
      return `${Math.round(grownMiB)} MiB`;
    },
  ],
];

const [followerPart = '', scenarioPart = ''] = process.argv.slice(2);
const chosen = Object.keys(followers).filter((name) => name.includes(followerPart));
const played = scenarios.filter(([name]) => name.includes(scenarioPart));
const rows = played.map(([name]) => [name]);
for (const follower of chosen) {
  for (const [index, [name, play]] of played.entries()) {
    const said = await play(follower);
    process.stderr.write(`${follower}: ${name}: ${said}\n`);
    rows[index]?.push(said);
  }
}
console.log(`Node ${process.versions.node}, ${availableParallelism()} cores, lines of ${LINE_BYTES} bytes\n`);
console.log(`| | ${chosen.join(' | ')} |\n|---|${'---:|'.repeat(chosen.length)}`);
for (const row of rows) console.log(`| ${row.join(' | ')} |`);
