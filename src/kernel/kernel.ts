/**
 * The typed door to the byte loops (assembly/kernel.ts, built to kernel.wasm). One call takes a block; nothing happens
 * per line in JavaScript. The memory is sized once: growing would detach every view.
 */
import type { EventShape, Region } from '../core/block.ts';

/** A compiled shape: what the kernel writes around and into lines. */
export interface Template {
  readonly shape: EventShape;
}

/** What one call did. The object is reused by the next call. */
export interface WrapResult {
  /** Input bytes used up: whole lines. */
  consumed: number;
  /** Output bytes written. */
  written: number;
  /** Events written (empty lines are skipped and are no events). */
  events: number;
  /** Empty lines skipped. */
  skipped: number;
  /**
   * `input`: all of it is used up. `output`: the next event does not fit in the room that is left, but fits a slot.
   * `events`: `maxEvents` reached. `too_large`: the next event alone is larger than the whole room given: use `wrapLarge`.
   */
  stop: 'input' | 'output' | 'events' | 'too_large';
}

export interface Kernel {
  /** Reserves memory; throws `TailraceError` `E_KERNEL_MEMORY` when the capacity given at start is used up. */
  reserve(bytes: number): Region;
  /** `timestampField`: `_time` is not added to a JSON line that has this key. */
  compile(shape: EventShape, timestampField: string | undefined): Template;
  /**
   * Turns the lines in `input.bytes[start, end)` (each ends in a newline) into NDJSON events (each ends in a newline) at
   * `output.bytes[at, limit)`. `output` must have KERNEL_SLACK_BYTES beyond `limit`. `truncatedFrom`, when 0 or more,
   * adds `"truncated":true,"original_bytes":N` to the (one, wrapped) event.
   */
  wrap(
    template: Template,
    readAtMs: number,
    input: Region,
    start: number,
    end: number,
    output: Region,
    at: number,
    limit: number,
    maxEvents: number,
    truncatedFrom: number,
  ): WrapResult;
  /** The first line alone, at any size, as its own bytes: the slow path for what fits no slot. */
  wrapLarge(template: Template, readAtMs: number, input: Region, start: number, end: number, truncatedFrom: number): {
    consumed: number;
    event: Buffer;
  };
}

/** `capacityBytes` is reserved as address space; pages cost memory only once they are touched. */
export declare function createKernel(capacityBytes: number): Kernel;
