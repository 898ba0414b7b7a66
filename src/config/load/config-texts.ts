/** The texts that a configuration is read from: one space of offsets over all of them, so that every place knows its file. */
import { createHash } from 'node:crypto';
import { LineIndex, type Position } from '../yaml/line-index.ts';
import { printable } from '../quote.ts';

/** A position, and the file that it is in, as it was named and safe to print. */
export interface ConfigPosition extends Position {
  readonly file: string;
}

interface TextPart {
  readonly file: string;
  readonly base: number;
  readonly text: string;
  /** Permission bits. */
  readonly mode: number;
  readonly lines: LineIndex;
}

export class ConfigTexts {
  readonly #parts: TextPart[] = [];
  readonly #patterns: string[] = [];

  constructor(file: string, text: string, mode: number) {
    this.#parts.push({ file, base: 0, text, mode, lines: new LineIndex(text) });
  }

  /** Returns the offset at which the text begins. */
  add(file: string, text: string, mode: number): number {
    const last = this.#parts.at(-1)!;
    // The end of a text is a place of its own.
    const base = last.base + last.text.length + 1;
    this.#parts.push({ file, base, text, mode, lines: new LineIndex(text) });
    return base;
  }

  /** Files of this name, which may hold `*` and `?`, belong to the configuration. */
  lookFor(pattern: string): void {
    this.#patterns.push(pattern);
  }

  /** Paths and patterns of all files that are, or would be, read. */
  get paths(): string[] {
    return [...this.#parts.map(({ file }) => file), ...this.#patterns];
  }

  locate(at: number): ConfigPosition {
    const { file, base, lines } = this.partAt(at);
    return { file: printable(file), ...lines.locate(at - base) };
  }

  startsWith(text: string, at: number): boolean {
    const part = this.partAt(at);
    return part.text.startsWith(text, at - part.base);
  }

  /** The file that a place is in. */
  partAt(at: number): TextPart {
    return this.#parts.findLast(({ base }) => base <= at)!;
  }

  /** The order of the files, by name as `locate` gives it. */
  order(): ReadonlyMap<string, number> {
    return new Map(this.#parts.map(({ file }, index) => [printable(file), index]));
  }

  /** Of all texts. 12 hex digits. */
  get hash(): string {
    const hash = createHash('sha256');
    for (const [index, { text }] of this.#parts.entries()) hash.update(index === 0 ? text : `\0${text}`);
    return hash.digest('hex').slice(0, 12);
  }
}
