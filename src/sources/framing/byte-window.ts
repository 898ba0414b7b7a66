/**
 * The window that a source reads into: a region of memory, the bytes in it that wait, and their offset in the
 * stream. Knows no lines; hands out ranges as blocks, and remembers the last bytes that it handed out.
 */
import type { Block, Marks, Region, Tail } from '../../core/block.ts';
import { TAIL_BYTES } from '../../core/limits.ts';
import { READ_CHUNK_BYTES } from './limits.ts';
import { addSums, tailOf } from '../../core/sums.ts';
import { contentSum } from '../../kernel/content-sum.ts';
import { BYTE_ORDER_MARKS, type TextEncoding } from '../../parsers/text/encoding.ts';

/** The window's part of a block; the source adds stream, shape and time. */
export type WindowBlock = Pick<
  Block,
  'window' | 'start' | 'end' | 'offset' | 'single' | 'ends' | 'made' | 'unread' | 'header' | 'groups'
>;

export interface GiveOptions {
  /** The range has no newline of its own at its end. */
  readonly isUnfinished?: boolean;
  readonly marks?: Marks;
  /** Where events end in the range, when that is not at each newline. */
  readonly ends?: Uint32Array;
}

export const LONGEST_UNIT_BYTES = 2;
export const LONGEST_BOM_BYTES = 3;

const LF = 10;
const NO_BOM = Buffer.alloc(0);

/** The content sum of a byte order mark at `offset`, or nothing, and of the bytes after it. */
export function sumWithBom(bom: Buffer, bytes: Buffer, offset: number): number {
  return addSums(contentSum(bom, offset), contentSum(bytes, offset + bom.length));
}

/** Bytes of window that events up to `maxEventBytes` need. */
export function windowBytes(maxEventBytes: number): number {
  return READ_CHUNK_BYTES + maxEventBytes + 64;
}

export class ByteWindow {
  readonly bytes: Buffer;
  readonly #region: Region;
  readonly #default: TextEncoding;
  /** The stream's encoding: by its byte order mark, else the default. */
  encoding: TextEncoding;
  /** The byte order mark that the stream begins with, once that is known. */
  streamBom: Buffer | undefined;
  #isEncodingKnown = false;
  /** Bytes `[head, fill)` wait. */
  head = 0;
  fill = 0;
  /** The stream offset of the first byte that was not handed out. */
  offset = 0;
  /** A byte order mark before `head` that was not handed out. */
  bom: Buffer | undefined;
  readonly #tail = Buffer.alloc(TAIL_BYTES);
  #tailLength = 0;
  /** Bytes that a newline was written over, to end a block. */
  #borrowed: { readonly at: number; readonly bytes: Buffer } | undefined;

  constructor(region: Region, encoding: TextEncoding) {
    this.#region = region;
    this.bytes = region.bytes;
    this.#default = this.encoding = encoding;
  }

  /**
   * Moves to another position and drops all waiting bytes. `before`: the known bytes just before `offset`; `first`: the
   * stream's first bytes, three if it has them, which matters only where they do not come into the window.
   */
  reset(offset: number, before: Buffer, first: Buffer): void {
    this.head = this.fill = 0;
    this.bom = this.#borrowed = undefined;
    const found = findBom(first);
    this.encoding = found?.encoding ?? this.#default;
    this.streamBom = found?.bytes;
    this.#isEncodingKnown = offset > 0;
    this.offset = offset;
    this.#tailLength = 0;
    this.remember(before);
  }

  /** The next bytes are not the stream's beginning, whatever their offset. */
  settleEncoding(): void {
    this.#isEncodingKnown = true;
  }

  /** The last bytes (up to TAIL_BYTES) that were handed out or passed over. A view. */
  get recent(): Buffer {
    return this.#tail.subarray(0, this.#tailLength);
  }

  /** Bytes from `head` on that are whole code units. */
  get waitingUnits(): number {
    const waiting = this.fill - this.head;
    return waiting - (waiting % this.encoding.unitBytes);
  }

  /** Moves the waiting bytes to the window's beginning; returns by how much. */
  compact(): number {
    const shift = this.head;
    if (shift > 0) this.bytes.copyWithin(0, shift, this.fill);
    this.head = 0;
    this.fill -= shift;
    return shift;
  }

  /** Where to read into next: 1 to READ_CHUNK_BYTES bytes. */
  room(): Buffer {
    return this.bytes.subarray(
      this.fill,
      Math.min(this.fill + READ_CHUNK_BYTES, this.bytes.length - LONGEST_UNIT_BYTES),
    );
  }

  /**
   * At the stream's beginning: steps over a byte order mark, which decides over the encoding. False when it takes more bytes
   * to know whether there is one; at the stream's end there are no more.
   */
  passBom(isEnd: boolean): boolean {
    if (this.#isEncodingKnown) return true;
    const first = this.bytes.subarray(this.head, Math.min(this.fill, this.head + LONGEST_BOM_BYTES));
    const found = findBom(first);
    if (!found && !isEnd && BYTE_ORDER_MARKS.some(({ bytes }) => startsWith(bytes, first))) return false;
    this.#isEncodingKnown = true;
    this.encoding = found?.encoding ?? this.#default;
    this.bom = this.streamBom = found?.bytes;
    if (found) {
      this.head += found.bytes.length;
      this.remember(found.bytes);
    }
    return true;
  }

  /** The content sum of the byte order mark before `head`, if there is one. */
  get bomSum(): number {
    return this.bom ? contentSum(this.bom, this.offset) : 0;
  }

  /** The content sum of the byte order mark before `head`, if there is one, and of these bytes, which begin at `head`. */
  sumWithBom(given: Buffer): number {
    return sumWithBom(this.bom ?? NO_BOM, given, this.offset);
  }

  /** Hands out `[head, end)`, as one event where it is marked, unfinished or after a byte order mark. */
  give(end: number, { isUnfinished = false, marks, ends }: GiveOptions = {}): WindowBlock {
    const { head, offset, bom } = this;
    const given = this.bytes.subarray(head, end);
    const isSingle = isUnfinished || marks !== undefined || bom !== undefined;
    const sum = isSingle ? this.sumWithBom(given) : 0;
    this.remember(given);
    this.head = end;
    this.offset += given.length + (bom?.length ?? 0);
    this.bom = undefined;
    const block = { window: this.#region, start: head, end, offset, ...(ends ? { ends } : {}) };
    if (!isSingle) return block;
    const single = { length: this.offset - offset, sum, tail: this.tailNow(), ...(marks ? { marks } : {}) };
    if (!isUnfinished) return { ...block, single };
    const { newline } = this.encoding;
    this.#borrowed = { at: end, bytes: Buffer.from(this.bytes.subarray(end, end + newline.length)) };
    newline.copy(this.bytes, end);
    const blockEnd = end + newline.length;
    return { ...block, end: blockEnd, ...(ends ? { ends: Uint32Array.of(blockEnd) } : {}), single };
  }

  /**
   * Hands out `[head, keptEnd)` for `length` bytes of the stream that have this checksum and were passed over; what
   * follows is at `next`.
   */
  giveBeginning(keptEnd: number, next: number, single: NonNullable<Block['single']>, isJoined = false): WindowBlock {
    const { head, offset } = this;
    // These bytes were passed over, and are counted already.
    this.encoding.newline.copy(this.bytes, keptEnd);
    const end = keptEnd + this.encoding.newline.length;
    this.bom = undefined;
    this.offset += single.length;
    this.head = Math.max(next, end);
    return {
      window: this.#region,
      start: head,
      end,
      offset,
      single,
      ...(isJoined ? { ends: Uint32Array.of(end) } : {}),
    };
  }

  /** Hands out an empty line, which is no event, for the next `length` bytes of the stream: NULs, which do not come into the window. */
  giveNuls(length: number): WindowBlock {
    const { head, offset } = this;
    this.remember(Buffer.alloc(Math.min(length, TAIL_BYTES)));
    this.bytes[head] = LF;
    this.offset += length;
    // NULs add nothing to a content sum.
    return {
      window: this.#region,
      start: head,
      end: head + 1,
      offset,
      single: { length, sum: 0, tail: this.tailNow() },
    };
  }

  /** Puts the bytes back that a newline was written over. The block's life ends. */
  giveBack(): void {
    this.#borrowed?.bytes.copy(this.bytes, this.#borrowed.at);
    this.#borrowed = undefined;
  }

  /** Counts these bytes among the last that were handed out or passed over. */
  remember(part: Buffer): void {
    const kept = Math.max(0, Math.min(this.#tailLength, TAIL_BYTES - part.length));
    this.#tail.copyWithin(0, this.#tailLength - kept, this.#tailLength);
    this.#tailLength = kept + part.copy(this.#tail, kept, Math.max(0, part.length - TAIL_BYTES));
  }

  tailNow(): Tail {
    return tailOf(this.recent);
  }
}

/** The byte order mark that a stream begins with, by its first bytes, and the encoding that it names. */
export function findBom(first: Buffer): { readonly bytes: Buffer; readonly encoding: TextEncoding } | undefined {
  return BYTE_ORDER_MARKS.find(({ bytes }) => startsWith(first, bytes));
}

function startsWith(bytes: Buffer, beginning: Buffer): boolean {
  return bytes.length >= beginning.length && bytes.subarray(0, beginning.length).equals(beginning);
}
