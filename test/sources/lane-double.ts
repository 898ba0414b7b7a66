/**
 * A lane that records what a source hands over, and can be asked to hold it, to fail, or to wait for more. It checks for the source that
 * the window stays untouched until `accept` resolves, and that offsets of a stream are contiguous.
 */
import { groupsIn } from '../../src/batcher/block-events.ts';
import type { Block, EventShape, Lane, Region, SpanGroups } from '../../src/core/block.ts';
import { StoppedError } from '../../src/core/errors.ts';

export interface AcceptedBlock {
  readonly stream: string;
  readonly shape: EventShape;
  readonly offset: number;
  /** Bytes of the stream that the block came from, or positions where those do not count bytes. */
  readonly length: number;
  readonly readAtMs: number;
  readonly single: Block['single'];
  readonly header: string | undefined;
  readonly continued: Block['continued'];
  readonly groups: SpanGroups | undefined;
  /** Without their newlines; a CR stays. */
  readonly lines: readonly Buffer[];
  /** The same, but lines that are joined to one event are one. */
  readonly events: readonly Buffer[];
  /** Those of the events that hold a part of an object which was not read. */
  readonly unread: readonly string[];
  /** The stream's own bytes, unless it is a `single`. */
  readonly own: Buffer;
}

/** The lines of `bytes`, which must end in a newline, without their newlines. */
export function splitLines(bytes: Buffer): Buffer[] {
  if (bytes.length === 0 || bytes.at(-1) !== 10) throw new Error('a block must hold whole lines');
  const lines: Buffer[] = [];
  for (let at = 0; at < bytes.length;) {
    const newline = bytes.indexOf(10, at);
    lines.push(bytes.subarray(at, newline));
    at = newline + 1;
  }
  return lines;
}

/** A region of ordinary memory, for tests without a kernel. */
export function plainRegion(bytes: number): Region {
  return { at: 0, bytes: Buffer.alloc(bytes) };
}

export class LaneDouble implements Lane {
  readonly blocks: AcceptedBlock[] = [];
  /** Lines so far. */
  count = 0;
  /** Accepts that wait now. */
  waiting = 0;
  #held = false;
  #rejects = false;
  #wakers: (() => void)[] = [];
  #watchers: (() => void)[] = [];
  readonly #ends = new Map<string, number>();

  /** From now on `accept` waits until `release`. */
  hold(): void {
    this.#held = true;
  }

  release(): void {
    this.#held = false;
    for (const wake of this.#wakers.splice(0)) wake();
  }

  /** From now on `accept`, the waiting ones included, rejects with `E_STOPPED`, as at shutdown. */
  giveUp(): void {
    this.#rejects = true;
    this.release();
  }

  async accept(block: Block): Promise<void> {
    const bytes = Buffer.from(block.window.bytes.subarray(block.start, block.end));
    const groups = groupsIn(block, block.start, block.end);
    this.waiting += 1;
    this.#changed();
    while (this.#held) await new Promise<void>((resolve) => this.#wakers.push(resolve));
    // A turn later, as a real lane may take: a source that goes on writing meanwhile shows here.
    await new Promise((resolve) => setImmediate(resolve));
    this.waiting -= 1;
    if (this.#rejects) throw new StoppedError(bytes.length);
    if (!bytes.equals(block.window.bytes.subarray(block.start, block.end)))
      throw new Error('the window was overwritten before accept resolved');
    const positions = block.positions && block.positions.at(-1)! - block.offset;
    const length = positions ?? block.single?.length ?? block.made?.from.length ?? block.end - block.start;
    const end = this.#ends.get(block.stream) ?? block.offset;
    if (end !== block.offset) throw new Error(`offset ${block.offset} does not follow ${end}`);
    this.#ends.set(block.stream, block.offset + length);
    for (const range of block.continued ?? []) {
      if ((this.#ends.get(range.stream) ?? range.from) !== range.from)
        throw new Error(`${range.from} is not next in its stream`);
      this.#ends.set(range.stream, range.to);
    }
    const { continued, stream, shape, offset, readAtMs, single, header } = block;
    const lines = splitLines(bytes);
    this.count += lines.length;
    const ends = block.ends && [...block.ends].map((each) => each - block.start);
    const events = ends ? ends.map((each, n) => bytes.subarray(ends[n - 1] ?? 0, each - 1)) : lines;
    const unread = events
      .filter(({ byteOffset }) => block.unread?.includes(byteOffset - bytes.byteOffset + block.start))
      .map(String);
    this.blocks.push({
      unread,
      stream,
      shape,
      offset,
      length,
      readAtMs,
      single,
      header,
      continued,
      groups,
      lines,
      events,
      own: block.made ? Buffer.from(block.made.from) : bytes,
    });
    this.#changed();
  }

  /** Every line so far, in the order of arrival. */
  get lines(): Buffer[] {
    return this.blocks.flatMap((block) => block.lines);
  }

  /** The same as text. */
  get texts(): string[] {
    return this.lines.map((line) => line.toString());
  }

  /** The same, but joined lines are one event, and empty ones are left out. */
  get events(): string[] {
    return this.blocks.flatMap(({ events }) => events.map(String)).filter((text) => text !== '');
  }

  /** Resolves once `condition` holds; it is tried at every change. Rejects after `deadlineMs`. */
  async until(condition: (lane: LaneDouble) => boolean, deadlineMs = 60_000): Promise<void> {
    const deadline = performance.now() + deadlineMs;
    while (!condition(this)) {
      const left = deadline - performance.now();
      if (left <= 0) throw new Error(`the lane did not get there in ${deadlineMs} ms; it has ${this.count} lines`);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, left);
        this.#watchers.push(() => {
          clearTimeout(timer);
          resolve();
        });
      });
    }
  }

  #changed(): void {
    for (const watch of this.#watchers.splice(0)) watch();
  }
}
