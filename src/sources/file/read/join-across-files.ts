/**
 * An event of joined lines that is still open where its file ends, read on in the files that follow: a stack trace that was cut
 * by a rotation is one event. Its lines are put together in the window, so that the rules for joining, and its limits, are the
 * same as within one file. Moves no position.
 */
import type { Clock } from '../../../core/time/clock.ts';
import type { Block, Lane, StreamRange, Tail } from '../../../core/block.ts';
import { TAIL_BYTES } from '../../../core/limits.ts';
import { KEEP_OPEN_MS } from '../limits.ts';
import { countLost, type Losing } from '../../../core/source.ts';
import { tailOf } from '../../../core/sums.ts';
import { findBom, LONGEST_BOM_BYTES, sumWithBom, type WindowBlock } from '../../framing/byte-window.ts';
import { countLongLine } from '../../framing/long-line.ts';
import type { Lines } from '../../framing/lines.ts';
import { offerBlock } from './offer.ts';
import { type FileSystem, readHead } from '../scan/file-system.ts';
import type { Copies } from '../act/copies.ts';
import type { KnownFiles } from '../known/known-files.ts';
import type { NulGaps } from '../known/nul-gap.ts';
import type { RotationChain } from '../known/rotation-chain.ts';
import type { OpenFiles } from '../known/open-files.ts';
import { compare, isUntouched } from '../known/content.ts';
import { findNulRun } from '../known/nul-runs.ts';
import type { Stream } from '../known/stream.ts';
import { isDetached, noteSize, type TrackedFile } from '../known/tracked-file.ts';

export interface ContinueOptions {
  readonly lines: Lines;
  readonly fileSystem: FileSystem;
  readonly knownFiles: KnownFiles;
  readonly descriptors: OpenFiles;
  readonly gaps: NulGaps;
  readonly chain: RotationChain;
  readonly copies: Copies;
  readonly clock: Clock;
  /** After this long, an event that nothing follows is over. */
  readonly groupTimeoutMs: number;
}

export type OfferOptions = Pick<ContinueOptions, 'lines' | 'knownFiles'> & Losing & { readonly lane: Lane };

/** A file in which the event goes on, as far as it does. */
export interface Continuation {
  readonly file: TrackedFile;
  readonly range: StreamRange;
}

export interface CutEvent {
  /** Of the file in which the event begins. `single` and `continued` are set where it goes on. */
  readonly block: WindowBlock & Pick<Block, 'continued'>;
  readonly continuations: readonly Continuation[];
}

/** Bytes of another file that were put behind those that waited, and the byte order mark before them. */
interface JoinedPart<F> {
  readonly file: F;
  readonly mark: Buffer;
  readonly length: number;
}

/**
 * The event that waits in the lines, whole; undefined while more of it may come. `isFinal`: if nothing goes on with it, it is
 * over. The files that follow must not have turns meanwhile.
 */
export async function continueEvent(
  options: ContinueOptions,
  file: TrackedFile,
  isFinal: boolean,
): Promise<CutEvent | undefined> {
  const { lines, chain } = options;
  const own = lines.waiting.length;
  const parts: JoinedPart<TrackedFile>[] = [];
  for (const next of chain.followers(file)) {
    if (parts.length > 0 && !lines.endsInOpenEvent) break;
    const read = await readPart(options, next);
    // Nothing of it is known; what was read of those before it may not be all.
    if (!read) return isFinal ? giveJoined(lines, own, parts, own) : undefined;
    parts.push(read.part);
    if (read.eventLength !== undefined) return giveJoined(lines, own, parts, read.eventLength);
  }
  const length = lines.measureEvent(true)!;
  const isForced = [file, ...parts.map((part) => part.file)].some(({ flushLineAt }) => flushLineAt === Infinity);
  const isDone = length === own ? isFinal : isForced || isStill(options, parts);
  return isDone ? giveJoined(lines, own, parts, length) : undefined;
}

/** Puts the event together from the bytes that wait, of which the first `own` are the block's own stream's, and those of `parts`. */
export function giveJoined<F extends { readonly stream: Pick<Stream, 'id' | 'startAt'> }>(
  lines: Lines,
  own: number,
  parts: readonly JoinedPart<F>[],
  length: number,
): {
  readonly block: CutEvent['block'];
  readonly continuations: { readonly file: F; readonly range: StreamRange }[];
} {
  if (length <= own) return { block: lines.giveEvent(length), continuations: [] };
  const { waiting } = lines;
  const mark = lines.bom ?? Buffer.alloc(0);
  const ownBytes = waiting.subarray(0, own);
  const single = {
    length: mark.length + own,
    sum: sumWithBom(mark, ownBytes, lines.offset),
    tail: tailBehind(lines.recent(), ownBytes),
  };
  const continuations: { file: F; range: StreamRange }[] = [];
  let at = own;
  for (const part of parts) {
    const bytes = waiting.subarray(at, Math.min(length, at + part.length));
    if (bytes.length === 0) break;
    const from = part.file.stream.startAt;
    const to = from + part.mark.length + bytes.length;
    const range = {
      stream: part.file.stream.id!,
      from,
      to,
      sum: sumWithBom(part.mark, bytes, from),
      tail: tailBehind(part.mark, bytes),
    };
    continuations.push({ file: part.file, range });
    at += bytes.length;
  }
  const { made: _, ...block } = lines.giveEvent(length);
  const continued = continuations.map(({ range }) => range);
  return { block: { ...block, single: { ...block.single, ...single }, continued }, continuations };
}

/** The byte order mark of a file by its first bytes; undefined when its encoding is not that of the lines under way. */
export function markOf(lines: Lines, head: Buffer): Buffer | undefined {
  if (lines.encodingOf(head) !== lines.encoding) return undefined;
  return findBom(head)?.bytes ?? Buffer.alloc(0);
}

interface ReadPart {
  readonly part: JoinedPart<TrackedFile>;
  /** As `measureEvent` says. */
  readonly eventLength: number | undefined;
}

/** Reads the file from its beginning until the event is over, or the file is. Undefined when it cannot be, or is of another kind. */
async function readPart(options: ContinueOptions, file: TrackedFile): Promise<ReadPart | undefined> {
  const { lines, fileSystem, knownFiles, descriptors, gaps, copies } = options;
  if (!knownFiles.files.has(file) || isDetached(file) || !descriptors.open(file)) return undefined;
  const { disk, stream } = file;
  const { fd } = disk;
  try {
    const stat = fileSystem.fstat(fd!);
    if (stat.size === 0) return { part: { file, mark: Buffer.alloc(0), length: 0 }, eventLength: undefined };
    if (compare(fileSystem, fd!, stat.size, stream) !== 'same' || !copies.name(file) || gaps.pass(file) !== 'over')
      return undefined;
    const mark = markOf(lines, readHead(fileSystem, fd!, LONGEST_BOM_BYTES));
    if (!mark) return undefined;
    noteSize(file, stat.size);
    const begin = stream.startAt + mark.length;
    for (let position = begin; ;) {
      const into = lines.free();
      disk.isReading = true;
      const count = await fileSystem.read(fd!, into, position);
      disk.isReading = false;
      if (file.disk.fd !== fd || !isUntouched(fileSystem, fd!, stream)) return undefined;
      // NULs at the end are not there yet.
      const taken = findNulRun(into.subarray(0, count), position, lines.encoding.unitBytes);
      lines.commit(taken);
      position += taken;
      stream.noteText(position);
      const eventLength = lines.measureEvent(false);
      if (taken < into.length || eventLength !== undefined)
        return { part: { file, mark, length: position - begin }, eventLength };
    }
  } catch (error) {
    descriptors.fail(file, error);
    return undefined;
  } finally {
    disk.isReading = false;
  }
}

/** Nothing has come for so long that the event is over. */
function isStill({ clock, groupTimeoutMs }: ContinueOptions, parts: readonly JoinedPart<TrackedFile>[]): boolean {
  const changedAtMs = Math.max(...parts.map(({ file }) => file.disk.changedAtMs));
  return clock.monotonic() - changedAtMs >= Math.min(groupTimeoutMs, KEEP_OPEN_MS);
}

function tailBehind(before: Buffer, bytes: Buffer): Tail {
  return tailOf(Buffer.concat([before, bytes.subarray(-TAIL_BYTES)]));
}

/** Offers an event whose lines are in several files, and moves the positions in all of them once the lane took it. */
export async function offerJoined(
  options: OfferOptions,
  file: TrackedFile,
  { block, continuations }: CutEvent,
): Promise<void> {
  const { lane, lines, stats } = options;
  const { length, sum, tail } = block.single!;
  Object.assign(file.stream, { offeredBytes: length, offeredTail: tail });
  for (const { file: next, range } of continuations)
    Object.assign(next.stream, { offeredBytes: range.to - range.from, offeredTail: range.tail });
  try {
    await offerBlock(lane, file.stream, block, lines.readAtMs);
  } catch (error) {
    for (const { file: next } of continuations) loseOffered(options, next);
    throw error;
  } finally {
    for (const { file: next } of continuations) next.stream.offeredBytes = 0;
  }
  file.stream.offeredBytes = 0;
  const ranges = [{ file, to: block.offset + length, length, sum, tail }];
  for (const { file: next, range } of continuations)
    ranges.push({ file: next, length: range.to - range.from, ...range });
  for (const each of ranges) {
    const { stream } = each.file;
    stream.advance(each.to, [each], each.tail);
    stream.readTo = Math.max(stream.readTo, each.to);
    stats.readBytes += each.length;
  }
  countLongLine(stats, block);
}

/** The lane does not take what it is offered of a file that was given up meanwhile: nobody else counts it. */
export function loseOffered(options: Losing & Pick<ContinueOptions, 'knownFiles'>, file: TrackedFile): void {
  const { offset, offeredBytes } = file.stream;
  if (!options.knownFiles.files.has(file))
    countLost(options, file.stream, offeredBytes, offset + offeredBytes, 'not_taken');
}
