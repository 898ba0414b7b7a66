/**
 * The disk buffer of one sink: batches whose bytes cannot be read again (syslog, stdin) are written to the spool before they are first
 * sent (spool-writer.ts), and leave memory while the service is not there to take them; batches of files only where their file was deleted
 * (adoption.ts), or where they are told to (spill.ts). What an earlier process left in it goes first.
 */
import { messageOf } from '../../core/errors.ts';
import type { Clock } from '../../core/time/clock.ts';
import type { Log } from '../../core/log.ts';
import type { StoredPart } from '../../state/database/stored.ts';
import type { Spool } from '../../state/spool/spool.ts';
import { Adoption } from './spool-deleted.ts';
import type { Batch } from '../batch.ts';
import type { Books } from '../books.ts';
import type { Delivery } from '../send/delivery.ts';
import type { Room } from '../fill/memory-budget.ts';
import { Spill } from './spill.ts';
import { SpoolWriter } from './spool-writer.ts';
import { EMPTY, headerOf, restoreSpooled } from './spooled-batch.ts';

export interface DiskBufferOptions {
  readonly sink: string;
  readonly spool: Spool;
  readonly maxBytes: number;
  readonly whenFull: 'block' | 'drop_newest' | 'drop_oldest';
  readonly delivery: Delivery;
  readonly room: Room;
  readonly clock: Clock;
  readonly log: Log;
  nextBatchId(): number;
  /** The books of a source, also of one that is not configured any more. */
  booksOf(source: string): Books;
  /** Called when all that waited is written. */
  written?(): void;
  /** The row of a batch that an earlier process committed and did not settle, and the parts it was sent in. */
  unsettled?(key: string): { readonly id: number; readonly parts: readonly StoredPart[] } | undefined;
}

export class DiskBuffer {
  readonly #options: DiskBufferOptions;
  readonly #stopping = new AbortController();
  #removing: Promise<void> = Promise.resolve();
  readonly #writer: SpoolWriter;
  readonly #adoption: Adoption;
  readonly #spill: Spill;
  readonly #released = new WeakSet<Batch>();
  /** Batches that an earlier process left, oldest first, until all are recovered; those of files until `sealRecovered`. */
  #recovered: Batch[] = [];
  /** Ids of the recovered batches that the database knows, too. */
  readonly recoveredRows = new Set<number>();

  constructor(options: DiskBufferOptions) {
    this.#options = options;
    const evict = (batch: Batch): void => this.evict(batch);
    const common = { ...options, stopping: this.#stopping.signal };
    this.#writer = new SpoolWriter({ ...common, evict, removed: () => this.#removing });
    this.#adoption = new Adoption({ ...common, evict, isReleased: (batch) => this.#released.has(batch) });
    this.#spill = new Spill({ ...common, evict });
  }

  /** From now on; what is beyond a lower limit stays. */
  limit(maxBytes: number, whenFull: DiskBufferOptions['whenFull']): void {
    this.#writer.limit(maxBytes, whenFull);
  }

  /** Takes a closed batch; delivery gets it once it is durable. */
  take(batch: Batch): void {
    this.#writer.take(batch);
  }

  /** Keeps a batch that delivery holds: a file that it could be rebuilt from was deleted. */
  adopt(batch: Batch): void {
    this.#adoption.take(batch);
  }

  /** Writes a batch of files that delivery holds, and lets it leave memory; where that cannot be, it stays as it is. */
  spill(batch: Batch): void {
    this.#spill.take(batch);
  }

  /** Batches that delivery does not have yet, for the books. */
  held(): readonly Batch[] {
    return [...this.#recovered, ...this.#writer.held()];
  }

  /** As the writer's, and so are the next three. */
  idle(): Promise<void> {
    return this.#writer.idle();
  }

  wantsMore(): boolean {
    return this.#writer.wantsMore();
  }

  get isFull(): boolean {
    return this.#writer.isFull;
  }

  get isWriting(): boolean {
    return this.#writer.isWriting;
  }

  /**
   * Hands what the last process left to delivery, oldest first; counts its events as accepted again. Batches of files wait for
   * `sealRecovered`, because older ones of their streams may have to be read again.
   */
  async recover(): Promise<number> {
    const parts = new Map<Batch, readonly StoredPart[]>();
    for await (const entry of this.#options.spool.recover()) {
      const row = this.#options.unsettled?.(entry.header.key);
      const batch = restoreSpooled(entry, row?.id ?? this.#options.nextBatchId(), row !== undefined, (source) =>
        this.#options.booksOf(source),
      );
      if (row) this.recoveredRows.add(row.id);
      this.#recovered.push(batch);
      if (entry.header.parts) parts.set(batch, entry.header.parts);
    }
    const recovered = this.#recovered;
    this.#recovered = recovered.filter(({ isTracked }) => isTracked).sort((a, b) => a.id - b.id);
    for (const batch of recovered) if (!batch.isTracked) this.#options.delivery.seal(batch, parts.get(batch));
    return recovered.length;
  }

  /** Hands over the batches of files that were committed before the one with this id; all by default. */
  sealRecovered(before = Infinity): void {
    for (let batch = this.#recovered[0]; batch && batch.id < before; batch = this.#recovered[0]) {
      this.#recovered.shift();
      this.#options.delivery.seal(batch, this.#options.unsettled?.(batch.key)?.parts);
    }
  }

  /** Brings an evicted batch's body back into memory. Throws `E_SPOOL_BROKEN`, or what the disk says. */
  async load(batch: Batch): Promise<void> {
    const isWhole = (batch.body.length > 0 || batch.events === 0) && batch.withholds === batch.withheld.length > 0;
    if (batch.spoolName === undefined || isWhole) return;
    const { header, body } = await this.#options.spool.read(batch.spoolName);
    batch.body = body;
    batch.recall(header.spans);
    // It may have been compressed in memory since it was written.
    batch.encoding = header.encoding;
    batch.memory = body.length;
    this.#options.room.takeAnyway(body.length);
    if (header.withheld) this.#options.room.takeAnyway(batch.withhold(header.withheld));
  }

  /** Frees the memory of a batch that is on disk and not about to be sent. */
  evict(batch: Batch): void {
    if (batch.spoolName === undefined || (batch.memory === 0 && batch.withheldBytes === 0)) return;
    this.#options.room.release(batch.memory, batch.slot);
    this.#options.room.release(batch.withheldBytes, undefined);
    batch.withheld = [];
    batch.withheldBytes = 0;
    batch.memory = 0;
    batch.slot = undefined;
    batch.body = EMPTY;
    batch.condense();
  }

  /** Keeps a split batch's parts with it. */
  async commitParts(batch: Batch, parts: readonly StoredPart[]): Promise<void> {
    if (batch.spoolName !== undefined) await this.#options.spool.rewrite(batch.spoolName, headerOf(batch, parts), batch.body);
  }

  /** The batch is settled, and that need not be saved any more. */
  settle(batch: Batch): void {
    this.#released.add(batch);
    const { spoolName } = batch;
    if (spoolName !== undefined) this.#removing = Promise.all([this.#removing, this.#options.spool.remove(spoolName)]).then(() => {});
  }

  /** Writes what still waits, over the limit if need be: better than losing it with the process. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#writer.idle();
    await this.#adoption.idle();
    await this.#spill.idle();
  }

  /**
   * Once delivery has stopped: writes what it took from memory because the buffer was full, with the parts that are still to
   * be sent, and waits until the files of settled batches are gone.
   */
  async finish(): Promise<void> {
    const { delivery, spool, log, sink } = this.#options;
    for (const batch of delivery.held()) {
      if (batch.canBeRebuilt || batch.isDurable) continue;
      try {
        batch.spoolName = await spool.write(headerOf(batch, delivery.partsOf(batch)), batch.body);
      } catch (error) {
        log.error(
          { sink, events: batch.events, reason: messageOf(error) },
          'a batch that is only in memory cannot be written to the disk buffer',
        );
      }
    }
    await this.#removing;
  }
}
