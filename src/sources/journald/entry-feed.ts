/**
 * From the bytes of a child to blocks: one for the entries of a sequence that came together. Promises: each entry becomes one event, or is left out as
 * the configuration says; nothing is read while a block is taken. Memory is the window: of an entry that does not fit the message is cut,
 * and other values that are too long are left out.
 */
import type { Block, EventShape, Region } from '../../core/block.ts';
import type { Clock } from '../../core/time/clock.ts';
import type { SourceStats } from '../../core/source.ts';
import type { JournalLoop, JournalWish } from '../../kernel/journal.ts';
import type { ByteInput } from '../stdin/stdin-input.ts';
import {
  addValue,
  type JournalCursor,
  cursorAt,
  type JournalEntry,
  type EntryForm,
  eventOf,
  fieldHead,
  parseCursor,
  readEntry,
} from './entry.ts';
import { JOURNAL_FIELDS_BYTES, JOURNAL_MAX_VALUE_BYTES, JOURNAL_VALUE_BYTES } from './limits.ts';

export interface FeedParts {
  readonly window: Region;
  readonly output: Region;
  readonly loop: JournalLoop;
  readonly shape: EventShape;
  readonly form: EntryForm;
  readonly stats: SourceStats;
  readonly clock: Clock;
  /** An entry of the agent's own unit that must not come into its own way. */
  readonly leavesOut: (entry: JournalEntry) => boolean;
}

/** Where the entries of a sequence go. `from` is the position of the next block. */
export interface FeedTarget extends Omit<JournalWish, 'readAtMs'> {
  readonly stream: string;
  /** When the bytes count as read; absent: now. */
  readonly readAtMs?: number | undefined;
}

export interface FeedRun {
  /** The target of the next entry, in place of the one before; undefined: no more is wanted. */
  turn(next: JournalCursor): FeedTarget | undefined;
  /** True: stop before this entry, which has no message, to read it again. */
  doubts?(cursor: JournalCursor): boolean;
  /** All entries up to the last one are in the block, or were before, or are left out. */
  take(block: Block | undefined, last: JournalCursor): Promise<void>;
}

const NEWLINE = 10;
/** A name of a field has 64 bytes; so many bytes without `=` or newline are no entry. */
const MAX_HEAD_BYTES = 256;
/** Stays free for the kernel. */
const MARGIN_BYTES = 64;
type Stop = 'input' | 'end' | 'garbage';
/** Before the first entry. */
const NOBODY: FeedTarget = { stream: '', sequence: '0'.repeat(32), from: 0, before: 0 };

export class EntryFeed {
  readonly #parts: FeedParts;
  /** The bytes in the window that are not used up yet. */
  #start = 0;
  #end = 0;
  #target = NOBODY;
  /** Behind the last event of the block that is made. */
  #written = 0;
  /** The position of its first event. */
  #offset = 0;
  #unread: number[] = [];
  #last: JournalCursor | undefined;

  constructor(parts: FeedParts) {
    this.#parts = parts;
  }

  /** Reads until the child ends, or nothing more is wanted (`end`), or what comes is no entry (`garbage`). Rejects with what `take` throws. */
  async read(input: ByteInput, run: FeedRun): Promise<'ended' | 'end' | 'garbage'> {
    this.#start = this.#end = 0;
    this.#begin(NOBODY);
    while (await this.#fill(input)) {
      let stop: Stop | undefined = await this.#takeWhole(run);
      while (stop === 'input' && this.#end - this.#start >= this.#limit)
        stop = (await this.#takeLong(input, run)) ?? (await this.#takeWhole(run));
      if (stop !== 'input') return stop;
    }
    return 'ended';
  }

  get #limit(): number {
    return this.#parts.window.bytes.length - MARGIN_BYTES;
  }

  /** False at the end of the input. There must be room. */
  async #fill(input: ByteInput): Promise<boolean> {
    const { bytes } = this.#parts.window;
    bytes.copyWithin(0, this.#start, this.#end);
    this.#end -= this.#start;
    this.#start = 0;
    const count = await input.read(bytes.subarray(this.#end, this.#limit));
    this.#end += count;
    this.#parts.stats.readBytes += count;
    return count > 0;
  }

  #begin(target: FeedTarget): void {
    this.#target = target;
    this.#written = 0;
    this.#offset = target.from;
    this.#unread = [];
    this.#last = undefined;
    this.#parts.loop.ends.length = this.#parts.loop.positions.length = 0;
  }

  /** From which number on entries are wanted. */
  get #from(): number {
    return this.#parts.loop.positions.at(-1) ?? this.#offset;
  }

  get #readAtMs(): number {
    return this.#target.readAtMs ?? this.#parts.clock.now();
  }

  /** Takes the whole entries in the window. */
  async #takeWhole(run: FeedRun): Promise<Stop> {
    const { window, loop, output } = this.#parts;
    for (;;) {
      const wish = { ...this.#target, from: this.#from, readAtMs: this.#readAtMs };
      const { stop, at, written, lastFrom, lastTo } = loop.read(
        wish,
        window,
        this.#start,
        this.#end,
        output,
        this.#written,
      );
      this.#written += written;
      this.#start = at;
      const before = this.#last;
      if (lastTo > 0) this.#last = cursorAt(window.bytes, lastFrom, lastTo) ?? before;
      const slow = stop === 'slow' ? readEntry(window.bytes.subarray(lastFrom, lastTo)) : undefined;
      const isDoubted = slow?.fields.has('MESSAGE') === false && run.doubts?.(this.#last!) === true;
      if (isDoubted) this.#last = before;
      if (slow && !isDoubted) await this.#takeSlow(run, slow);
      else await this.#offer(run);
      if (isDoubted) return 'end';
      if (stop === 'input' || stop === 'garbage') return stop;
      if (stop === 'slow' || stop === 'output') continue;
      const end = this.#turn(run, cursorAt(window.bytes, at, this.#end));
      if (end) return end;
    }
  }

  #turn(run: FeedRun, next: JournalCursor | undefined): 'end' | 'garbage' | undefined {
    if (!next) return 'garbage';
    const target = run.turn(next);
    if (target) this.#begin(target);
    return target ? undefined : 'end';
  }

  /** Takes the entry that fills the window. */
  async #takeLong(input: ByteInput, run: FeedRun): Promise<'end' | 'garbage' | undefined> {
    const entry = await this.#readLong(input);
    const cursor = parseCursor(String(entry?.fields.get('__CURSOR')));
    if (!entry || !cursor) return 'garbage';
    while (cursor.sequence !== this.#target.sequence || cursor.number >= this.#target.before) {
      const end = this.#turn(run, cursor);
      if (end) return end;
    }
    this.#last = cursor;
    if (cursor.number >= this.#from) await this.#takeSlow(run, entry);
    await this.#offer(run);
    return undefined;
  }

  /** Undefined where it is no entry, or ends with the input. */
  async #readLong(input: ByteInput): Promise<JournalEntry | undefined> {
    const { window, form } = this.#parts;
    const entry: JournalEntry = { fields: new Map() };
    for (let others = 0; this.#start === this.#end || window.bytes[this.#start] !== NEWLINE;) {
      const head = fieldHead(window.bytes, this.#start, this.#end);
      if (head) this.#start = head.from;
      if (!head && (this.#end - this.#start > MAX_HEAD_BYTES || !(await this.#fill(input)))) return undefined;
      if (!head) continue;
      const isMessage = head.name === 'MESSAGE';
      const most = isMessage ? form.maxEventBytes + 1 : Math.min(JOURNAL_VALUE_BYTES, JOURNAL_FIELDS_BYTES - others);
      const { length, kept } = (await this.#readValue(input, head.length, most)) ?? {};
      if (length === undefined || !kept) return undefined;
      if (isMessage || length <= most) addValue(entry, head.name, kept);
      else entry.hasLess = true;
      if (isMessage && length > most) entry.messageBytes = length;
      if (!isMessage && length <= most) others += length;
    }
    this.#start += 1;
    return entry;
  }

  /** Reads a value to its end and keeps its beginning. */
  async #readValue(input: ByteInput, size: number | undefined, most: number) {
    if (size !== undefined && size > JOURNAL_MAX_VALUE_BYTES) return undefined;
    const parts: Buffer[] = [];
    for (let length = 0; ;) {
      const there = this.#parts.window.bytes.subarray(this.#start, this.#end);
      const newline = size === undefined ? there.indexOf(NEWLINE) : size - length;
      const isWhole = newline >= 0 && newline < there.length;
      const part = there.subarray(0, isWhole ? newline : undefined);
      if (length < most) parts.push(Buffer.from(part.subarray(0, most - length)));
      length += part.length;
      this.#start += part.length;
      if (isWhole && there[newline] !== NEWLINE) return undefined;
      if (isWhole) this.#start += 1;
      if (isWhole) return { length, kept: Buffer.concat(parts) };
      if (!(await this.#fill(input))) return undefined;
    }
  }

  /** Makes the event of the last entry. */
  async #takeSlow(run: FeedRun, entry: JournalEntry): Promise<void> {
    const { output, form, stats, loop, leavesOut } = this.#parts;
    if (leavesOut(entry)) return;
    stats.slowPathEvents += 1;
    const { json, isTruncated, isUnread } = eventOf(entry, form, this.#readAtMs, output.bytes.length - 1);
    if (isTruncated) stats.truncatedEvents += 1;
    if (this.#written + Buffer.byteLength(json) >= output.bytes.length) await this.#offer(run);
    if (isUnread) this.#unread.push(this.#written);
    this.#written += output.bytes.write(`${json}\n`, this.#written);
    loop.ends.push(this.#written);
    loop.positions.push(this.#last!.number + 1);
  }

  async #offer(run: FeedRun): Promise<void> {
    const { output: window, shape, loop } = this.#parts;
    const { stream } = this.#target;
    const [last, positions, ends, unread] = [this.#last, [...loop.positions], new Uint32Array(loop.ends), this.#unread];
    const place = {
      stream,
      shape,
      window,
      start: 0,
      end: this.#written,
      offset: this.#offset,
      readAtMs: this.#readAtMs,
    };
    if (last) await run.take(ends.length > 0 ? { ...place, ends, positions, unread } : undefined, last);
    this.#offset = this.#from;
    this.#written = 0;
    this.#unread = [];
    loop.ends.length = loop.positions.length = 0;
  }
}
