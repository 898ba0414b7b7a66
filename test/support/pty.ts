/** A program on a terminal of its own, which Python's standard library makes: keys, sizes, and its screen. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { findProgram } from './installed.ts';
import { until } from './until.ts';

const python = findProgram('python3');
export const hasPty = python !== undefined;
/** Beside the name of a suite that is skipped for want of it. */
export const ptyHint = hasPty ? '' : ' (needs python3: apt-get install -y python3)';

export interface Terminal {
  /** Everything that the terminal was sent. */
  readonly raw: () => string;
  /** The lines of the last frame, without colours. */
  readonly screen: () => string[];
  type(keys: string): void;
  resize(rows: number, columns: number): void;
  /** Sends the signal of this number. */
  signal(number: number): void;
  shows(text: string | RegExp): Promise<void>;
  readonly exited: Promise<number | null>;
}

/* oxlint-disable-next-line no-control-regex */
const SEQUENCE = /\u001B\[[\d;?]*[A-Za-z]/g;

/** 80 columns and 24 rows until it is resized. */
export function startOnTerminal(
  command: readonly string[],
  env: Readonly<Record<string, string | undefined>> = {},
): Terminal {
  const child = spawn(python!, [join(import.meta.dirname, 'on-pty.py'), ...command], {
    env: { ...process.env, TERM: 'xterm', CI: undefined, FORCE_COLOR: undefined, NO_COLOR: undefined, ...env },
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let raw = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (raw += text));
  child.stderr.pipe(process.stderr);
  child.stdin.on('error', () => {});
  const tell = (order: object) => void child.stdin.write(`${JSON.stringify(order)}\n`);
  const screen = () =>
    raw
      .slice(raw.lastIndexOf('\u001B[H'))
      .replaceAll(SEQUENCE, '')
      .split('\r\n')
      .map((line) => line.trimEnd());
  return {
    raw: () => raw,
    screen,
    type: (keys) => tell({ type: keys }),
    resize: (rows, columns) => tell({ size: [rows, columns] }),
    signal: (number) => tell({ signal: number }),
    shows: (text) =>
      until(`${String(text)} on the terminal`, () => {
        const seen = screen().join('\n');
        if (child.exitCode !== null)
          throw new Error(`it ended with ${child.exitCode} before it showed ${String(text)}:\n${raw}`);
        return (typeof text === 'string' ? seen.includes(text) : text.test(seen)) || seen;
      }),
    exited: new Promise((resolve) => child.on('close', resolve)),
  };
}
