/**
 * Streams whose file was deleted: their batches are spooled at once under their own keys, and the rest of their bytes as it is read.
 */
import type { Lane } from '../../core/block.ts';
import type { Rescue } from '../../core/source.ts';
import type { StreamStore } from '../../core/stream.ts';
import type { State } from '../../state/database/store.ts';
import type { Batch } from '../batch.ts';
import type { Batcher } from '../fill/batcher.ts';
import type { DiskBuffer } from './disk-buffer.ts';
import type { MemoryBudget } from '../memory-budget.ts';
import type { BatchQueue } from '../queue.ts';

export interface DeletedFilesSink {
  readonly batcher: Batcher;
  readonly queue: BatchQueue;
  readonly buffer: DiskBuffer;
  readonly budget: MemoryBudget;
}

export class DeletedFiles {
  readonly #sinks: ReadonlyMap<string, DeletedFilesSink>;
  /** Streams whose file was deleted. */
  readonly streams = new Set<string>();

  constructor(sinks: ReadonlyMap<string, DeletedFilesSink>) {
    this.#sinks = sinks;
  }

  keep(stream: string): void {
    if (this.streams.has(stream)) return;
    this.streams.add(stream);
    const isOf = ({ spans }: Batch): boolean => spans.some((span) => span.stream === stream);
    for (const { batcher, queue, buffer, budget } of this.#sinks.values()) {
      batcher.open.closeWhere((batch) => batch.canBeRebuilt && isOf(batch));
      for (const batch of queue.sending) if (isOf(batch)) buffer.files.keep(batch);
      // Its next events wait only for the disk.
      budget.wake();
    }
  }

  /** `lane`: takes the bytes of such streams. */
  rescueBy(lane: Lane, state: Pick<State, 'save'>): Rescue {
    const isFull = (): boolean => [...this.#sinks.values()].some(({ queue }) => queue.isFull);
    return {
      lane,
      keep: (stream) => {
        this.keep(stream);
        // Its settled bytes must not look unsettled after a kill.
        state.save();
      },
      flush: () => this.flush(),
      release: (stream) => void this.streams.delete(stream),
      get isFull() {
        return isFull();
      },
    };
  }

  /** Closes the open batches that hold lines of deleted files. */
  flush(): void {
    for (const { batcher } of this.#sinks.values()) batcher.open.closeWhere(({ origin }) => origin === 'orphan');
  }
}

/**
 * The streams as their sources see them. The database knows a stream's spans once they are committed; those in an open batch of `sinks`, or
 * in one that waits for its commit, are unsettled, too: `max_age` may be an hour, and the disk may be full. If such a stream were forgotten,
 * its file would be read from the start when it comes back. `forget` also takes it out of `deleted`.
 */
export function streamStoreFor(
  state: Pick<State, 'streams' | 'hasStarted' | 'persist' | 'lose'>,
  sinks: ReadonlyMap<string, Pick<DeletedFilesSink, 'batcher' | 'queue'>>,
  deleted: Set<string>,
): StreamStore {
  const { streams } = state;
  const isSettled = (stream: string): boolean => {
    const isOpen = ({ isTracked, isCommitted, spans }: Batch): boolean =>
      isTracked && !isCommitted && spans.some((span) => span.stream === stream);
    if (!streams.isSettled(stream)) return false;
    return ![...sinks.values()].some(
      ({ batcher, queue }) => batcher.open.list().some(isOpen) || queue.all.some(isOpen),
    );
  };
  return {
    isSettled,
    mint: (...given) => streams.mint(...given),
    list: (source) => streams.list(source),
    hasStarted: (source) => state.hasStarted(source),
    persist: () => state.persist(),
    begin: (...given) => streams.begin(...given),
    identify: (...given) => streams.identify(...given),
    see: (...given) => streams.see(...given),
    lose: (loss) => state.lose(loss),
    noteCompressedEnd: (...given) => streams.noteCompressedEnd(...given),
    forget: (stream) => {
      if (!isSettled(stream)) return;
      streams.forget(stream);
      deleted.delete(stream);
    },
  };
}
