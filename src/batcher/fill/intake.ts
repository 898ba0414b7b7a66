/** What the batcher takes: a part of a block for one sink, and the kind of batch that it goes into. */
import type { Block } from '../../core/block.ts';
import type { Shaper } from '../../core/shaping.ts';
import type { Origin } from '../batch.ts';
import type { Accounting } from '../accounting.ts';

/** A part of a block for one sink. */
export interface Intake {
  readonly accounting: Accounting;
  readonly block: Block;
  readonly dataset: string;
  /** Whose marks it moves (core/owner), where that is not the sink alone. */
  readonly owner?: string | undefined;
  /** May turn false while it waits: the file was deleted. */
  isRereadable(): boolean;
  /** The bytes are of a file, be it still there or not. */
  readonly isTracked: boolean;
  /** The window's bytes to take. */
  readonly start: number;
  readonly end: number;
  /** Number of the first event. */
  readonly firstEvent: number;
  /** What shapes the events; undefined where they are sent as the kernel makes them. */
  readonly shaper?: Shaper | undefined;
  /**
   * Called in the same turn in which events enter a batch, with the number that the next event gets, how many U+FFFD were written in
   * them, and how often a transform failed on them.
   */
  taken(nextEvent: number, replaced: number, errors?: number): void;
  /** Called when it starts to wait for room; `elapsedMs` tells for how long by now. `waited` ends it. */
  waits?(elapsedMs: () => number): void;
  /** Called with the milliseconds waited for room. */
  waited(ms: number): void;
}

/** One batch is open for each dataset and origin. */
export function nameOf(intake: Intake): string {
  return `${originOf(intake)} ${intake.dataset}${intake.owner === undefined ? '' : ` ${intake.owner}`}`;
}

/** Asked anew at every step: a file may be deleted while its events wait. */
export function originOf(intake: Intake): Origin {
  if (!intake.isRereadable()) return intake.isTracked ? 'orphan' : 'live';
  return intake.shaper?.isDeterministic === false ? 'once' : 'file';
}

/** True where the intake's batch needs no disk buffer. */
export function canRebuild(intake: Intake): boolean {
  return originOf(intake) === 'file';
}
