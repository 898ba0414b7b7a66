/**
 * From the bytes of a child to blocks: one for the entries of a sequence that came together. Promises: each entry becomes one event, or is left out as
 * the configuration says; nothing is read while the lane takes a block.
 */
import type { EventShape, Lane, Region } from '../../core/block.ts';
import type { Clock } from '../../core/time/clock.ts';
import type { SourceStats } from '../../core/source.ts';
import type { JournalLoop, JournalResult } from '../../kernel/journal.ts';
import type { ByteInput } from '../stdin/stdin-input.ts';
import { type Cursor, cursorAt, type EntryForm, eventOf } from './entry.ts';
import type { EntryWindow } from './entry-window.ts';

export interface FeedParts {
  readonly window: EntryWindow;
  readonly output: Region;
  readonly loop: JournalLoop;
  readonly shape: EventShape;
  readonly form: EntryForm;
  readonly stats: SourceStats;
  readonly clock: Clock;
  /** An entry of the agent's own unit that must not come into its own way. */
  readonly leavesOut: (entry: Buffer) => boolean;
}

/** Where the entries of a sequence go. */
export interface FeedTarget {
  readonly stream: string;
  readonly sequence: string;
  /** Numbers of the wanted entries; the first is the position of the next block. */
  readonly from: number;
  readonly before: number;
}

export interface FeedRun {
  readonly lane: Lane;
  /** When the bytes count as read; absent: now. */
  readonly readAtMs?: number | undefined;
  /** The target of the next entry, in place of the one before. Undefined: entries of other sequences are passed over. */
  readonly turn: ((next: Cursor) => FeedTarget) | undefined;
  readonly target?: FeedTarget;
  /** Called with each child's first entry, before it is taken. */
  readonly first?: (cursor: Cursor) => void;
  /** Called before a block is offered: all entries up to this one are in it, or were before. */
  readonly offers?: (target: FeedTarget, last: Cursor) => void;
  /** Called once the lane has taken it, and for entries that were left out. */
  readonly took?: (target: FeedTarget, last: Cursor) => void;
}

const NEWLINE = 10;
/** Before the first entry. */
const NOBODY: FeedTarget = { stream: '', sequence: '0'.repeat(32), from: 0, before: 0 };

export class EntryFeed {
  readonly #parts: FeedParts;
  #target: FeedTarget = NOBODY;
  /** Behind the last event of the block that is made. */
  #written = 0;
  /** The position of its first event. */
  #offset = 0;
  #unread: number[] = [];
  #last: Cursor | undefined;

  constructor(parts: FeedParts) {
    this.#parts = parts;
  }

  /** Reads until the child ends, or nothing more is wanted (`end`), or what comes is no entry (`garbage`). Rejects with what the lane throws. */
  async read(input: ByteInput, run: FeedRun): Promise<'ended' | 'end' | 'garbage'> {
    const { window, stats } = this.#parts;
    window.clear();
    this.#begin(run.target ?? NOBODY);
    let isFirst = true;
    for (;;) {
      const free = window.free();
      if (!free) return 'garbage';
      const count = await input.read(free);
      if (count === 0) return 'ended';
      window.commit(count);
      stats.readBytes += count;
      if (isFirst) {
        const cursor = cursorAt(window.region.bytes, window.start, window.end);
        isFirst = !cursor;
        if (cursor) run.first?.(cursor);
      }
      const stop = await this.#take(run);
      if (stop !== 'input') return stop;
    }
  }

  #begin(target: FeedTarget): void {
    this.#target = target;
    this.#written = 0;
    this.#offset = target.from;
    this.#unread = [];
    this.#last = undefined;
    this.#parts.loop.ends.length = this.#parts.loop.positions.length = 0;
  }

  /** Takes the whole entries in the window. */
  async #take(run: FeedRun): Promise<'input' | 'end' | 'garbage'> {
    const { window, loop, output, clock } = this.#parts;
    for (;;) {
      const readAtMs = run.readAtMs ?? clock.now();
      const from = loop.positions.at(-1) ?? this.#offset;
      const wish = { ...this.#target, from, passesOthers: run.turn === undefined, readAtMs };
      const result = loop.read(wish, window.region, window.start, window.end, output, this.#written);
      this.#written += result.written;
      if (result.lastTo > 0) this.#last = cursorAt(window.region.bytes, result.lastFrom, result.lastTo) ?? this.#last;
      if (result.stop === 'slow') await this.#takeSlow(run, readAtMs, result);
      window.use(result.at);
      if (result.stop === 'slow') continue;
      await this.#offer(run, readAtMs);
      if (result.stop === 'sequence' && run.turn) {
        const next = cursorAt(window.region.bytes, window.start, window.end);
        if (!next) return 'garbage';
        this.#begin(run.turn(next));
      } else if (result.stop !== 'output') return result.stop === 'sequence' ? 'garbage' : result.stop;
    }
  }

  /** Makes the event of the last entry. */
  async #takeSlow(run: FeedRun, readAtMs: number, { lastFrom, lastTo }: JournalResult): Promise<void> {
    const { window, output, form, stats, loop, leavesOut } = this.#parts;
    const entry = window.region.bytes.subarray(lastFrom, lastTo);
    if (leavesOut(entry)) return;
    stats.slowPathEvents += 1;
    const { json, isTruncated, isUnread } = eventOf(entry, form, readAtMs, output.bytes.length - 1);
    if (isTruncated) stats.truncatedEvents += 1;
    // The entry is in none of the blocks yet.
    const { number } = this.#last!;
    if (this.#written + Buffer.byteLength(json) >= output.bytes.length) await this.#offer(run, readAtMs);
    if (isUnread) this.#unread.push(this.#written);
    this.#written += output.bytes.write(json, this.#written);
    output.bytes[this.#written] = NEWLINE;
    this.#written += 1;
    loop.ends.push(this.#written);
    loop.positions.push(number + 1);
  }

  async #offer(run: FeedRun, readAtMs: number): Promise<void> {
    const { output, shape, loop } = this.#parts;
    const last = this.#last;
    if (!last) return;
    const target = this.#target;
    if (loop.ends.length > 0) {
      run.offers?.(target, last);
      const unread = this.#unread.length > 0 ? { unread: this.#unread } : {};
      const block = {
        stream: target.stream,
        shape,
        window: output,
        start: 0,
        end: this.#written,
        offset: this.#offset,
        readAtMs,
        ...unread,
      };
      const positions = [...loop.positions];
      await run.lane.accept({ ...block, ends: Uint32Array.from(loop.ends), positions });
      this.#offset = positions.at(-1)!;
      loop.ends.length = loop.positions.length = this.#unread.length = this.#written = 0;
    }
    run.took?.(target, last);
  }
}
