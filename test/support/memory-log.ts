/** A log that keeps its lines for tests. */
import type { Log } from '../../src/core/log.ts';

export interface LogLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly fields: Readonly<Record<string, unknown>>;
  readonly message: string;
}

export class MemoryLog implements Log {
  readonly lines: LogLine[] = [];

  debug(fields: object, message: string): void {
    this.#add('debug', fields, message);
  }

  info(fields: object, message: string): void {
    this.#add('info', fields, message);
  }

  warn(fields: object, message: string): void {
    this.#add('warn', fields, message);
  }

  error(fields: object, message: string): void {
    this.#add('error', fields, message);
  }

  /** The lines of a level whose sentence contains `text`. */
  find(level: LogLine['level'], text: string): LogLine[] {
    return this.lines.filter((line) => line.level === level && line.message.includes(text));
  }

  #add(level: LogLine['level'], fields: object, message: string): void {
    this.lines.push({ level, fields: { ...fields }, message });
  }
}
