/**
 * Puts the content of a compressed file into the line window. The NULs that it ends in, and runs of GAP_BYTES and more before a line, are
 * passed over, as in a plain file that nobody writes to any more.
 */
import type { SourceStats } from '../../../core/source.ts';
import type { WindowBlock } from '../../framing/byte-window.ts';
import type { Lines } from '../../framing/lines.ts';
import { findNulRun, leadingNuls } from '../known/nul-runs.ts';
import { GAP_BYTES } from '../limits.ts';

export interface ContentFeedOptions {
  readonly lines: Lines;
  readonly offer: (block: WindowBlock) => Promise<void>;
  /** The first bytes of the content, as far as the lines need them. */
  readonly head: () => Buffer;
  /** Counts the bytes passed over; absent where they were counted before. */
  readonly stats?: SourceStats | undefined;
}

export class ContentFeed {
  readonly #options: ContentFeedOptions;
  /** NULs that come next, and may be the last. */
  #held = 0;

  constructor(options: ContentFeedOptions) {
    this.#options = options;
  }

  async add(bytes: Buffer): Promise<void> {
    const { lines } = this.#options;
    for (let rest = bytes; rest.length > 0;) {
      if (this.#held > 0) {
        rest = this.#hold(rest);
        if (rest.length === 0) return;
        await this.#release();
      }
      const free = lines.free();
      const part = rest.subarray(0, free.length);
      const at = lines.offset + lines.pendingBytes;
      const taken = findNulRun(part, at, (at === 0 ? lines.encodingOf(part) : lines.encoding).unitBytes);
      part.copy(free, 0, 0, taken);
      lines.commit(taken);
      rest = rest.subarray(taken);
      await this.#offerAll(() => lines.next());
      if (taken < part.length) rest = this.#hold(rest);
    }
  }

  /** The content is over: also its unfinished line. */
  async end(): Promise<void> {
    await this.#offerAll(() => this.#options.lines.flush());
    await this.#pass(this.#held);
    this.#held = 0;
  }

  #hold(bytes: Buffer): Buffer {
    const nuls = leadingNuls(bytes);
    this.#held += nuls;
    return bytes.subarray(nuls);
  }

  /** Text comes behind the NULs. */
  async #release(): Promise<void> {
    const { lines } = this.#options;
    const { unitBytes } = lines.encoding;
    const passed = this.#held - ((lines.offset + lines.pendingBytes + this.#held) % unitBytes);
    if (passed >= GAP_BYTES && lines.lineBytes === 0) {
      await this.#offerAll(() => lines.flushOpenEvent());
      await this.#pass(passed);
      this.#held -= passed;
    }
    while (this.#held > 0) {
      const free = lines.free();
      const count = Math.min(free.length, this.#held);
      free.fill(0, 0, count);
      lines.commit(count);
      this.#held -= count;
      await this.#offerAll(() => lines.next());
    }
  }

  async #pass(length: number): Promise<void> {
    if (length === 0) return;
    const { lines, offer, head, stats } = this.#options;
    const block = lines.giveNuls(length);
    const recent = lines.recent();
    await offer(block);
    if (stats) stats.nulBytes = (stats.nulBytes ?? 0) + length;
    lines.reset(block.offset + length, recent, head(), lines.rest);
  }

  async #offerAll(next: () => WindowBlock | undefined): Promise<void> {
    for (let block = next(); block; block = next()) await this.#options.offer(block);
  }
}
