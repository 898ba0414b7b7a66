/** The bytes of a batch: its events as they are sent, and the memory that they take. */
import type { Region } from '../core/block.ts';
import type { BodyForm } from '../core/sink.ts';
import type { Withheld } from '../core/shaping.ts';

export class Payload {
  /** Bytes of NDJSON in `body` before it is encoded. */
  bytes = 0;
  /** Bytes of memory that it counts for. */
  memory: number;
  slot: Region | undefined;
  body: Uint8Array;
  /** The checksum of the events in `body` as they were written, where that was wanted. */
  bodyCrc: number | undefined;
  encoding: 'gzip' | 'zstd' | 'identity' = 'identity';
  /** The form in which it is sent; undefined until the batch is closed. */
  form: BodyForm | undefined;
  /** Compression does not make it smaller. */
  isDense = false;

  constructor({ body, slot }: { readonly body: Uint8Array; readonly slot?: Region | undefined }) {
    this.slot = slot;
    this.body = body;
    this.memory = body.length;
  }

  /** Moves its bytes out of its slot, which another batch may have; it counts for its own size and `extraBytes`. */
  leaveSlot(budget: { takeAnyway(bytes: number): void; release(bytes: number, slot: Region | undefined): void }, extraBytes: number): void {
    if (!this.slot) return;
    const { memory, slot } = this;
    this.body = Buffer.from(this.body);
    this.memory = this.body.length + extraBytes;
    this.slot = undefined;
    budget.takeAnyway(this.memory);
    budget.release(memory, slot);
  }

  /** Gives back its memory. */
  release(budget: { release(bytes: number, slot: Region | undefined): void }): void {
    budget.release(this.memory, this.slot);
    this.memory = 0;
    this.slot = undefined;
  }
}

/** The events of a batch that a transform failed on and that must not be sent: they become dead letters before the batch is sent. */
export class WithheldEvents {
  /** `event` counts the accepted ones. Empty while they are on disk alone. */
  events: readonly Withheld[] = [];
  /** There are some, also while they are on disk alone. */
  isAny = false;
  /** Bytes of memory that they take, beside the payload. */
  bytes = 0;
  fate: 'dead_lettered' | 'dropped' = 'dropped';

  /** Returns the bytes of memory that these take. */
  add(events: readonly Withheld[]): number {
    this.events = [...this.events, ...events];
    this.isAny = true;
    const bytes = events.reduce((sum, { text }) => sum + 2 * text.length, 0);
    this.bytes += bytes;
    return bytes;
  }

  /** Gives back their memory. */
  release(budget: { release(bytes: number, slot: undefined): void }): void {
    budget.release(this.bytes, undefined);
    this.bytes = 0;
  }
}
