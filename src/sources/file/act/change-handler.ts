/** Acts on what `decide` decided about a file: at a start, in a scan, and between two scans. `Copies` acts on copies. */
import { countLost, type Losing } from '../../../core/source.ts';
import type { KnownChange } from '../known/change.ts';
import { isEmpty } from '../known/content.ts';
import type { Maintenance } from '../known/maintenance.ts';
import type { NulGaps } from '../known/nul-gap.ts';
import type { StreamIdentities } from '../known/stream-identities.ts';
import {
  type FileLocation,
  isBehind,
  isDetached,
  isGone,
  isRotated,
  lagOf,
  newTrackedFile,
  noteSize,
  type TrackedFile,
} from '../known/tracked-file.ts';
import { type FileStat, inodeKey, isSameFile, NO_FILE } from '../scan/file-system.ts';
import type { FoundFile } from '../scan/finder.ts';
import { LOWER_BOUND, type Notices } from '../scan/notices.ts';
import type { Copies } from './copies.ts';
import { follow, followAside, type FollowFileOptions } from './follow.ts';
import type { MissedRotations } from './missed-rotations.ts';
import type { Renewal } from './renewal.ts';
import type { Decision, KnownDecision, NewFile, SavedFile } from '../decide/decide.ts';
import { type ContentOptions, lookAtContent } from '../observe/observe-file.ts';
import { lastLocationOf } from '../observe/saved-files.ts';

export interface ChangeHandlerOptions extends Losing, FollowFileOptions, ContentOptions {
  readonly notices: Notices;
  readonly identities: StreamIdentities;
  readonly gaps: NulGaps;
  readonly maintenance: Maintenance;
  readonly renewal: Renewal;
  readonly copies: Copies;
  readonly missed: MissedRotations;
}

export class ChangeHandler {
  readonly #options: ChangeHandlerOptions;
  #changed = new Set<TrackedFile>();
  #grownBytes = 0;

  constructor(options: ChangeHandlerOptions) {
    this.#options = options;
  }

  /** Files with a name that changed since the last call, and by how many bytes they grew. */
  takeChanged(): { readonly files: ReadonlySet<TrackedFile>; readonly grownBytes: number } {
    const changed = { files: this.#changed, grownBytes: this.#grownBytes };
    this.#changed = new Set();
    this.#grownBytes = 0;
    return changed;
  }

  handle(decision: Decision): void {
    if (decision.kind === 'new') this.#follow(decision);
    else if (decision.kind !== 'ignored') this.#change(decision);
    else {
      const [{ path }, { length: files }] = [decision.found[0]!, decision.found];
      const text = 'files that did not change for longer than `ignore_older` are left out until they do';
      this.#options.notices.trouble('info', 'ignore_older', { path, files }, text);
    }
    this.#options.copies.settle();
  }

  /** Goes on with the stream of an earlier process. Nothing is given up while its content cannot be compared: the first turn does so. */
  resume({ kind, record, found }: SavedFile): void {
    const { finder, knownFiles, chain, identities, clock, shapeOf } = this.#options;
    const now = clock.monotonic();
    const isLost = kind === 'gone' || kind === 'replaced';
    const { path, stat } = isLost
      ? { path: record.path, stat: { ...NO_FILE, size: record.resumeAt } }
      : (found ?? lastLocationOf(record));
    const place = isLost ? 'detached' : found ? finder.placeOf(path) : 'away';
    const file = newTrackedFile(record.path, stat, shapeOf(record.path), now, -1);
    Object.assign(file.disk, { path, place, lastChange: isLost ? 'gone' : kind, goneSinceMs: now });
    file.stream.resume(record);
    if (file.disk.path === record.path) file.disk.realPath = record.identity?.realPath;
    file.nextBornMs = record.createdMs;
    // Text in place of NULs is no truncation: nothing is lost by it.
    const isFilled = isLost && found !== undefined && isEmpty(file.stream) && found.stat.size >= (record.seenSize ?? 0);
    noteSize(file, Math.max(record.resumeAt, isFilled ? 0 : (record.seenSize ?? 0)));
    if (kind === 'unmatched') {
      knownFiles.unmatched.add(file);
      return;
    }
    if (isLost && record.identity && record.resumeAt > 0)
      knownFiles.readBefore.set(inodeKey(record.identity), record.resumeAt);
    knownFiles.add(file);
    chain.add(file);
    const { identity } = file.stream;
    const isMoved = inodeKey(identity) !== inodeKey(stat) || (identity.path ?? record.path) !== path;
    if (!isLost && found && isMoved) identities.save(file);
  }

  #change({ kind, observation, next }: KnownDecision): void {
    const { file, disk, found, place, held, trouble } = observation;
    const { knownFiles, descriptors, clock } = this.#options;
    // What another stream has by now is observed again.
    if (file.disk !== disk || isDetached(file) || !knownFiles.files.has(file)) return;
    if (trouble !== undefined) descriptors.fail(file, trouble);
    if (kind !== 'continued' && kind !== 'undecided') disk.lastChange = kind;
    switch (kind) {
      case 'continued':
      // `#see` compares an open file, and has the next generation begin.
      case 'truncated':
        if (found) this.#followInode(file, found.stat);
        return this.#see(file, (found?.stat ?? held)!, place);
      case 'renamed':
        return this.#move(file, found!, place);
      case 'replaced':
        knownFiles.replace(file, clock.monotonic());
        // What the finder found in its place is decided in the next round.
        return next && this.#follow(next);
      case 'undecided':
        disk.scan = knownFiles.scan;
        return;
      default:
        return this.#leave(file, found?.stat ?? held, kind);
    }
  }

  #follow({ found, of }: NewFile): void {
    const { knownFiles, missed, notices } = this.#options;
    // Acting on an earlier decision may have taken it up, as a copy of the file that had its inode, too.
    if (knownFiles.in(found.stat)) return;
    if (of) {
      const { path, stat } = found;
      notices.event(
        'info',
        { path, file: of.firstPath, size: stat.size },
        'file was made and rotated unseen, reading it',
      );
      return this.#see(followAside(this.#options, found, of), stat, 'aside');
    }
    // The first scan logs how many there are.
    const isExpected = knownFiles.scan === 1 || missed.has(found.path);
    if (isExpected) notices.event('debug', { path: found.path, size: found.stat.size }, 'new file');
    const file = follow(this.#options, found);
    file.isNews = !isExpected;
    this.#see(file, found.stat, 'matched');
  }

  /** The file is there, or its descriptor says so: enqueues it when it changed, and has it open before it can vanish. */
  #see(file: TrackedFile, stat: FileStat, place: FileLocation): void {
    const { renewal, knownFiles, descriptors, gaps, copies, clock } = this.#options;
    const { disk } = file;
    disk.scan = knownFiles.scan;
    if (disk.place !== place) {
      disk.lastChange = 'continued';
      this.#place(file, place);
    }
    const isChanged = stat.size !== disk.seenSize || stat.mtimeMs !== disk.seenMtimeMs || gaps.isFilled(file);
    if (isChanged) {
      if (!isGone(file)) this.#changed.add(file);
      this.#grownBytes += Math.max(0, stat.size - Math.max(0, disk.seenSize));
      disk.seenSize = stat.size;
      disk.seenMtimeMs = stat.mtimeMs;
      disk.changedAtMs = clock.monotonic();
      descriptors.touch(file);
    } else if (!isBehind(file) && !disk.failure) return;
    // Open now: the reader may be waiting for the sinks while the file is rotated away.
    if (!descriptors.isFull) descriptors.open(file);
    if (knownFiles.isUndecided(file)) {
      file.size = Math.max(file.size, stat.size);
      return;
    }
    const current = renewal.noteLook(file, lookAtContent(file, this.#options));
    // What is in the file may be known for a copy already.
    if (current !== file) copies.settle();
    // While it is closed, it may hold other content; the reader's turn compares it.
    if (current.disk.fd === undefined && stat.size > current.size) current.size = stat.size;
    knownFiles.enqueue(current);
    if (stat.size > 0 && (current.stream.id === undefined || current.stream.nuls.gapEnd > 0))
      this.#nameAndLetGo(current);
  }

  #nameAndLetGo(file: TrackedFile): void {
    const { descriptors, copies } = this.#options;
    const wasOpen = file.disk.fd !== undefined;
    copies.name(file);
    // The reader may be waiting for the sinks while the next generation takes its place.
    this.#passGap(file);
    if (!wasOpen && descriptors.isFull) descriptors.close(file);
  }

  #move(file: TrackedFile, { path, stat }: FoundFile, place: FileLocation): void {
    const { descriptors, identities, notices } = this.#options;
    const unreadBytes = unreadOf(file, stat);
    const fields = { from: file.disk.path, to: path, file: file.stream.firstPath, unreadBytes };
    notices.event(levelOf(file, unreadBytes), fields, 'file was renamed, reading on');
    this.#noteRotation(file, path);
    this.#place(file, place, path);
    descriptors.locate(file);
    identities.save(file);
    // Closed meanwhile, it may be another file under the same inode: a look at its content decides.
    if (file.disk.fd === undefined) file.disk.seenSize = -1;
    this.#see(file, stat, place);
  }

  /** The file is somewhere else now. While no name of it is known, its bytes are spooled. */
  #place(file: TrackedFile, place: FileLocation, path = file.disk.path): void {
    const { knownFiles, identities } = this.#options;
    const wasGone = isGone(file);
    knownFiles.place(file, place, path);
    if (isGone(file)) identities.spoolUnlinked(file);
    else if (wasGone) identities.stopSpooling(file);
  }

  #followInode(file: TrackedFile, stat: FileStat): void {
    const { descriptors, knownFiles, identities } = this.#options;
    if (isSameFile(file.disk, stat) || file.isBusy) return;
    descriptors.close(file);
    knownFiles.replaceInode(file, stat);
    identities.save(file);
  }

  /** Searches some of the NUL gap that a file with a stream may begin with. */
  #passGap(file: TrackedFile): void {
    const { descriptors, gaps } = this.#options;
    if (file.stream.id === undefined || file.isBusy || !descriptors.open(file)) return;
    try {
      gaps.pass(file);
    } catch (error) {
      descriptors.fail(file, error);
    }
  }

  #noteRotation(file: TrackedFile, to?: string): void {
    if (this.#options.knownFiles.isUndecided(file)) return;
    const { knownFiles, missed } = this.#options;
    if (knownFiles.scan > 1) missed.countRotation(file, to);
    missed.note(file);
  }

  /** `held`: what the descriptor of the file says. */
  #leave(file: TrackedFile, held: FileStat | undefined, how: 'deleted' | 'gone' | 'away'): void {
    const { maintenance, knownFiles, identities, clock } = this.#options;
    if (knownFiles.isUndecided(file) && !held) return knownFiles.remove(file);
    const { place } = file.disk;
    if (!isGone(file) || (place === 'away' && how !== 'away')) {
      this.#noteRotation(file);
      file.disk.goneSinceMs = clock.monotonic();
      const isLost = !held && how !== 'away';
      const lostBytes = isLost ? Math.max(0, lagOf(file) - maintenance.seenInOriginal(file)) : 0;
      countLost(this.#options, file.stream, lostBytes, file.stream.offset + lagOf(file), 'deleted');
      this.#logLeft(file, lostBytes, held, how);
      if (isLost) {
        file.size = file.sureSize = file.stream.readTo = file.stream.offset;
        // The next start must not count it again.
        identities.noteRead(file);
      }
    }
    const now = how === 'gone' ? (place === 'deleted' ? 'deleted' : 'missing') : how;
    this.#place(file, now);
    if (held) this.#see(file, held, now);
    else file.disk.scan = knownFiles.scan;
  }

  #logLeft(file: TrackedFile, lostBytes: number, held: FileStat | undefined, how: KnownChange): void {
    const { notices } = this.#options;
    const unreadBytes = unreadOf(file, held);
    const fields = { path: file.disk.path, offset: file.stream.offset, unreadBytes, lostBytes };
    if (held) notices.event(levelOf(file, unreadBytes), fields, 'file was deleted, reading it to its end');
    else if (how === 'away')
      notices.event('info', fields, 'file is gone with the file system that it is on, which is waited for');
    else if (lostBytes > 0)
      notices.event('warn', fields, `file was deleted before it was read to its end${LOWER_BOUND}`);
    // A copy that vanished before it had a stream: its original has its bytes.
    else notices.event(file.stream.id === undefined ? 'debug' : 'info', fields, `file is gone${LOWER_BOUND}`);
  }
}

function unreadOf(file: TrackedFile, { size }: { readonly size: number } = file): number {
  return Math.max(0, file.stream.endIn(Math.max(size, file.size)) - file.stream.position);
}

/** A rotated file is logged once at most, and not at all when it was read to its end. */
function levelOf(file: TrackedFile, unreadBytes: number): 'info' | 'debug' {
  // Without a stream it may be a copy; a file of its own is logged as new.
  return unreadBytes > 0 && file.disk.place === 'matched' && !isRotated(file) && file.stream.id !== undefined
    ? 'info'
    : 'debug';
}
