/**
 * The NUL gap at a file's start after `copytruncate` under a program that did not open it for appending, and writes on at its old
 * position. It is neither event nor loss, whatever its size: the stream begins behind it. A few NULs at the start of a file that was not
 * truncated belong to its first line. read/nul-holes.ts has those elsewhere.
 */
import { TAIL_BYTES } from '../../../core/limits.ts';
import { GAP_BYTES, HOLE_SETTLES_MS, TURN_BYTES } from '../limits.ts';
import { LONGEST_UNIT_BYTES } from '../../framing/byte-window.ts';
import { READ_CHUNK_BYTES } from '../../framing/limits.ts';
import type { Clock } from '../../../core/time/clock.ts';
import type { SourceStats } from '../../../core/source.ts';
import type { StreamStore } from '../../../core/stream.ts';
import { tailOf } from '../../../core/sums.ts';
import type { LineShaping } from '../../framing/line-shaping.ts';
import { type FileSystem, readBefore, readHead } from '../scan/file-system.ts';
import { isAllNuls, isAtGap, isEmpty } from './content.ts';
import type { Notices } from '../scan/notices.ts';
import { findFilledEnd, findNulsEnd, findTextEnd, isFilled, leadingNuls, NULS } from './nul-runs.ts';
import { endsInNuls, isGone, noteSize, type TrackedFile } from './tracked-file.ts';

export interface NulGapsOptions {
  readonly fileSystem: FileSystem;
  readonly streams: StreamStore;
  readonly clock: Clock;
  readonly notices: Notices;
  readonly stats: SourceStats;
  readonly shaping: LineShaping;
}

/** `waits`: the bytes before the text may be written yet. */
export type GapSearch = 'over' | 'more' | 'waits';

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
    if (end < file.stream.nuls.minGap || end === head.length) return;
    this.#moveBehind(file, end);
    this.#say(file, end);
  }

  /** Searches up to TURN_BYTES for the end of an open file's gap: while there is `more`, the file `isBehind`. Throws system errors. */
  pass(file: TrackedFile): GapSearch {
    const { stream, disk } = file;
    if (isAtGap(stream) && stream.nuls.hole?.at === stream.startAt) {
      // Blocks may come from the last to the first.
      const first = findNulsEnd(this.#options.fileSystem, disk.fd!, 0, TURN_BYTES);
      if (first.end < stream.startAt && first.by === 'text') this.#begin(file, first.end);
      return this.#settle(file);
    }
    if (stream.offset > 0 || !isAllNuls(stream.identity) || !this.areSought) return 'over';
    const { fileSystem } = this.#options;
    // A network file system may show bytes late that were NULs at the last check.
    const at = Math.max(0, stream.nuls.gapEnd - READ_CHUNK_BYTES);
    const { end, by } = findNulsEnd(fileSystem, disk.fd!, at, at + TURN_BYTES);
    if (by !== 'text') {
      stream.nuls.gapEnd = stream.readTo = Math.max(end, stream.nuls.gapEnd);
      return 'more';
    }
    if (end < stream.nuls.minGap) {
      stream.nuls.gapEnd = 0;
      return 'over';
    }
    this.#begin(file, end);
    return this.#settle(file);
  }

  #begin(file: TrackedFile, end: number): void {
    const { fileSystem, streams, clock } = this.#options;
    const { stream, disk } = file;
    this.#moveBehind(file, end);
    streams.begin(stream.id!, end, stream.tail);
    stream.nuls.hole = {
      at: end,
      sinceMs: clock.monotonic(),
      text: tailOf(readHead(fileSystem, disk.fd!, TAIL_BYTES, end)),
    };
  }

  /** It is known where the stream begins. It is not read before nobody fills the gap any more. */
  #settle(file: TrackedFile): GapSearch {
    const { stream } = file;
    if (!stream.nuls.isAfterTruncation && !this.isSettled(file, stream.startAt)) return 'waits';
    stream.nuls.hole = undefined;
    this.#say(file, stream.startAt);
    return 'over';
  }

  /** True where an open file, of which nothing but its gap is known, has other first bytes because text was written in place of NULs. */
  wasFilled({ stream, disk: { fd } }: TrackedFile, size: number, sureSize: number): boolean {
    if (size < sureSize) return false;
    if (isEmpty(stream)) return true;
    const { hole } = stream.nuls;
    return (
      isAtGap(stream) &&
      hole !== undefined &&
      tailOf(readHead(this.#options.fileSystem, fd!, TAIL_BYTES, hole.at)).crc === hole.text?.crc
    );
  }

  /**
   * True where nobody fills the NULs before the text at `at` any more: some network file systems show the size of a file, and later blocks,
   * before its content.
   */
  isSettled(file: TrackedFile, at: number): boolean {
    const { clock } = this.#options;
    // A deleted file must reach the disk buffer at once.
    if (clock.now() - file.disk.seenMtimeMs >= HOLE_SETTLES_MS || file.flushLineAt === Infinity || isGone(file))
      return true;
    if (file.stream.nuls.hole?.at !== at) file.stream.nuls.hole = { at, sinceMs: clock.monotonic(), text: undefined };
    return clock.monotonic() - file.stream.nuls.hole.sinceMs >= HOLE_SETTLES_MS;
  }

  /**
   * A stat saw that the open file has this size. NULs at its end nobody may have written: then it has text to where the last piece has some.
   * Throws system errors.
   */
  noteSize(file: TrackedFile, size: number): void {
    if (size <= file.sureSize) return this.#noteFilled(file, size);
    const { fileSystem, shaping } = this.#options;
    const from = Math.max(0, size - READ_CHUNK_BYTES);
    const isText = this.endsInText(file.disk.fd!, size);
    noteSize(file, isText ? size : findTextEnd(fileSystem, file.disk.fd!, size, shaping.encoding.unitBytes, from));
    if (size > file.size) file.size = size;
  }

  /** Text in place of NULs was seen: it counts when it is lost. */
  #noteFilled(file: TrackedFile, size: number): void {
    if (!endsInNuls(file)) return;
    const { fileSystem, shaping } = this.#options;
    const { stream, disk } = file;
    const { from, to } = stream.nuls.last;
    const begin = Math.max(from, stream.offset);
    stream.noteText(findFilledEnd(fileSystem, disk.fd!, begin, Math.min(size, to), shaping.encoding.unitBytes));
  }

  /** False where an open file of this size ends in NULs. Throws system errors. */
  endsInText(fd: number, size: number): boolean {
    return readBefore(this.#options.fileSystem, fd, size, LONGEST_UNIT_BYTES).some((byte) => byte !== 0);
  }

  /** Text was written where the open file ended in NULs: neither its size nor its time need say so. */
  isFilled(file: TrackedFile): boolean {
    const { stream, disk } = file;
    if (!endsInNuls(file) || disk.fd === undefined) return false;
    try {
      return isFilled(
        this.#options.fileSystem,
        disk.fd,
        Math.max(stream.nuls.last.from, stream.offset),
        stream.nuls.last.to,
      );
    } catch {
      // Its next turn meets the same trouble, and notes it.
      return true;
    }
  }

  /** Of a rotated or deleted file that is nothing but NULs: nobody writes text in their place any more. */
  drop(file: TrackedFile): void {
    const { stream } = file;
    if (stream.nuls.gapEnd === 0 || stream.id === undefined) return;
    const end = stream.nuls.gapEnd;
    this.#count(end);
    this.#moveBehind(file, end);
    this.#options.streams.begin(stream.id, end, stream.tail);
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
    this.#count(end);
    this.log(path, end);
    return end;
  }

  /** Logs the gap, once for each stream. */
  log(path: string, holeBytes: number): void {
    const text =
      'file begins with NUL bytes, and is read from behind them, as a log that was truncated under a program which did not open it for appending: have it append, or rotate without copytruncate';
    this.#options.notices.event('warn', { path, holeBytes }, text);
  }

  #moveBehind(file: TrackedFile, end: number): void {
    file.stream.beginAt(end, tailOf(NULS.subarray(0, Math.min(end, TAIL_BYTES))));
  }

  #say({ disk }: TrackedFile, end: number): void {
    this.#count(end);
    this.log(disk.path, end);
  }

  #count(nuls: number): void {
    const { stats } = this.#options;
    stats.nulBytes = (stats.nulBytes ?? 0) + nuls;
  }
}
