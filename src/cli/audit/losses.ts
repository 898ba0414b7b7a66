/** Bytes that were lost or dropped, as the state remembers them: what became of them, and what to do. */
import type { LossReason } from '../../core/stream.ts';
import type { StoredLoss } from '../../state/database/losses.ts';
import type { ByteRange } from './ranges.ts';

const KEEP_ROTATED = 'keep rotated files until they are read (in logrotate: a higher `rotate`, `delaycompress`)';

export const REASONS: Readonly<Record<LossReason, { readonly why: string; readonly fix: string }>> = {
  deleted: { why: 'its file was deleted before it was read', fix: KEEP_ROTATED },
  truncated: { why: 'its file was truncated or replaced before it was read, and no copy was found', fix: KEEP_ROTATED },
  cut_off: { why: 'cut off the end of its file before it was read', fix: 'have the program append only' },
  given_up: {
    why: 'its file had no name any more and was given up',
    fix: 'the log says why; raise max_deleted_bytes where it names that',
  },
  damaged: { why: 'its compressed file is damaged (compressed bytes)', fix: 'put a whole file in its place' },
  not_taken: {
    why: 'no sink took it in time',
    fix: 'raise shutdown_timeout, or give the sinks more memory or a larger disk buffer',
  },
  not_there_again: {
    why: 'it was not delivered when the agent stopped, and its file was deleted or changed meanwhile',
    fix: KEEP_ROTATED,
  },
  disk_buffer: {
    why: 'its file in the disk buffer was damaged or removed',
    fix: 'tailrace buffer verify; check the disk',
  },
  dropped: {
    why: 'dropped because the disk buffer was full (buffer.when_full)',
    fix: 'raise buffer.disk.max_bytes, or use when_full: block',
  },
};

/** Bytes without a range in a stream: other bytes took it, or it is not known any more. */
export interface Unplaced {
  readonly state: 'lost' | 'dropped';
  readonly bytes: number;
  readonly reason: LossReason;
  readonly at: string;
  readonly acknowledged: boolean;
}

function describe({ reason, atMs, acknowledged }: StoredLoss): Omit<Unplaced, 'bytes'> {
  return {
    state: reason === 'dropped' ? 'dropped' : 'lost',
    reason,
    at: new Date(atMs).toISOString(),
    acknowledged: acknowledged === 1,
  };
}

/** `cut_off` positions may hold other bytes by now, and `damaged` counts compressed bytes. */
const hasPlace = ({ from, reason }: StoredLoss): boolean =>
  from !== null && reason !== 'cut_off' && reason !== 'damaged';

export function unplacedOf(losses: readonly StoredLoss[]): Unplaced[] {
  return losses.filter((loss) => !hasPlace(loss)).map((loss) => ({ bytes: loss.bytes, ...describe(loss) }));
}

/** The ranges, with losses and drops marked. Bytes that a file or the disk buffer holds are there, whatever was saved of them. */
export function withLosses(ranges: readonly ByteRange[], losses: readonly StoredLoss[]): ByteRange[] {
  let all = [...ranges];
  const lostFirst = losses
    .filter(hasPlace)
    .sort((a, b) => Number(a.reason === 'dropped') - Number(b.reason === 'dropped') || a.from! - b.from!);
  for (const each of lostFirst) {
    const loss = { from: each.from!, to: each.from! + each.bytes, ...describe(each) };
    all = all.flatMap((range) => carve(range, loss));
    const end = all.reduce((most, range) => Math.max(most, range.to ?? Infinity), loss.from);
    if (loss.to > end) all.push({ ...loss, from: end });
  }
  return all.sort((a, b) => a.from - b.from);
}

function carve(range: ByteRange, loss: ByteRange & { readonly to: number }): ByteRange[] {
  const [from, to] = [Math.max(range.from, loss.from), Math.min(range.to ?? Infinity, loss.to)];
  const isThere = range.state === 'unread' || (range.state === 'in_hand' && range.where !== 'agent');
  if (to <= from || isThere || range.reason !== undefined) return [range];
  const before = from > range.from ? [{ ...range, to: from }] : [];
  const after = range.to === undefined || to < range.to ? [{ ...range, from: to }] : [];
  return [...before, { ...loss, from, to }, ...after];
}

/** Takes them out by stream and owner; `rest`: by the stream, path and owner that nobody asked for. */
export function collectLosses(losses: readonly StoredLoss[]) {
  const byPlace = Map.groupBy(losses, ({ source, path, stream, owner }) =>
    stream === '' ? JSON.stringify([source, path, owner]) : `${stream} ${owner}`,
  );
  return {
    take(stream: string, owner: string): readonly StoredLoss[] {
      const found = byPlace.get(`${stream} ${owner}`) ?? [];
      byPlace.delete(`${stream} ${owner}`);
      return found;
    },
    rest: () => [...byPlace.values()],
  };
}
