/**
 * Queues blocks for inserts. Blocks that arrive for a table while an insert runs form the next insert together: with four senders of 1 MiB batches
 * the embedded engine took 49 s of CPU a GiB instead of 68 (two inserts at a time: 61), as an insert costs some 10 ms whatever its size, and
 * parts are merged less often.
 *
 * Senders that get their answers together send again one after the other. An insert therefore waits until it has as many blocks as there were when the
 * last one ended, or until other work comes. That halves the inserts: 26 s of CPU a GiB instead of 35.
 */
import PQueue from 'p-queue';
import { SERVICE_INSERT_GROUP_BYTES, SERVICE_INSERT_WAIT_MS } from '../limits.ts';
import type { Extent } from './engine.ts';
import { namesWith, type OwnColumn } from './own-columns.ts';

export type InsertGroups = ReturnType<typeof insertGroups>;

/** Blocks of the Native format, all with the same columns. */
export interface Insert {
  readonly table: string;
  readonly blocks: readonly Buffer[];
  readonly token: string;
  readonly own: readonly OwnColumn[];
  /** Of each block, where it is known. */
  readonly extents: readonly (Extent | undefined)[];
}

interface InsertGroup {
  readonly blocks: Buffer[];
  readonly extents: (Extent | undefined)[];
  bytes: number;
  done: Promise<void>;
}

/** Calls `store` one insert at a time. An insert waits at most `waitMs` for further blocks. */
export function insertGroups(store: (insert: Insert) => Promise<void>, waitMs = SERVICE_INSERT_WAIT_MS) {
  const queue = new PQueue({ concurrency: 1 });
  /** By table and columns, the group that still takes blocks. */
  const waiting = new Map<string, InsertGroup>();
  /** The last insert's shape, and its blocks plus those that waited when it ended. */
  let last = { shape: '', blocks: 0 };
  /** Ends the wait of the next insert. */
  let begin = (): void => undefined;
  let ended = 0;
  const run = <T>(work: () => Promise<T>): Promise<T> => queue.add(() => work().finally(() => ended++));

  const gather = async (group: InsertGroup, shape: string): Promise<void> => {
    if (shape !== last.shape || group.blocks.length >= last.blocks || queue.size > 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, waitMs);
    begin = resolve;
    await promise;
    clearTimeout(timer);
  };

  return {
    /** Resolves once `store` has stored the block. The first block's `token` names the insert; only blocks with the same columns share one. */
    add(table: string, block: Buffer, token: string, own: readonly OwnColumn[] = [], extent?: Extent): Promise<void> {
      const shape = `${table} ${namesWith(own)}`;
      const group = waiting.get(shape);
      if (group && group.bytes + block.length <= SERVICE_INSERT_GROUP_BYTES) {
        group.blocks.push(block);
        group.extents.push(extent);
        group.bytes += block.length;
        if (group.blocks.length >= last.blocks) begin();
        return group.done;
      }
      const fresh: InsertGroup = { blocks: [block], extents: [extent], bytes: block.length, done: Promise.resolve() };
      waiting.set(shape, fresh);
      begin();
      // Complete the group first: the queue may start it inside this call.
      fresh.done = run(async () => {
        await gather(fresh, shape);
        if (waiting.get(shape) === fresh) waiting.delete(shape);
        try {
          await store({ table, blocks: fresh.blocks, token, own, extents: fresh.extents });
        } finally {
          last = { shape, blocks: fresh.blocks.length + (waiting.get(shape)?.blocks.length ?? 0) };
        }
      });
      return fresh.done;
    },
    /** Runs other work between two inserts. */
    between<T>(work: () => Promise<T>): Promise<T> {
      begin();
      return run(work);
    },
    isIdle: (): boolean => queue.size + queue.pending === 0,
    /** How many inserts, and works between them, have ended. */
    ended: (): number => ended,
    /** Resolves when nothing waits or runs. */
    idle: (): Promise<void> => queue.onIdle(),
  };
}
