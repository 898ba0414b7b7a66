/**
 * The log: pino behind core/log. On a terminal it is readable lines, otherwise JSON, one object a line; always on stderr.
 */
import { pino, type Logger } from 'pino';
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
  if (!readable) return adapt(pino(settings, pino.destination({ fd: 2, sync: true })));
  const { default: pretty } = await import('pino-pretty');
  const stream = pretty({
    colorize: process.stderr.isTTY && !process.env['NO_COLOR'],
    translateTime: 'SYS:HH:MM:ss',
    sync: true,
    destination: 2,
    singleLine: true,
  });
  return adapt(pino(settings, stream));
}

function adapt(logger: Logger): LevelLog {
  return {
    setLevel: (level) => void (logger.level = level),
    debug: (fields, message) => logger.debug(fields, message),
    info: (fields, message) => logger.info(fields, message),
    warn: (fields, message) => logger.warn(fields, message),
    error: (fields, message) => logger.error(fields, message),
  };
}
