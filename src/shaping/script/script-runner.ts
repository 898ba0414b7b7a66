/**
 * Runs a script over batches, in a process of its own. The process has limits of time for one event and of memory; one that exceeds them
 * is killed, what the script had remembered is gone, and the event that it was at has failed. The rest goes on in a new one.
 */
import { TailraceError } from '../../core/errors.ts';
import {
  MAX_SCRIPT_EVENT_MS,
  MAX_SCRIPT_EXTERNAL_BYTES,
  MAX_SCRIPT_RSS_BYTES,
  MAX_SCRIPT_START_MS,
  MAX_SHAPED_BYTES,
} from '../limits.ts';
import type { ResultMember } from '../events/write-event.ts';
import { TOO_LARGE } from '../stages/stage-output.ts';
import type { ScriptSetup } from './host-source.ts';
import type { ScriptFile } from './script-file.ts';
import { ScriptProcess } from './script-process.ts';

/** A script's result for an event: events by their members, or why it failed, in words that quote nothing. */
export type ScriptResult = readonly (readonly ResultMember[])[] | string;

export interface ScriptResults {
  readonly results: readonly ScriptResult[];
  /** False where an event failed by a limit: on a machine that is less busy it may not. */
  readonly isRepeatable: boolean;
}

export interface ScriptBatch {
  /** Events as NDJSON, the last newline included; the process's own, no other changes them meanwhile. */
  readonly bytes: Buffer;
  /** Where each ends. */
  readonly ends: Uint32Array;
  readonly source: string;
  readonly readAtMs: number;
}

type Loaded = { readonly deterministic: boolean } | { readonly problem: ScriptProblem };

interface ScriptProblem {
  readonly message: string;
  readonly line: number;
  readonly column: number;
}

/** The script cannot be run: where in it, and why. */
export class ScriptError extends TailraceError {
  override readonly name = 'ScriptError';
  readonly line: number;
  readonly column: number;

  constructor(file: string, { message, line, column }: ScriptProblem) {
    super('E_SCRIPT', `the script "${file}" cannot be run: ${message}`);
    this.line = line;
    this.column = column;
  }
}

export class ScriptRunner {
  readonly #script: ScriptFile;
  readonly #replaced: (why: string) => void;
  #process: ScriptProcess | undefined;
  #turn: Promise<unknown> = Promise.resolve();
  #isClosed = false;
  isDeterministic = false;

  /** Starts the process and evaluates the script. Rejects with a `ScriptError`. */
  static async start(script: ScriptFile, replaced: (why: string) => void = () => {}): Promise<ScriptRunner> {
    const runner = new ScriptRunner(script, replaced);
    await runner.#start();
    return runner;
  }

  private constructor(script: ScriptFile, replaced: (why: string) => void) {
    this.#script = script;
    this.#replaced = replaced;
  }

  /** Shapes the events, one result for each. Calls take turns. */
  run(batch: ScriptBatch): Promise<ScriptResults> {
    const results = this.#turn.then(() => this.#run(batch));
    this.#turn = results.catch(() => {});
    return results;
  }

  /** Later events fail. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#turn;
    await this.#process?.close();
    this.#process = undefined;
  }

  async #run(batch: ScriptBatch): Promise<ScriptResults> {
    const events = batch.ends.length;
    const results: ScriptResult[] = [];
    let isRepeatable = true;
    // After a process ended at one of several events, the next gets them one by one, up to the one at fault.
    let isCareful = false;
    while (results.length < events) {
      const from = results.length;
      const to: number = isCareful ? from + 1 : events;
      const why = await this.#ask(batch, from, to, results);
      if (why === undefined) continue;
      isCareful = to - from > 1;
      if (isCareful) continue;
      results.push(why);
      isRepeatable = false;
    }
    return { results, isRepeatable };
  }

  /** Adds results of events `[from, to)`; resolves with the reason where the process ended before the last. */
  async #ask(
    { bytes, ends, source, readAtMs }: ScriptBatch,
    from: number,
    to: number,
    results: ScriptResult[],
  ): Promise<string | undefined> {
    if (this.#isClosed && !this.#process) return 'the script was closed';
    let script: ScriptProcess;
    try {
      script = this.#process?.isAlive ? this.#process : await this.#start();
    } catch (error) {
      return error instanceof ScriptError ? error.message : 'the script cannot be started';
    }
    const events = bytes.subarray(from === 0 ? 0 : ends[from - 1], ends[to - 1]);
    const why = await script.exchange({
      request: [`${JSON.stringify({ source, readAtMs, bytes: events.length })}\n`, events],
      replies: to - from,
      take: (line) => results.push(resultOf(line)),
      limitMs: MAX_SCRIPT_EVENT_MS,
      task: 'an event',
    });
    if (why !== undefined) this.#replaced(why);
    return why;
  }

  async #start(): Promise<ScriptProcess> {
    const { path: file, text } = this.#script;
    const setup: ScriptSetup = {
      file,
      text,
      maxExternalBytes: MAX_SCRIPT_EXTERNAL_BYTES,
      maxRssBytes: MAX_SCRIPT_RSS_BYTES,
      maxResultBytes: MAX_SHAPED_BYTES,
      tooLarge: TOO_LARGE,
    };
    const script = new ScriptProcess();
    let loaded: Loaded | undefined;
    const why = await script.exchange({
      request: [`${JSON.stringify(setup)}\n`],
      replies: 1,
      take: (line) => (loaded = JSON.parse(line) as Loaded),
      limitMs: MAX_SCRIPT_START_MS,
      task: 'its start',
    });
    if (why !== undefined || loaded === undefined)
      throw new ScriptError(file, { message: why ?? 'no answer', line: 1, column: 1 });
    if ('problem' in loaded) {
      await script.close();
      throw new ScriptError(file, loaded.problem);
    }
    this.isDeterministic = loaded.deterministic;
    this.#process = script;
    return script;
  }
}

/** A script that writes to the pipe itself fails alone. */
function resultOf(line: string): ScriptResult {
  try {
    const result: unknown = JSON.parse(line);
    if (typeof result === 'string' || Array.isArray(result)) return result as ScriptResult;
  } catch {
    // Reported below.
  }
  return 'the script disturbed the pipe of its results';
}
