/**
 * The disk buffer of one sink. Batches whose bytes cannot be read again (syslog, stdin) are spooled before they are first sent
 * (spool-writer.ts), and leave memory while the service is unavailable; batches of files are spooled when their file is deleted, or when
 * the configuration asks for it (file-spooler.ts). Batches of an earlier process go first.
 */
import { messageOf } from '../../core/errors.ts';
import { sinkOfOwner } from '../../core/checkpoint-owner.ts';
import type { Ledger } from '../../state/database/ledger.ts';
import type { StoredPart } from '../../state/database/stored-batch.ts';
import type { Batch } from '../batch.ts';
import type { Accounts } from '../accounting.ts';
import { FileSpooler } from './file-spooler.ts';
import { SpoolWriter } from './spool-writer.ts';
import { headerOf, restoreSpooled } from './spooled-batch.ts';
import type { SpoolerOptions, SpoolStore } from './spool-store.ts';

export interface DiskBufferOptions extends Omit<SpoolerOptions, 'stopping'> {
  readonly ledger: Pick<Ledger, 'unsettled' | 'partsOf'>;
  readonly accounts: Accounts;
}

export class DiskBuffer {
  readonly #options: DiskBufferOptions;
  readonly #stopping = new AbortController();
  readonly writer: SpoolWriter;
  readonly files: FileSpooler;
  readonly store: SpoolStore;
  /** Ids of the recovered batches that the database knows, too. */
  readonly recoveredRows = new Set<number>();

  constructor(options: DiskBufferOptions) {
    this.#options = options;
    this.store = options.store;
    const common: SpoolerOptions = { ...options, stopping: this.#stopping.signal };
    this.writer = new SpoolWriter(common);
    this.files = new FileSpooler(common);
  }

  /**
   * Hands what the last process left to delivery, oldest first; counts its events as accepted again. Batches of files wait for
   * `sealRecovered`, because older ones of their streams may have to be read again.
   */
  async recover(): Promise<number> {
    const { sink, delivery, ledger, accounts, store } = this.#options;
    const { queue } = delivery;
    const rows = new Map(
      ledger.unsettled().flatMap(({ key, id, owner }) => (sinkOfOwner(owner) === sink ? [[key, id]] : [])),
    );
    const parts = new Map<Batch, readonly StoredPart[]>();
    let recovered = 0;
    for await (const entry of store.spool.recover()) {
      const row = rows.get(entry.header.key);
      const batch = restoreSpooled(entry, row ?? queue.ids.nextId(), row !== undefined, accounts);
      if (row !== undefined) this.recoveredRows.add(row);
      queue.note(batch, 'recover');
      recovered += 1;
      if (entry.header.parts) parts.set(batch, entry.header.parts);
    }
    for (const batch of queue.in('recovered')) if (!batch.isTracked) delivery.enqueue(batch, parts.get(batch) ?? []);
    return recovered;
  }

  /** Hands over the batches of files that were committed before the one with this id; all by default. */
  sealRecovered(before = Infinity): void {
    for (const batch of this.#options.delivery.queue.in('recovered'))
      if (batch.id < before) this.#options.delivery.enqueue(batch, this.#options.ledger.partsOf(batch.id));
  }

  /** Writes what still waits, over the limit if need be: better than losing it with the process. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.writer.work.idle();
    await this.files.idle();
  }

  /**
   * Once delivery has stopped: writes what it took from memory because the buffer was full, with the parts that are still to
   * be sent.
   */
  async finish(): Promise<void> {
    const { delivery, store, log, sink } = this.#options;
    for (const batch of delivery.queue.sending) {
      if (batch.canBeRebuilt || batch.isDurable) continue;
      try {
        batch.spoolName = await store.spool.write(headerOf(batch, delivery.partsOf(batch)), batch.payload.body);
      } catch (error) {
        log.error(
          { sink, events: batch.events, reason: messageOf(error) },
          'a batch that is only in memory cannot be written to the disk buffer',
        );
      }
    }
  }
}
