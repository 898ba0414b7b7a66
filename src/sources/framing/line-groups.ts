/** How far events of joined lines reach in a window: asks the grouping about each whole line once, and holds its limits. */
import { utf8 } from '../../parsers/text/encoding.ts';
import type { Grouping } from '../../parsers/text/grouping.ts';
import type { ByteWindow } from './byte-window.ts';

export class LineGroups {
  readonly #window: ByteWindow;
  readonly #grouping: Grouping;
  /** Where the next line to test begins; from the window's head up to it is the open event. */
  #at = 0;
  /** Lines of the open event. */
  #lines = 0;

  constructor(window: ByteWindow, grouping: Grouping) {
    this.#window = window;
    this.#grouping = grouping;
  }

  /** True while whole lines wait for the next line, which may belong to their event. */
  get isOpen(): boolean {
    return this.#lines > 0;
  }

  /** The end of the whole lines of the open event. */
  get linesEnd(): number {
    return this.#at;
  }

  /** Begins anew at the window's head. */
  restart(): void {
    this.#at = this.#window.head;
    this.#lines = 0;
    this.#grouping.reset();
  }

  /** The window was compacted. */
  shift(by: number): void {
    this.#at -= by;
  }

  /** Where events end among the whole lines up to `end`. `isStopped`: what follows belongs to none of them. */
  scan(end: number, isStopped: boolean): number[] {
    const { bytes, encoding, head, fill } = this.#window;
    const { maxLines, maxBytes } = this.#grouping;
    const ends: number[] = [];
    let start = head;
    const close = (at: number): void => {
      ends.push(at);
      start = at;
      this.#lines = 0;
    };
    while (this.#at < end) {
      const line = this.#at;
      const lineEnd = encoding.firstLineEnd(bytes, line, end);
      const begins = this.#begins(line, lineEnd);
      if (this.#lines > 0 && (begins || this.#lines === maxLines || lineEnd - start > maxBytes)) {
        close(line);
        if (!begins) this.#beginAnyway(line, lineEnd);
      }
      this.#lines += 1;
      this.#at = lineEnd;
      if (this.#grouping.isWhole()) {
        close(lineEnd);
        this.#grouping.reset();
      }
    }
    // The event is over, whatever the rest of the unfinished line is.
    if (this.#lines > 0 && (isStopped || fill - start >= maxBytes)) {
      close(end);
      this.#grouping.reset();
    }
    return ends;
  }

  /** At the end of the stream: where the open event ends, with the unfinished line where that belongs to it. */
  endAtEnd(): number {
    const { head, fill } = this.#window;
    const { maxLines, maxBytes } = this.#grouping;
    if (this.#at === fill || this.#lines === maxLines || fill - head >= maxBytes) return this.#at;
    return this.#begins(this.#at, fill) ? this.#at : fill;
  }

  /** The line does not begin an event by itself: a limit makes it the first of one. */
  #beginAnyway(line: number, lineEnd: number): void {
    this.#grouping.reset();
    this.#begins(line, lineEnd);
  }

  #begins(line: number, lineEnd: number): boolean {
    const { bytes, encoding } = this.#window;
    const textEnd = lineEnd - encoding.endingBytes(bytes, lineEnd);
    if (encoding === utf8) return this.#grouping.begins(bytes, line, textEnd);
    const text = Buffer.from(encoding.decode(bytes.subarray(line, textEnd)));
    return this.#grouping.begins(text, 0, text.length);
  }
}
