/**
 * Begins the next generation of an open file whose known content is gone: one that was truncated or rewritten is read from its beginning,
 * one that was changed in place from behind what was kept, but not over and over. Notes that the generation before ended
 * (`KnownFiles.changed`), so that its copy is looked for.
 */
import type { Tail } from '../../../core/block.ts';
import { countLost, type Losing } from '../../../core/source.ts';
import { findBom, LONGEST_BOM_BYTES } from '../../framing/byte-window.ts';
import type { LineShaping } from '../../framing/line-shaping.ts';
import { cutStretch, findKept, type KeptStretch } from '../known/kept-content.ts';
import type { Maintenance } from '../known/maintenance.ts';
import type { NulGaps } from '../known/nul-gap.ts';
import { tailBefore } from '../known/nul-runs.ts';
import type { OpenFiles } from '../known/open-files.ts';
import type { StreamIdentities } from '../known/stream-identities.ts';
import type { TrackedFile } from '../known/tracked-file.ts';
import { READ_AGAIN_MS, TURN_BYTES } from '../limits.ts';
import type { CopyMatcher } from '../observe/copy-matcher.ts';
import type { ContentLook } from '../observe/observe-file.ts';
import { type FileStat, type FileSystem, findLineStart, readHead } from '../scan/file-system.ts';
import { LOWER_BOUND, type Notices } from '../scan/notices.ts';
import { type FollowFileOptions, newGeneration } from './follow.ts';

export interface RenewalOptions extends Losing, Omit<FollowFileOptions, 'finder'> {
  readonly fileSystem: FileSystem;
  readonly notices: Notices;
  readonly shaping: LineShaping;
  readonly descriptors: OpenFiles;
  readonly identities: StreamIdentities;
  readonly gaps: NulGaps;
  readonly maintenance: Maintenance;
  readonly matcher: CopyMatcher;
}

/** `go on` from the kept part; `again` from its beginning, not before `readFromMs` (monotonic): its unread lines may be there still. */
type InPlaceChange =
  | { readonly kind: 'go on'; readonly kept: KeptStretch; readonly tail: Tail }
  | { readonly kind: 'again'; readonly readFromMs: number; readonly isThere: boolean }
  | { readonly kind: 'later' };

const READ_AGAIN = { kind: 'again', readFromMs: 0, isThere: false } as const satisfies InPlaceChange;

export class Renewal {
  readonly #options: RenewalOptions;

  constructor(options: RenewalOptions) {
    this.#options = options;
  }

  /** Acts on a look at the file's content. Returns its present generation. `isTruncated`: a copy has the bytes read of it. */
  noteLook(file: TrackedFile, look: ContentLook, isTruncated = false): TrackedFile {
    const { descriptors, gaps } = this.#options;
    if (look.kind === 'unknown' && look.trouble !== undefined) descriptors.fail(file, look.trouble);
    try {
      if (look.kind === 'changed') return this.renew(file, isTruncated);
      if (look.kind === 'same') gaps.noteSize(file, look.size);
    } catch (error) {
      descriptors.fail(file, error);
    }
    return file;
  }

  /**
   * The file was truncated, or replaced under its inode: it begins a new stream, read from 0. `copies.settle` looks for the unread rest
   * of the old one, which is else counted as lost. Throws system errors.
   */
  renew(file: TrackedFile, isTruncated = false): TrackedFile {
    // An earlier stat may be of the old content.
    const { fileSystem, clock, knownFiles, descriptors, gaps, chain, matcher } = this.#options;
    const stat = fileSystem.fstat(file.disk.fd!);
    const isCopied = isTruncated || (file.stream.id !== undefined && matcher.mayHaveCopy(file));
    const change = isCopied ? READ_AGAIN : this.#judge(file, stat.size);
    if (change.kind === 'later') return file;
    if (change.kind === 'go on') return this.goOn(file, stat, change.kept, change.tail);
    file.disk.lastChange = 'truncated';
    const endsInText = gaps.endsInText(file.disk.fd!, stat.size);
    const isFilled = gaps.wasFilled(file, stat.size, file.stream.endIn(file.sureSize));
    // Under a matching path it is a file of its own, else what is left of the rotated one.
    const { firstPath, realPath, shape } = file.stream;
    // The file is older than what is in it now.
    const now = { ...stat, bornMs: 0 };
    const isFirst = file.disk.place !== 'matched' || file.disk.path === firstPath;
    const next = isFirst
      ? newGeneration(this.#options, firstPath, now, realPath, shape)
      : newGeneration(this.#options, file.disk.path, now);
    // What the first scan found in it may be younger than the file, too: the chain then goes by the stream.
    if (file.appearedInScan <= 1) file.bornMs = 0;
    // Bytes seen by a stat alone may be the next stream's.
    file.size = Math.max(file.stream.offset, Math.min(file.size, file.sureSize));
    // A program that does not append writes on behind that.
    if (file.size > 0) next.stream.nuls.minGap = Math.min(next.stream.nuls.minGap, file.size);
    next.stream.nuls.isAfterTruncation = file.size > 0 && !isFilled;
    if (isFilled || change.isThere) file.size = file.stream.position;
    next.stream.readFromMs = change.readFromMs;
    knownFiles.takeOver(next, file);
    chain.add(next);
    descriptors.handOver(file, next);
    next.disk.seenSize = stat.size;
    next.sureSize = endsInText ? stat.size : 0;
    next.disk.seenMtimeMs = stat.mtimeMs;
    next.disk.changedAtMs = file.disk.goneSinceMs = clock.monotonic();
    knownFiles.changed.add(next);
    if (file.stream.id === undefined) knownFiles.remove(file);
    else knownFiles.changed.add(file);
    return next;
  }

  /**
   * The open file is read on behind `kept`, as a stream of its own. The stream before is expired: what was read of it is in no file any more
   * as it was, and goes to the disk buffer. Throws system errors. `tail`: of the bytes before the end of `kept`.
   */
  goOn(file: TrackedFile, stat: FileStat, kept: KeptStretch, tail: Tail): TrackedFile {
    const { identities, knownFiles, descriptors, maintenance } = this.#options;
    const { firstPath, realPath, shape, id } = file.stream;
    const next = newGeneration(this.#options, firstPath, stat, realPath, shape);
    const { beginsInLine: _, endsInLine: __, headers: ___, ...identity } = file.stream.identity;
    next.stream.identity = identity;
    next.stream.goOn(kept, tail);
    next.stream.readFromMs = file.stream.readFromMs;
    identities.spoolUnlinked(file);
    identities.noteRead(file);
    knownFiles.takeOver(next, file);
    descriptors.handOver(file, next);
    knownFiles.remove(file);
    maintenance.expire(id!);
    identities.mint(next, kept);
    return next;
  }

  /** What to do with a file whose known content changed. Counts what is lost of it where reading goes on. Throws system errors. */
  #judge(file: TrackedFile, size: number): InPlaceChange {
    const { fileSystem, shaping, notices, clock } = this.#options;
    const { stream, disk } = file;
    const now = clock.monotonic();
    const seenSize = stream.endIn(file.sureSize);
    const isThere = size >= seenSize;
    // Nothing of it was read: it waits as before.
    if (stream.readFromMs > now && stream.offset === stream.startAt)
      return { kind: 'again', readFromMs: stream.readFromMs, isThere };
    const kept = findKept(fileSystem, disk.fd!, size, { ...stream.read, sum: stream.sum }, seenSize);
    if (kept === undefined) return READ_AGAIN;
    const text =
      'file is changed where it was read, as by a program that writes a footer, header or counter in place, or cuts its beginning out: ';
    if (kept.kind === 'in part') {
      const fix =
        'too little of it is as it was, so it is read from its beginning, once a minute at most; have the program append';
      notices.trouble('warn', `in part ${disk.path}`, { path: disk.path, offset: stream.offset, size }, text + fix);
      return {
        kind: 'again',
        readFromMs: stream.readFromMs === 0 ? now : Math.max(now, stream.readFromMs + READ_AGAIN_MS),
        isThere,
      };
    }
    const { by, isWhole } = kept;
    const encoding = findBom(readHead(fileSystem, disk.fd!, LONGEST_BOM_BYTES))?.encoding ?? shaping.encoding;
    const at = isWhole ? kept.to : findLineStart(fileSystem, disk.fd!, kept.to, TURN_BYTES, encoding, stream.startAt);
    // The lane takes some of it: the change is met again when that is over.
    if (file.isBusy) return { kind: 'later' };
    const lostBytes = Math.max(0, seenSize - by - Math.max(size, stream.offset - by));
    countLost(this.#options, stream, lostBytes, seenSize, 'truncated');
    const fields = { path: disk.path, offset: stream.offset, goesOnAt: at, ...(lostBytes > 0 && { lostBytes }) };
    const fix =
      'it is read on behind what is as it was, and what was written over may come again; have the program append';
    notices.trouble('warn', `in place ${disk.path}`, fields, `${text}${fix}${lostBytes > 0 ? LOWER_BOUND : ''}`);
    const tail = tailBefore(fileSystem, disk.fd!, at);
    return { kind: 'go on', kept: cutStretch(fileSystem, disk.fd!, kept, at), tail };
  }
}
