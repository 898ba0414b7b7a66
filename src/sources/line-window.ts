/**
 * Bytes come in, blocks of whole lines go out: owns the window that a source reads into, and where lines and events begin
 * and end in it. Promises, whatever the sizes of the reads: the same events; an unfinished line waits for its rest; a line
 * over `maxEventBytes` is cut, split or refused with flat memory, and the next one comes; offsets count every byte.
 *
 * Use: `commit(read(free()))`, then `next()` until it returns undefined, each time awaiting `accept` before the next call;
 * at the end of the input `flush()` until it returns undefined.
 */
import { crc32 } from 'node:zlib';
import type { Block, Marks, Region, Tail } from '../core/block.ts';
import type { SourceStats } from '../core/source.ts';
import { READ_CHUNK_BYTES, SERVICE_STRING_BYTES, TAIL_BYTES } from '../core/limits.ts';
import { cutToText, type Encoding, utf8 } from '../parsers/encoding.ts';

/** What LineWindow knows of a block; the source adds stream, shape and time. */
export type WindowBlock = Pick<Block, 'window' | 'start' | 'end' | 'offset' | 'single' | 'ends' | 'made'>;

export interface LineRules {
  /** Bytes of a line without its ending, as they stand in the stream and as UTF-8. */
  readonly maxEventBytes: number;
  /** What becomes of a longer line: its beginning is kept, it comes in parts, or its beginning goes to the dead letters. */
  readonly onOversize: 'truncate' | 'split' | 'dead_letter';
  readonly encoding?: Encoding;
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
      readonly crc: number;
      /** The last bytes that were seen. */
      readonly recent: Buffer;
    }
  | { readonly kind: 'split'; readonly parts: number; readonly length: 0; readonly recent: Buffer };

/** The line under way of which only the beginning is kept: `[#head, keptEnd)`; `length` and `crc` are of all of it so far. */
interface Skip {
  readonly keptEnd: number;
  length: number;
  crc: number;
}

/** Bytes of window that lines up to `maxEventBytes` need. */
export function windowBytes(maxEventBytes: number): number {
  return READ_CHUNK_BYTES + maxEventBytes + 64;
}

/** Counts a line over the limit by the block that ends it. */
export function countLongLine(stats: SourceStats, { single }: WindowBlock): void {
  if (single?.marks === undefined) return;
  if (single.marks['truncated'] === true) stats.truncatedEvents += 1;
  if (single.marks['truncated'] === true || single.marks['part_last'] === true) stats.oversizeLines = (stats.oversizeLines ?? 0) + 1;
}

export class LineWindow {
  readonly #window: Region;
  readonly #bytes: Buffer;
  readonly #rules: LineRules;
  readonly #encoding: Encoding;
  readonly #maxEventBytes: number;
  /** Of a line that is cut, so that the service takes it. */
  readonly #maxTextBytes: number;
  /** A line of no more than this fits whatever its text takes as UTF-8. */
  readonly #safeBytes: number;
  /** Bytes `[#head, #fill)` wait; none of `[#head, #scanned)` is a newline. */
  #head = 0;
  #fill = 0;
  #scanned = 0;
  #offset = 0;
  /** A byte order mark that stands before `#head` and was not handed out. */
  #mark: Buffer | undefined;
  /** The last bytes of the stream that were handed out or skipped. */
  readonly #tail = Buffer.alloc(TAIL_BYTES);
  #tailLength = 0;
  /** The line at `#head` is over the limit. */
  #isTooLong = false;
  #skip: Skip | undefined;
  /** How many parts of the line under way were handed out. */
  #parts = 0;
  /** Bytes that a newline was written over, to end a part. */
  #borrowed: { readonly at: number; readonly bytes: Buffer } | undefined;

  /** `window` has at least `windowBytes(maxEventBytes)`. */
  constructor(window: Region, rules: LineRules) {
    if (window.bytes.length < windowBytes(rules.maxEventBytes)) throw new RangeError('the window is too small for its lines');
    this.#window = window;
    this.#bytes = window.bytes;
    this.#rules = rules;
    this.#encoding = rules.encoding ?? utf8;
    this.#maxEventBytes = rules.maxEventBytes;
    this.#maxTextBytes = Math.min(rules.maxEventBytes, SERVICE_STRING_BYTES);
    const units = Math.floor(rules.maxEventBytes / 3 / this.#encoding.unitBytes);
    this.#safeBytes = units * this.#encoding.unitBytes;
  }

  /** The stream offset of the first byte that was not handed out. */
  get offset(): number {
    return this.#offset;
  }

  /** Bytes of the stream that were read and not handed out: an unfinished line. */
  get pendingBytes(): number {
    return this.#skip === undefined ? this.#fill - this.#head + (this.#mark?.length ?? 0) : this.#skip.length;
  }

  /** True inside a line of which only the beginning is kept: `reset` would forget it. */
  get isSkipping(): boolean {
    return this.#skip !== undefined;
  }

  /** True where a line over the limit comes in parts. */
  get splitsLines(): boolean {
    return this.#rules.onOversize === 'split';
  }

  /** True when a line ends with the last of these bytes. */
  endsLine(bytes: Buffer): boolean {
    return this.#encoding.endingBytes(bytes, bytes.length) > 0;
  }

  /** Goes to another position and forgets what waits. `before`: what is known of the bytes just before `offset`. */
  reset(offset: number, before: Buffer): void {
    this.#head = this.#fill = this.#scanned = 0;
    this.#skip = this.#mark = this.#borrowed = undefined;
    this.#parts = 0;
    this.#isTooLong = false;
    this.#offset = offset;
    this.#tailLength = 0;
    this.#remember(before);
  }

  /** A copy of the last bytes (up to TAIL_BYTES) that were handed out or skipped. */
  recent(): Buffer {
    return Buffer.from(this.#tail.subarray(0, this.#tailLength));
  }

  /** What `resume` needs to go on in the line over the limit that is under way; undefined outside of one. */
  suspend(): SuspendedLine | undefined {
    if (this.#parts > 0) return { kind: 'split', parts: this.#parts, length: 0, recent: this.recent() };
    if (this.#skip === undefined) return undefined;
    const { keptEnd, length, crc } = this.#skip;
    return { kind: 'skipped', textAt: this.#mark?.length ?? 0, kept: keptEnd - this.#head, length, crc, recent: this.recent() };
  }

  /**
   * Goes back into a line over the limit at `offset`; the next byte to commit is the one at `offset + line.length`. The
   * block that ends a skipped one has room for the `kept` bytes from its `start` on, which the caller must put there.
   */
  resume(offset: number, line: SuspendedLine): void {
    this.reset(offset, line.recent);
    if (line.kind === 'split') this.#parts = line.parts;
    else {
      if (line.textAt > 0) this.#mark = this.#encoding.mark;
      this.#skip = { keptEnd: line.kept, length: line.length, crc: line.crc };
      this.#fill = line.kept + this.#encoding.unitBytes;
    }
  }

  /** Where to read into next: 1 to READ_CHUNK_BYTES bytes. Ends the life of the blocks handed out. */
  free(): Buffer {
    this.#giveBack();
    const shift = this.#head;
    if (shift > 0) {
      this.#bytes.copyWithin(0, shift, this.#fill);
      this.#head = 0;
      this.#fill -= shift;
      this.#scanned -= shift;
      if (this.#skip !== undefined) this.#skip = { ...this.#skip, keptEnd: this.#skip.keptEnd - shift };
    }
    return this.#bytes.subarray(this.#fill, Math.min(this.#fill + READ_CHUNK_BYTES, this.#bytes.length - this.#encoding.unitBytes));
  }

  /** Says that `count` bytes were read into `free()`. */
  commit(count: number): void {
    this.#fill += count;
  }

  /** The next block, or undefined when more bytes are needed. Its bytes stay until the next call of `next`, `free` or `flush`. */
  next(): WindowBlock | undefined {
    this.#giveBack();
    if (this.#skip !== undefined) return this.#skipFrom(this.#skip, this.#skip.keptEnd + this.#encoding.unitBytes);
    if (this.#parts > 0) return this.#nextPart(false);
    if (this.#offset === 0 && this.#mark === undefined && !this.#passMark()) return undefined;
    let end = this.#wholeLinesEnd();
    // A mark is not part of the first line's text, which is then given alone.
    if (end > this.#head && this.#mark) end = this.#scanned = this.#encoding.firstLineEnd(this.#bytes, this.#head, end);
    if (end > this.#head) return this.#give(end);
    return this.#isTooLong ? this.#beginLongLine(false) : undefined;
  }

  /** At the end of the input, after `next` returned undefined: what is left, block by block. */
  flush(): WindowBlock | undefined {
    this.#giveBack();
    if (this.#skip !== undefined) return this.#endSkip(this.#skip, this.#fill);
    if (this.#head === this.#fill && this.#mark === undefined) return undefined;
    if (this.#parts > 0) return this.#nextPart(true);
    if (!this.#fits(this.#bytes.subarray(this.#head, this.#fill), this.#maxEventBytes)) return this.#beginLongLine(true);
    return this.#give(this.#fill, { isUnfinished: true });
  }

  /**
   * The end of the last whole line before any that is over the limit, or `#head`. Looks at the newlines that are
   * `#safeBytes` apart, not at each one: what lies between two of them cannot hold a longer line. Lines that are longer
   * are looked at one by one.
   */
  #wholeLinesEnd(): number {
    const { firstLineEnd, lastLineEnd, endingBytes, unitBytes } = this.#encoding;
    const bytes = this.#bytes;
    const fill = this.#fill - ((this.#fill - this.#head) % unitBytes);
    this.#isTooLong = false;
    for (let line = this.#head; ;) {
      const near = Math.min(fill, line + this.#safeBytes);
      const from = Math.max(line, this.#scanned);
      const found = from < near ? lastLineEnd(bytes, from, near) : -1;
      if (found !== -1) {
        line = found;
        continue;
      }
      // Its text, a CR and a newline.
      const limit = Math.min(fill, line + this.#maxEventBytes + 2 * unitBytes);
      const end = firstLineEnd(bytes, Math.max(from, near), limit);
      if (end === -1) {
        this.#scanned = limit;
        this.#isTooLong = limit - line >= this.#maxEventBytes + 2 * unitBytes;
        return line;
      }
      if (!this.#fits(bytes.subarray(line, end - endingBytes(bytes, end)), this.#maxEventBytes)) {
        this.#isTooLong = true;
        return line;
      }
      line = end;
    }
  }

  #fits(text: Buffer, limit: number): boolean {
    return text.length <= limit && (text.length <= this.#safeBytes || this.#encoding.textBytes(text) <= limit);
  }

  /** The first of the line at `#head`, which is over the limit. Undefined when nothing of it can be handed out yet. */
  #beginLongLine(isEnd: boolean): WindowBlock | undefined {
    if (this.#rules.onOversize === 'split') return this.#nextPart(isEnd);
    const { textEnd } = this.#line();
    const limit = Math.min(textEnd, this.#head + this.#maxEventBytes);
    const keptEnd = cutToText(this.#encoding, this.#bytes, this.#head, limit, this.#maxTextBytes);
    this.#skip = { keptEnd, length: this.#mark?.length ?? 0, crc: this.#mark ? crc32(this.#mark) : 0 };
    const block = this.#skipFrom(this.#skip, this.#head);
    return isEnd && block === undefined ? this.#endSkip(this.#skip, this.#fill) : block;
  }

  /** The next part of the line at `#head`; undefined when it takes more bytes to know where it ends. */
  #nextPart(isEnd: boolean): WindowBlock | undefined {
    const { textEnd, end } = this.#line();
    const size = textEnd - this.#head;
    const limit = this.#maxTextBytes;
    // A CR that is the last byte may belong to the line's ending.
    if (end === undefined && !isEnd && size < limit + 2 * this.#encoding.unitBytes) return undefined;
    this.#parts += 1;
    const part = this.#parts;
    if (!this.#fits(this.#bytes.subarray(this.#head, textEnd), limit)) {
      const cut = cutToText(this.#encoding, this.#bytes, this.#head, Math.min(textEnd, this.#head + limit), limit);
      return this.#give(cut, { isUnfinished: true, marks: { part } });
    }
    this.#parts = 0;
    return this.#give(end ?? this.#fill, { isUnfinished: end === undefined, marks: { part, part_last: true } });
  }

  /** Skips the line of which the bytes at `from` are the next; hands out its beginning once its newline is seen. */
  #skipFrom(skip: Skip, from: number): WindowBlock | undefined {
    const { firstLineEnd, unitBytes } = this.#encoding;
    const end = firstLineEnd(this.#bytes, from, this.#fill);
    if (end !== -1) return this.#endSkip(skip, end, from);
    const rest = (this.#fill - from) % unitBytes;
    this.#pass(skip, from, this.#fill - rest);
    // Half a code unit waits for its other half.
    this.#bytes.copyWithin(skip.keptEnd + unitBytes, this.#fill - rest, this.#fill);
    this.#fill = skip.keptEnd + unitBytes + rest;
    return undefined;
  }

  #pass(skip: Skip, from: number, to: number): void {
    const part = this.#bytes.subarray(from, to);
    skip.crc = crc32(part, skip.crc);
    skip.length += part.length;
    this.#remember(part);
  }

  /** Hands out the beginning of the line that was skipped, and whose last bytes are `[from, end)`. */
  #endSkip(skip: Skip, end: number, from = skip.keptEnd + this.#encoding.unitBytes): WindowBlock {
    this.#pass(skip, from, end);
    const original = skip.length - this.#encoding.endingBytes(this.#tail, this.#tailLength) - (this.#mark?.length ?? 0);
    const single = {
      length: skip.length,
      crc: skip.crc,
      tail: this.#tailNow(),
      marks: { truncated: true, original_bytes: original },
      ...(this.#rules.onOversize === 'dead_letter' ? { refusal: this.#describeRefusal(original) } : {}),
    };
    // These bytes belong to the line that is cut, and are counted already.
    this.#encoding.newline.copy(this.#bytes, skip.keptEnd);
    const blockEnd = skip.keptEnd + this.#encoding.unitBytes;
    const block = { window: this.#window, start: this.#head, end: blockEnd, offset: this.#offset, single };
    this.#skip = this.#mark = undefined;
    this.#offset += skip.length;
    this.#head = this.#scanned = Math.max(end, blockEnd);
    return block;
  }

  #describeRefusal(originalBytes: number): string {
    const limit = `max_event_bytes (${this.#maxEventBytes})`;
    return originalBytes > this.#maxEventBytes
      ? `the line has ${originalBytes} bytes, more than ${limit}; its beginning is kept`
      : `the line has ${originalBytes} bytes, which take more than ${limit} as UTF-8; its beginning is kept`;
  }

  /** Hands out `[#head, end)`, as one event that ends there where it has no newline of its own. */
  #give(end: number, { isUnfinished = false, marks }: { readonly isUnfinished?: boolean; readonly marks?: Marks } = {}): WindowBlock {
    const start = this.#head;
    const given = this.#bytes.subarray(start, end);
    const mark = this.#mark;
    const block = { window: this.#window, start, end, offset: this.#offset };
    this.#remember(given);
    this.#head = end;
    this.#scanned = Math.max(this.#scanned, end);
    this.#offset += given.length + (mark?.length ?? 0);
    this.#mark = undefined;
    if (!isUnfinished && marks === undefined && mark === undefined) return block;
    const length = this.#offset - block.offset;
    const single = { length, crc: crc32(given, mark ? crc32(mark) : 0), tail: this.#tailNow(), ...(marks ? { marks } : {}) };
    if (!isUnfinished) return { ...block, single };
    const { newline } = this.#encoding;
    this.#borrowed = { at: end, bytes: Buffer.from(this.#bytes.subarray(end, end + newline.length)) };
    newline.copy(this.#bytes, end);
    return { ...block, end: end + newline.length, single };
  }

  #giveBack(): void {
    this.#borrowed?.bytes.copy(this.#bytes, this.#borrowed.at);
    this.#borrowed = undefined;
  }

  /** The line at `#head`: where its text ends, as far as it is here, and where it ends itself, if it is whole. */
  #line(): { readonly textEnd: number; readonly end: number | undefined } {
    const { firstLineEnd, endingBytes, unitBytes } = this.#encoding;
    const end = firstLineEnd(this.#bytes, Math.max(this.#head, this.#scanned), this.#fill);
    if (end === -1) this.#scanned = this.#fill - ((this.#fill - this.#head) % unitBytes);
    return end === -1 ? { textEnd: this.#fill, end: undefined } : { textEnd: end - endingBytes(this.#bytes, end), end };
  }

  /** Steps over a byte order mark at the stream's beginning. False when it takes more bytes to know whether there is one. */
  #passMark(): boolean {
    const { mark } = this.#encoding;
    const first = this.#bytes.subarray(this.#head, Math.min(this.#fill, this.#head + (mark?.length ?? 0)));
    if (mark === undefined || !first.equals(mark.subarray(0, first.length))) return true;
    if (first.length < mark.length) return false;
    this.#mark = mark;
    this.#head += mark.length;
    this.#scanned = Math.max(this.#scanned, this.#head);
    this.#remember(mark);
    return true;
  }

  #remember(part: Buffer): void {
    const kept = Math.max(0, Math.min(this.#tailLength, TAIL_BYTES - part.length));
    this.#tail.copyWithin(0, this.#tailLength - kept, this.#tailLength);
    this.#tailLength = kept + part.copy(this.#tail, kept, Math.max(0, part.length - TAIL_BYTES));
  }

  #tailNow(): Tail {
    return { length: this.#tailLength, crc: crc32(this.#tail.subarray(0, this.#tailLength)) };
  }
}
