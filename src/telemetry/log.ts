/** The log: pino, by the interface of core/log. On a terminal it is readable lines, otherwise JSON, one object a line; always on stderr. */
import { pino, type Logger } from 'pino';
import { printable, printableLines } from '../config/quote.ts';
import type { Log } from '../core/log.ts';

/** A log whose least level a reload changes. */
export interface LevelLog extends Log {
  setLevel(level: LogOptions['level']): void;
}

export interface LogOptions {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  /** Readable lines instead of JSON; default: when stderr is a terminal. */
  readonly readable?: boolean;
}

/** Makes the process's log. Written synchronously, so that the last line before an exit is there. */
export async function createLog(options: LogOptions): Promise<LevelLog> {
  const readable = options.readable ?? process.stderr.isTTY;
  const settings = {
    level: options.level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (level: string) => ({ level }) },
  };
  if (!readable) {
    const stderr = pino.destination({ fd: 2, sync: true });
    // Characters that control a terminal occur only in the texts of a line of JSON, which can spell them otherwise.
    return adapt(pino(settings, { write: (line) => void stderr.write(printableLines(line)) }));
  }
  const { default: pretty } = await import('pino-pretty');
  const stream = pretty({
    colorize: process.stderr.isTTY && !process.env['NO_COLOR'],
    translateTime: 'SYS:HH:MM:ss',
    sync: true,
    destination: 2,
    singleLine: true,
  });
  return adapt(pino(settings, stream), printableTexts);
}

/** `clean`: applied to each log entry. */
function adapt(logger: Logger, clean: <T>(value: T) => T = (value) => value): LevelLog {
  const write = (level: 'debug' | 'info' | 'warn' | 'error') => (fields: object, message: string) => {
    if (logger.isLevelEnabled(level)) logger[level](clean(fields), clean(message));
  };
  return {
    setLevel: (level) => void (logger.level = level),
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
  };
}

/** A copy of plain data in which no text holds what a terminal obeys. */
function printableTexts<T>(value: T): T {
  if (typeof value === 'string') return printable(value) as T;
  if (Array.isArray(value)) return value.map(printableTexts) as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [printable(name), printableTexts<unknown>(each)])) as T;
}
