/**
 * The NUL gap at a file's start after `copytruncate` under a program that did not open it for appending, and writes on at its old
 * position. It is neither event nor loss, whatever its size: the stream begins behind it. NULs elsewhere belong to their line, as do a
 * few at the start of a file that was not truncated.
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
  // Compares whole pieces at the speed of memory.
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

  /** Lets a new stream begin behind a gap that ends within `head`, the first bytes of its file. */
  beginBehind(file: TrackedFile, head: Buffer): void {
    if (head[0] !== 0 || file.stream.offset > 0 || !this.areSought) return;
    const end = leadingNuls(head);
    if (end >= file.stream.leastGap && end < head.length) this.#beginAt(file, end);
  }

  /**
   * Searches up to TURN_BYTES for the end of an open file's gap. False while it is not found: there is more to search if the file
   * `isBehind`. Throws system errors.
   */
  pass(file: TrackedFile): boolean {
    if (file.stream.offset > 0 || !isAllNuls(file.stream.identity) || !this.areSought) return true;
    const { fileSystem, streams } = this.#options;
    // A network file system may show bytes late that were NULs at the last check.
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

  /** Where to begin in a compressed file that was never read in its plain form: behind its gap. */
  async passOver(path: string, pieces: AsyncIterable<Buffer>): Promise<number> {
    let end = 0;
    for await (const piece of pieces) {
      const nuls = leadingNuls(piece);
      end += nuls;
      if (nuls < piece.length) break;
    }
    if (end < GAP_BYTES || !this.areSought) return 0;
    this.log(path, end);
    return end;
  }

  /** Logs the gap, once for each stream. */
  log(path: string, holeBytes: number): void {
    const text =
      'file begins with NUL bytes, and is read from behind them, as a log that was truncated under a program which did not open it for appending: have it append, or rotate without copytruncate';
    this.#options.notices.event('warn', { path, holeBytes }, text);
  }

  #beginAt(file: TrackedFile, end: number): void {
    file.stream.beginAt(end, tailOf(NULS.subarray(0, Math.min(end, TAIL_BYTES))));
    this.log(file.disk.path, end);
  }
}
