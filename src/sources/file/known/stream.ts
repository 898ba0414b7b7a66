/** A stream: the bytes read of one file generation, and how far. The only place that moves a position. */
import type { Behind, EventShape, Tail } from '../../../core/block.ts';
import { GAP_BYTES } from '../limits.ts';
import type { FileIdentity, StreamRecord } from '../../../core/stream.ts';
import { type ContentPoint, NO_TAIL } from '../../../core/sums.ts';
import type { HeldReads } from '../../framing/lines.ts';
import type { SuspendedLine } from '../../framing/long-line.ts';
import { ContentSum, type ReadContent } from './content.ts';

export interface NulRange {
  readonly from: number;
  readonly to: number;
  /** All of them were looked at since nobody writes to the file any more. */
  readonly isFinal: boolean;
}

/** The NULs in the file that are no content of the stream. */
export interface StreamNuls {
  /** Bytes at its beginning that are a gap for sure. */
  minGap: number;
  /** The gap goes at least as far as this while its end was not found. */
  gapEnd: number;
  /** The file held other content before. */
  isAfterTruncation: boolean;
  /** Those that the file ended in when it was last read: they are not there yet. */
  last: NulRange;
  /** Those that are waited for to be filled: where they end, since when (monotonic), and of a gap the first bytes behind it. */
  hole: { readonly at: number; readonly sinceMs: number; readonly text: Tail | undefined } | undefined;
}

/** Of a stream whose events interleave. */
export interface StreamGroups {
  /** What lines behind the stream's position belong to. */
  behind: Behind | undefined;
  /** False until the bytes behind the position were compared with it. */
  isSure: boolean;
  /** When the lines that wait for more of their event were read. */
  held: HeldReads | undefined;
  /** Other sinks go on at these places, after a restart. */
  cuts: readonly number[];
}

/** The record of a stream of an earlier process. */
export type SavedStream = StreamRecord & {
  /** So much of it was read, where its file is a copy that is shorter. */
  readonly acceptedTo?: number;
};

export const NO_NULS: NulRange = { from: 0, to: 0, isFinal: false };

export class Stream {
  /** The path under which it was first matched: the events' `file`. */
  readonly firstPath: string;
  /** The same without symbolic links, as it last led to the file: copies and rotated files lie beside both. */
  realPath: string;
  readonly shape: EventShape;
  /** Undefined until there is a first byte to read. */
  id: string | undefined;
  /** Wall clock, when the stream got its id. */
  createdMs = 0;
  /** The fingerprint, and where the file was last. */
  identity: FileIdentity;
  readonly nuls: StreamNuls = {
    minGap: GAP_BYTES,
    gapEnd: 0,
    isAfterTruncation: false,
    last: NO_NULS,
    hole: undefined,
  };
  /** Its beginning is not read before (monotonic), as the file is changed in place again and again; 0 where it is not. */
  readFromMs = 0;
  /** Bytes up to here were read; from `offset` on they are an unfinished line. */
  readTo = 0;
  /** The unfinished oversize line that reading stopped in. */
  suspended: SuspendedLine | undefined;
  /** Whole lines wait for more of their event. */
  hasOpenEvent = false;
  readonly groups: StreamGroups = { behind: undefined, isSure: true, held: undefined, cuts: [] };
  /** Bytes from `offset` on that the lane is taking. */
  offeredBytes = 0;
  /** The last bytes that the lane is taking. */
  offeredTail: Tail = NO_TAIL;
  #startAt = 0;
  #offset = 0;
  #acceptedTo = 0;
  #tail: Tail = NO_TAIL;
  #sum = new ContentSum(0, 0);

  constructor(firstPath: string, shape: EventShape, identity: FileIdentity) {
    this.firstPath = this.realPath = firstPath;
    this.shape = shape;
    this.identity = identity;
  }

  /** Where the stream begins in the file. */
  get startAt(): number {
    return this.#startAt;
  }

  /** The lane accepted everything before it; always the beginning of a line, or of the rest of one that was sent unfinished. */
  get offset(): number {
    return this.#offset;
  }

  /** End of the accepted bytes when the copy is shorter than the original; above `offset` then. */
  get acceptedTo(): number {
    return this.#acceptedTo;
  }

  /** Of the bytes just before `offset`. */
  get tail(): Tail {
    return this.#tail;
  }

  /** Of the bytes from `startAt` to `offset`. */
  get sum(): ContentSum {
    return this.#sum;
  }

  /** How far it was read, counting a NUL gap without an end. */
  get position(): number {
    return Math.max(this.#offset, this.nuls.gapEnd);
  }

  /** Where a file of this size ends, without the NULs that it is known to end in. */
  endIn(size: number, { from, to } = this.nuls.last): number {
    if (size <= this.nuls.gapEnd) return Math.min(size, this.#offset);
    return size > to ? size : Math.min(size, Math.max(from, this.#offset));
  }

  /** Text was read up to `to`: what the lane did not accept of it yet is no NULs that the file ended in before. */
  noteText(to: number): void {
    const { last } = this.nuls;
    if (to > last.from && last.to > 0) this.nuls.last = { ...last, from: to };
  }

  /** The same without the NULs at its end that were passed over: nobody loses these. */
  textEndIn(size: number): number {
    const { from, to } = this.nuls.last;
    return size > to ? this.endIn(size) : Math.min(this.endIn(size), from);
  }

  /** The known facts about its content, including the bytes that the lane is taking. */
  get read(): ReadContent {
    const { identity, startAt, offset, tail, offeredBytes, offeredTail } = this;
    return offeredBytes > 0
      ? { identity, startAt, offset: offset + offeredBytes, tail: offeredTail }
      : { identity, startAt, offset, tail };
  }

  /** Goes on where an earlier process stopped. */
  resume({
    id,
    createdMs,
    identity,
    startAt,
    resumeAt,
    tail,
    contentSum,
    contentPoints,
    acceptedTo = 0,
    behind,
    cuts = [],
  }: SavedStream): void {
    this.id = id;
    this.createdMs = createdMs;
    if (identity) this.identity = identity;
    this.realPath = identity?.realPath ?? this.firstPath;
    this.#startAt = startAt;
    this.#acceptedTo = acceptedTo;
    this.#moveTo(resumeAt, tail, new ContentSum(resumeAt, contentSum, contentPoints));
    Object.assign(this.groups, { behind, isSure: behind === undefined, cuts });
  }

  /** Nothing was read of it, and it begins at `at`. */
  beginAt(at: number, tail: Tail): void {
    this.#startAt = at;
    this.nuls.gapEnd = 0;
    this.#moveTo(at, tail, new ContentSum(at, 0));
  }

  /** The bytes before its position were read by another stream, from which its sums are known. */
  goOn(
    { from, to, points }: { readonly from: number; readonly to: number; readonly points: readonly ContentPoint[] },
    tail: Tail,
  ): void {
    this.#startAt = from;
    this.#moveTo(to, tail, new ContentSum(to, points.at(-1)!.sum, points.slice(0, -1)));
  }

  /** The lane took everything before `to`: these parts, the last bytes of which are `tail`. */
  advance(
    to: number,
    parts: readonly { readonly length: number; readonly sum: number }[],
    tail: Tail,
    behind?: Behind,
  ): void {
    for (const { length, sum } of parts) this.#sum.add(length, sum);
    this.#offset = to;
    this.#tail = tail;
    this.groups.behind = behind;
    this.suspended = undefined;
  }

  /** Its file is a copy that ends at `size`, before the end of the bytes read. */
  endAt(size: number, sum: number, tail: Tail): void {
    this.#acceptedTo = this.#offset;
    this.#moveTo(size, tail, new ContentSum(size, sum));
  }

  #moveTo(offset: number, tail: Tail, sum: ContentSum): void {
    this.#offset = this.readTo = offset;
    this.#tail = tail;
    this.#sum = sum;
    this.suspended = this.nuls.hole = undefined;
    Object.assign(this.groups, { behind: undefined, isSure: true, held: undefined });
    this.hasOpenEvent = false;
    this.nuls.last = NO_NULS;
  }
}
