/**
 * Reads one file's new bytes into the source's one window and offers them as blocks. Nothing is carried in memory from one
 * turn to the next: the unfinished line is read again, save one that is longer than an event may be, of which only
 * length and checksum are kept. Before a byte is handed on, what was read before it is compared with what is there now.
 */
import type { Lane } from '../../../core/block.ts';
import { StoppedError } from '../../../core/errors.ts';
import { HEAD_BYTES, TAIL_BYTES } from '../../../core/limits.ts';
import { TURN_BYTES } from '../limits.ts';
import type { Losing } from '../../../core/source.ts';
import type { StreamStore } from '../../../core/stream.ts';
import { addSums, tailOf } from '../../../core/sums.ts';
import { contentSum } from '../../../kernel/content-sum.ts';
import type { WindowBlock } from '../../framing/byte-window.ts';
import { streamBytesIn, streamBytesOf } from '../../framing/lines.ts';
import { countLongLine, type SuspendedLine } from '../../framing/long-line.ts';
import { sumRead, compare, fingerprintOfText, isUntouched, mayGrow } from '../known/content.ts';
import type { Renewal } from '../act/renewal.ts';
import type { CopyMatcher } from '../observe/copy-matcher.ts';
import { isBegunAnew } from '../observe/observe-file.ts';
import type { StreamIdentities } from '../known/stream-identities.ts';
import { findNulRun } from '../known/nul-runs.ts';
import { NO_NULS, type NulRange } from '../known/stream.ts';
import type { Notices } from '../scan/notices.ts';
import { LaneRefusal, offerBlock, type SerialQueue } from './offer.ts';
import { nothingBefore } from '../known/kept-content.ts';
import type { LineEnds } from './line-ends.ts';
import { judgeNuls, type NulsAhead, passNuls } from './nul-holes.ts';
import { loseOffered, offerJoined, continueEvent, type ContinueOptions } from './join-across-files.ts';
import { readBefore, readHead } from '../scan/file-system.ts';
import { noteCharset, noteCutEnd, noteCutLine } from './reader-notices.ts';
import { goOnInGroups, keepLines, readOnTo, refill, resetInLine, resumeLine, stillSuspended } from './in-line.ts';
import {
  endedInNuls,
  hasNewRealPath,
  isBraked,
  isDetached,
  isBehind,
  noteSize,
  type TrackedFile,
} from '../known/tracked-file.ts';

export interface TailReaderOptions extends Losing, ContinueOptions {
  readonly renewal: Renewal;
  readonly matcher: CopyMatcher;
  readonly identities: StreamIdentities;
  readonly lane: Lane;
  readonly streams: StreamStore;
  readonly notices: Notices;
  /** The window is used by one turn, or reread, at a time. */
  readonly turns: SerialQueue;
  readonly lineEnds: LineEnds;
}

export class TailReader {
  readonly #options: TailReaderOptions;

  constructor(options: TailReaderOptions) {
    this.#options = options;
  }

  /**
   * Reads at most TURN_BYTES (more only to get past one line) and puts the file back into the queue when it has more.
   * Trouble with the file is noted with the tracker; rejects only with what the lane rejected with.
   */
  turn(file: TrackedFile): Promise<void> {
    const { turns, knownFiles, descriptors } = this.#options;
    return turns.run(async () => {
      let current = file;
      let isReading = false;
      try {
        const ready = this.#prepare(file);
        if (ready) {
          current = ready;
          current.isBusy = isReading = true;
          if (await this.#read(current)) knownFiles.enqueue(current);
        }
        descriptors.recover(current);
      } catch (error) {
        if (error instanceof LaneRefusal) {
          loseOffered(this.#options, current);
          throw error.cause;
        }
        descriptors.fail(current, error);
      } finally {
        // Else another turn may hold it.
        if (isReading) {
          current.isBusy = false;
          current.stream.offeredBytes = 0;
        }
      }
    });
  }

  /** Opens, compares, starts a new generation where the known content is gone, names the stream. Undefined: nothing to read. */
  #prepare(file: TrackedFile): TrackedFile | undefined {
    const { fileSystem, knownFiles, descriptors, identities, gaps, chain, renewal, matcher, copies, streams } =
      this.#options;
    const { lines, clock } = this.#options;
    // While this turn waited, the file may have been deleted, and its other reader have begun.
    if (file.isBusy || knownFiles.isUndecided(file) || isDetached(file) || !descriptors.open(file)) return undefined;
    const stat = fileSystem.fstat(file.disk.fd!);
    const head = readHead(fileSystem, file.disk.fd!, HEAD_BYTES);
    const isSame =
      compare(fileSystem, file.disk.fd!, stat.size, file.stream, head) === 'same' &&
      !isBegunAnew(file, stat.size, matcher);
    let current = isSame ? file : renewal.renew(file);
    if (current === file) gaps.noteSize(file, stat.size);
    if (current.stream.acceptedTo > current.stream.offset && current.size > current.stream.offset)
      current = renewal.goOn(current, stat, nothingBefore(current.stream.offset), current.stream.tail);
    // Of another generation than the head, it may be the head before the truncation.
    if (current === file && current.stream.id !== undefined && mayGrow(current.stream.identity, head)) {
      current.stream.identity = { ...current.stream.identity, ...fingerprintOfText(head) };
      streams.identify(current.stream.id, current.stream.identity);
    }
    if (hasNewRealPath(current)) identities.save(current);
    const { offset, id } = current.stream;
    // A charset of wider units is named since: what was read ends within one.
    if (id !== undefined && offset % lines.encodingOf(head).unitBytes !== 0) {
      const tail = tailOf(readBefore(fileSystem, current.disk.fd!, offset - 1, TAIL_BYTES));
      current = renewal.goOn(current, stat, nothingBefore(offset - 1), tail);
    }
    if (current !== file) {
      copies.settle();
      chain.link();
    }
    if (current.stream.offset === 0 && current.stream.readTo === 0)
      noteCharset(this.#options.notices, lines, current, head);
    if (current.size === 0 || !copies.name(current)) return undefined;
    const search = gaps.pass(current);
    if (search !== 'over') {
      noteCutEnd(this.#options, current, current.stream.readTo);
      if (search === 'more' && isBehind(current)) knownFiles.enqueue(current);
      else if (search === 'more' && current.size <= Math.max(current.flushLineAt, current.passNulsAt))
        gaps.drop(current);
      return undefined;
    }
    return isBraked(current, clock.monotonic()) || chain.holds(current) ? undefined : current;
  }

  async #read(file: TrackedFile): Promise<boolean> {
    const { lines, fileSystem, gaps, chain, lineEnds } = this.#options;
    const begin = file.stream.offset;
    const kept = readOnTo(lines, fileSystem, file.disk.fd!, file.stream);
    const suspended = kept === undefined ? stillSuspended(fileSystem, file) : undefined;
    const isLate = kept === undefined && (await this.#resume(file, suspended));
    let position = kept ?? begin + (suspended?.length ?? 0);
    const nulsBefore = file.stream.nuls.last;
    const stopAt = position + TURN_BYTES;
    let isAtEnd = false;
    /** NULs before it belong to their line. */
    let lineTo = 0;
    let nuls: NulsAhead | undefined;
    // Past TURN_BYTES only while not even one event was complete: a turn always gets further.
    while (!isAtEnd && (position < stopAt || (file.stream.offset === begin && !lines.isSkipping))) {
      const into = lines.free();
      const { disk } = file;
      const { fd } = disk;
      if (fd === undefined) return false;
      let count: number;
      // The descriptor stays open until the read is over, whoever has the file by then.
      disk.isReading = true;
      try {
        count = await fileSystem.read(fd, into, position);
      } finally {
        disk.isReading = false;
      }
      // After the read, so that it holds for what was read: a truncation before it would show.
      if (file.disk.fd !== fd || (count > 0 && !isUntouched(fileSystem, fd, file.stream))) return !isDetached(file);
      const bytes = into.subarray(0, count);
      const known = Math.min(count, Math.max(0, lineTo - position));
      const { unitBytes } = position === 0 ? lines.encodingOf(bytes) : lines.encoding;
      const taken = known + findNulRun(bytes.subarray(known), position + known, unitBytes);
      lines.commit(taken);
      position += taken;
      if (taken > 0) file.stream.noteText(position);
      isAtEnd = count < into.length && taken === count;
      for (let block = lines.next(); block; block = lines.next()) {
        await this.#offer(file, block, isLate, taken < into.length);
        // The rest is read from where it is now, or was counted as lost.
        if (file.disk.fd !== fd) return !isDetached(file);
      }
      if (file.stream.offset >= file.readLimit) return false;
      if (taken === count) continue;
      nuls = judgeNuls(fileSystem, gaps, file, position, lines);
      if (nuls.kind === 'line') lineTo = nuls.to;
      else if (nuls.kind === 'hole') {
        // No group goes on behind it.
        for (let block = lines.flushOpenEvent(); block; block = lines.flushOpenEvent())
          await this.#offer(file, block, false);
        if (file.disk.fd !== fd) return !isDetached(file);
        await passNuls(this.#options, fd, (position = nuls.to), (block) => this.#offer(file, block, false));
        if (file.disk.fd !== fd) return !isDetached(file);
      } else break;
    }
    isAtEnd ||= nuls?.kind === 'end';
    const end = nuls?.kind === 'end' ? nuls.to : position;
    // Behind NULs that it passed over it found nothing more.
    const isBehindNuls = position === file.stream.nuls.last.to;
    if (nuls?.kind !== 'end' && nuls?.kind !== 'more' && !isBehindNuls) file.stream.nuls.last = NO_NULS;
    if (isAtEnd && lines.endsInOpenEvent && chain.followers(file).length > 0)
      return this.#endEvent(file, position, end, nulsBefore);
    const isFinal = file.flushLineAt === Infinity || file.passNulsAt >= 0;
    const flush =
      position <= file.flushLineAt
        ? () => lines.flush(isFinal)
        : position <= file.flushEventAt
          ? () => lines.flushOpenEvent()
          : undefined;
    const { fd } = file.disk;
    if (isAtEnd && flush)
      for (let block = flush(); block; block = flush()) {
        await this.#offer(file, block, isLate);
        if (file.disk.fd !== fd) return !isDetached(file);
      }
    const isOver =
      end > position && (end <= file.passNulsAt || file.flushLineAt === Infinity) && lines.pendingBytes === 0;
    if (isOver) await passNuls(this.#options, fd!, end, (block) => this.#offer(file, block, false));
    if (file.disk.fd !== fd) return !isDetached(file);
    lineEnds.noteEnd(file, isAtEnd && flush !== undefined);
    if (isAtEnd) file.flushLineAt = file.flushEventAt = file.passNulsAt = -1;
    file.stream.hasOpenEvent = lines.hasOpenEvent;
    file.stream.suspended = lines.long.suspend();
    file.stream.groups.held = lines.heldReads;
    keepLines(lines, file.stream, position);
    file.stream.readTo = isAtEnd ? end : file.stream.offset;
    noteSize(file, end);
    if (isAtEnd && end < file.size && !endedInNuls(file, end, nulsBefore))
      noteCutEnd(this.#options, file, end, nulsBefore);
    if (nuls?.kind === 'waits') return false;
    // It grew while the lane was taking what was read.
    return !isAtEnd || end < file.size;
  }

  /** The file ends in an event that is open, and another one goes on with it. */
  async #endEvent(file: TrackedFile, position: number, end: number, nulsBefore: NulRange): Promise<false> {
    const { chain } = this.#options;
    const files = chain.followers(file);
    for (const each of files) each.isBusy = true;
    try {
      noteSize(file, end);
      file.stream.readTo = end;
      file.stream.hasOpenEvent = true;
      const event = await continueEvent(this.#options, file, position <= Math.max(file.flushLineAt, file.flushEventAt));
      file.flushLineAt = file.flushEventAt = -1;
      if (!event) return false;
      if (event.continuations.length === 0) await this.#offer(file, event.block, false);
      else await offerJoined(this.#options, file, event);
      file.stream.hasOpenEvent = false;
      if (end < file.size) noteCutEnd(this.#options, file, end, nulsBefore);
      for (const each of files) if (each === files[0] || each.stream.offset > each.stream.startAt) chain.release(each);
      return false;
    } finally {
      for (const each of files) each.isBusy = false;
    }
  }

  /** Goes back to the file's position, or into the line. True when that one's kept beginning is to be read once its end is seen. */
  async #resume(file: TrackedFile, line: SuspendedLine | undefined): Promise<boolean> {
    const { lines, fileSystem, lineEnds } = this.#options;
    if (!line) {
      lineEnds.noteBeginning(file);
      await resetInLine(lines, fileSystem, file.disk.fd!, file.stream.offset, file.stream);
      goOnInGroups(lines, fileSystem, file.disk.fd!, file.stream);
      return false;
    }
    const kept = resumeLine(lines, fileSystem, file.disk.fd!, file.stream.offset, file.stream, line);
    goOnInGroups(lines, fileSystem, file.disk.fd!, file.stream);
    if (kept && line.kind === 'skipped') await refill(fileSystem, file, kept, file.stream.offset + line.textAt);
    return kept === undefined && line.kind === 'skipped';
  }

  async #offer(file: TrackedFile, block: WindowBlock, isLate: boolean, isAtEnd = false): Promise<void> {
    const { lane, stats, lines, fileSystem, lineEnds } = this.#options;
    const line = file.stream.suspended;
    if (isLate && block.offset === file.stream.offset && line?.kind === 'skipped') {
      const kept = block.window.bytes.subarray(block.start, block.start + line.kept);
      await refill(fileSystem, file, kept, block.offset + line.textAt);
    }
    const bytes = streamBytesOf(block);
    // A copy that was made before the read ends somewhere in it, near its end as a rule.
    const parts = block.single ? [block.single] : sumRead(bytes, block.offset, isAtEnd);
    const length = parts.reduce((total, part) => total + part.length, 0);
    const sum = parts.reduce((total, part) => addSums(total, part.sum), 0);
    // The lane may use the window for the next one.
    const beginsWithNul = block.window.bytes[block.start] === 0;
    lineEnds.noteHeaders(file, lines, block, length);
    file.stream.offeredBytes = length;
    file.stream.offeredTail = block.single?.tail ?? tailOf(lines.recent());
    try {
      await offerBlock(lane, file.stream, block.single ? block : { ...block, sum }, lines.readAtMs);
    } catch (error) {
      if (error instanceof LaneRefusal && error.cause instanceof StoppedError)
        this.#keepTaken(file, block, error.cause.remainingBytes);
      throw error;
    }
    file.stream.offeredBytes = 0;
    file.stream.advance(
      block.offset + length,
      parts,
      file.stream.offeredTail,
      block.groups?.after(block.ends!.length - 1),
    );
    stats.readBytes += length;
    countLongLine(stats, block);
    if (block.single?.marks?.['truncated'] === true)
      noteCutLine(this.#options.notices, file, block.offset, length, beginsWithNul);
  }

  /** The lane took all but the last bytes of the block: a stop that reads a deleted file to its end must not offer them again. */
  #keepTaken(file: TrackedFile, block: WindowBlock, remainingBytes: number): void {
    if (block.single) return;
    const bytes = streamBytesOf(block);
    const taken = bytes.subarray(0, bytes.length - streamBytesIn(block, remainingBytes));
    if (taken.length === 0) return;
    const { stream } = file;
    stream.offeredBytes = bytes.length - taken.length;
    const part = { length: taken.length, sum: contentSum(taken, stream.offset) };
    const last = block.ends?.indexOf(block.end - remainingBytes) ?? -1;
    stream.advance(
      stream.offset + taken.length,
      [part],
      tailOf(taken),
      last < 0 ? undefined : block.groups?.after(last),
    );
    this.#options.stats.readBytes += taken.length;
  }
}
