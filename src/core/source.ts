/** A source as the agent sees it. */
import type { Lane, Region, Span } from './block.ts';
import type { Clock } from './time/clock.ts';
import type { Log } from './log.ts';
import type { LossReason, StreamStore } from './stream.ts';

/** Numbers that telemetry reads at a scrape. All are totals of this process, except where noted. */
export interface SourceStats {
  readBytes: number;
  /** Unread bytes that are known to exist, now. */
  lagBytes: number;
  /** Those of them that are in no file any more: a descriptor that is open leads to them, or a copy may have them. Absent where there are no files. */
  goneLagBytes?: number;
  /** Events that were cut to `max_event_bytes`. */
  truncatedEvents: number;
  /** Characters that the source itself made U+FFFD, because they were invalid; absent where none were. The kernel counts its own. */
  invalidCharacters?: number;
  /** Lines over `max_event_bytes`, delivered or not; absent where none can be. */
  oversizeLines?: number;
  /** Only `countLost` adds to it. */
  readonly lostBytes: number;
  /** Gaps whose bytes nobody knows, and how old the last event was when it was taken. Absent where neither can be. */
  readonly past?: { lostRanges: number; lagSeconds: number };
  /** NULs that were passed over, as nobody wrote text in their place; absent where none were. */
  nulBytes?: number;
  /** Times that were asked for and could not be read, and values that were no such type; absent where none can be. */
  timeErrors?: number;
  typeErrors?: number;
  /** Events dropped because the window was full (datagrams) or the lane had stopped; absent where neither can happen. */
  droppedEvents?: number;
  /** Datagrams that the system dropped before they were received, and that are no events; absent where none can be. */
  readonly droppedDatagrams?: number;
  /**
   * Connections that were closed because as many as allowed were open, idle ones for new ones, or new ones; and messages that were given
   * before their end, because it did not come in time. Absent where there are no connections.
   */
  readonly connections?: { closedIdle: number; closedNew: number; lateMessages: number };
  /** Now, by state (`active`, `idle`, `rotated`, `deleted`, `failed` for files; `open` for connections). */
  files: Record<string, number>;
  /** Changes that a full scan found and no watch had reported; absent where nothing is watched. */
  missedChanges?: number;
  /** Rotations between two scans, which may have deleted files unseen; absent where nothing rotates. */
  missedRotations?: number;
  /** Paths refused for safety, each counted once: symbolic links that were not followed. Absent for sources without files. */
  readonly refused?: { links: number };
  /** Events that took a path with an object or string per event. */
  slowPathEvents: number;
}

/** A file as people look at it. */
export interface ListedFile {
  readonly path: string;
  /** As in `stats.files`; `undecided` for one that may be a copy of another. */
  readonly state: string;
  /** Everything before it was read and accepted. */
  readonly offset: number;
  readonly size: number;
  readonly lagBytes: number;
  /** Why it cannot be read now. */
  readonly problem?: string;
}

/** A path that a source leaves out for safety. */
export interface RefusedPath {
  /** The link that is not followed, or the file itself. */
  readonly path: string;
  readonly reason: string;
  readonly fix: string;
  /** False of a file that is never read as a log. */
  readonly isLink: boolean;
}

export interface Source {
  readonly id: string;
  readonly stats: SourceStats;
  /** Binds sockets, recognises files. Throws `TailraceError` when the source cannot work at all. */
  open(): Promise<void>;
  /**
   * Reads until the source has ended (stdin at its end; a file source under `--once` when all files are at their end)
   * or `stop` was called. Expected trouble is handled and logged inside; a rejection is a bug.
   */
  run(): Promise<void>;
  /** Only where senders are connected: ends their connections, while all else is read. `stop` does so, too. Idempotent. */
  hangUp?(): Promise<void>;
  /** Stops reading and closes its files. Resolves once no `accept` is pending. Idempotent. */
  stop(): Promise<void>;
  /**
   * Only where bytes can be read again (files): offers the blocks of exactly the span's range to the lane, so that a
   * batch is rebuilt after a restart. Resolves to where they end: at `to`, or sooner where the rest is not there any more,
   * at `from` where nothing is. Rejects with `E_UNREADABLE` when that is not known now. `continued`: the spans in which the
   * one event of `span` goes on; all or nothing of it is offered then.
   */
  reread?(span: Span, lane: Lane, continued?: readonly Span[]): Promise<number>;
  /** Names a step of its own work that is past its deadline; undefined while all of it makes progress. Waiting for a sink is no such step. */
  overdue?(): string | undefined;
  /** Why a path is or is not read, where, and its lag. */
  explain?(path: string): object;
  /** The files that it knows, at most `limit` of them: first those in trouble or lagging. */
  listFiles?(limit: number): { readonly total: number; readonly files: readonly ListedFile[] };
  /** True for a path that the source's patterns lead to, whether or not something is there, and for one that it reads. */
  reaches?(path: string): boolean;
  /** Paths that it refuses for safety now, by the path that its patterns lead to. */
  readonly refused?: ReadonlyMap<string, RefusedPath>;
  /** Beside `reread`: the span's bytes as they are in the file, undefined when they are gone or more than 16 MiB. */
  readSpan?(span: Pick<Span, 'stream' | 'from' | 'to'>): Promise<Buffer | undefined>;
}

/** Saves bytes that cannot be read again from now on: their file was deleted. */
export interface Rescue {
  /** Keeps the stream's held events, and those offered from now on, in the disk buffer. */
  keep(stream: string): void;
  /** Undoes `keep`: the same bytes were found again elsewhere. */
  release(stream: string): void;
  /** Writes all events offered so far, without waiting for their batches to fill. */
  flush(): void;
  /** A lane for such streams, which does not wait for other files. */
  readonly lane: Lane;
  /** True while the disk buffer of a sink is full. */
  readonly isFull: boolean;
}

/** Files that no source reads as logs: the secrets of the configuration, and files in the data folder or in the folder of a sink. */
export interface PrivateFiles {
  /** Looks again at what there is, unless that was a moment ago; `isOpening`: at the secrets in any case. */
  refresh(isOpening?: boolean): void;
  /** The kind of the file, as in "it is …"; undefined for one that may be read. `path`: leads to it, by no link at its end. */
  whatIs(file: PrivateFile, path: string): string | undefined;
}

/** As its stat says. */
export interface PrivateFile {
  readonly device: number | bigint;
  readonly inode: number | bigint;
  readonly bornMs: number;
  readonly kind: string;
}

/** The context that a source gets. */
export interface SourceContext {
  readonly lane: Lane;
  readonly streams: StreamStore;
  readonly clock: Clock;
  readonly log: Log;
  readonly hostname: string;
  /** For sources whose bytes can be read again, as a rule. */
  readonly rescue?: Rescue;
  /** Reserves kernel memory for a window; called when the source is made. */
  readonly reserve: (bytes: number) => Region;
  /** Absent in tests without such files. */
  readonly privateFiles?: PrivateFiles | undefined;
  /** `run --once`: read what exists now to its end, then return. */
  readonly once: boolean;
}

export function newStats(): SourceStats {
  return { readBytes: 0, lagBytes: 0, truncatedEvents: 0, lostBytes: 0, files: {}, slowPathEvents: 0 };
}

/** Those who count bytes as lost. */
export interface Losing {
  /** The source's id. */
  readonly source: string;
  readonly streams: Pick<StreamStore, 'lose'>;
  readonly stats: SourceStats;
}

/**
 * Counts bytes as lost, and has the state remember which, so that an audit names them after a restart, too. `end`: where they end in the
 * stream; undefined where that is not known, or positions do not count bytes. Does nothing for none.
 */
export function countLost(
  { source, streams, stats }: Losing,
  { id, firstPath: path }: { readonly id?: string | undefined; readonly firstPath: string },
  bytes: number,
  end: number | undefined,
  reason: LossReason,
): void {
  if (bytes <= 0) return;
  (stats as { lostBytes: number }).lostBytes += bytes;
  const from = id === undefined || end === undefined ? null : end - bytes;
  streams.lose({ source, path, stream: from === null ? '' : id!, from, bytes, reason });
}
