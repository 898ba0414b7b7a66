/**
 * Resends dead letters: each file of letters becomes a batch of its sink, and is removed once the batch is settled. Events
 * that are refused again become new letters, with the place that the first letter named.
 */
import { Batch } from '../../batcher/batch.ts';
import { keyFrom } from '../../core/requests.ts';
import type { Accounting } from '../../batcher/accounting.ts';
import { addTo } from '../../telemetry/delivery-stats.ts';
import { messageOf, TailraceError } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import { sinkOfOwner } from '../../core/checkpoint-owner.ts';
import { NO_TAIL } from '../../core/sums.ts';
import type { DeadLetters, Letter } from '../../state/dead-letters.ts';
import type { SinkPipeline } from '../build/sink-pipeline.ts';

export interface ReplayOptions {
  readonly letters: DeadLetters;
  readonly log: Log;
  sink(id: string): SinkPipeline | undefined;
  /** The dataset of the source's events at that sink. */
  datasetOf(source: string, sink: SinkPipeline): string;
  accountingOf(source: string): Accounting;
  nextBatchId(): number;
}

export interface ReplayResult {
  /** Events sent again and settled. */
  replayed: number;
  /** Of those, events that were refused again. */
  refused: number;
  /** Unknown ids, and letters that are being replayed, whose sink is not configured, or that hold fields a transform failed to hide. */
  readonly skipped: string[];
  /** Letters that could not be read; the log has the reason. */
  readonly unreadable: string[];
}

const STREAM_PREFIX = 'replay ';
/** Files in memory at a time: letters may fill a disk. */
const FILES_AT_A_TIME = 8;

export class Replay {
  readonly #options: ReplayOptions;
  /** By the stream name of the replaying batch. */
  readonly #underWay = new Map<string, readonly Letter[]>();

  constructor(options: ReplayOptions) {
    this.#options = options;
  }

  /** The letter of an event of a replaying batch; undefined for any other event. */
  originalOf(stream: string, event: number): Letter | undefined {
    return this.#underWay.get(stream)?.[event];
  }

  /**
   * Sends these files of letters again (all where `ids` is empty), each through its own sink or through the one named; resolves when all
   * are settled. Throws `E_NO_SINK` where none has that name.
   */
  async run(ids: readonly string[], through?: string): Promise<ReplayResult> {
    if (through !== undefined && this.#options.sink(through) === undefined)
      throw new TailraceError('E_NO_SINK', `no sink has the id "${through}"`, {
        fix: 'name one of the configuration in force',
      });
    const result: ReplayResult = { replayed: 0, refused: 0, skipped: [], unreadable: [] };
    const wanted = (ids.length > 0 ? [...new Set(ids)] : this.#options.letters.files().map(({ id }) => id)).values();
    const workers = Array.from({ length: FILES_AT_A_TIME }, async () => {
      for (const id of wanted) await this.#replay(id, through, result);
    });
    await Promise.all(workers);
    return result;
  }

  #read(id: string, result: ReplayResult): readonly Letter[] | undefined {
    try {
      const letters = this.#options.letters.read(id);
      if (letters === undefined) result.skipped.push(id);
      return letters;
    } catch (error) {
      this.#options.log.error(
        { id, reason: messageOf(error) },
        'dead letters cannot be read, so they are not sent again',
      );
      result.unreadable.push(id);
      return undefined;
    }
  }

  async #replay(id: string, through: string | undefined, result: ReplayResult): Promise<void> {
    const letters = this.#read(id, result);
    if (!letters) return;
    const first = letters[0]?.about;
    const sink = first && this.#options.sink(through ?? sinkOfOwner(first.sink));
    const stream = STREAM_PREFIX + id;
    const isInClear = first?.kind === 'transform_failed';
    if (isInClear)
      this.#options.log.warn(
        { id, source: first.source, events: letters.length },
        'dead letters hold events as they were before a transform that hides fields failed; they are not sent again: fix the transform, and drop them once they are not needed',
      );
    if (!first || !sink || isInClear || this.#underWay.has(stream)) {
      result.skipped.push(id);
      return;
    }
    const body = Buffer.from(letters.map(({ event }) => `${event}\n`).join(''));
    const dataset = through === undefined ? first.dataset : this.#options.datasetOf(first.source, sink);
    const batch = new Batch(this.#options.nextBatchId(), sink.config.id, dataset, 'live', { body });
    // Hash the letter's time into the key, so that the service does not repeat its earlier refusal.
    batch.key = keyFrom(['replay', id, first.time, ...(through === undefined ? [] : [through])]);
    batch.payload.bytes = body.length;
    batch.events = letters.length;
    batch.isCommitted = true;
    letters.forEach(({ about }, index) => {
      const accounting = this.#options.accountingOf(about.source);
      const span = { source: about.source, stream, from: index, to: index + 1, events: 1, sum: 0, tail: NO_TAIL };
      batch.spans.push({ ...span, digest: 'replay', accounting, firstEvent: accounting.accepted, closed: true });
      accounting.accept(1, 1);
    });
    this.#underWay.set(stream, letters);
    sink.budget.takeAnyway(body.length);
    await new Promise<void>((resolve) => {
      batch.whenSettled = resolve;
      sink.delivery.enqueue(batch);
    });
    this.#underWay.delete(stream);
    this.#options.letters.remove(id, 'replayed');
    result.replayed += letters.length;
    result.refused += batch.refusedEvents;
    addTo(sink.delivery.stats.replayed, 'refused', batch.refusedEvents);
    addTo(sink.delivery.stats.replayed, 'delivered', letters.length - batch.refusedEvents);
  }
}
