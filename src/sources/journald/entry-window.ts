/**
 * The bytes of entries between the child and the kernel's loop. Promises: memory is the window and no more; an entry that does not fit is made
 * to fit by cutting its message and leaving out other values that are too long, and says so in a field of its own (`CUT_FIELD`).
 */
import type { Region } from '../../core/block.ts';
import { CUT_FIELD } from '../../kernel/journal.ts';
import { fieldHead } from './entry.ts';

const LF = 0x0a;
/** A name of a field has 64 bytes; so many bytes without `=` or newline are no entry. */
const MAX_HEAD_BYTES = 256;
/** Of an entry that does not fit: a longer value beside the message is left out, and so are those beyond so many bytes in all. */
const MAX_VALUE_BYTES = 4096;
const MAX_VALUES_BYTES = 256 * 1024;
/** Stays free for the field that names the cut ones, and for the kernel. */
const MARGIN_BYTES = 64;

/** A value whose rest is passed over. */
interface Skip {
  readonly isMessage: boolean;
  /** Bytes of the value so far, and those still to come with their newline; undefined: up to the next newline. */
  bytes: number;
  left: number | undefined;
}

export class EntryWindow {
  readonly region: Region;
  readonly #maxMessageBytes: number;
  /** The bytes not used up yet. */
  #start = 0;
  #end = 0;
  #skip: Skip | undefined;

  constructor(region: Region, maxMessageBytes: number) {
    this.region = region;
    this.#maxMessageBytes = maxMessageBytes;
  }

  get start(): number {
    return this.#start;
  }

  get end(): number {
    return this.#end;
  }

  /** Bytes up to here are used up. */
  use(to: number): void {
    this.#start = to;
  }

  clear(): void {
    this.#start = this.#end = 0;
    this.#skip = undefined;
  }

  /** Where the next bytes go; undefined where these bytes cannot be an entry. Its whole entries must be used up. */
  free(): Buffer | undefined {
    const { bytes } = this.region;
    bytes.copyWithin(0, this.#start, this.#end);
    this.#end -= this.#start;
    this.#start = 0;
    const limit = bytes.length - MARGIN_BYTES;
    if (this.#end >= limit && !this.#shrink()) return undefined;
    return this.#end < limit ? bytes.subarray(this.#end, limit) : undefined;
  }

  /** Notes bytes that were read into `free()`. */
  commit(count: number): void {
    const fresh = this.region.bytes.subarray(this.#end, this.#end + count);
    const skip = this.#skip;
    if (!skip) {
      this.#end += count;
      return;
    }
    const newline = skip.left === undefined ? fresh.indexOf(LF) : skip.left - 1;
    const isOver = newline >= 0 && newline < count;
    skip.bytes += isOver ? newline : count;
    if (skip.left !== undefined) skip.left -= count;
    if (!isOver) return;
    const rest = Buffer.from(fresh.subarray(newline + 1));
    this.#skip = undefined;
    this.#put(cutField(skip));
    this.#put(rest);
  }

  #put(bytes: Buffer): void {
    this.#end += bytes.copy(this.region.bytes, this.#end);
  }

  /** Leaves the longest fields out of the entry that fills the window. */
  #shrink(): boolean {
    const entry = Buffer.from(this.region.bytes.subarray(0, this.#end));
    let values = 0;
    this.#end = 0;
    for (let at = 0; at < entry.length;) {
      const head = fieldHead(entry, at, entry.length);
      if (!head) {
        this.#put(entry.subarray(at));
        return entry.length - at <= MAX_HEAD_BYTES;
      }
      const { name, from, length } = head;
      if (length !== undefined && !Number.isSafeInteger(length)) return false;
      const newline = length === undefined ? entry.indexOf(LF, from) : from + length;
      const isWhole = newline >= 0 && newline < entry.length;
      const known = (isWhole ? newline : entry.length) - from;
      const isMessage = name === 'MESSAGE';
      if (!isMessage) values += known;
      if (isMessage ? known <= this.#maxMessageBytes + 1 : known <= MAX_VALUE_BYTES && values <= MAX_VALUES_BYTES) {
        this.#put(entry.subarray(at, isWhole ? newline + 1 : undefined));
        if (!isWhole) return true;
      } else {
        if (isMessage) this.#putMessage(entry.subarray(from, from + this.#maxMessageBytes + 1));
        const skip = { isMessage, bytes: known, left: length === undefined ? undefined : length - known + 1 };
        if (!isWhole) {
          this.#skip = skip;
          return true;
        }
        this.#put(cutField(skip));
      }
      at = newline + 1;
    }
    return true;
  }

  #putMessage(text: Buffer): void {
    const head = Buffer.from('MESSAGE\n........');
    head.writeBigUInt64LE(BigInt(text.length), 8);
    this.#put(Buffer.concat([head, text, Buffer.of(LF)]));
  }
}

function cutField({ isMessage, bytes }: Skip): Buffer {
  return Buffer.from(`${CUT_FIELD}=${isMessage ? bytes : ''}\n`);
}
