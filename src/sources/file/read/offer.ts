/** Whoever shares a window reads into it in turns, and hands its blocks to the lane as blocks of a file's stream. */
import type { Block, Lane } from '../../../core/block.ts';
import type { WindowBlock } from '../../framing/byte-window.ts';
import type { Stream } from '../known/stream.ts';

/** The lane refused; not a trouble of the file. `cause` is what the lane rejected with. */
export class LaneRefusal extends Error {}

/** Resolves when the lane took all of it; rejects with a `LaneRefusal`. */
export async function offerBlock(
  lane: Lane,
  stream: Pick<Stream, 'id' | 'shape'>,
  block: WindowBlock & Pick<Block, 'sum'>,
  readAtMs: number,
): Promise<void> {
  try {
    await lane.accept({ ...block, stream: stream.id!, shape: stream.shape, readAtMs });
  } catch (error) {
    throw new LaneRefusal('lane refused', { cause: error });
  }
}

/** One piece of work after the other, in the order they were asked for: what shares a window must not meet in it. */
export class SerialQueue {
  #last: Promise<unknown> = Promise.resolve();

  run<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => undefined);
    return result;
  }
}
