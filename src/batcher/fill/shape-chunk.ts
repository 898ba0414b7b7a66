/** Shapes a chunk of a block: the kernel writes its events to a scratch region, and the shaper turns them into the events to send. */
import type { Block, Region } from '../../core/block.ts';
import { type Shaped, type Shaper, DISPOSITIONS } from '../../core/shaping.ts';
import type { Kernel, Template } from '../../kernel/kernel.ts';
import type { WrapResult } from '../../kernel/wrap-result.ts';
import { endsFrom, eventEndAt, eventStarts, positionsOf } from '../block-events.ts';
import { ShapingOutcomes } from '../shaping-outcomes.ts';
import { findCutObjects } from './cut-objects.ts';

/** What `shapeChunk` works with. The scratch region may be shared by all: nothing in it is needed once the shaper has been called. */
export interface ChunkOptions {
  readonly kernel: Kernel;
  readonly scratch: Region;
}

/** U+FFFD written, and events whose time has an ambiguous zone. */
export type KernelCounts = Pick<WrapResult, 'replaced' | 'unknownZones'>;

export interface ShapedChunk {
  /** Accepted events. */
  readonly events: number;
  readonly counts: KernelCounts;
  readonly shaped: Shaped;
  /** Where in the window the chunk ends: behind its events, or behind empty lines alone. */
  readonly end: number;
  /** Where in the window the event begins; for the number of events, where the chunk ends. The empty lines before the first are its own. */
  positionOf(event: number): number;
}

/** Shapes as much of the window from `start` on as the scratch region holds, at least one event. */
export async function shapeChunk(
  { kernel, scratch }: ChunkOptions,
  template: Template,
  shaper: Shaper,
  source: string,
  block: Block,
  start: number,
  end: number,
): Promise<ShapedChunk> {
  const { window, readAtMs, single, ends, stream } = block;
  const limit = scratch.bytes.length;
  const result = kernel.wrap(
    template,
    readAtMs,
    window,
    start,
    end,
    scratch,
    0,
    limit,
    2 ** 31 - 1,
    single?.marks,
    endsFrom(block, start),
  );
  let { consumed, events, replaced, unknownZones } = result;
  let bytes = scratch.bytes.subarray(0, result.written);
  if (result.stop === 'too_large' && events === 0) {
    const from = start + consumed;
    const to = ends ? eventEndAt(block, from) : end;
    const large = kernel.wrapLarge(template, readAtMs, window, from, to, single?.marks, ends !== undefined);
    bytes = large.event;
    events = 1;
    consumed += large.consumed;
    replaced += large.replaced;
    unknownZones += large.unknownZones;
  }
  const next = start + consumed;
  let starts: readonly number[] | undefined;
  const positionOf = (event: number): number => {
    if (event === 0) return start;
    if (event === events) return next;
    starts ??= eventStarts(block, start, events);
    return starts[event]!;
  };
  const offsetOf = (event: number): number => {
    starts ??= eventStarts(block, start, events);
    return positionsOf(block, starts[event]!, starts[event]!).from;
  };
  const cutObjects = shaper.hidesFields ? { cutObjects: findCutObjects(block, start, bytes, events) } : {};
  const shaping = shaper.shape({ bytes, count: events, source, stream, readAtMs, offsetOf, ...cutObjects });
  return {
    events,
    end: next,
    counts: { replaced, unknownZones },
    shaped: shaping instanceof Promise ? await shaping : shaping,
    positionOf,
  };
}

/** How many are sent of the events `[from, to)`, and their outcomes; undefined where each is sent as one. */
export function sumsOf(
  shaped: Shaped,
  from: number,
  to: number,
): { sent: number; outcomes: ShapingOutcomes | undefined } {
  const { sent, dispositions, all } = shaped;
  if (all && from === 0 && to === sent.length) {
    const outcomes = new ShapingOutcomes(all.runs);
    return { sent: all.sent, outcomes: outcomes.isPlain ? undefined : outcomes };
  }
  const outcomes = new ShapingOutcomes();
  let sum = 0;
  for (let event = from, first = from; event < to; first = event) {
    do event++;
    while (event < to && sent[event] === sent[first] && dispositions[event] === dispositions[first]);
    outcomes.add(event - first, sent[first]!, DISPOSITIONS[dispositions[first]!]!);
    sum += (event - first) * sent[first]!;
  }
  return { sent: sum, outcomes: outcomes.isPlain ? undefined : outcomes };
}
