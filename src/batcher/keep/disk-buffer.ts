/**
 * The disk buffer of one sink. Batches whose bytes cannot be read again (syslog, stdin) are spooled before they are first sent
 * (spool-writer.ts), and leave memory while the service is unavailable; batches of files are spooled when their file is deleted, or when
 * the configuration asks for it (file-spooler.ts). Batches of an earlier process go first.
 */
import { messageOf } from '../../core/errors.ts';
import type { StoredPart } from '../../state/database/stored-batch.ts';
import type { Batch } from '../batch.ts';
import type { Accounting } from '../accounting.ts';
import { FileSpooler } from './file-spooler.ts';
import { SpoolWriter } from './spool-writer.ts';
import { headerOf, restoreSpooled } from './spooled-batch.ts';
import type { BufferPolicy, SpoolerOptions } from './spooler-options.ts';

export interface DiskBufferOptions extends Omit<SpoolerOptions, 'stopping'> {
  nextBatchId(): number;
  /** The accounting of a source, also of one that is not configured any more. */
  accountingOf(source: string): Accounting;
  /** Called when every waiting batch is written, where they are written at once. */
  written?(): void;
  /** The row of a batch that an earlier process committed and did not settle, and the parts it was sent in. */
  unsettled?(key: string): { readonly id: number; readonly parts: readonly StoredPart[] } | undefined;
}

export class DiskBuffer {
  readonly #options: DiskBufferOptions;
  readonly #policy: BufferPolicy;
  readonly #stopping = new AbortController();
  readonly #writer: SpoolWriter;
  readonly #files: FileSpooler;
  /** Ids of the recovered batches that the database knows, too. */
  readonly recoveredRows = new Set<number>();

  constructor(options: DiskBufferOptions) {
    this.#options = options;
    this.#policy = { ...options.policy };
    const common: SpoolerOptions = { ...options, policy: this.#policy, stopping: this.#stopping.signal };
    this.#writer = new SpoolWriter(common, () => {
      if (this.#policy.writesAtOnce) options.written?.();
    });
    this.#files = new FileSpooler(common);
  }

  /** A lower limit removes nothing that is already stored. */
  use(policy: BufferPolicy): void {
    Object.assign(this.#policy, policy);
  }

  /** Passes a closed batch to delivery: at once if it can be read again, else once it is on disk. */
  admit(batch: Batch): void {
    const { delivery, budget } = this.#options;
    // A batch that sends nothing has nothing to keep.
    if (!batch.canBeRebuilt && (batch.events > 0 || batch.withheld.isAny)) return this.take(batch);
    delivery.enqueue(batch);
    if (this.#policy.spillFiles && !(delivery.wantsMore(batch.dataset) && budget.hasSlot())) this.spill(batch);
  }

  /** Writes a batch; delivery gets it once it is durable. */
  take(batch: Batch): void {
    this.#writer.take(batch);
  }

  /** Keeps a batch that delivery holds: a file that it could be rebuilt from was deleted. */
  keepDeleted(batch: Batch): void {
    this.#files.keep(batch);
  }

  /** Writes a batch of files that delivery holds, and frees its memory; where the disk takes nothing, it stays as it is. */
  spill(batch: Batch): void {
    this.#files.spill(batch);
  }

  /** Batches that delivery does not have yet, for the accounting. */
  held(): readonly Batch[] {
    return this.#options.queue.in('recovered', 'writing');
  }

  /** Resolves when nothing waits to be written. */
  idle(): Promise<void> {
    return this.#writer.idle();
  }

  /** False while enough closed batches of that kind wait: sources then wait, too, instead of filling memory. */
  wantsMore(dataset: string, canBeRebuilt: boolean): boolean {
    return canBeRebuilt ? this.#options.delivery.wantsMore(dataset) : this.#writer.wantsMore();
  }

  /** True when live events must not wait in an open batch for more. */
  wantsLive(): boolean {
    return this.#policy.writesAtOnce && !this.#writer.isWriting;
  }

  /** True while the disk takes nothing more. */
  get isFull(): boolean {
    return this.#writer.isFull;
  }

  /**
   * Hands what the last process left to delivery, oldest first; counts its events as accepted again. Batches of files wait for
   * `sealRecovered`, because older ones of their streams may have to be read again.
   */
  async recover(): Promise<number> {
    const { queue, delivery } = this.#options;
    const parts = new Map<Batch, readonly StoredPart[]>();
    let recovered = 0;
    for await (const entry of this.#options.spool.recover()) {
      const row = this.#options.unsettled?.(entry.header.key);
      const batch = restoreSpooled(entry, row?.id ?? this.#options.nextBatchId(), row !== undefined, (source) =>
        this.#options.accountingOf(source),
      );
      if (row) this.recoveredRows.add(row.id);
      queue.note(batch, 'recover');
      recovered += 1;
      if (entry.header.parts) parts.set(batch, entry.header.parts);
    }
    for (const batch of queue.in('recovered')) if (!batch.isTracked) delivery.enqueue(batch, parts.get(batch) ?? []);
    return recovered;
  }

  /** Hands over the batches of files that were committed before the one with this id; all by default. */
  sealRecovered(before = Infinity): void {
    for (const batch of this.#options.queue.in('recovered'))
      if (batch.id < before) this.#options.delivery.enqueue(batch, this.#options.unsettled?.(batch.key)?.parts);
  }

  /** Writes what still waits, over the limit if need be: better than losing it with the process. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#writer.idle();
    await this.#files.idle();
  }

  /**
   * Once delivery has stopped: writes what it took from memory because the buffer was full, with the parts that are still to
   * be sent, and waits until the files of settled batches are gone.
   */
  async finish(): Promise<void> {
    const { delivery, spool, keeper, log, sink } = this.#options;
    for (const batch of delivery.held()) {
      if (batch.canBeRebuilt || batch.isDurable) continue;
      try {
        batch.spoolName = await spool.write(headerOf(batch, delivery.partsOf(batch)), batch.payload.body);
      } catch (error) {
        log.error(
          { sink, events: batch.events, reason: messageOf(error) },
          'a batch that is only in memory cannot be written to the disk buffer',
        );
      }
    }
    await keeper.removed();
  }
}
