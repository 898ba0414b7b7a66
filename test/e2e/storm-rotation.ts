/** Real logrotate, with a configuration and state of its own, run again and again on one log. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findProgram } from '../support/installed.ts';

export type Scheme = 'rename' | 'copytruncate';

/** Where logrotate is; undefined where it is not installed. */
export const LOGROTATE = findProgram('logrotate');
/** Rotated files that stay. */
const KEPT_FILES = 2;
/** Suffixes of rotated files, the last one for a moment only. */
export const ROTATED = ['.1', '.2', '.3'];

/** When a rotation ran, in milliseconds of `performance.now()`. */
export interface Rotated {
  readonly from: number;
  readonly to: number;
}

export class Rotation {
  readonly done: Rotated[] = [];
  isBusy = false;
  readonly #folder: string;
  readonly #log: string;

  /**
   * Rotates `log` as `scheme` says. `postrotate` is a shell script that runs after each rotation, while nothing else is
   * rotated.
   */
  constructor(folder: string, log: string, scheme: Scheme, postrotate: string) {
    this.#folder = folder;
    this.#log = log;
    mkdirSync(folder, { mode: 0o755 });
    const lines = [
      // It refuses folders that others may write to, unless `su` names whose rights to use.
      ...(process.getuid?.() === 0 ? ['su root root'] : []),
      `rotate ${KEPT_FILES}`,
      'nocompress',
      scheme === 'rename' ? 'create 0644' : 'copytruncate',
      'postrotate',
      ` ${postrotate}`,
      'endscript',
    ];
    writeFileSync(this.#config, `${log} {\n  ${lines.join('\n  ')}\n}\n`, { mode: 0o644 });
  }

  /** Rotates once. Throws what logrotate complains about. */
  async rotate(): Promise<void> {
    const from = performance.now();
    this.isBusy = true;
    const child = spawn(LOGROTATE!, ['--force', '--state', join(this.#folder, 'state'), this.#config], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
    const [code] = (await once(child, 'close')) as [number | null];
    if (code !== 0 || !existsSync(`${this.#log}.1`)) throw new Error(`logrotate ended with ${code}: ${said}`);
    this.done.push({ from, to: performance.now() });
    this.isBusy = false;
  }

  /** When the file that was written between rotation `nth - 1` and rotation `nth` was removed; undefined while it is there. */
  removalOf(nth: number): Rotated | undefined {
    return this.done[nth + KEPT_FILES];
  }

  get #config(): string {
    return join(this.#folder, 'logrotate.conf');
  }
}
