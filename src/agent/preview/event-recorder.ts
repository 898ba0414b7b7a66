/**
 * A lane that sends nothing: each event goes alone through a real batcher, and what would be sent of it is handed on beside
 * the input that it came from.
 */
import type { Batch } from '../../batcher/batch.ts';
import { Batcher } from '../../batcher/fill/batcher.ts';
import { endsFrom, streamBytes, streamRange } from '../../batcher/block-events.ts';
import { Accounting } from '../../batcher/accounting.ts';
import { MadeBatches } from '../../batcher/fill/made-batches.ts';
import type { Block, Lane, Region } from '../../core/block.ts';
import { systemClock } from '../../core/time/clock.ts';
import type { Shaper } from '../../core/shaping.ts';
import type { Kernel } from '../../kernel/kernel.ts';
import { isDatasetName } from '../build/routed-datasets.ts';

export interface RecordedEvent {
  /** The source's bytes, with their line endings. */
  readonly input: Buffer;
  /** The offset of the input in its stream. */
  readonly offset: number;
  /** NDJSON as it would be sent, without newlines. Empty where it is filtered, dropped or refused. */
  readonly sent: readonly string[];
  /** Beside `sent`, the dataset of each; absent where no `to_dataset` says. */
  readonly datasets?: readonly string[];
  /** The event before its transforms. */
  readonly before: string | undefined;
  /** Why it would go to the dead letters, or a part of it. */
  readonly refusals: readonly string[];
  readonly isDropped: boolean;
  readonly readAtMs: number;
}

export interface RecorderOptions {
  readonly source: string;
  readonly kernel: Kernel;
  /** Kernel memory for events as they are sent, and for those that are to be shaped. */
  readonly slot: Region;
  readonly scratch: Region | undefined;
  readonly timestampField: string | undefined;
  readonly shaper: Shaper | undefined;
  /** Where events go that `to_dataset` names none for. */
  readonly dataset: string;
  /** Called for one event at a time; the source waits for it. */
  record(event: RecordedEvent): Promise<void> | void;
}

const NEWLINE = 0x0a;
/** No limit: the kernel takes it as a number of 32 bits. */
const MAX_EVENTS = 2 ** 31 - 1;
/** Batches are closed long before they are old enough. */
const MAX_AGE_MS = 3_600_000;

export class EventRecorder implements Lane {
  readonly #options: RecorderOptions;
  readonly #accounting: Accounting;
  readonly #sending: Batcher;
  /** Has no transforms. */
  readonly #plain: Batcher;
  readonly #sealed: SealedBatch[] = [];
  readonly #shaper: Shaper | undefined;
  /** Of the last event shaped. */
  #datasets: string[] | undefined;
  #turn: Promise<void> = Promise.resolve();
  /** Lines that become no event. */
  emptyLines = 0;

  constructor(options: RecorderOptions) {
    this.#options = options;
    this.#accounting = new Accounting(options.source);
    this.#shaper = options.shaper && this.#withDatasets(options.shaper);
    const made = new MadeBatches(options.slot, (batch) => void this.#sealed.push(openBatch(batch)));
    this.#sending = this.#createBatcher(made);
    this.#plain = options.shaper ? this.#createBatcher(made) : this.#sending;
  }

  /** Times that a transform failed. */
  get transformErrors(): number {
    return this.#accounting.transformErrors;
  }

  accept(block: Block): Promise<void> {
    const turn = this.#turn.then(() => this.#accept(block));
    this.#turn = turn.catch(() => {});
    return turn;
  }

  async #accept(block: Block): Promise<void> {
    for (let start = block.start; start < block.end;) {
      const end = eventEnd(block, start);
      await this.#record(block, start, end);
      start = end;
    }
  }

  async #record(block: Block, start: number, end: number): Promise<void> {
    const shaper = this.#shaper;
    this.#datasets = undefined;
    const batches = await this.#take(this.#sending, shaper, block, start, end);
    if (batches.every(({ accepted }) => accepted === 0)) {
      this.emptyLines += 1;
      return;
    }
    const sent = batches.flatMap((batch) => (batch.refusal === undefined ? batch.lines : []));
    const before = shaper
      ? (await this.#take(this.#plain, undefined, block, start, end)).flatMap(({ lines }) => lines)
      : sent;
    const range = streamRange(block, start, end);
    await this.#options.record({
      input:
        block.single && !block.made
          ? block.window.bytes.subarray(start, end)
          : streamBytes(block, range.from, range.to),
      offset: block.offset + range.from,
      sent,
      ...(this.#datasets ? { datasets: this.#datasets } : {}),
      before: before[0],
      refusals: batches.flatMap(({ refusal, withheld }) => [...(refusal === undefined ? [] : [refusal]), ...withheld]),
      isDropped: batches.some(({ isDropped }) => isDropped),
      readAtMs: block.readAtMs,
    });
  }

  /** Takes the events in `[start, end)` of the window into batches and closes them. */
  async #take(
    batcher: Batcher,
    shaper: Shaper | undefined,
    block: Block,
    start: number,
    end: number,
  ): Promise<SealedBatch[]> {
    const accounting = this.#accounting;
    await batcher.take({
      accounting,
      block,
      dataset: '',
      isRereadable: () => true,
      isTracked: false,
      start,
      end,
      firstEvent: accounting.accepted,
      shaper,
      taken(_nextEvent, _replaced, errors = 0) {
        accounting.transformErrors += errors;
      },
      waited() {},
    });
    batcher.open.flush();
    return this.#sealed.splice(0);
  }

  /** The same, with the datasets noted. */
  #withDatasets(shaper: Shaper): Shaper {
    const own = this.#options.dataset;
    return {
      ...shaper,
      shape: async (events) => {
        const shaped = await shaper.shape(events);
        const names = shaped.routes?.datasets.map((name) => (name !== undefined && isDatasetName(name) ? name : own));
        if (names) this.#datasets = [...(this.#datasets ?? []), ...names];
        return shaped;
      },
    };
  }

  #createBatcher(queue: MadeBatches): Batcher {
    const { kernel, scratch, slot, timestampField, source } = this.#options;
    return new Batcher({
      sink: source,
      kernel,
      queue,
      clock: systemClock,
      limits: { maxBytes: slot.bytes.length, maxEvents: MAX_EVENTS, maxAgeMs: MAX_AGE_MS },
      timestampField,
      ...(scratch ? { scratch } : {}),
    });
  }
}

interface SealedBatch {
  readonly accepted: number;
  /** Its events. */
  readonly lines: readonly string[];
  readonly refusal: string | undefined;
  /** Why events are withheld. */
  readonly withheld: readonly string[];
  readonly isDropped: boolean;
}

function openBatch({ accepted, payload: { body, bytes }, refusal, withheld, outcomes }: Batch): SealedBatch {
  const text = Buffer.from(body.buffer, body.byteOffset, bytes).toString();
  let isDropped = false;
  outcomes?.walk((_events, _sent, disposition) => void (isDropped ||= disposition === 'dropped'));
  return {
    accepted,
    lines: text.split('\n').slice(0, -1),
    refusal,
    withheld: withheld.events.map(({ reason }) => reason),
    isDropped,
  };
}

/** Where the event or the empty line that begins at `start` ends. */
function eventEnd(block: Block, start: number): number {
  if (block.single) return block.end;
  return endsFrom(block, start)?.[0] ?? block.window.bytes.indexOf(NEWLINE, start) + 1;
}
