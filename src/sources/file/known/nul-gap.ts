/**
 * The hole that a file begins with after `copytruncate` under a program which did not open it for appending: that writes on at its
 * old position, and what is before it reads as NUL bytes, be they gigabytes. They are no event and no loss: the file's stream
 * begins behind them. NULs anywhere else are part of their line, and so are a few at the beginning of a file that was not truncated.
 */
import { TAIL_BYTES } from '../../../core/limits.ts';
import { GAP_BYTES, TURN_BYTES } from '../limits.ts';
import { READ_CHUNK_BYTES } from '../../framing/limits.ts';
import type { StreamStore } from '../../../core/stream.ts';
import { tailOf } from '../../../core/tail.ts';
import type { LineShaping } from '../../framing/line-shaping.ts';
import type { FileSystem } from '../scan/file-system.ts';
import { isAllNuls } from './content.ts';
import type { Notices } from '../scan/notices.ts';
import type { TrackedFile } from './tracked-file.ts';

const NULS = Buffer.alloc(READ_CHUNK_BYTES);
const chunk = Buffer.alloc(READ_CHUNK_BYTES);

export interface NulGapsOptions {
  readonly fileSystem: FileSystem;
  readonly streams: StreamStore;
  readonly notices: Notices;
  readonly shaping: LineShaping;
}

/** How many NULs the bytes begin with. */
export function leadingNuls(bytes: Buffer): number {
  let at = 0;
  // Whole pieces of a hole are compared at once, at the speed of memory.
  for (let step = NULS.length; step >= 64; step >>= 2)
    while (at + step <= bytes.length && bytes.subarray(at, at + step).equals(NULS.subarray(0, step))) at += step;
  while (at < bytes.length && bytes[at] === 0) at += 1;
  return at;
}

export class NulGaps {
  readonly #options: NulGapsOptions;

  constructor(options: NulGapsOptions) {
    this.#options = options;
  }

  /** False where a NUL is half a character. */
  get areSought(): boolean {
    return this.#options.shaping.encoding.unitBytes === 1;
  }

  /** The file, which has no stream yet, has this head: where a hole ends in it, the stream is to begin there. */
  passInHead(file: TrackedFile, head: Buffer): void {
    if (head[0] !== 0 || file.stream.offset > 0 || !this.areSought) return;
    const end = leadingNuls(head);
    if (end >= file.stream.leastGap && end < head.length) this.#beginAt(file, end);
  }

  /**
   * Looks at no more than TURN_BYTES of the hole that an open file begins with. False while its end is not found: there is more to look at
   * where the file `isBehind`, else nothing else is there. Throws system errors.
   */
  pass(file: TrackedFile): boolean {
    if (file.stream.offset > 0 || !isAllNuls(file.stream.identity) || !this.areSought) return true;
    const { fileSystem, streams } = this.#options;
    // What a network shows late may have been NULs at the last look.
    let at = Math.max(0, file.stream.gapTo - READ_CHUNK_BYTES);
    for (const stopAt = at + TURN_BYTES; at < stopAt;) {
      const bytes = chunk.subarray(0, fileSystem.peek(file.disk.fd!, chunk, at));
      const nuls = leadingNuls(bytes);
      at += nuls;
      if (nuls < bytes.length) {
        this.#beginAt(file, at);
        streams.begin(file.stream.id!, at, file.stream.tail);
        return true;
      }
      if (bytes.length < chunk.length) break;
    }
    file.stream.gapTo = file.stream.readTo = Math.max(at, file.stream.gapTo);
    return false;
  }

  /** Where a compressed file that was never read in its plain form is to be read from, by what is in it. */
  async passOver(path: string, pieces: AsyncIterable<Buffer>): Promise<number> {
    let end = 0;
    for await (const piece of pieces) {
      const nuls = leadingNuls(piece);
      end += nuls;
      if (nuls < piece.length) break;
    }
    if (end < GAP_BYTES || !this.areSought) return 0;
    this.tell(path, end);
    return end;
  }

  /** Says so, once for each generation. */
  tell(path: string, holeBytes: number): void {
    const text =
      'file begins with NUL bytes, and is read from behind them, as a log that was truncated under a program which did not open it for appending: have it append, or rotate without copytruncate';
    this.#options.notices.event('warn', { path, holeBytes }, text);
  }

  #beginAt(file: TrackedFile, end: number): void {
    file.stream.beginAt(end, tailOf(NULS.subarray(0, Math.min(end, TAIL_BYTES))));
    this.tell(file.disk.path, end);
  }
}
