/**
 * A file that was changed in its middle: a footer or header is written in place, or its beginning is cut out (`fallocate`). Finds the place
 * from where to go on, by the content sums of the stream. Promises: bytes before that place were read, or are the changed ones; a file that
 * only resembles the stream has no such place.
 */
import { HEAD_BYTES } from '../../../core/limits.ts';
import { addSums, type ContentPoint, subtractSums } from '../../../core/sums.ts';
import { contentSum } from '../../../kernel/content-sum.ts';
import { READ_CHUNK_BYTES } from '../../framing/limits.ts';
import { CUT_OUT_UNIT_BYTES, MAX_APPENDED_BYTES, MIN_KEPT_BYTES, MIN_KEPT_LINES, TURN_BYTES } from '../limits.ts';
import { type FileSystem, readHead } from '../scan/file-system.ts';
import { hasFingerprint, hasTail, isAllNuls, type ReadContent, type ContentSum } from './content.ts';
import { leadingNuls } from './nul-runs.ts';

/** The bytes read, with their sums. */
export interface SummedContent extends ReadContent {
  readonly sum: ContentSum;
}

export type KeptContent =
  | ({ readonly kind: 'go on'; readonly isWhole: boolean; readonly by: number } & KeptStretch)
  /** Some of the bytes read are in their old place, too few to go on by. */
  | { readonly kind: 'in part' };

/** Bytes that are as they were, in places of the file as it is now: `points` are in them, from their beginning, where the sum is 0, to their end. */
export interface KeptStretch {
  readonly from: number;
  readonly to: number;
  readonly points: readonly ContentPoint[];
}

/** A stream that begins at `at`. */
export function nothingBefore(at: number): KeptStretch {
  return { from: at, to: at, points: [{ at, sum: 0 }] };
}

const chunk = Buffer.alloc(READ_CHUNK_BYTES);

/** `seenSize`: of the file before the change. Undefined where nothing that was read is where it was. Throws system errors. */
export function findKept(
  fileSystem: FileSystem,
  fd: number,
  size: number,
  read: SummedContent,
  seenSize: number,
): KeptContent | undefined {
  if (read.offset === read.startAt) return undefined;
  const stays = findUnmoved(fileSystem, fd, size, read);
  if (stays?.kind === 'go on' || size >= seenSize) return stays;
  return findMoved(fileSystem, fd, size, read, seenSize) ?? stays;
}

function findUnmoved(fileSystem: FileSystem, fd: number, size: number, read: SummedContent): KeptContent | undefined {
  const points = read.sum.points.filter(({ at }) => at <= size);
  const kept = findStretch(fileSystem, fd, points, 0);
  const goOn = { kind: 'go on', isWhole: kept?.to === read.offset, by: 0 } as const;
  if (kept && isNulsBehind(fileSystem, fd, read, kept)) return { ...goOn, ...kept, isWhole: true };
  const isHeadCutOut = leadingNuls(readHead(fileSystem, fd, HEAD_BYTES)) === HEAD_BYTES;
  if (kept && isEnough(fileSystem, fd, kept, isHeadCutOut ? kept.from : read.startAt)) return { ...goOn, ...kept };
  const isHeadKept =
    !isAllNuls(read.identity) &&
    read.identity.headLength >= MIN_KEPT_BYTES / 4 &&
    hasFingerprint(read.identity, readHead(fileSystem, fd, HEAD_BYTES));
  return kept || isHeadKept || (size >= read.offset && hasTail(fileSystem, fd, read)) ? { kind: 'in part' } : undefined;
}

/** All that was read is as it was, but NULs that were passed over at its end: they were cut off, or text is in their place. */
function isNulsBehind(
  fileSystem: FileSystem,
  fd: number,
  { sum, startAt, identity }: SummedContent,
  { from, to }: KeptStretch,
): boolean {
  const { points } = sum;
  if (from !== startAt || points.at(-1)!.at === to || points.at(-1)!.sum !== points.find(({ at }) => at === to)?.sum)
    return false;
  return hasFingerprint(identity, readHead(fileSystem, fd, HEAD_BYTES));
}

/** Blocks were cut out of the file's beginning: the bytes read moved by as much, and more may have been appended since. */
function findMoved(
  fileSystem: FileSystem,
  fd: number,
  size: number,
  read: SummedContent,
  seenSize: number,
): KeptContent | undefined {
  const least = Math.ceil((seenSize - size) / CUT_OUT_UNIT_BYTES) * CUT_OUT_UNIT_BYTES;
  const most = Math.min(read.offset - read.startAt, least + MAX_APPENDED_BYTES);
  for (let by = least; by <= most; by += CUT_OUT_UNIT_BYTES) {
    if (!hasTail(fileSystem, fd, { ...read, offset: read.offset - by })) continue;
    const points = read.sum.points.filter(({ at }) => at >= read.startAt + by);
    const kept = findStretch(fileSystem, fd, points, by);
    if (kept?.to === read.offset - by && isEnough(fileSystem, fd, kept, kept.from))
      return { kind: 'go on', isWhole: true, by, ...kept };
  }
  return undefined;
}

/** The last stretch between known points whose bytes are as they were, up to TURN_BYTES of it; they moved `by` bytes to the beginning. */
function findStretch(
  fileSystem: FileSystem,
  fd: number,
  points: readonly ContentPoint[],
  by: number,
): KeptStretch | undefined {
  const kept: { readonly from: number; readonly to: number; readonly sum: number }[] = [];
  let left = TURN_BYTES;
  for (let n = points.length - 1; n > 0 && left > 0; n -= 1) {
    const [begin, end] = [points[n - 1]!, points[n]!];
    left -= end.at - begin.at;
    const [from, to] = [begin.at - by, end.at - by];
    if (sumOf(fileSystem, fd, from, to, by) === subtractSums(end.sum, begin.sum))
      kept.unshift({
        from,
        to,
        sum: by === 0 ? subtractSums(end.sum, begin.sum) : sumOf(fileSystem, fd, from, to, 0)!,
      });
    else if (kept.length > 0) break;
  }
  if (!kept[0]) return undefined;
  const first = { at: kept[0].from, sum: 0 };
  let sum = 0;
  const behind = kept.map((part) => ({ at: part.to, sum: (sum = addSums(sum, part.sum)) }));
  return { from: first.at, to: kept.at(-1)!.to, points: [first, ...behind] };
}

/** The same up to `at` in it. Throws system errors. */
export function cutStretch(fileSystem: FileSystem, fd: number, { from, points }: KeptStretch, at: number): KeptStretch {
  const before = points.filter((point) => point.at <= at);
  const last = before.at(-1);
  if (!last) return nothingBefore(at);
  const sum = addSums(last.sum, sumOf(fileSystem, fd, last.at, at, 0) ?? 0);
  return { from, to: at, points: last.at === at ? before : [...before, { at, sum }] };
}

/** The content sum of `[from, to)` of the file, as if that stood `by` bytes further on; undefined where it is shorter. */
function sumOf(fileSystem: FileSystem, fd: number, from: number, to: number, by: number): number | undefined {
  let sum = 0;
  for (let at = from; at < to;) {
    const count = fileSystem.peek(fd, chunk.subarray(0, Math.min(chunk.length, to - at)), at);
    if (count === 0) return undefined;
    sum = addSums(sum, contentSum(chunk.subarray(0, count), at + by));
    at += count;
  }
  return sum;
}

/** They are at least half of the bytes after `beginning`, and hold lines that are not all alike. */
function isEnough(fileSystem: FileSystem, fd: number, { from, to }: KeptStretch, beginning: number): boolean {
  const kept = to - from;
  if (kept < MIN_KEPT_BYTES || (kept < TURN_BYTES / 2 && kept * 2 < to - beginning)) return false;
  const length = Math.min(kept, 4 * MIN_KEPT_BYTES);
  const lines = readHead(fileSystem, fd, length, to - length)
    .toString('latin1')
    .split('\n');
  // The first one may be the end of a line.
  return new Set(lines.slice(1, -1)).size >= MIN_KEPT_LINES;
}
