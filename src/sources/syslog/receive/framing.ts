/**
 * Framing: where messages begin and end in a stream of bytes (RFC 6587). Octet counting and delimiters (LF or NUL) are detected for each
 * message. The kernel frames complete messages in step, by the same rules; this takes the rest: a message that is not whole at the end of a
 * read, and counts that do not agree with the bytes. Once a sender counts, a counted message after which no other begins is out of step: it
 * goes, with what follows, up to the next `NUMBER SP <PRI>`. Only bytes that are here decide; a message is never held back for later ones.
 * Promises: every byte once, in order; CR, LF and NUL at a message's end are dropped; a message over the limit, or an absurd count, takes
 * flat memory: it is cut and the rest skipped, or it comes in parts as they fill.
 */
import { utf8Cut } from '../../../parsers/text/encoding.ts';
import { cut } from '../message/frame.ts';
import type { MessageFrame, MessagePart } from '../message/frame.ts';
import { ReceivedBytes } from './received-bytes.ts';
import {
  countAt,
  countTrailers,
  delimiterAt,
  findProof,
  findStart,
  fittingInNumber,
  isInStep,
  isTrailer,
  LESS_THAN,
  LONGEST_START,
  priorityAt,
  PROVING_COUNTS,
  trailersBehind,
} from './octet-counts.ts';

/** CR, LF and NUL that may follow a part before it is known whether more text follows. */
const MOST_TRAILERS = 1024;

/** Where the message at hand ends, and where the next one begins; from the beginning of the held bytes. */
interface MessageEnd {
  readonly end: number;
  readonly next: number;
  /** Bytes of its count that are missing. */
  readonly missing?: number;
  /** It is what lies between two counts that are in step. */
  readonly isOutOfStep?: true;
  /** The time of an unfinished line is over. */
  readonly isUnended?: true;
}

export class Framer {
  readonly #maxEventBytes: number;
  readonly #splits: boolean;
  /**
   * From the beginning of the message at hand to the last byte that came, without dropped bytes. The next bytes of the stream are pushed here;
   * call `next` until it returns undefined, or `release`, before the next push. After that nothing refers to the chunk any more.
   */
  readonly held: ReceivedBytes;
  #mode: 'start' | 'line' | 'count' | 'lost' = 'start';
  /** Whether the last message was counted: then a number is taken for a count even without a PRI after it. */
  isCounting = false;
  /** The line that was given last has not ended: what comes is its rest, up to a delimiter. */
  isBehindCut = false;
  /** Bytes before the message's text: its count. */
  #head = 0;
  /** Bytes of the message that its count names, less those that are gone. */
  #octets = 0;
  #isDoubtful = false;
  /** Whether anything before was out of step: the sender counts wrong, and a text's end may be a part of a count. */
  #wasLost = false;
  /** Up to here there is no end; and up to here no count that proves this message's beginning wrong. */
  #looked = 0;
  #compared = 0;
  /** Bytes of an oversize message that were dropped, and how many of the last are trailers. */
  #dropped = 0;
  #trailers = 0;
  /** Parts of the message that were given. */
  #parts = 0;
  #message: MessagePart['message'] = {};
  /** No more bytes come for the held ones. */
  #ending: 'none' | 'closed' | 'late' = 'none';

  /** `splits`: messages over the limit come in parts. */
  constructor(maxEventBytes: number, splits = false) {
    this.#maxEventBytes = maxEventBytes;
    this.#splits = splits;
    this.held = new ReceivedBytes(maxEventBytes + MOST_TRAILERS);
  }

  /** Whether a message, or a number that may become a count, has begun. */
  get isInside(): boolean {
    return this.held.length > 0 || this.#mode !== 'start';
  }

  /** Whether the message that was given last is at its end. */
  get isBetween(): boolean {
    return this.#mode === 'start';
  }

  /** Whether the held bytes are in no message: no octet count agrees with them. */
  get isOutOfStep(): boolean {
    return this.#mode === 'lost';
  }

  /** Bytes of the message at hand so far. */
  get messageBytes(): number {
    return this.held.length + this.#dropped + this.#parts * this.#maxEventBytes;
  }

  /** Bytes that the message at hand may hold until its end. */
  get mostBytes(): number {
    const most = this.#maxEventBytes + MOST_TRAILERS;
    return this.#mode === 'count' && !this.#isDoubtful ? Math.min(this.#octets, most) : most;
  }

  /** Lets go of the bytes behind the message that was given last. */
  release(): void {
    this.#ending = 'none';
    this.held.clear();
  }

  /** The next calls of `next` give the held bytes as if nothing more came: the connection has ended, or the time is over (`late`). */
  end(why: 'closed' | 'late' = 'closed'): void {
    this.#ending = why;
  }

  /** The next message, or undefined when more bytes are needed. Empty messages are skipped. */
  next(): MessageFrame | undefined {
    while (this.#mode !== 'start' || this.#begin()) {
      const ending = this.#findEnd();
      const isRest = this.isBehindCut && this.#mode === 'line' && { isRest: true as const };
      const part = this.#splits || this.#mode === 'lost' ? this.#nextPart(ending) : undefined;
      if (part !== undefined) return { ...part, ...isRest };
      if (ending === undefined) {
        if (!this.#splits) this.#drop();
        break;
      }
      const frame = this.#finish(ending);
      this.isBehindCut = ending.isUnended === true;
      if (frame !== undefined) return { ...frame, ...isRest };
    }
    this.#ending = 'none';
    this.held.own();
    return undefined;
  }

  /** Skips bytes allowed between messages and chooses the mode; false when more bytes are needed. */
  #begin(): boolean {
    const { bytes } = this.held;
    let at = 0;
    while (at < bytes.length && isTrailer(bytes[at])) at += 1;
    this.held.skip(at);
    if (at > 0) this.isBehindCut = false;
    return at < bytes.length && this.#choose(this.held.bytes);
  }

  #choose(bytes: Buffer): boolean {
    const isEnd = this.#ending !== 'none';
    const count = countAt(bytes, 0);
    if (count === 'open' && !isEnd) return false;
    this.#head = this.#looked = this.#compared = 0;
    if (count !== undefined && count !== 'open') {
      const isWhole = isEnd || bytes.length >= count.length + count.octets;
      if (count.hasPriority === 'open' && (bytes.length === count.length || this.isCounting) && !isWhole) return false;
      if (this.isCounting || bytes[count.length] === LESS_THAN) {
        this.#mode = 'count';
        this.isCounting = true;
        this.#octets = count.octets;
        this.#head = count.length;
        this.#isDoubtful = this.#wasLost || count.hasPriority === false || count.octets > this.#maxEventBytes;
        return true;
      }
    }
    const priority = this.isCounting || this.isBehindCut ? priorityAt(bytes, 0) : true;
    if (priority === 'open' && !isEnd) return false;
    this.isBehindCut &&= priority !== true;
    this.#mode = priority === true || this.isBehindCut ? 'line' : 'lost';
    this.#isDoubtful = this.isCounting;
    return true;
  }

  /** Where the message at hand ends; undefined: not in the bytes that are here. */
  #findEnd(): MessageEnd | undefined {
    if (this.#mode === 'line') return this.#findLineEnd(this.held.bytes);
    const found = this.#mode === 'count' ? this.#findCountedEnd(this.held.bytes) : undefined;
    return this.#mode === 'lost' ? this.#findNextCount(this.held.bytes) : found;
  }

  #findLineEnd(bytes: Buffer): MessageEnd | undefined {
    const end = delimiterAt(bytes, this.#looked);
    if (this.#isDoubtful) {
      const found = end === -1 ? this.#findProof(bytes, 1) : this.#findProof(bytes, PROVING_COUNTS, end, false);
      if (found !== undefined) return { end: found, next: found, isOutOfStep: true };
    }
    if (end !== -1) {
      this.isCounting = false;
      return { end, next: end + 1 };
    }
    this.#looked = bytes.length;
    return this.#ending === 'none'
      ? undefined
      : { end: bytes.length, next: bytes.length, ...(this.#ending === 'late' && { isUnended: true }) };
  }

  /** Sets the mode to `lost` where the count is wrong. */
  #findCountedEnd(bytes: Buffer): MessageEnd | undefined {
    const end = this.#head + this.#octets;
    if (end <= bytes.length) {
      // What an oversize message has lost cannot be looked through.
      if (this.#dropped > 0 || isInStep(bytes, this.#head, end)) return { end, next: end };
      return this.#lose(bytes);
    }
    const least = this.#ending !== 'none' ? 1 : this.#isDoubtful ? PROVING_COUNTS : Infinity;
    const isDisproved = (): boolean =>
      fittingInNumber(bytes, this.#head, this.#ending !== 'none') >= least ||
      this.#findProof(bytes, least) !== undefined;
    if (this.#dropped === 0 && least < Infinity && isDisproved()) return this.#lose(bytes);
    return this.#ending === 'none' ? undefined : { end: bytes.length, next: bytes.length, missing: end - bytes.length };
  }

  #lose(bytes: Buffer): undefined {
    this.#mode = 'lost';
    // The number's first digits end the text before it, where the others fit; without a PRI the number is text.
    const isJoined = this.#parts === 0 && fittingInNumber(bytes, this.#head, this.#ending !== 'none') > 0;
    this.#looked = isJoined ? this.#head : 0;
    if (isJoined || priorityAt(bytes, this.#head) !== true) this.#head = 0;
  }

  /** Where, before `to`, a message begins inside of this one. Where more bytes may tell, it waits for them. */
  #findProof(bytes: Buffer, least: number, to = bytes.length, mayWait = this.#ending === 'none'): number | undefined {
    const from = Math.max(this.#compared, this.#head + 1);
    const { at, compared } = findProof(bytes, {
      from,
      floor: this.#head,
      to,
      least,
      isEnd: this.#ending !== 'none',
      mayWait,
    });
    this.#compared = compared;
    return at;
  }

  #findNextCount(bytes: Buffer): MessageEnd | undefined {
    const from = Math.max(this.#looked, this.#head);
    // Where the leading digits are text, no message begins with them.
    const at = findStart(bytes, from, Math.max(1, this.#head), this.#ending !== 'none');
    if (at !== undefined) return { end: at, next: at, isOutOfStep: true };
    this.#looked = Math.max(0, bytes.length - LONGEST_START);
    return this.#ending === 'none' ? undefined : { end: bytes.length, next: bytes.length, isOutOfStep: true };
  }

  /** The next part of a message that is surely longer than one. What lies between two counts comes in pieces, wherever messages are cut. */
  #nextPart(ending: MessageEnd | undefined): MessageFrame | undefined {
    const rest = this.held.bytes.subarray(this.#head, ending?.end);
    const content = rest.length - countTrailers(rest);
    if (content <= this.#maxEventBytes && rest.length <= this.#maxEventBytes + MOST_TRAILERS) return undefined;
    const bytes = this.#take(utf8Cut(rest, 0, this.#maxEventBytes));
    if (this.#mode === 'lost') return { bytes, isOutOfStep: true };
    this.#parts += 1;
    return { bytes, part: { number: this.#parts, isLast: false, message: this.#message } };
  }

  /** Takes bytes of the message that goes on behind them. */
  #take(length: number): Buffer {
    const bytes = this.held.bytes.subarray(this.#head, this.#head + length);
    this.held.skip(this.#head + length);
    this.#octets -= length;
    this.#looked = Math.max(0, this.#looked - this.#head - length);
    this.#compared = Math.max(0, this.#compared - this.#head - length);
    this.#head = 0;
    return bytes;
  }

  /** Drops bytes over the limit; one byte more is kept, which shows where UTF-8 may be cut. */
  #drop(): void {
    const { bytes } = this.held;
    const most = this.#head + this.#maxEventBytes + 1;
    if (bytes.length <= most + MOST_TRAILERS) return;
    const dropped = bytes.length - most;
    this.#trailers = trailersBehind(
      bytes,
      most,
      this.#dropped > 0 ? this.#trailers : countTrailers(bytes.subarray(this.#head, most)),
    );
    this.#dropped += dropped;
    this.#octets -= dropped;
    this.#looked = most;
    this.held.cutAt(most);
  }

  #finish({ end, next, missing, isOutOfStep, isUnended }: MessageEnd): MessageFrame | undefined {
    const bytes = this.held.bytes.subarray(this.#head, end);
    const most = this.#maxEventBytes + 1;
    const trailers = this.#dropped > 0 ? trailersBehind(bytes, most, this.#trailers) : countTrailers(bytes);
    const kept = this.#dropped > 0 ? bytes.subarray(0, most) : bytes;
    let frame = cut(kept, bytes.length + this.#dropped - trailers, this.#maxEventBytes);
    if (this.#parts > 0)
      frame = {
        bytes: Buffer.alloc(0),
        ...frame,
        part: { number: this.#parts + 1, isLast: true, message: this.#message },
      };
    this.held.skip(next);
    this.#parts = this.#dropped = this.#trailers = 0;
    this.#message = {};
    this.#mode = 'start';
    this.#wasLost ||= isOutOfStep === true;
    if (frame === undefined) return undefined;
    if (missing !== undefined || isUnended)
      return { ...frame, originalBytes: (frame.originalBytes ?? frame.bytes.length) + (missing ?? 0), isCutOff: true };
    return isOutOfStep ? { ...frame, isOutOfStep } : frame;
  }
}
