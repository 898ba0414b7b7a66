/**
 * One process that a script runs in, from its start to its end. It is killed when it is silent for too long or takes more memory than it
 * may, and it ends with the agent, even where that is killed.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { isSea } from 'node:sea';
import { codeOf } from '../../core/errors.ts';
import { MAX_SCRIPT_HEAP_MIB, MAX_SCRIPT_REPLY_BYTES, MAX_SCRIPT_RSS_BYTES } from '../limits.ts';
import { HOST_SOURCE, OUT_OF_MEMORY_EXIT, REPLIES_FD, REQUESTS_FD, UNCAUGHT_EXIT } from './host-source.ts';

/** The hidden command by which the single executable runs the process's program. */
export const SCRIPT_HOST_COMMAND = 'script-host';

const FLAGS = [`--max-old-space-size=${MAX_SCRIPT_HEAP_MIB}`, '--experimental-vm-modules', '--no-warnings'];
const OUT_OF_MEMORY = 'the script took more memory than it may';
/** How often its memory is checked while it works. */
const MEMORY_CHECK_MS = 50;
const NEWLINE = 0x0a;

export interface Exchange {
  readonly request: readonly (string | Buffer)[];
  /** Lines that the answer has. */
  readonly replies: number;
  readonly take: (line: string) => void;
  /** How long it may be silent; up to twice that pass before it is noticed. */
  readonly limitMs: number;
  readonly task: string;
}

export class ScriptProcess {
  readonly #child: ChildProcess;
  readonly #requests: Writable;
  /** Pieces of a reply that has no newline yet. */
  #partial: Buffer[] = [];
  #partialBytes = 0;
  #received: (line: string) => void = () => {};
  /** Why it was killed. */
  #verdict: string | undefined;
  /** Resolves with the reason once it has ended and all its output was taken. */
  readonly ended: Promise<string>;
  isAlive = true;

  constructor() {
    const args = isSea() ? [`--node-options=${FLAGS.join(' ')}`, SCRIPT_HOST_COMMAND] : [...FLAGS, '-e', HOST_SOURCE];
    // A group of its own: Ctrl-C is for the agent, and what the script starts is killed with it.
    this.#child = spawn(process.execPath, args, {
      detached: true,
      env: environment(),
      // Its output must not mix with the agent's own.
      stdio: ['pipe', 'ignore', 'ignore', 'pipe', 'pipe'],
    });
    const { stdio } = this.#child;
    this.#requests = stdio[REQUESTS_FD] as Writable;
    const replies = stdio[REPLIES_FD] as Readable;
    // Its end says the same.
    for (const stream of stdio) stream?.on('error', () => {});
    this.#hold('unref');
    replies.on('data', (bytes: Buffer) => this.#takeBytes(bytes));
    this.ended = new Promise((resolve) => {
      const end = (why: string): void => {
        this.isAlive = false;
        resolve(this.#verdict ?? why);
      };
      this.#child.once('error', (error) =>
        end(`the script cannot be started: ${codeOf(error) ?? 'the system refused a process'}`),
      );
      this.#child.once('close', (code, signal) => end(whyEnded(code, signal)));
    });
  }

  /** Asks, and resolves once the whole answer was taken, or with the reason why the process ended before. */
  async exchange({ request, replies, take, limitMs, task }: Exchange): Promise<string | undefined> {
    const answered = Promise.withResolvers<undefined>();
    let left = replies;
    let seen = -1;
    this.#received = (line) => {
      left -= 1;
      take(line);
      if (left === 0) answered.resolve(undefined);
    };
    for (const piece of request) this.#requests.write(piece);
    const silence = setInterval(() => {
      // Replies that wait to be read count: the agent itself may have been busy.
      setImmediate(() => {
        if (seen === left) this.#kill(`the script took longer than ${limitMs / 1000} s for ${task}`);
        seen = left;
      });
    }, limitMs);
    const memory = setInterval(() => {
      if (residentBytes(this.#child.pid) > MAX_SCRIPT_RSS_BYTES) this.#kill(OUT_OF_MEMORY);
    }, MEMORY_CHECK_MS);
    try {
      return await Promise.race([answered.promise, this.ended]);
    } finally {
      clearInterval(silence);
      clearInterval(memory);
      this.#received = () => {};
    }
  }

  async close(): Promise<void> {
    this.#hold('ref');
    this.#kill('the script was closed');
    await this.ended;
  }

  /** Whether the agent, or a command, lives on for it; while it is asked a timer sees to that. */
  #hold(way: 'ref' | 'unref'): void {
    for (const handle of [this.#child, ...this.#child.stdio])
      (handle as Partial<Pick<ChildProcess, 'ref' | 'unref'>> | null)?.[way]?.();
  }

  #kill(why: string): void {
    if (!this.isAlive || this.#child.pid === undefined) return;
    this.#verdict ??= why;
    try {
      process.kill(-this.#child.pid, 'SIGKILL');
    } catch {
      // It has ended already.
      this.#child.kill('SIGKILL');
    }
  }

  #takeBytes(bytes: Buffer): void {
    let from = 0;
    for (let end: number; (end = bytes.indexOf(NEWLINE, from)) >= 0; from = end + 1) {
      const line = Buffer.concat([...this.#partial, bytes.subarray(from, end)]).toString();
      this.#partial = [];
      this.#partialBytes = 0;
      this.#received(line);
    }
    if (from === bytes.length) return;
    this.#partial.push(bytes.subarray(from));
    this.#partialBytes += bytes.length - from;
    if (this.#partialBytes > MAX_SCRIPT_REPLY_BYTES) this.#kill('the script disturbed the pipe of its results');
  }
}

/** The agent's environment, without the variables for the agent alone. */
function environment(): NodeJS.ProcessEnv {
  const {
    NOTIFY_SOCKET: _notify,
    WATCHDOG_USEC: _usec,
    WATCHDOG_PID: _pid,
    NODE_OPTIONS: _options,
    ...rest
  } = process.env;
  return rest;
}

function whyEnded(code: number | null, signal: NodeJS.Signals | null): string {
  // V8 aborts, or traps, where its heap is full.
  if (code === OUT_OF_MEMORY_EXIT || signal === 'SIGABRT' || signal === 'SIGTRAP') return OUT_OF_MEMORY;
  if (code === UNCAUGHT_EXIT) return 'the script ended its process by an error that nobody caught';
  if (signal === 'SIGKILL') return "the script's process was killed, perhaps because the system was short of memory";
  return 'the script ended its own process';
}

/** 0 where the system does not say. */
function residentBytes(pid: number | undefined): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'latin1');
    return Number(/^VmRSS:\s*(\d+) kB/m.exec(status)?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}
