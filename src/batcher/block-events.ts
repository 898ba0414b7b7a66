/**
 * Where events end in a block, and which of the stream's bytes they come from. For a block of plain lines these are its newlines and the
 * window's own bytes; a block of joined lines, or of events made from the stream's bytes, brings tables.
 */
import type { Block, SpanGroups } from '../core/block.ts';
import { addSums, subtractSums } from '../core/sums.ts';
import { contentSum } from '../kernel/content-sum.ts';
import { TAIL_BYTES } from '../core/limits.ts';

/** The ends of the events from `start` on, for the kernel; undefined where each line is one. */
export function endsFrom({ ends }: Block, start: number): Uint32Array | undefined {
  return ends && (ends[0]! > start ? ends : ends.subarray(firstAbove(ends, start)));
}

/** Where the event that begins at `start` ends, or at the block's end where lines are events. */
export function eventEndAt(block: Block, start: number): number {
  return block.ends ? block.ends[firstAbove(block.ends, start)]! : block.end;
}

/** Where the first `count` events and empty lines of the block end. */
export function endOfEvents({ window, start, end, single, ends }: Block, count: number): number {
  if (single) return end;
  if (ends) return ends[Math.min(count, ends.length) - 1]!;
  let at = start;
  for (let events = 0; events < count && at < end; events++) at = window.bytes.indexOf(NEWLINE, at) + 1;
  return at;
}

/** The stream's bytes behind the window's `[from, to)`, as offsets from the block's own. */
export function streamRange(block: Block, from: number, to: number): { readonly from: number; readonly to: number } {
  if (block.single) return { from: 0, to: block.single.length };
  return { from: usedAt(block, from), to: usedAt(block, to) };
}

/** The positions of the window's `[from, to)`. */
export function positionsOf(block: Block, from: number, to: number): { readonly from: number; readonly to: number } {
  const { offset, start, positions } = block;
  if (positions) {
    const behind = (at: number): number => (at === start ? offset : positions[firstAbove(block.ends!, at - 1)]!);
    return { from: behind(from), to: behind(to) };
  }
  const range = streamRange(block, from, to);
  return { from: offset + range.from, to: offset + range.to };
}

/** Bytes of the stream that the block came from. */
function streamLength({ single, made, start, end }: Block): number {
  return single?.length ?? made?.from.length ?? end - start;
}

/** The stream's bytes in a range that `streamRange` gave; for a `single` the caller knows their checksum. */
export function streamBytes({ made, window, start }: Block, from: number, to: number): Buffer {
  return made ? made.from.subarray(from, to) : window.bytes.subarray(start + from, start + to);
}

/** Up to TAIL_BYTES of the stream before an offset from the block's own. */
export function streamTail(block: Block, to: number): Buffer {
  return streamBytes(block, Math.max(0, to - TAIL_BYTES), to);
}

/**
 * The place in the window where a reader goes on that has the stream up to a position. An event that
 * the offset divides, or that uses up nothing and may or may not have been read with it, comes again.
 */
export function windowAt({ start, end, ends, made, offset, positions }: Block, position: number): number {
  if (position <= offset) return start;
  if (!ends) return Math.min(end, start + position - offset);
  const behind = (n: number): number => positions?.[n] ?? offset + (made ? made.used[n]! : ends[n]! - start);
  const reached = ends.findIndex((_, n) => behind(n) >= position);
  if (reached < 0) return end;
  return behind(reached) === position ? ends[reached]! : (ends[reached - 1] ?? start);
}

/** Of the block's events in the window's bytes `[from, to)`. */
export function groupsIn({ groups, ends }: Block, from: number, to: number): SpanGroups | undefined {
  if (!groups || !ends) return undefined;
  const first = ends.findIndex((end) => end > from);
  const last = ends.indexOf(to);
  return {
    before: first === 0 ? groups.before : groups.after(first - 1).earlier,
    untils: groups.untils.slice(first, last + 1).filter((until) => until >= 0),
    after: groups.after(last),
  };
}

function usedAt({ start, ends, made }: Block, at: number): number {
  if (!made) return at - start;
  return at === start ? 0 : made.used[firstAbove(ends!, at - 1)]!;
}

/** The index of the first end behind `at`. */
function firstAbove(ends: Uint32Array, at: number): number {
  let low = 0;
  let high = ends.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (ends[middle]! > at) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Where in the window each of the first `count` events from `start` on begins; empty lines are no events, as in the kernel. */
export function eventStarts({ window: { bytes }, shape, single, ends }: Block, start: number, count: number): number[] {
  const starts: number[] = [];
  let at = start;
  let joined = ends ? firstAbove(ends, start) : 0;
  while (starts.length < count) {
    const end = single ? Infinity : ends ? ends[joined++]! : bytes.indexOf(NEWLINE, at) + 1;
    if (shape.format === 'events' || single || !isEmptyText(bytes, at, end)) starts.push(at);
    at = end;
  }
  return starts;
}

const NEWLINE = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/** True for line endings alone. */
function isEmptyText(bytes: Buffer, from: number, to: number): boolean {
  for (let at = from; at < to; at += 1) {
    if (bytes[at] === CARRIAGE_RETURN && bytes[at + 1] === NEWLINE) at += 1;
    else if (bytes[at] !== NEWLINE) return false;
  }
  return true;
}

/** The block that was cut last, and the sums of its bytes up to each cut: several sinks and datasets cut it at the same places. */
let cuts: { readonly block: Block; readonly upTo: Map<number, number> } | undefined;

/** Each event by its own position, so that the sum is the same however blocks and spans are cut. */
function sumOfEvents(
  { window, start, ends, offset }: Block,
  positions: readonly number[],
  from: number,
  to: number,
): number {
  let sum = 0;
  for (let n = firstAbove(ends!, from); n < ends!.length && ends![n]! <= to; n++)
    sum = addSums(sum, contentSum(window.bytes, positions[n - 1] ?? offset, ends![n - 1] ?? start, ends![n]));
  return sum;
}

/** The content sum of the stream's bytes in a range of the block. Where the sums up to its ends are known, it is their difference. */
export function sumOf(block: Block, from: number, to: number): number {
  if (block.positions) return sumOfEvents(block, block.positions, block.start + from, block.start + to);
  const length = streamLength(block);
  if (from === 0 && to === length && block.sum !== undefined) return block.sum;
  if (cuts?.block !== block) cuts = { block, upTo: new Map([[0, 0]]) };
  const { upTo } = cuts;
  if (block.sum !== undefined) upTo.set(length, block.sum);
  const [before, after] = [upTo.get(from), upTo.get(to)];
  if (before !== undefined && after !== undefined) return subtractSums(after, before);
  const sum = contentSum(streamBytes(block, from, to), block.offset + from);
  if (before !== undefined) upTo.set(to, addSums(before, sum));
  return sum;
}
