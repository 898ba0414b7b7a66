/** The log, by the interface of core/log. On a terminal it is readable lines, otherwise JSON, one object a line; always on stderr. */
import { writeSync } from 'node:fs';
import { printable, printableLines } from '../config/quote.ts';
import { codeOf } from '../core/errors.ts';
import type { Log } from '../core/log.ts';

const LEVELS = ['debug', 'info', 'warn', 'error'] as const;
type Level = (typeof LEVELS)[number];

/** A log whose least level a reload changes. */
export interface LevelLog extends Log {
  setLevel(level: Level): void;
}

export interface LogOptions {
  readonly level: Level;
  /** Readable lines instead of JSON; default: when stderr is a terminal. */
  readonly readable?: boolean;
}

/** Makes the process's log. Written synchronously, so that the last line before an exit is there. */
export async function createLog({ level: first, readable = process.stderr.isTTY }: LogOptions): Promise<LevelLog> {
  const write = readable ? await readableLines() : writeJson;
  let least = LEVELS.indexOf(first);
  const at =
    (level: Level): Log[Level] =>
    (fields, message) => {
      if (LEVELS.indexOf(level) >= least) write({ level, time: new Date().toISOString(), ...fields, msg: message });
    };
  return {
    setLevel: (level) => void (least = LEVELS.indexOf(level)),
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
  };
}

const lineOf = (entry: object): string =>
  `${JSON.stringify(entry, (_, value: unknown) => (typeof value === 'bigint' ? Number(value) : value))}\n`;

/** Characters that control a terminal occur only in the texts of a line of JSON, which can spell them otherwise. */
const writeJson = (entry: object): void => writeStderr(Buffer.from(printableLines(lineOf(entry))));

/** How long a reader that is behind has before it is tried again. */
const BEHIND_MS = 10;

/** Waits for a reader that is behind. One that went away misses the line, and the process goes on. */
function writeStderr(bytes: Buffer): void {
  for (let at = 0; at < bytes.length;)
    try {
      at += writeSync(2, bytes, at);
    } catch (error) {
      if (codeOf(error) !== 'EAGAIN') return;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BEHIND_MS);
    }
}

async function readableLines(): Promise<(entry: object) => void> {
  const { default: pretty } = await import('pino-pretty');
  const stream = pretty({
    colorize: process.stderr.isTTY && !process.env['NO_COLOR'],
    translateTime: 'SYS:HH:MM:ss',
    sync: true,
    destination: 2,
    singleLine: true,
  });
  return (entry) => void stream.write(lineOf(printableTexts(entry)));
}

/** A copy of plain data in which no text holds what a terminal obeys. */
function printableTexts<T>(value: T): T {
  if (typeof value === 'string') return printable(value) as T;
  if (Array.isArray(value)) return value.map(printableTexts) as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [printable(name), printableTexts<unknown>(each)]),
  ) as T;
}
