/**
 * Framing: where messages begin and end in a stream of bytes (RFC 6587). Octet counting and delimiters (LF or NUL) are told
 * apart for each message. The kernel frames what has come whole, by the same rules; this takes what stands at the end of
 * a read until the rest of it has come. Promises: any split into packets gives the same messages; CR, LF and NUL at a message's
 * end are dropped; a message over the limit, or an absurd count, takes flat memory: it is cut and the rest skipped, or it comes in
 * parts as they fill.
 */
import { MAX_OCTET_COUNT_DIGITS } from '../limits.ts';
import { utf8Cut } from '../../../parsers/text/encoding.ts';
import { cut } from '../message/frame.ts';
import type { Frame, Part } from '../message/frame.ts';

/** Bytes that the connections of a source may hold together. */
export interface ByteBudget {
  left: number;
}

const EMPTY = Buffer.alloc(0);
/** Every connection may hold this much, beside the shared budget. */
const FREE_BYTES = 1024;
const [NUL, LF, CR, SPACE, ZERO, NINE, LESS_THAN] = [0, 10, 13, 32, 48, 57, 60];

function isTrailer(byte: number | undefined): boolean {
  return byte === LF || byte === CR || byte === NUL;
}

/** How many of the last bytes are CR, LF or NUL. */
function countTrailers(bytes: Buffer): number {
  let at = bytes.length;
  while (at > 0 && isTrailer(bytes[at - 1])) at -= 1;
  return bytes.length - at;
}

export class Framer {
  readonly #maxEventBytes: number;
  readonly #budget: ByteBudget;
  #chunk: Buffer = EMPTY;
  #at = 0;
  #mode: 'start' | 'line' | 'count' = 'start';
  /** Bytes of the counted message that have not come yet. */
  #missing = 0;
  /** Whether the last message was counted: then a number is taken for a count even without a PRI after it. */
  isCounting = false;
  /** The beginning of the unfinished message, at most `maxEventBytes` and one (which tells where UTF-8 may be cut). */
  #kept: Buffer = EMPTY;
  #keptLength = 0;
  /** Bytes of the unfinished message so far, and how many of the last are trailers. */
  #length = 0;
  #trailers = 0;
  readonly #splits: boolean;
  /** Parts of the unfinished message that were given. */
  #parts = 0;
  #message: Part['message'] = {};

  /** `splits`: messages over the limit come in parts. */
  constructor(maxEventBytes: number, budget: ByteBudget, splits = false) {
    this.#maxEventBytes = maxEventBytes;
    this.#budget = budget;
    this.#splits = splits;
  }

  /** Whether a message, or a number that may become a count, has begun. */
  get isInside(): boolean {
    return this.#length > 0 || this.#parts > 0 || this.#mode === 'count' || this.#at < this.#chunk.length;
  }

  /**
   * Gives the next bytes of the stream; call `next` until it returns undefined, or `release`, before the next push. After
   * that nothing refers to the chunk any more.
   */
  push(chunk: Buffer): void {
    // The rest is a number that may become a count.
    this.#chunk = this.#at === this.#chunk.length ? chunk : Buffer.concat([this.#chunk.subarray(this.#at), chunk]);
    this.#at = 0;
  }

  /** The next whole message, or undefined when more bytes are needed. Empty messages are skipped. */
  next(): Frame | undefined {
    for (;;) {
      if (this.#mode === 'start' && !this.#begin(false)) {
        this.#chunk = Buffer.from(this.#chunk.subarray(this.#at));
        this.#at = 0;
        return undefined;
      }
      const end = this.#messageEnd();
      const full = this.#splits ? this.#nextPart(end) : undefined;
      if (full !== undefined) return full;
      if (end === undefined) {
        if (this.#mode === 'count') this.#missing -= this.#chunk.length - this.#at;
        this.#keep(this.#chunk.subarray(this.#at));
        this.#release();
        return undefined;
      }
      const part = this.#chunk.subarray(this.#at, end);
      this.#at = this.#mode === 'line' ? end + 1 : end;
      const frame = this.#finish(part);
      if (frame !== undefined) return frame;
    }
  }

  /** Drops the chunk's bytes that were not taken; returns how many. */
  release(): number {
    const left = this.#chunk.length - this.#at;
    this.#release();
    return left;
  }

  /** At the connection's end: the last message without a delimiter. One of which counted bytes are missing is marked as cut. */
  end(): Frame | undefined {
    if (this.#mode === 'start' && !this.#begin(true)) return undefined;
    const missing = this.#mode === 'count' ? this.#missing - (this.#chunk.length - this.#at) : 0;
    const frame = this.#finish(this.#chunk.subarray(this.#at));
    this.#at = this.#chunk.length;
    return frame === undefined || missing === 0
      ? frame
      : { ...frame, originalBytes: (frame.originalBytes ?? frame.bytes.length) + missing, isCutOff: true };
  }

  /** Skips what may stand between messages and chooses the mode; false when more bytes are needed. */
  #begin(isEnd: boolean): boolean {
    while (this.#at < this.#chunk.length && isTrailer(this.#chunk[this.#at])) this.#at += 1;
    if (this.#at === this.#chunk.length) {
      this.#release();
      return false;
    }
    const digits = this.#countDigits();
    if (digits === undefined && !isEnd) return false;
    this.isCounting = digits !== undefined && digits > 0;
    this.#mode = this.isCounting ? 'count' : 'line';
    if (digits !== undefined && digits > 0) {
      this.#missing = Number(this.#chunk.toString('latin1', this.#at, this.#at + digits));
      this.#at += digits + 1;
    }
    return true;
  }

  /** Digits of the octet count at the beginning of a message, 0 when there is none, undefined until it is known. */
  #countDigits(): number | undefined {
    const chunk = this.#chunk;
    let at = this.#at;
    if (chunk[at] === ZERO) return 0;
    while (at < chunk.length && chunk[at]! >= ZERO && chunk[at]! <= NINE) at += 1;
    const digits = at - this.#at;
    if (digits > MAX_OCTET_COUNT_DIGITS) return 0;
    if (at === chunk.length) return undefined;
    if (digits === 0 || chunk[at] !== SPACE) return 0;
    if (this.isCounting) return digits;
    if (at + 1 === chunk.length) return undefined;
    return chunk[at + 1] === LESS_THAN ? digits : 0;
  }

  /** Lets go of the chunk: it pins 64 KiB, times the number of idle connections. */
  #release(): void {
    this.#chunk = EMPTY;
    this.#at = 0;
  }

  #messageEnd(): number | undefined {
    if (this.#mode === 'count') {
      const present = this.#chunk.length - this.#at;
      return present >= this.#missing ? this.#at + this.#missing : undefined;
    }
    const newline = this.#chunk.indexOf(LF, this.#at);
    const nul = this.#chunk.subarray(this.#at, newline === -1 ? undefined : newline).indexOf(NUL);
    if (nul !== -1) return this.#at + nul;
    return newline === -1 ? undefined : newline;
  }

  /** The next part of a message that is surely longer than one, which ends at `end` if that is known. */
  #nextPart(end: number | undefined): Frame | undefined {
    const rest = this.#chunk.subarray(this.#at, end);
    const trailers = countTrailers(rest);
    const content = this.#keptLength + rest.length - trailers - (trailers === rest.length ? this.#trailers : 0);
    if (content <= this.#maxEventBytes && this.#keptLength + rest.length <= this.#maxEventBytes + FREE_BYTES) return undefined;
    this.#grow(this.#maxEventBytes);
    // The budget may allow less than a whole part.
    const most = Math.min(this.#maxEventBytes, this.#kept.length);
    const taken = Math.min(rest.length, Math.max(0, most - this.#keptLength));
    this.#keep(rest.subarray(0, taken));
    this.#at += taken;
    if (this.#mode === 'count') this.#missing -= taken;
    const at = utf8Cut(this.#kept, 0, most);
    const bytes = Buffer.from(this.#kept.subarray(0, at));
    this.#kept.copyWithin(0, at, this.#keptLength);
    this.#keptLength -= at;
    this.#length = this.#keptLength;
    this.#trailers = countTrailers(this.#kept.subarray(0, this.#keptLength));
    this.#parts += 1;
    return { bytes, part: { number: this.#parts, isLast: false, message: this.#message } };
  }

  #finish(part: Buffer): Frame | undefined {
    let frame: Frame | undefined;
    if (this.#length === 0) {
      frame = cut(part, part.length - countTrailers(part), this.#maxEventBytes);
    } else {
      this.#keep(part);
      frame = cut(this.#kept.subarray(0, this.#keptLength), this.#length - this.#trailers, this.#maxEventBytes);
    }
    if (this.#parts > 0) frame = { bytes: EMPTY, ...frame, part: { number: this.#parts + 1, isLast: true, message: this.#message } };
    this.#parts = 0;
    this.#message = {};
    this.#budget.left += Math.max(0, this.#kept.length - FREE_BYTES);
    this.#kept = EMPTY;
    this.#keptLength = this.#length = this.#trailers = this.#missing = 0;
    this.#mode = 'start';
    return frame;
  }

  /** Adds to the unfinished message. */
  #keep(part: Buffer): void {
    if (part.length === 0) return;
    const trailers = countTrailers(part);
    this.#trailers = trailers === part.length ? this.#trailers + trailers : trailers;
    this.#length += part.length;
    // Once something was skipped, nothing may be added after it.
    if (this.#keptLength < this.#length - part.length) return;
    this.#grow(this.#keptLength + part.length);
    this.#keptLength += part.copy(this.#kept, this.#keptLength);
  }

  /** Reserves up to `wanted` bytes within limit and budget. */
  #grow(wanted: number): void {
    const most = Math.max(FREE_BYTES, this.#maxEventBytes + (this.#splits ? FREE_BYTES : 1));
    if (wanted <= this.#kept.length || this.#kept.length >= most) return;
    const bytes = Math.min(most, Math.max(wanted, 2 * this.#kept.length, FREE_BYTES));
    const cost = bytes - Math.max(FREE_BYTES, this.#kept.length);
    if (cost > this.#budget.left) return this.#kept.length === 0 ? void (this.#kept = Buffer.allocUnsafe(FREE_BYTES)) : undefined;
    this.#budget.left -= cost;
    const larger = Buffer.allocUnsafe(bytes);
    this.#kept.copy(larger, 0, 0, this.#keptLength);
    this.#kept = larger;
  }
}
