/**
 * Makes events from the bytes of a stream that is not UTF-8, or whose format has a parser: decodes each line, or group of
 * lines, and writes what comes of it into a region of its own, with the tables that say which bytes each event used up.
 */
import type { Region } from '../../core/block.ts';
import type { SourceStats } from '../../core/source.ts';
import { type TextEncoding, utf8 } from '../../parsers/text/encoding.ts';
import type { LineParser } from '../../parsers/formats/line-parser.ts';
import { type EventFields, unparsed } from '../../parsers/values/fields.ts';
import { trimEndOf } from '../../core/text/trim-end.ts';
import type { WindowBlock } from './byte-window.ts';

export interface MadeEventsOptions {
  readonly region: Region;
  /** Undefined where lines are only decoded. */
  readonly parser: LineParser | undefined;
  readonly stats: SourceStats;
  /** Whether an event holds fields as text, which was not read. */
  readonly isCut: (text: string, event: EventFields | string, isUnfinished: boolean) => boolean;
}

/** An event that was made of several lines. */
export interface JoinedEvent {
  readonly text: string;
  readonly fields: EventFields;
  /** One of its lines holds the text of a JSON object that was not read. */
  readonly isUnread: boolean;
  readonly isUnfinished: boolean;
  /** Where the stream's bytes that it uses up end, from the first event's. */
  readonly used: number;
}

/** The events made, and how far into their block. */
export interface MadeBlock {
  readonly block: WindowBlock;
  /** Behind the last byte that was used up. */
  readonly next: number;
}

/** Without the empty lines at both ends of joined lines. */
const withoutEmptyEnds = (text: string): string => trimEndOf(text.replace(/^[\r\n]+/, ''), '\r\n');

/** Counts the characters that were no valid bytes. */
export function decodeCounted(bytes: Buffer, encoding: TextEncoding, stats: SourceStats): string {
  const text = encoding === utf8 ? bytes.toString('utf8') : encoding.decode(bytes);
  for (let at = text.indexOf(REPLACEMENT); at !== -1; at = text.indexOf(REPLACEMENT, at + 1)) {
    stats.invalidCharacters = (stats.invalidCharacters ?? 0) + 1;
  }
  return text;
}

const NEWLINE = 10;
const REPLACEMENT = '\ufffd';

export class MadeEvents {
  readonly #options: MadeEventsOptions;
  readonly #bytes: Buffer;
  #end = 0;
  #ends: number[] = [];
  #used: number[] = [];
  /** Where events begin that hold the text of a JSON object that was not read. */
  #unread: number[] = [];
  #readAtMs = 0;

  constructor(options: MadeEventsOptions) {
    this.#options = options;
    this.#bytes = options.region.bytes;
  }

  /**
   * Makes as many events of the block from `start` on as fit, at least one. `bom` is the byte order mark that
   * was stepped over before the block, if any. The result lives until the next call.
   */
  make(raw: WindowBlock, start: number, encoding: TextEncoding, readAtMs: number, bom: Buffer | undefined): MadeBlock {
    this.#begin(readAtMs);
    return raw.single
      ? { block: this.#makeSingle(raw, encoding, bom), next: raw.end }
      : this.#makeMany(raw, start, encoding);
  }

  /** Writes as many of these events as fit, at least one, or an empty line for none that uses up `blank` bytes. The result lives until the next call. */
  makeJoined(
    joined: readonly JoinedEvent[],
    offset: number,
    readAtMs: number,
    blank: number,
  ): WindowBlock & { readonly used: Uint32Array } {
    this.#begin(readAtMs);
    for (const { fields, text, used, isUnread, isUnfinished } of joined)
      if (!this.#addEvents([fields], text, used, isUnread, isUnfinished)) break;
    if (joined.length === 0) this.#write('', blank);
    return { ...this.#block(offset), used: Uint32Array.from(this.#used) };
  }

  #begin(readAtMs: number): void {
    this.#readAtMs = readAtMs;
    this.#end = 0;
    this.#ends = [];
    this.#used = [];
    this.#unread = [];
  }

  #makeMany(raw: WindowBlock, start: number, encoding: TextEncoding): MadeBlock {
    const { bytes } = raw.window;
    const { parser } = this.#options;
    const header = parser?.header?.();
    let at = start;
    for (let n = raw.ends?.findIndex((end) => end > start) ?? 0; at < raw.end; n += 1) {
      const isUnread = raw.unread?.includes(at) === true;
      const end = raw.ends?.[n] ?? encoding.firstLineEnd(bytes, at, raw.end);
      const text = this.#decode(bytes.subarray(at, end - encoding.endingBytes(bytes, end)), encoding);
      if (!this.#add(text, end - start, isUnread)) break;
      at = end;
      // A span has one header.
      if (parser?.header && parser.header() !== header) break;
    }
    const offset = raw.offset + (start - raw.start);
    return {
      block: { ...this.#block(offset), made: { from: bytes.subarray(start, at), used: Uint32Array.from(this.#used) } },
      next: at,
    };
  }

  /** A line over the limit, which is not parsed, or one that is unfinished or after a byte order mark. */
  #makeSingle(raw: WindowBlock, encoding: TextEncoding, bom: Buffer | undefined): WindowBlock {
    const { single, window, start, end } = raw;
    const isUnread = raw.unread !== undefined;
    const text = this.#decode(window.bytes.subarray(start, end - encoding.endingBytes(window.bytes, end)), encoding);
    if (single!.marks) {
      this.#addText(text, 0, isUnread);
      return { ...this.#block(raw.offset), single: single! };
    }
    const own = window.bytes.subarray(start, start + single!.length - (bom?.length ?? 0));
    const from = bom ? Buffer.concat([bom, own]) : own;
    // Then the line's ending is not one of its bytes.
    this.#add(text, from.length, isUnread, own.length < end - start);
    return { ...this.#block(raw.offset), single: single!, made: { from, used: Uint32Array.from(this.#used) } };
  }

  #block(offset: number): WindowBlock {
    const unread = this.#unread.length > 0 ? { unread: this.#unread } : {};
    return {
      window: this.#options.region,
      start: 0,
      end: this.#end,
      offset,
      ends: Uint32Array.from(this.#ends),
      ...unread,
    };
  }

  #decode(bytes: Buffer, encoding: TextEncoding): string {
    return decodeCounted(bytes, encoding, this.#options.stats);
  }

  /** Writes the events of a text whose bytes end at `used`; false when they do not fit and others were written before. */
  #add(text: string, used: number, isUnread: boolean, isUnfinished = false): boolean {
    const { parser } = this.#options;
    if (!parser) return this.#addText(text, used, isUnread);
    const whole = withoutEmptyEnds(text);
    return this.#addEvents(whole === '' ? [] : parser.parse(whole, this.#readAtMs), text, used, isUnread, isUnfinished);
  }

  #addEvents(
    events: readonly (EventFields | string)[],
    text: string,
    used: number,
    isUnread: boolean,
    isUnfinished: boolean,
  ): boolean {
    const { stats } = this.#options;
    const isFirst = this.#ends.length === 0;
    const begun = { end: this.#end, count: this.#ends.length, unread: this.#unread.length };
    // Nothing is used up before the last of them: until then all of them are made again.
    const before = this.#used.at(-1) ?? 0;
    for (const [n, event] of events.entries()) {
      const isText = typeof event === 'string';
      const at = this.#end;
      if (this.#write(isText ? event : JSON.stringify(event), n === events.length - 1 ? used : before)) {
        if (isUnread || this.#options.isCut(text, event, isUnfinished)) this.#unread.push(at);
        continue;
      }
      if (!isFirst) {
        this.#end = begun.end;
        this.#ends.length = this.#used.length = begun.count;
        this.#unread.length = begun.unread;
        return false;
      }
      const shortened = this.#shorten(text);
      if (isUnread || this.#options.isCut(text, shortened, isUnfinished)) this.#unread.push(at);
      this.#write(JSON.stringify(shortened), used);
      break;
    }
    stats.slowPathEvents += events.length;
    // An empty line, which is skipped, for text that is no event by itself.
    return events.length > 0 || this.#write('', used);
  }

  #addText(text: string, used: number, isUnread: boolean): boolean {
    const at = this.#end;
    if (this.#write(text, used)) {
      if (isUnread) this.#unread.push(at);
      return true;
    }
    if (this.#ends.length > 0) return false;
    throw new Error('the region is too small for one line');
  }

  /** The beginning of a text whose event is too large for the region. */
  #shorten(text: string): EventFields {
    // A character takes at most six bytes in JSON.
    const kept = text.slice(0, Math.floor(this.#bytes.length / 8)).toWellFormed();
    return {
      ...unparsed(kept, 'too large once it is written as JSON'),
      truncated: true,
      original_bytes: Buffer.byteLength(text),
    };
  }

  #write(text: string, used: number): boolean {
    const free = this.#bytes.length - this.#end - 1;
    if (3 * text.length > free && Buffer.byteLength(text) > free) return false;
    this.#end += this.#bytes.write(text, this.#end);
    this.#bytes[this.#end] = NEWLINE;
    this.#end += 1;
    this.#ends.push(this.#end);
    this.#used.push(used);
    return true;
  }
}
