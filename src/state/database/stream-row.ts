/** One stream as the database stores it, and where its readers resume. */
import type { Behind, Tail } from '../../core/block.ts';
import { baseOfOwner, sinkOfOwner } from '../../core/checkpoint-owner.ts';
import type { CompressedEnd, FileIdentity, StreamRecord } from '../../core/stream.ts';
import { type ContentPoint, NO_TAIL } from '../../core/sums.ts';
import { Mark } from './marks.ts';

export interface StoredStream {
  readonly id: string;
  readonly source: string;
  readonly path: string;
  identity: FileIdentity | undefined;
  startAt: number;
  readonly createdMs: number;
  /** Undefined where it is not known. */
  seenSize: number | undefined;
  compressedEnd: CompressedEnd | undefined;
  /** By owner (core/checkpoint-owner): a sink, or a dataset of one. */
  readonly marks: Map<string, Mark>;
}

/**
 * Resume position of a sink after its routes changed. A mark of an old route resumes after the settled events: batches in flight are read
 * again under the new rules. A mark of the whole sink resumes after its committed events. Undefined if the routes are the same.
 */
export function formerOf(stream: StoredStream, owner: string, owners: readonly string[]): Mark | undefined {
  let least: Mark | undefined;
  for (const [other, mark] of stream.marks) {
    if (owners.includes(other) || sinkOfOwner(other) !== sinkOfOwner(owner)) continue;
    const isRouted = baseOfOwner(other) !== undefined;
    const from = isRouted
      ? new Mark(mark.settledTo, mark.tail, mark.contentSum, mark.passed, mark.behind)
      : new Mark(mark.committedTo, mark.committedTail, mark.committedSum, mark.points, mark.committedBehind);
    if (!least || from.settledTo < least.settledTo) least = from;
  }
  return least;
}

/** Reading resumes at the sink that lags most; sinks that are no longer configured do not count. */
export function toRecord(stream: StoredStream, sinks: readonly string[]): StreamRecord {
  let resumeAt = Infinity;
  let tail: Tail = NO_TAIL;
  let contentSum: number | undefined = 0;
  let contentPoints: readonly ContentPoint[] = [];
  let behind: Behind | undefined;
  for (const [sink, mark] of stream.marks) {
    if (mark.committedTo >= resumeAt || !sinks.includes(sink)) continue;
    resumeAt = mark.committedTo;
    tail = mark.committedTail;
    contentSum = mark.committedSum;
    contentPoints = mark.points;
    behind = mark.committedBehind;
  }
  if (!Number.isFinite(resumeAt)) resumeAt = stream.startAt;
  const { id, source, path, identity, startAt, createdMs, seenSize, compressedEnd } = stream;
  const configured = [...stream.marks].flatMap(([sink, mark]) => (sinks.includes(sink) ? [mark.settledTo] : []));
  const settledTo = Math.min(resumeAt, ...configured);
  const ends = [...stream.marks].flatMap(([sink, mark]) =>
    sinks.includes(sink) && mark.committedTo > resumeAt ? [mark.committedTo] : [],
  );
  const known = {
    ...(seenSize === undefined ? {} : { seenSize }),
    ...(compressedEnd ? { compressedEnd } : {}),
    ...(behind ? { behind } : {}),
    ...(ends.length > 0 ? { cuts: [...new Set(ends)].sort((one, other) => one - other) } : {}),
  };
  return {
    id,
    source,
    path,
    identity,
    startAt,
    createdMs,
    resumeAt,
    settledTo,
    tail,
    contentSum,
    contentPoints,
    ...known,
  };
}
