/** The batcher's input. */
import type { Block } from '../../core/block.ts';
import type { Shaper } from '../../core/shaping.ts';
import type { Accounting } from '../accounting.ts';
import type { KernelCounts, ShapedChunk } from './shape-chunk.ts';

/** A part of a block for one sink. */
export interface Intake {
  readonly accounting: Accounting;
  readonly block: Block;
  readonly dataset: string;
  /** The owner of the low-water marks that it moves (core/checkpoint-owner); undefined: the sink. */
  readonly owner?: string | undefined;
  /** Turns false when the file is deleted, also during a wait. */
  isRereadable(): boolean;
  /** The bytes come from a file, deleted or not. */
  readonly isTracked: boolean;
  /** The window's bytes to take. */
  readonly start: number;
  readonly end: number;
  /** Number of the first event. */
  readonly firstEvent: number;
  /** What shapes the events; undefined where they are sent as the kernel makes them. */
  readonly shaper?: Shaper | undefined;
  /** The events where they are shaped already. */
  readonly chunks?: Iterable<ShapedChunk> | undefined;
  /**
   * Called in the same turn in which events enter a batch, with the number of the next event, what the kernel counted, and the count of
   * failed transforms.
   */
  taken(nextEvent: number, counts: KernelCounts, errors?: number): void;
  /** Called when it starts to wait for memory; `elapsedMs` gives the time so far. `waited` ends the wait. */
  waits?(elapsedMs: () => number): void;
  /** Called with the milliseconds of the wait. */
  waited(ms: number): void;
}
