/**
 * Samples the events of a running agent, before and after their transforms. A tap sees the blocks that enter a lane, and copies the first
 * events of a block once it has finished the one before; without a tap, blocks cost nothing extra.
 */
import { endOfEvents } from '../../batcher/block-events.ts';
import type { SourceLane } from '../../batcher/fill/lane.ts';
import type { Block, Region } from '../../core/block.ts';
import type { Shaper } from '../../core/shaping.ts';
import { createKernel } from '../../kernel/kernel.ts';
import { TailraceError } from '../../core/errors.ts';
import { EventRecorder, type RecordedEvent } from '../preview/event-recorder.ts';
import type { Components } from '../build/components.ts';
import type { Shapers } from '../build/shapers.ts';

/** An event as `tap` prints it. */
export interface TappedEvent {
  readonly source: string;
  /** NDJSON before the transforms; absent without any. */
  readonly before?: string;
  /** NDJSON as it is sent. */
  readonly events: readonly string[];
  /** The dataset of each of `events`; absent without `to_dataset`. */
  readonly datasets?: readonly string[];
  readonly refusals: readonly string[];
}

interface TapTarget {
  readonly source: string;
  readonly lane: Pick<SourceLane, 'tap'>;
  readonly timestampField: string | undefined;
  /** The tap's own: its state must not change the events that are sent. */
  readonly shaper: Shaper | undefined;
  readonly dataset: string;
}

/** Events sampled of a block, and their length at most. */
const EVENTS_OF_BLOCK = 10;
const MAX_BYTES = 64 * 1024;
const SLOT_BYTES = 256 * 1024;
/** Limits of one request. */
const MAX_EVENTS = 1000;
const MAX_WAIT_MS = 5000;
const MAX_REPLY_CHARACTERS = 256 * 1024;

/** Answers the control request `tap`: a source or every one, how many events at most, and for how many milliseconds. */
export async function answerTap(
  { sources, sinks }: Components,
  shapers: Shapers | undefined,
  [id = '', limit = '', waitMs = '']: readonly string[],
): Promise<TappedEvent[]> {
  const targets = [...sources.values()].flatMap(({ config, lane }): TapTarget[] => {
    if (id !== '' && config.id !== id) return [];
    const sink = [...sinks.values()].find((each) => each.config.inputs.includes(config.id))?.config;
    if (!sink) return [];
    const dataset = config.dataset ?? sink.dataset;
    return [
      {
        source: config.id,
        lane,
        timestampField: sink.timestampField,
        shaper: shapers?.shaperFor(config, sink),
        dataset,
      },
    ];
  });
  if (targets.length === 0) throw new TailraceError('E_TAP', `no source "${id}" runs`);
  if (targets.some(({ lane }) => lane.tap)) throw new TailraceError('E_TAP', 'another tap is under way');
  return tapEvents(targets, boundOf(limit, MAX_EVENTS), boundOf(waitMs, MAX_WAIT_MS));
}

function boundOf(text: string, most: number): number {
  const value = Math.trunc(Number(text));
  return value >= 1 && value <= most ? value : most;
}

/** Takes up to `limit` events of the sources, or those of `waitMs`. */
async function tapEvents(targets: readonly TapTarget[], limit: number, waitMs: number): Promise<TappedEvent[]> {
  const events: TappedEvent[] = [];
  let characters = 0;
  const isFull = Promise.withResolvers<void>();
  const taps = targets.map((target) =>
    createTap(target, ({ before, sent, datasets, refusals }) => {
      const size = [before ?? '', ...sent].reduce((sum, { length }) => sum + length, 0);
      if (events.length >= limit || characters + size > MAX_REPLY_CHARACTERS) return isFull.resolve();
      characters += size;
      const more = { ...(before === undefined ? {} : { before }), ...(datasets ? { datasets } : {}) };
      events.push({ source: target.source, ...more, events: sent, refusals });
      if (events.length === limit) isFull.resolve();
    }),
  );
  const timer = setTimeout(() => isFull.resolve(), waitMs);
  for (const [index, { lane }] of targets.entries()) lane.tap = (block) => taps[index]!.look(block);
  await isFull.promise;
  clearTimeout(timer);
  for (const { lane } of targets) lane.tap = undefined;
  await Promise.all(taps.map((tap) => tap.idle()));
  return events;
}

function createTap(
  { source, timestampField, shaper, dataset }: TapTarget,
  record: (event: RecordedEvent) => void,
): { look(block: Block): void; idle(): Promise<void> } {
  const kernel = createKernel(2 * SLOT_BYTES + MAX_BYTES + 64 * 1024);
  const window = kernel.reserve(MAX_BYTES);
  const [slot, scratch] = [kernel.reserve(SLOT_BYTES), kernel.reserve(SLOT_BYTES)];
  const recorder = new EventRecorder({ source, kernel, slot, scratch, timestampField, shaper, dataset, record });
  let work: Promise<void> | undefined;
  return {
    look(block) {
      const part = work ? undefined : copyPart(block, window);
      if (part) work = recorder.accept(part).finally(() => (work = undefined));
    },
    idle: async () => work,
  };
}

/** Copies the first events of a block; undefined when they are too long. */
function copyPart(block: Block, window: Region): Block | undefined {
  const { start, offset, single, ends, made, unread } = block;
  const end = endOfEvents(block, EVENTS_OF_BLOCK);
  if (end - start > MAX_BYTES) return undefined;
  block.window.bytes.copy(window.bytes, 0, start, end);
  const count = ends ? ends.findIndex((each) => each >= end) + 1 : 0;
  const used = made?.used.slice(0, count);
  return {
    stream: block.stream,
    shape: block.shape,
    readAtMs: block.readAtMs,
    window,
    start: 0,
    end: end - start,
    offset,
    ...(single ? { single } : {}),
    ...(unread ? { unread: unread.map((at) => at - start) } : {}),
    ...(ends ? { ends: ends.slice(0, count).map((each) => each - start) } : {}),
    ...(made && used ? { made: { from: Buffer.from(made.from.subarray(0, used.at(-1))), used } } : {}),
  };
}
