/** Lines of interleaved events (`group`) in a file: reading goes on behind events that were sent, and a span's events are made again. */
import type { Lane, Span, SpanGroups } from '../../../core/block.ts';
import { contentSum } from '../../../kernel/content-sum.ts';
import type { Lines } from '../../framing/lines.ts';
import type { Stream } from '../known/stream.ts';
import { type FileSystem, readBefore, readHead } from '../scan/file-system.ts';
import { offerBlock } from './offer.ts';
import { resetInLine } from './in-line.ts';

/** Gives the lines, which are at the stream's position, the facts about the bytes after it. Throws system errors. */
export function goOnInGroups(
  lines: Lines,
  fileSystem: Pick<FileSystem, 'peek'>,
  fd: number,
  { offset, groups }: Stream,
): void {
  const { behind, held, isSure } = groups;
  if (behind && !isSure && sumAt(fileSystem, fd, offset, behind.gate) !== behind.sum) groups.behind = undefined;
  groups.isSure = true;
  const cuts = groups.cuts.filter((cut) => cut > offset);
  lines.goOn({ behind: groups.behind, held: held && held.to >= offset ? held : { reads: [], to: offset }, cuts });
}

/** Has the file's next turn go on with the lines that wait: parsing them again each time would cost more than they do. */
export function keepLines(lines: Lines, stream: Stream, to: number): void {
  if (lines.heldReads && lines.hasOpenEvent && !lines.isSkipping) lines.kept = { stream, to };
}

/** Where to read on, if the lines still hold what waits of the file, and that is what the file holds. Throws system errors. */
export function readOnTo(lines: Lines, fileSystem: FileSystem, fd: number, stream: Stream): number | undefined {
  const { kept } = lines;
  lines.kept = undefined;
  if (kept?.stream !== stream || lines.offset !== stream.offset || lines.offset + lines.pendingBytes !== kept.to)
    return undefined;
  const last = lines.lastRead();
  return readBefore(fileSystem, fd, kept.to, last.length).equals(last) ? kept.to : undefined;
}

/**
 * Offers the events of a span as they were. Their lines may be after the span; where these changed, its state differs from the saved one.
 */
export async function offerGroups(
  { lines, fileSystem }: { readonly lines: Lines; readonly fileSystem: FileSystem },
  fd: number,
  stream: Stream,
  { from, to, reads = [] }: Span,
  groups: SpanGroups,
  lane: Lane,
): Promise<boolean> {
  const gate = Math.max(to, groups.after.gate);
  await resetInLine(lines, fileSystem, fd, from, stream);
  lines.replay(groups, to, reads, { ...groups.after, sum: sumAt(fileSystem, fd, to, gate) });
  for (let position = from; position < gate;) {
    const free = lines.free();
    const count = await fileSystem.read(fd, free.subarray(0, Math.min(free.length, gate - position)), position);
    if (count === 0 && position < to) return false;
    if (count === 0) break;
    lines.commit(count);
    position += count;
    for (let block = lines.next(); block; block = lines.next()) await offerBlock(lane, stream, block, lines.readAtMs);
  }
  for (let block = lines.flush(); block; block = lines.flush()) await offerBlock(lane, stream, block, lines.readAtMs);
  return true;
}

/** Content sum of what the file has of these bytes. */
function sumAt(fileSystem: Pick<FileSystem, 'peek'>, fd: number, from: number, to: number): number {
  return contentSum(readHead(fileSystem, fd, Math.max(0, to - from), from), from);
}
