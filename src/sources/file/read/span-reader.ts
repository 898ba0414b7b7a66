/**
 * Reads bytes again that were read before: whole spans, as the batches of the last process are rebuilt from them, and the raw
 * bytes around one event. Moves no position.
 */
import type { Lane, Span, SpanGroups } from '../../../core/block.ts';
import { messageOf, TailraceError } from '../../../core/errors.ts';
import { LONGEST_BOM_BYTES, type WindowBlock } from '../../framing/byte-window.ts';
import type { Lines } from '../../framing/lines.ts';
import { type FileSystem, isSameFile, leadsNowhere, readHead } from '../scan/file-system.ts';
import { LaneRefusal, offerBlock, type SerialQueue } from './offer.ts';
import { giveJoined, markOf } from './join-across-files.ts';
import type { Stream } from '../known/stream.ts';
import type { KnownFiles } from '../known/known-files.ts';
import { readPart, resetInLine, sumAt } from './in-line.ts';
import type { TrackedFile } from '../known/tracked-file.ts';
import { isMountAway } from '../scan/locate.ts';
import { findNulRun, findNulsEnd } from '../known/nul-runs.ts';
import { GAP_BYTES } from '../limits.ts';
import { passNuls } from './nul-holes.ts';

export interface SpanReaderOptions {
  readonly lines: Lines;
  readonly fileSystem: FileSystem;
  readonly knownFiles: KnownFiles;
  /** Of the lines' users. */
  readonly turns: SerialQueue;
}

/** The most that is read of a span at once, to find one event in it. */
const MAX_SPAN_BYTES = 16 * 1024 * 1024;

export class SpanReader {
  readonly #options: SpanReaderOptions;

  constructor(options: SpanReaderOptions) {
    this.#options = options;
  }

  /**
   * Offers exactly the span's bytes again, by the same rules. Resolves to where they end: sooner than the span in a copy that
   * was made before the last of it was read, at its beginning where nothing of it is there. Rejects with `E_UNREADABLE` when that
   * is not known now (permissions, no descriptor left, a disk that fails).
   */
  reread(span: Span, lane: Lane, continued: readonly Span[] = []): Promise<number> {
    const { lines, turns } = this.#options;
    return turns.run(async () => {
      let { to } = span;
      lines.setReadAt(span.reads?.[0]?.atMs);
      const isThere = await this.#withFile(span, async (file, fd, end) => {
        if (continued.length > 0) return end === to && (await this.#readJoined(file, fd, span, continued, lane));
        to = end;
        if (span.groups) return await offerGroups(this.#options, fd, file.stream, { ...span, to }, span.groups, lane);
        for (const part of readsOf({ ...span, to })) {
          lines.setReadAt(part.readAtMs);
          if (!(await this.#readRange(file, fd, part, lane))) return false;
        }
        return true;
      }).finally(() => lines.setReadAt(undefined));
      return isThere ? to : span.from;
    });
  }

  /** False when the span's file is gone, or has nothing of it, or less than it should. `end`: of what it has of the span. */
  async #withFile(span: Span, use: (file: TrackedFile, fd: number, end: number) => Promise<boolean>): Promise<boolean> {
    const { fileSystem, knownFiles } = this.#options;
    const file = knownFiles.byStream(span.stream);
    if (!file) return false;
    const end = span.to <= file.stream.acceptedTo ? Math.min(span.to, file.stream.offset) : span.to;
    if (end <= span.from) return false;
    let opened: number | undefined;
    try {
      const fd = file.disk.fd ?? (opened = fileSystem.open(file.disk.path));
      const stat = fileSystem.fstat(fd);
      if (!isSameFile(stat, file.disk) || stat.size < end) return false;
      return await use(file, fd, end);
    } catch (error) {
      if (error instanceof LaneRefusal) throw error.cause;
      if (error instanceof TailraceError) throw error;
      if (leadsNowhere(error) && !isMountAway(fileSystem, file.disk.realPath ?? file.disk.path, file.disk.device))
        return false;
      throw new TailraceError('E_UNREADABLE', `cannot read "${file.disk.path}": ${messageOf(error)}`, { cause: error });
    } finally {
      if (opened !== undefined) fileSystem.close(opened);
    }
  }

  /** Puts the event together that begins in `span` and goes on in the others. False when these are no such event any more. */
  async #readJoined(
    file: TrackedFile,
    fd: number,
    span: Span,
    continued: readonly Span[],
    lane: Lane,
  ): Promise<boolean> {
    const { lines, fileSystem } = this.#options;
    await resetInLine(lines, fileSystem, fd, span.from, file.stream);
    if (
      !(await this.#fill(fd, span.from, span.to)) ||
      lines.measureEvent(false) !== undefined ||
      !lines.endsInOpenEvent
    )
      return false;
    const own = lines.waiting.length;
    const parts: { file: TrackedFile; mark: Buffer; length: number }[] = [];
    for (const each of continued) {
      const isThere = await this.#withFile(each, async (next, nextFd, end) => {
        const mark = markOf(lines, readHead(fileSystem, nextFd, LONGEST_BOM_BYTES));
        if (
          !mark ||
          each.from !== next.stream.startAt ||
          end < each.to ||
          !(await this.#fill(nextFd, each.from + mark.length, each.to))
        )
          return false;
        parts.push({ file: next, mark, length: each.to - each.from - mark.length });
        return true;
      });
      if (!isThere) return false;
    }
    const length = lines.measureEvent(true);
    if (length !== lines.waiting.length) return false;
    await offerBlock(lane, file.stream, giveJoined(lines, own, parts, length).block, lines.readAtMs);
    return true;
  }

  /** Puts the file's bytes `[from, to)` behind those that wait in the lines. False when more than one event is there. */
  async #fill(fd: number, from: number, to: number): Promise<boolean> {
    const { lines, fileSystem } = this.#options;
    for (let position = from; position < to;) {
      const free = lines.free();
      const count = await fileSystem.read(fd, free.subarray(0, Math.min(free.length, to - position)), position);
      if (count === 0) return false;
      lines.commit(count);
      position += count;
      if (position < to && lines.measureEvent(false) !== undefined) return false;
    }
    return true;
  }

  /** The span's bytes as they are in the file now; undefined when they are gone or too many. Does not touch the lines. */
  async readSpan(span: Pick<Span, 'stream' | 'from' | 'to'>): Promise<Buffer | undefined> {
    const { fileSystem, knownFiles } = this.#options;
    const file = knownFiles.byStream(span.stream);
    if (!file || span.to - span.from > MAX_SPAN_BYTES) return undefined;
    const bytes = Buffer.alloc(span.to - span.from);
    let fd: number | undefined;
    try {
      fd = fileSystem.open(file.disk.path);
      if (!isSameFile(fileSystem.fstat(fd), file.disk)) return undefined;
      for (let at = 0; at < bytes.length;) {
        const count = await fileSystem.read(fd, bytes.subarray(at), span.from + at);
        if (count === 0) return undefined;
        at += count;
      }
      return bytes;
    } catch {
      return undefined;
    } finally {
      if (fd !== undefined) fileSystem.close(fd);
    }
  }

  async #readRange(file: TrackedFile, fd: number, span: Pick<Span, 'from' | 'to'>, lane: Lane): Promise<boolean> {
    const { lines, fileSystem } = this.#options;
    const part = await readPart(lines, fileSystem, fd, span.from, span.to, file.stream);
    if (part) {
      await offerBlock(lane, file.stream, part, lines.readAtMs);
      return true;
    }
    await resetInLine(lines, fileSystem, fd, span.from, file.stream);
    const offer = (block: WindowBlock): Promise<void> => offerBlock(lane, file.stream, block, lines.readAtMs);
    let lineTo = span.from;
    for (let position = span.from; position < span.to;) {
      const free = lines.free();
      const count = await fileSystem.read(fd, free.subarray(0, Math.min(free.length, span.to - position)), position);
      if (count === 0) return false;
      const known = Math.min(count, Math.max(0, lineTo - position));
      const { unitBytes } = position === 0 ? lines.encodingOf(free.subarray(0, count)) : lines.encoding;
      const taken = known + findNulRun(free.subarray(known, count), position + known, unitBytes);
      lines.commit(taken);
      position += taken;
      for (let block = lines.next(); block; block = lines.next()) await offer(block);
      if (taken === count) continue;
      const { end } = findNulsEnd(fileSystem, fd, position, span.to);
      const to = end < span.to ? end - (end % unitBytes) : span.to;
      // What was passed over when it was read; more NULs may stand behind the span.
      const isPassed = to === span.to || (to - position >= GAP_BYTES && lines.pendingBytes === 0);
      if (to === span.to) for (let block = lines.flush(); block; block = lines.flush()) await offer(block);
      if (isPassed) await passNuls(this.#options, fd, (position = to), offer);
      else lineTo = to;
    }
    for (let block = lines.flush(); block; block = lines.flush()) await offer(block);
    return true;
  }
}

/** A span as it was read: its ranges of one read time each. Events of none go on in the next; one without `readAtMs` is read anew. */
export function readsOf(
  span: Pick<Span, 'from' | 'to' | 'reads'>,
): (Pick<Span, 'from' | 'to'> & { readonly readAtMs: number | undefined })[] {
  const { from, to, reads = [] } = span;
  const known = reads.filter((read) => read.from >= from && read.from < to);
  if (known.length === 0) return [{ from, to, readAtMs: reads.findLast((read) => read.from <= from)?.atMs }];
  return known.map((read, n) => ({
    from: n === 0 ? from : read.from,
    to: known[n + 1]?.from ?? to,
    readAtMs: read.atMs,
  }));
}

/**
 * Offers the events of a span as they were. Their lines may be after the span; where these changed, its state differs from the saved one.
 */
async function offerGroups(
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
