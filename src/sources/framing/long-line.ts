/**
 * A line, or event of joined lines, over `max_event_bytes`, whatever its length: its beginning is kept and the rest passed over, or it
 * comes in numbered parts. Memory is the window and no more. The cut depends on the line's bytes alone.
 */
import type { Block } from '../../core/block.ts';
import { SERVICE_STRING_BYTES } from '../../core/limits.ts';
import type { SourceStats } from '../../core/source.ts';
import { addSums } from '../../core/sums.ts';
import { contentSum } from '../../kernel/content-sum.ts';
import { cutToText } from '../../parsers/values/cut-text.ts';
import type { ByteWindow, WindowBlock } from './byte-window.ts';

export interface LongLineRules {
  /** Bytes of a line without its ending, both as in the stream and as UTF-8. */
  readonly maxEventBytes: number;
  /** What becomes of a longer one: its beginning is kept, it comes in parts, or its beginning goes to the dead letters. */
  readonly onOversize: 'truncate' | 'split' | 'dead_letter';
  /** Whether a line that begins with this text may hold fields that only the whole line shows, as a JSON object does; undefined where none does. */
  readonly mayBeginObject?: ((head: string) => boolean) | undefined;
}

/** A line over the limit that is left in its middle. */
export type SuspendedLine =
  | {
      readonly kind: 'skipped';
      /** Where its text begins, from the line's first byte, and how many bytes of that are kept. */
      readonly textAt: number;
      readonly kept: number;
      /** Of all that was seen of it. */
      readonly length: number;
      readonly sum: number;
      /** The last bytes that were seen. */
      readonly recent: Buffer;
      readonly isObject: boolean;
    }
  | {
      readonly kind: 'split';
      readonly parts: number;
      readonly length: 0;
      readonly recent: Buffer;
      readonly isObject: boolean;
    };

/** Bytes of a line that show how it begins. */
export const LINE_HEAD_BYTES = 1024;

interface Skip {
  keptEnd: number;
  length: number;
  sum: number;
}

/** Counts a line over the limit by the block that ends it. */
export function countLongLine(stats: SourceStats, { single }: WindowBlock): void {
  if (single?.marks === undefined) return;
  const isTruncated = single.marks['truncated'] === true;
  if (isTruncated) stats.truncatedEvents += 1;
  if (isTruncated || single.marks['part_last'] === true) stats.oversizeLines = (stats.oversizeLines ?? 0) + 1;
}

export class LongLine {
  readonly #window: ByteWindow;
  readonly #rules: LongLineRules;
  /** Of the text handed out, so that the service takes it. */
  readonly #maxTextBytes: number;
  /** The line of which only `[head, keptEnd)` is kept; `length` and `sum` are of all of it so far. */
  #skip: Skip | undefined;
  /** How many parts of the line were handed out. */
  #parts = 0;
  /** The part of the line handed out is, or may be, a part of a JSON object. */
  #isObject = false;
  /** Nothing of `[head, scanned)` is a newline. */
  #scanned = 0;

  constructor(window: ByteWindow, rules: LongLineRules) {
    this.#window = window;
    this.#rules = rules;
    this.#maxTextBytes = Math.min(rules.maxEventBytes, SERVICE_STRING_BYTES);
  }

  get isUnderWay(): boolean {
    return this.#skip !== undefined || this.#parts > 0;
  }

  /** Bytes that were passed over and not handed out; undefined where the window has all that was not. */
  get skippedBytes(): number | undefined {
    return this.#skip?.length;
  }

  /** In the window, after the bytes passed over. */
  get nextAt(): number {
    return this.#skip === undefined ? this.#window.head : this.#skip.keptEnd + this.#window.encoding.unitBytes;
  }

  reset(): void {
    this.#skip = undefined;
    this.#parts = this.#scanned = 0;
  }

  /** The window was compacted. */
  shift(by: number): void {
    this.#scanned -= by;
    if (this.#skip !== undefined) this.#skip.keptEnd -= by;
  }

  suspend(): SuspendedLine | undefined {
    const window = this.#window;
    const recent = Buffer.from(window.recent);
    const isObject = this.#isObject;
    if (this.#parts > 0) return { kind: 'split', parts: this.#parts, length: 0, recent, isObject };
    if (this.#skip === undefined) return undefined;
    const { keptEnd, length, sum } = this.#skip;
    return {
      kind: 'skipped',
      textAt: window.bom?.length ?? 0,
      kept: keptEnd - window.head,
      length,
      sum,
      recent,
      isObject,
    };
  }

  /** Goes back into a line; the window was reset to its offset. */
  resume(line: SuspendedLine): void {
    this.#isObject = line.isObject;
    if (line.kind === 'split') this.#parts = line.parts;
    else {
      const window = this.#window;
      if (line.textAt > 0) window.bom = window.streamBom;
      this.#skip = { keptEnd: line.kept, length: line.length, sum: line.sum };
      window.fill = line.kept + window.encoding.unitBytes;
    }
  }

  /**
   * Begins with the line at the window's head; `isRest`: it is the rest of one that may be an object. Undefined when nothing of it can be handed
   * out yet.
   */
  begin(isEnd: boolean, isRest: boolean): WindowBlock | undefined {
    const window = this.#window;
    this.#scanned = window.head;
    this.#isObject = isRest || this.#mayHoldFields();
    if (this.#rules.onOversize === 'split') return this.#nextPart(isEnd);
    const keptEnd = this.#cut(this.#line().textEnd, this.#rules.maxEventBytes);
    this.#skip = { keptEnd, length: window.bom?.length ?? 0, sum: window.bomSum };
    return this.#skipFrom(this.#skip, window.head, isEnd);
  }

  /** Goes on with the current line. Undefined when more bytes are needed. */
  next(isEnd: boolean): WindowBlock | undefined {
    if (this.#skip === undefined) return this.#nextPart(isEnd);
    return this.#skipFrom(this.#skip, this.#skip.keptEnd + this.#window.encoding.unitBytes, isEnd);
  }

  /** Hands out the beginning of the joined lines `[head, end)`, which take too much as UTF-8. */
  giveJoined(end: number): WindowBlock {
    const { encoding, bytes, bom, head } = this.#window;
    const textEnd = end - encoding.endingBytes(bytes, end);
    const sum = this.#window.sumWithBom(bytes.subarray(head, end));
    const keptEnd = this.#cut(textEnd, textEnd - head);
    this.#window.remember(bytes.subarray(head, end));
    const single = this.#describe(end - head + (bom?.length ?? 0), sum, textEnd - head);
    this.#isObject = this.#mayHoldFields();
    return this.#noted(this.#window.giveBeginning(keptEnd, end, single, true));
  }

  #nextPart(isEnd: boolean): WindowBlock | undefined {
    const window = this.#window;
    const { encoding, head } = window;
    const { textEnd, end } = this.#line();
    const limit = this.#maxTextBytes;
    // A CR that is the last byte may belong to the line's ending.
    if (end === undefined && !isEnd && textEnd - head < limit + 2 * encoding.unitBytes) return undefined;
    this.#parts += 1;
    const part = this.#parts;
    const isLast = textEnd - head <= limit && encoding.textBytes(window.bytes.subarray(head, textEnd)) <= limit;
    if (!isLast) return this.#noted(window.give(this.#cut(textEnd, limit), { isUnfinished: true, marks: { part } }));
    this.#parts = 0;
    return this.#noted(
      window.give(end ?? window.fill, { isUnfinished: end === undefined, marks: { part, part_last: true } }),
    );
  }

  /** Passes over the line of which the bytes at `from` are the next; hands out its beginning once its end is seen. */
  #skipFrom(skip: Skip, from: number, isEnd: boolean): WindowBlock | undefined {
    const window = this.#window;
    const { encoding, bytes, fill } = window;
    const found = encoding.firstLineEnd(bytes, from, fill);
    const end = found === -1 && isEnd ? fill : found;
    // An unfinished character waits for its rest.
    const rest = end === -1 ? encoding.unfinishedBytes(bytes, from, fill) : 0;
    const part = bytes.subarray(from, end === -1 ? fill - rest : end);
    skip.sum = addSums(skip.sum, contentSum(part, window.offset + skip.length));
    skip.length += part.length;
    window.remember(part);
    if (end !== -1) {
      this.#skip = undefined;
      const ending = encoding.endingBytes(window.recent, window.recent.length);
      const single = this.#describe(skip.length, skip.sum, skip.length - ending - (window.bom?.length ?? 0));
      return this.#noted(window.giveBeginning(skip.keptEnd, end, single));
    }
    bytes.copyWithin(skip.keptEnd + encoding.unitBytes, fill - rest, fill);
    window.fill = skip.keptEnd + encoding.unitBytes + rest;
    return undefined;
  }

  /** By its beginning. */
  #mayHoldFields(): boolean {
    const { bytes, head, fill, encoding } = this.#window;
    const beginning = (): string => encoding.decode(bytes.subarray(head, Math.min(fill, head + LINE_HEAD_BYTES)));
    return this.#rules.mayBeginObject?.(beginning()) === true;
  }

  #noted(block: WindowBlock): WindowBlock {
    return this.#isObject ? { ...block, unread: [block.start] } : block;
  }

  #describe(length: number, sum: number, originalBytes: number): NonNullable<Block['single']> {
    const single = {
      length,
      sum,
      tail: this.#window.tailNow(),
      marks: { truncated: true, original_bytes: originalBytes },
    };
    if (this.#rules.onOversize !== 'dead_letter') return single;
    const limit = `max_event_bytes (${this.#rules.maxEventBytes})`;
    const excess =
      originalBytes > this.#rules.maxEventBytes ? `, more than ${limit}` : `, which take more than ${limit} as UTF-8`;
    return { ...single, refusal: `the line has ${originalBytes} bytes${excess}; its beginning is kept` };
  }

  /** Where to cut the text from the head on, of which at most `maxBytes` are looked at. */
  #cut(textEnd: number, maxBytes: number): number {
    const { encoding, bytes, head } = this.#window;
    return cutToText(encoding, bytes, head, Math.min(textEnd, head + maxBytes), this.#maxTextBytes);
  }

  /** The line at the head: where its text ends, as far as it is here, and where it ends itself, if it is whole. */
  #line(): { readonly textEnd: number; readonly end: number | undefined } {
    const { encoding, bytes, head, fill, waitingUnits } = this.#window;
    const end = encoding.firstLineEnd(bytes, Math.max(head, this.#scanned), fill);
    if (end !== -1) return { textEnd: end - encoding.endingBytes(bytes, end), end };
    this.#scanned = head + waitingUnits;
    return { textEnd: fill, end: undefined };
  }
}
