/** The agent in a storm: killed the hard way and started again on what it left, with its losses noted until the last moment. */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { askAgent } from '../../src/agent/control/control.ts';
import { type Program, startProgram } from '../support/program.ts';
import { parsePrometheus } from '../support/prometheus-text.ts';
import { configure } from '../support/shipping.ts';
import { until } from '../support/until.ts';
import { ROTATED } from './storm-rotation.ts';

const SCRAPE_EVERY_MS = 100;

/** While an agent had its files open, in milliseconds of `performance.now()`. */
interface Watch {
  readonly from: number;
  to: number;
  /** The files removed by then must survive a kill: the agent has logged them as on disk or delivered. */
  safeTo: number;
  /** As last logged. */
  lostBytes: number;
  missedRotations: number;
}

export class Agents {
  readonly watches: Watch[] = [];
  /** Keys of batches whose files were gone after a kill: their rest was sent under another key. */
  readonly retiredKeys = new Set<string>();
  readonly #folder: string;
  readonly #config: string;
  #program!: Program;
  #address = '';

  constructor(folder: string, include: string, url: string) {
    this.#folder = folder;
    const app = `{type: file, include: ["${include}"], scan_interval: 100ms}`;
    const sink = 'retry: {initial_backoff: 50ms, max_backoff: 500ms}, batch: {max_age: 100ms}';
    this.#config = configure({ folder, url }, { sources: { app }, sink });
    onTestFinished(() => void this.#program.end('SIGKILL'));
    const scraping = setInterval(() => void this.#scrape(), SCRAPE_EVERY_MS);
    onTestFinished(() => clearInterval(scraping));
  }

  async start(): Promise<void> {
    this.#program = startProgram(['run', '--config', this.#config]);
    const line = await this.#program.says('tailrace runs');
    this.#address = (JSON.parse(line) as { telemetry: string }).telemetry;
    this.watches.push({ from: performance.now(), to: Infinity, safeTo: -Infinity, lostBytes: 0, missedRotations: 0 });
  }

  /** True when the agent knows the file that is under the path, if there is one, and none that was there before. */
  async knows(path: string): Promise<boolean> {
    const { inode, state } = await this.#explain(path);
    const ino = statSync(path, { throwIfNoEntry: false })?.ino;
    return ino === undefined
      ? inode === undefined || state === 'deleted'
      : inode === String(ino) && state !== 'undecided';
  }

  /** Waits until it has noticed every rotation of the log, which must not change meanwhile, and has saved the removed files. */
  async saveRemoved(log: string): Promise<void> {
    const atMs = performance.now();
    const isSaved = async (): Promise<boolean> => {
      for (const path of [log, ...ROTATED.map((suffix) => log + suffix)]) if (!(await this.knows(path))) return false;
      return (await this.#read('tailrace_source_unsaved_bytes')) === 0;
    };
    await until('what was removed is saved', isSaved, { withinMs: 120_000, everyMs: 20 });
    await this.#scrape();
    this.watches.at(-1)!.safeTo = atMs;
  }

  async kill(): Promise<void> {
    this.watches.at(-1)!.to = performance.now();
    expect(await this.#program.end('SIGKILL'), this.#program.stderr().slice(-2000)).toBe('SIGKILL');
    this.#noteRetired();
  }

  /** Waits until nothing is left to read or to send, then ends the agent in the ordinary way. */
  async finish(): Promise<void> {
    const isIdle = async (): Promise<boolean> =>
      (await this.#hasReadAll()) &&
      (await this.#read('tailrace_source_lag_bytes')) === 0 &&
      (await this.#read('tailrace_events_held')) === 0;
    await until('nothing is left to read or to send', isIdle, { withinMs: 300_000, everyMs: 50 });
    await this.#scrape();
    this.watches.at(-1)!.safeTo = Infinity;
    expect(await this.#program.end('SIGTERM'), this.#program.stderr().slice(-2000)).toBe(0);
    this.#noteRetired();
  }

  get kills(): number {
    return this.watches.length - 1;
  }

  /** The bytes that they counted as lost; what one counted in its last moments before a kill may be missing. */
  get lostBytes(): number {
    return this.watches.reduce((sum, { lostBytes }) => sum + lostBytes, 0);
  }

  /** Rotations that they noticed only after the next one. */
  get missedRotations(): number {
    return this.watches.reduce((sum, { missedRotations }) => sum + missedRotations, 0);
  }

  /** True when one agent ran before something happened and until that was safe. */
  sawAll({ from, to }: { readonly from: number; readonly to: number }): boolean {
    return this.watches.some((watch) => watch.from <= from && to <= watch.safeTo);
  }

  /** True when the agent knows each file under the name that it has, and read it to its end: its lag is as of its last look. */
  async #hasReadAll(): Promise<boolean> {
    const logs = join(this.#folder, 'logs');
    for (const path of readdirSync(logs).map((name) => join(logs, name))) {
      const { offset } = await this.#explain(path);
      if (offset !== statSync(path).size || !(await this.knows(path))) return false;
    }
    return true;
  }

  async #explain(path: string): Promise<{ inode?: string; offset?: number; state?: string }> {
    const answer = await askAgent(join(this.#folder, 'agent'), { command: 'explain', args: [path] });
    return (answer!.result as object[])[0]!;
  }

  async #scrape(): Promise<void> {
    const watch = this.watches.at(-1);
    if (watch?.to !== Infinity) return;
    // The agent may be killed meanwhile.
    const read = (name: string): Promise<number | undefined> => this.#read(name).catch(() => undefined);
    watch.lostBytes = (await read('tailrace_source_lost_bytes_total')) ?? watch.lostBytes;
    watch.missedRotations = (await read('tailrace_source_missed_rotations_total')) ?? watch.missedRotations;
  }

  /** The sum of a metric's samples, now. */
  async #read(name: string): Promise<number> {
    const text = await (await fetch(`${this.#address}/metrics`)).text();
    return (parsePrometheus(text).get(name)?.samples ?? []).reduce((sum, { value }) => sum + value, 0);
  }

  #noteRetired(): void {
    for (const line of this.#program.stderr().split('\n')) {
      if (!line.startsWith('{')) continue;
      const { msg, batch } = JSON.parse(line) as { msg: string; batch?: string };
      if (msg.includes('sent under a new key')) this.retiredKeys.add(batch!);
    }
  }
}
