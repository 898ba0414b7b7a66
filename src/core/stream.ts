/**
 * Streams: what positions count in. One per file generation, connection or process run, with a random id that is
 * persisted before its first use, so that a recreated file or a second run never repeats an idempotency key.
 */
import type { Behind, Tail } from './block.ts';
import { type ContentPoint, NO_TAIL } from './sums.ts';

/** Begins the path of a journal's stream, before the name of its sequence. */
export const JOURNAL_PATH = 'journal:';

export interface FileIdentity {
  /** Device and inode as decimal text (they may exceed 2^53). */
  readonly device: string;
  readonly inode: string;
  /** The fingerprint: length and SHA-256 (hex) of the file's first bytes, up to 1 KiB; grows with the file. */
  readonly headLength: number;
  readonly headHash: string;
  /** Where it was last, when that is not the path under which it was first matched. */
  readonly path?: string;
  /** The path under which it was first matched without symbolic links, as that last led to it, when they differ. */
  readonly realPath?: string;
  /** Its first line may have begun in another file. */
  readonly beginsInLine?: boolean;
  /** Its read part ends inside a line. */
  readonly endsInLine?: boolean;
  /** The last headers in its text, ascending. */
  readonly headers?: readonly SavedHeader[];
}

/** The header in force from this place of a stream on, as the parser takes it. */
export interface SavedHeader {
  readonly at: number;
  readonly text: string;
}

/** Where a compressed file ended when all of it was read. */
export interface CompressedEnd {
  /** Bytes of the compressed file. */
  readonly size: number;
  /** Bytes of its content; undefined for one that was passed over without a look at its content. */
  readonly contentSize: number | undefined;
  /** The compressed file's last bytes. */
  readonly tail: Tail;
}

export interface StreamRecord {
  readonly id: string;
  readonly source: string;
  /** The path under which the file was first matched; empty for connections and runs. */
  readonly path: string;
  readonly identity: FileIdentity | undefined;
  /** Where the stream begins in its file: not 0 for one that was taken up at its end. */
  readonly startAt: number;
  /** Wall clock, when it was made. */
  readonly createdMs: number;
  /** Where reading resumes: the end of the last span committed to the database, 0 for a new stream. */
  readonly resumeAt: number;
  /** Everything before it is settled at every sink; absent where the store does not know. */
  readonly settledTo?: number;
  /** The bytes just before `resumeAt`. */
  readonly tail: Tail;
  /** Content sum of the bytes from `startAt` to `resumeAt`; undefined where it is not known. */
  readonly contentSum: number | undefined;
  /** The same for places before `resumeAt`, ascending; absent where none is known. */
  readonly contentPoints?: readonly ContentPoint[];
  /** State at `resumeAt`, if lines of earlier events may follow it. */
  readonly behind?: Behind | undefined;
  /** Where other sinks resume, after `resumeAt`; absent if none does. */
  readonly cuts?: readonly number[];
  /** Bytes of the file that are known to be this stream's, read or not, when that was last saved; absent where it was not. */
  readonly seenSize?: number;
  /** Set while nothing of a compressed file is left to be read. */
  readonly compressedEnd?: CompressedEnd;
}

/** Why bytes did not reach a sink: what destroyed them, or kept them from being read. */
export type LossReason =
  | 'deleted'
  | 'truncated'
  | 'cut_off'
  | 'given_up'
  | 'damaged'
  | 'not_taken'
  | 'not_there_again'
  | 'disk_buffer'
  | 'dropped';

/** Bytes that are lost, or dropped by policy. */
export interface Loss {
  readonly source: string;
  /** The path under which the file was first matched; empty for connections and runs. */
  readonly path: string;
  /** Empty for bytes of no stream. */
  readonly stream: string;
  /** Their place in the stream; null where it is not known. */
  readonly from: number | null;
  readonly bytes: number;
  readonly reason: LossReason;
}

/** The part of the state that sources use. */
export interface StreamStore {
  /** Makes a new stream. It is on disk before the first batch that names it is sent, and after `persist` or about a second at the latest. */
  mint(
    source: string,
    path: string,
    identity?: FileIdentity,
    startAt?: number,
    former?: readonly string[],
  ): StreamRecord;
  list(source: string): StreamRecord[];
  /** True when the source ran on this data folder before, even if its streams are forgotten. Absent: ask `list`. */
  hasStarted?(source: string): boolean;
  /** Writes new streams now, so that a crash does not forget which files were seen. Does nothing without new ones. */
  persist?(): void;
  /**
   * Begins an unread stream at `startAt` of its file, after `tail`. `read`: another stream read it up to the last of these points, which
   * are counted from `startAt`. Saved as a new stream is.
   */
  begin(stream: string, startAt: number, tail: Tail, read?: readonly ContentPoint[]): void;
  /** Notes a grown fingerprint or a new inode. The path first matched stays. */
  identify(stream: string, identity: FileIdentity): void;
  /** Notes how many bytes of the stream's file were seen. On disk with the next save. */
  see(stream: string, size: number): void;
  /** Notes bytes that no sink will get. On disk with the next save. Called by `countLost` alone. */
  lose(loss: Loss): void;
  /** Notes that a compressed file was read to this end; undefined: it is read on. On disk as a new stream is. */
  noteCompressedEnd(stream: string, end: CompressedEnd | undefined): void;
  /** Forgets a stream that is settled and whose file is gone. */
  forget(stream: string): void;
  /** True when every span of the stream is settled. */
  isSettled(stream: string): boolean;
}

function noPositions(): never {
  throw new Error('no positions are kept here');
}

/** Keeps no positions: for those who only look. Every stream has the same name. */
export const NO_STREAMS: StreamStore = {
  mint: (source) => ({
    ...{ id: '0'.repeat(32), source, path: '', identity: undefined },
    ...{ startAt: 0, createdMs: 0, resumeAt: 0, tail: NO_TAIL, contentSum: undefined },
  }),
  list: () => [],
  begin: noPositions,
  identify: noPositions,
  see: noPositions,
  lose: () => {},
  noteCompressedEnd: noPositions,
  forget: noPositions,
  isSettled: () => true,
};
