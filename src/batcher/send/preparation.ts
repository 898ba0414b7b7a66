/**
 * What happens to a batch before its first request: its body is in memory, compressed, and its key and spans are on disk.
 * Batches that wait are committed together, in the order in which they were closed.
 */
import { messageOf } from '../../core/errors.ts';
import type { Batch } from '../batch.ts';
import type { Encoding } from '../../core/sink.ts';
import { compressInPlace } from '../encoding/compress.ts';
import { storeOf } from '../store.ts';
import type { DeliveryOptions, Persist } from './delivery-options.ts';

export interface PreparationOptions extends Pick<DeliveryOptions, 'sink' | 'log' | 'clock' | 'commitEveryMs' | 'stores' | 'queue'> {
  readonly persist: Persist;
}

export class Preparation {
  readonly #options: PreparationOptions;
  #committedAtMs = -Infinity;

  constructor(options: PreparationOptions) {
    this.#options = options;
  }

  /** `gone`: the batch's file cannot be read any more. `stopped`: the agent stops before the disk gives it. */
  async load(batch: Batch): Promise<'loaded' | 'gone' | 'stopped'> {
    const { log, sink, stores, persist } = this.#options;
    const refused = 'cannot read a batch of the disk buffer, so it is not sent yet; it is tried again';
    try {
      return (await persist(() => storeOf(stores, batch).load(batch), {}, refused)) ? 'loaded' : 'stopped';
    } catch (error) {
      const end = batch.canBeRebuilt ? 'it is read from its files again at the next start' : 'its events are counted as dropped';
      log.error(
        { sink: sink.id, events: batch.events, reason: messageOf(error) },
        `a batch of the disk buffer cannot be read any more; ${end}`,
      );
      return 'gone';
    }
  }

  /** Commits this batch and every other one that waits for it, in one transaction. False when the agent stops first. */
  async commit(batch: Batch): Promise<boolean> {
    if (batch.isCommitted) return true;
    const { clock, commitEveryMs } = this.#options;
    const waitMs = this.#committedAtMs + commitEveryMs - clock.monotonic();
    if (waitMs > 0) await clock.sleep(waitMs);
    if (!batch.isCommitted) this.#committedAtMs = clock.monotonic();
    return this.#options.persist(
      () => {
        if (!batch.isCommitted) this.commitNow();
      },
      {},
      'cannot save the positions of a batch, so it is not sent yet',
    );
  }

  /** Commits every batch that waits for it. Throws when the disk refuses. */
  commitNow(): void {
    const group = this.#options.queue.all.filter((each) => !each.isCommitted);
    const rows = group.filter((each) => each.isTracked);
    if (rows.length > 0) this.#options.stores.positions.commit(rows);
    for (const each of group) each.isCommitted = true;
  }
}

const compressing = new WeakMap<Batch, Promise<void>>();

/**
 * Compresses a whole batch that is not compressed yet, within its own memory; one that does not shrink stays as it is. Who asks
 * for it meanwhile (a worker, and the disk buffer) waits for the same work: it overwrites what it reads.
 */
export async function compressBatch(batch: Batch, encoding: Encoding): Promise<void> {
  const underWay = compressing.get(batch);
  if (underWay) return underWay;
  if (encoding === 'identity') return;
  const work = compressNow(batch, encoding).finally(() => compressing.delete(batch));
  compressing.set(batch, work);
  return work;
}

async function compressNow(batch: Batch, encoding: Exclude<Encoding, 'identity'>): Promise<void> {
  if (batch.payload.encoding !== 'identity' || batch.payload.isDense || batch.events === 0 || batch.key === '') return;
  const body = await compressInPlace(batch.payload.body, encoding);
  batch.payload.isDense = body === undefined;
  if (!body) return;
  batch.payload.body = body;
  batch.payload.encoding = encoding;
}
