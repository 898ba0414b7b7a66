/**
 * The thread that a script runs in. It has limits of time for one event and of memory; a thread that exceeds them is replaced, and the event
 * that it was at has failed. What the script had remembered is gone with it.
 */
import { Worker } from 'node:worker_threads';
import { codeOf, TailraceError } from '../../core/errors.ts';
import { MAX_SCRIPT_EVENT_MS, MAX_SCRIPT_EXTERNAL_BYTES, MAX_SCRIPT_HEAP_MIB, MAX_SCRIPT_START_MS } from '../../core/limits.ts';
import type { ResultMember } from '../events/write-event.ts';
import type { ScriptFile } from './script-file.ts';
import { OUT_OF_MEMORY_EXIT, WORKER_SOURCE } from './worker-source.ts';

/** What a script made of an event: events by their members, or why it failed, in words that quote nothing. */
export type ScriptResult = readonly (readonly ResultMember[])[] | string;

export interface ScriptResults {
  readonly results: readonly ScriptResult[];
  /** False where an event failed by a limit: on a machine that is less busy it may not. */
  readonly isRepeatable: boolean;
}

export interface ScriptBatch {
  /** Events as JSON. */
  readonly lines: readonly string[];
  readonly source: string;
  readonly readAtMs: number;
}

type Message = { readonly deterministic: boolean } | { readonly problem: ScriptProblem } | { readonly results: readonly ScriptResult[] };

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

const OUT_OF_MEMORY = 'the script took more memory than it may';

/** Results, or at which line the thread ended, and why. */
type Answer = { readonly results: readonly ScriptResult[] } | { readonly endedAt: number; readonly why: string };

export interface ScriptWorkerOptions {
  readonly script: ScriptFile;
  readonly maxEventMs?: number;
  readonly maxHeapMiB?: number;
  /** Told when a thread is replaced, and why. */
  replaced?(why: string): void;
}

export class ScriptWorker {
  readonly #options: ScriptWorkerOptions;
  readonly #progress = new Int32Array(new SharedArrayBuffer(4));
  #thread: Worker | undefined;
  #turn: Promise<unknown> = Promise.resolve();
  isDeterministic = false;

  /** Starts the thread and evaluates the script. Rejects with a `ScriptError`. */
  static async start(options: ScriptWorkerOptions): Promise<ScriptWorker> {
    const worker = new ScriptWorker(options);
    await worker.#start();
    return worker;
  }

  private constructor(options: ScriptWorkerOptions) {
    this.#options = options;
  }

  /** Shapes the events, one result for each. Calls take turns. */
  run(batch: ScriptBatch): Promise<ScriptResults> {
    const results = this.#turn.then(() => this.#run(batch));
    this.#turn = results.catch(() => {});
    return results;
  }

  async #run(batch: ScriptBatch): Promise<ScriptResults> {
    const { lines } = batch;
    const results: ScriptResult[] = [];
    // The event before which a thread ended: what came before it is done once more by another.
    let poison: { readonly at: number; readonly why: string } | undefined;
    let isRepeatable = true;
    while (results.length < lines.length) {
      const from = results.length;
      if (poison?.at === from) {
        results.push(poison.why);
        poison = undefined;
        continue;
      }
      const answer = await this.#ask({ ...batch, lines: lines.slice(from, poison?.at) });
      if ('results' in answer) results.push(...answer.results);
      else {
        poison = { at: from + answer.endedAt, why: answer.why };
        isRepeatable = false;
      }
    }
    return { results, isRepeatable };
  }

  async close(): Promise<void> {
    await this.#thread?.terminate();
    this.#thread = undefined;
  }

  async #ask(batch: ScriptBatch): Promise<Answer> {
    try {
      this.#thread ??= await this.#start();
    } catch (error) {
      return { endedAt: 0, why: error instanceof ScriptError ? error.message : 'the script cannot be started' };
    }
    Atomics.store(this.#progress, 0, 0);
    const ended = await this.#exchange<{ results: readonly ScriptResult[] }>(
      this.#thread,
      this.#options.maxEventMs ?? MAX_SCRIPT_EVENT_MS,
      batch,
    );
    if (!('why' in ended)) return ended;
    this.#thread = undefined;
    this.#options.replaced?.(ended.why);
    return { endedAt: Atomics.load(this.#progress, 0), why: ended.why };
  }

  async #start(): Promise<Worker> {
    const { script, maxHeapMiB = MAX_SCRIPT_HEAP_MIB } = this.#options;
    const thread = new Worker(WORKER_SOURCE, {
      eval: true,
      workerData: { file: script.path, text: script.text, progress: this.#progress, maxExternalBytes: MAX_SCRIPT_EXTERNAL_BYTES },
      execArgv: ['--experimental-vm-modules', '--no-warnings'],
      resourceLimits: { maxOldGenerationSizeMb: maxHeapMiB },
      // What it prints must not mix with the agent's own output.
      stdout: true,
      stderr: true,
    });
    thread.stdout.resume();
    thread.stderr.resume();
    // What it throws between two calls ends it; the next call finds that out.
    thread.on('error', () => {});
    thread.unref();
    const answer = await this.#exchange<Exclude<Message, { results: unknown }>>(thread, MAX_SCRIPT_START_MS);
    if ('why' in answer) throw new ScriptError(script.path, { message: answer.why, line: 1, column: 1 });
    if ('problem' in answer) {
      await thread.terminate();
      throw new ScriptError(script.path, answer.problem);
    }
    this.isDeterministic = answer.deterministic;
    this.#thread = thread;
    thread.once('exit', () => {
      if (this.#thread === thread) this.#thread = undefined;
    });
    return thread;
  }

  /** Sends a message, where there is one, and waits for the answer, or for the thread's end; ends one that makes no progress for so long. */
  #exchange<Reply extends object>(thread: Worker, limitMs: number, message?: ScriptBatch): Promise<Reply | { readonly why: string }> {
    return new Promise((resolve) => {
      let seen = -1;
      const done = (answer: Reply | { readonly why: string }): void => {
        clearInterval(timer);
        thread.off('message', done);
        thread.off('error', fail);
        thread.off('exit', end);
        resolve(answer);
      };
      const fail = (error: unknown): void => {
        const isMemory = codeOf(error) === 'ERR_WORKER_OUT_OF_MEMORY';
        const name = error instanceof Error ? error.name : typeof error;
        done({ why: isMemory ? OUT_OF_MEMORY : `the script ended its thread by an error that nobody caught (${name})` });
      };
      const end = (code: number): void => done({ why: code === OUT_OF_MEMORY_EXIT ? OUT_OF_MEMORY : 'the script ended its own thread' });
      const timer = setInterval(() => {
        const now = Atomics.load(this.#progress, 0);
        if (message && now !== seen) seen = now;
        else {
          done({ why: `the script took longer than ${limitMs / 1000} s for ${message ? 'an event' : 'its start'}` });
          void thread.terminate();
        }
      }, limitMs);
      thread.on('message', done);
      thread.on('error', fail);
      thread.on('exit', end);
      // Without a list of what is handed over the check takes it for a window's.
      if (message) thread.postMessage(message, []);
    });
  }
}
