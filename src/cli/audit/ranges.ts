/** Where each byte of a stream is, for one sink and dataset. Pure: from what the state holds and how far the file goes. */
import type { LossReason } from '../../core/stream.ts';
import type { AuditedMark, PendingSpan } from '../../state/database/audit-rows.ts';

export interface ByteRange {
  readonly from: number;
  /** Undefined where the end is not known: the content of a compressed file that was not read to its end. */
  readonly to: number | undefined;
  /**
   * `settled`: below the low-water mark. `in_hand`: read, and not settled. `unread`: in the file. `lost`: in no file, and in no disk buffer.
   * `dropped`: by policy. `gap`: the state has no record of it.
   */
  readonly state: 'settled' | 'in_hand' | 'unread' | 'lost' | 'dropped' | 'gap';
  /** What holds bytes that are in hand. */
  readonly where?: 'disk_buffer' | 'file' | 'agent';
  /** Why it was lost or dropped, and when that was found, RFC 3339; absent where no agent has found it yet. */
  readonly reason?: LossReason;
  readonly at?: string;
  /** Somebody acknowledged the loss. */
  readonly acknowledged?: boolean;
}

export interface StreamExtent {
  readonly startAt: number;
  /** The stream's bytes can be read from its file up to here; undefined where the file is gone, or cut off. */
  readonly readableTo: number | undefined;
  /** Where the stream ends as far as is known; undefined for a compressed file that was not read to its end. */
  readonly end: number | undefined;
}

export interface Holders {
  /** True while an agent runs: it holds or counts events that are in no file. */
  readonly isRunning: boolean;
  /** True where the disk buffer has the batch. */
  readonly isSpooled: (key: string) => boolean;
}

/** Every byte of the stream from its start to its end, in order, without overlap. */
export function rangesOf({ settledTo, pending }: AuditedMark, extent: StreamExtent, holders: Holders): ByteRange[] {
  const { startAt, readableTo, end } = extent;
  const ranges: ByteRange[] = [];
  let at = startAt;
  const add = (to: number | undefined, what: Omit<ByteRange, 'from' | 'to'>): void => {
    if (to !== undefined && to <= at) return;
    const last = ranges.at(-1);
    if (last && last.state === what.state && last.where === what.where) ranges[ranges.length - 1] = { ...last, to };
    else ranges.push({ from: at, to, ...what });
    at = to ?? at;
  };
  add(settledTo, { state: 'settled' });
  for (const span of pending) {
    add(span.from, { state: 'gap' });
    add(span.to, holdsSpan(span, readableTo, holders));
  }
  if (readableTo !== undefined) add(end, { state: 'unread' });
  else add(end ?? at, holders.isRunning ? { state: 'in_hand', where: 'agent' } : { state: 'lost' });
  return ranges;
}

function holdsSpan(
  span: PendingSpan,
  readableTo: number | undefined,
  { isRunning, isSpooled }: Holders,
): Omit<ByteRange, 'from' | 'to'> {
  if (span.isSettled) return { state: 'settled' };
  if (isSpooled(span.key)) return { state: 'in_hand', where: 'disk_buffer' };
  if (readableTo !== undefined && readableTo >= span.to) return { state: 'in_hand', where: 'file' };
  return isRunning ? { state: 'in_hand', where: 'agent' } : { state: 'lost' };
}
