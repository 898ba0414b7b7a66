/**
 * Why a path is or is not read, where, and how far behind. Only looks and asks; of a source that was never opened it tells what
 * one that starts would do, from the saved positions.
 */
import type { FileConfig } from './file-type.ts';
import { formatDuration } from '../../config/fields/units.ts';
import type { Clock } from '../../core/time/clock.ts';
import { codeOf, messageOf } from '../../core/errors.ts';
import { HEAD_BYTES } from '../../core/limits.ts';
import { DECIDE_COPY_MS, MAX_EXPLAINED_RELATIVES } from './limits.ts';
import type { CompressedEnd, StreamRecord, StreamStore } from '../../core/stream.ts';
import {
  type FileStat,
  type FileSystem,
  inodeKey,
  isSameFile,
  parentOf,
  pathIn,
  readHead,
  withOpen,
  withOpenIfReadable,
} from './scan/file-system.ts';
import type { Finder } from './scan/finder.ts';
import type { FileExplanation, RelatedFile } from '../common/explanation.ts';
import { hasFingerprint } from './known/content.ts';
import type { KnownFiles } from './known/known-files.ts';
import { mayHaveHadPath } from './act/missed-rotations.ts';
import type { SavedFile } from './decide/decide.ts';
import { firstPlaceOf, savedAt } from './observe/saved-files.ts';
import type { PathRefusals } from './scan/path-refusals.ts';
import {
  type FirstPlace,
  isGzipOrZstdName,
  isCompressedName,
  isRotatedName,
  rotatedFrom,
} from './scan/rotated-names.ts';
import { isDetached, isGone, lagOf, stateOf, type TrackedFile } from './known/tracked-file.ts';

export interface ExplainerOptions {
  readonly config: FileConfig;
  readonly finder: Finder;
  readonly refusals: PathRefusals;
  readonly knownFiles: KnownFiles;
  readonly fileSystem: FileSystem;
  readonly streams: StreamStore;
  readonly clock: Clock;
  /** False for a source that was never opened: the explanation is what it would do at its start. */
  isOpen(): boolean;
  /** What is known of a compressed file that is read; undefined for one that is not. */
  compressed(
    path: string,
  ): { readonly state: string; readonly offset: number; readonly end: CompressedEnd | undefined } | undefined;
}

type ReadVerdict = Pick<FileExplanation, 'isRead' | 'reason' | 'fix' | 'state' | 'offset' | 'lastError'> &
  Partial<FileExplanation>;

const OPEN_IT = 'give the user that runs the agent the right to read it, and to search the folders above it';

export class Explainer {
  readonly #options: ExplainerOptions;

  constructor(options: ExplainerOptions) {
    this.#options = options;
  }

  explain(path: string): FileExplanation {
    const { knownFiles, finder, fileSystem } = this.#options;
    const there = this.#look(path);
    const file = knownFiles.byPath(path) ?? ('stat' in there ? knownFiles.in(there.stat) : undefined);
    const refusal = !file && finder.reaches(path) ? this.#refusalOf(path) : undefined;
    if (refusal) return { path, patterns: finder.explain(path), ...refusal };
    const linkTo = fileSystem.linkTarget(path);
    const common = { path, patterns: finder.explain(path), ...(linkTo === undefined ? {} : { linkTo }) };
    const saved = file ? undefined : this.#savedOf(path, there);
    const related = this.#relatedTo(
      path,
      file?.stream ?? (saved && firstPlaceOf(saved.record)),
      'stat' in there ? there.stat : file?.disk,
    );
    const about = { ...(related.length > 0 ? { related } : {}) };
    if (file) return { ...common, ...this.#ofTracked(path, file), ...about };
    const verdict = this.#verdict(path, there, saved);
    const size = 'stat' in there && there.stat.kind === 'file' ? { size: there.stat.size } : {};
    return {
      ...common,
      ...verdict,
      ...size,
      ...(saved ? { ...describeRecord(saved.record), lastChange: saved.kind } : {}),
      ...about,
    };
  }

  /** Says nothing of what the path leads to: whoever asks might not be allowed to know. */
  #refusalOf(path: string): ReadVerdict | undefined {
    try {
      const refusal = this.#options.refusals.explain(path);
      if (!refusal) return undefined;
      const at = refusal.path === path ? '' : `"${refusal.path}": `;
      return { isRead: false, reason: `${at}${refusal.reason}`, fix: refusal.fix };
    } catch {
      // What cannot be looked at is named so below.
      return undefined;
    }
  }

  #ofTracked(path: string, file: TrackedFile): Omit<FileExplanation, 'path' | 'patterns'> {
    const { disk, stream, size } = file;
    const { firstPath, identity, offset } = stream;
    const record = stream.id === undefined ? undefined : this.#records().find(({ id }) => id === stream.id);
    return {
      ...this.#reasonOf(path, file),
      state: this.#options.knownFiles.isUndecided(file) ? 'undecided' : stateOf(file),
      lastChange: disk.lastChange,
      ...(record ? describeRecord(record) : {}),
      firstPath,
      currentPath: disk.path,
      device: identity.device,
      inode: identity.inode,
      headBytes: identity.headLength,
      headHash: identity.headHash,
      offset,
      size,
      lagBytes: lagOf(file),
      ...(disk.failure ? { lastError: disk.failure.reason } : {}),
    };
  }

  #reasonOf(path: string, file: TrackedFile): ReadVerdict {
    if (file.disk.failure) return { isRead: false, reason: 'it cannot be read now, and is tried again', fix: OPEN_IT };
    if (this.#options.knownFiles.isUndecided(file)) {
      const reason = `it may be a copy of another file, which is known once that is truncated, or ${DECIDE_COPY_MS / 1000} s after its last change`;
      return { isRead: false, reason };
    }
    if (file.disk.place === 'away')
      return { isRead: true, reason: 'the file system that it is on is not there; it is read on when that is back' };
    if (isGone(file)) return { isRead: true, reason: 'it has no name any more, and is read to its end' };
    if (file.disk.path !== path)
      return { isRead: true, reason: `it is read as "${file.disk.path}", of which this is another name` };
    if (file.disk.path !== file.stream.firstPath)
      return {
        isRead: true,
        reason: `it was "${file.stream.firstPath}", and is read on since it was renamed or copied`,
      };
    return { isRead: true, reason: this.#options.finder.explain(path) };
  }

  #verdict(path: string, there: PathLook, saved: SavedFile | undefined): ReadVerdict {
    const { config, finder, clock } = this.#options;
    const no = (reason: string, fix?: string): ReadVerdict => ({ isRead: false, reason, fix });
    if (!finder.reaches(path)) {
      const [reason, fix] = finder.explainMiss(path);
      const more = isGzipOrZstdName(path) && !config.readCompressed ? ', and set read_compressed: true' : '';
      return this.#ofRotated(path, there, saved) ?? no(reason, `${fix}${more}`);
    }
    if ('error' in there) return { ...no('it cannot be looked at', OPEN_IT), lastError: there.error };
    if (!('stat' in there) && path.includes('\ufffd'))
      return no('nothing is there, or its name is not valid UTF-8, which is not read', 'rename it');
    if (!('stat' in there))
      return no(
        there.link ? 'it is a symbolic link that leads nowhere' : 'nothing is there; once there is, it is read whole',
      );
    const { stat } = there;
    if (stat.kind === 'directory')
      return no('it is a folder', `include what is in it: "${path}/*.log", or "${path}/**/*.log"`);
    if (stat.kind !== 'file') return no(`it is a ${stat.kind}, no regular file`);
    if (isGzipOrZstdName(path)) {
      if (!config.readCompressed)
        return no(
          'compressed files are left out',
          'set read_compressed: true to read those that were never read in their plain form',
        );
      const reason =
        'read_compressed is set: what was not read in its plain form is read once the file stood still for some seconds';
      return { isRead: true, reason, ...this.#ofCompressed(path, stat) };
    }
    const refusal = this.#tryOpen(path);
    if (refusal !== undefined) return { ...no('it cannot be opened', OPEN_IT), lastError: refusal };
    if (saved)
      return { isRead: true, reason: `${finder.explain(path)}; it is known, and read on from the saved position` };
    if (clock.now() - stat.mtimeMs > config.ignoreOlderMs)
      return no(
        `it was not changed for longer than ignore_older, which is ${formatDuration(config.ignoreOlderMs)}`,
        'set ignore_older to more, or to never',
      );
    return { isRead: true, reason: `${finder.explain(path)}; it is not known yet: the next scan takes it up` };
  }

  #ofCompressed(path: string, stat: FileStat): Partial<FileExplanation> {
    const compressed = this.#options.compressed(path);
    const saved = this.#options.isOpen()
      ? undefined
      : this.#records().findLast((record) => this.#isCompressed(record, path, stat));
    const end = compressed?.end ?? saved?.compressedEnd;
    return {
      isCompressed: true,
      ...(compressed ? { state: compressed.state, offset: compressed.offset } : {}),
      ...(saved ? describeRecord(saved) : {}),
      ...(end ? { compressedOffset: end.size, lagBytes: Math.max(0, stat.size - end.size) } : {}),
    };
  }

  #isCompressed({ path: firstPath, identity }: StreamRecord, path: string, { inode }: FileStat): boolean {
    if (!identity || !isGzipOrZstdName(firstPath) || identity.inode !== String(inode)) return false;
    const { fileSystem } = this.#options;
    return (
      withOpenIfReadable(fileSystem, path, (fd) => hasFingerprint(identity, readHead(fileSystem, fd, HEAD_BYTES))) ??
      false
    );
  }

  /** What an agent that starts reads of a file that no pattern matches: rotation made it of one that is read. */
  #ofRotated(path: string, there: PathLook, saved: SavedFile | undefined): ReadVerdict | undefined {
    const { finder } = this.#options;
    if (saved?.kind === 'continued' && saved.found?.path === saved.record.path && saved.found.path !== path)
      return { isRead: true, reason: `it is read as "${saved.record.path}", of which this is another name` };
    if (saved && finder.reaches(saved.record.path))
      return {
        isRead: true,
        reason: `it was "${saved.record.path}", is known, and is read on from the saved position`,
      };
    if (this.#options.isOpen() || !('stat' in there) || there.stat.kind !== 'file') return undefined;
    const base = rotatedFrom(path);
    if (base === undefined || isCompressedName(path) || !finder.reaches(base) || finder.isExcluded(path))
      return undefined;
    const last = this.#records().findLast((record) => record.path === base);
    if (!last || !mayHaveHadPath(there.stat, last.createdMs)) return undefined;
    return {
      isRead: true,
      reason: `it was made of "${base}" since an agent last read that: what was not read of it yet is read`,
    };
  }

  /** What rotation made of the file `own`, and what it was made of: those that are followed, and those that lie beside it, also behind a link. */
  #relatedTo(
    path: string,
    first: FirstPlace | undefined,
    own: Pick<FileStat, 'device' | 'inode'> | undefined,
  ): RelatedFile[] {
    const { knownFiles, fileSystem } = this.#options;
    const plain = path.replace(COMPRESSION, '');
    const base = rotatedFrom(plain) ?? plain;
    const bases = [...new Set(first ? [first.firstPath, first.realPath] : [base, fileSystem.realPath(base) ?? base])];
    const isOne = (each: string): boolean => bases.some((of) => each === of || isRotatedName(each, of));
    const found = new Map<string, RelatedFile>();
    const inodes = new Set(own ? [inodeKey(own)] : []);
    for (const each of knownFiles.files) {
      const isOwn = own !== undefined && isSameFile(each.disk, own) && !isDetached(each);
      if (isOwn || !(bases.includes(each.stream.firstPath) || isOne(each.disk.path))) continue;
      const state = isDetached(each)
        ? 'truncated, its copy is looked for'
        : knownFiles.isUndecided(each)
          ? 'undecided'
          : stateOf(each);
      found.set(isDetached(each) ? `${each.disk.path} ${each.stream.id}` : each.disk.path, {
        path: each.disk.path,
        state,
        offset: each.stream.offset,
        size: each.size,
      });
      if (!isDetached(each)) inodes.add(inodeKey(each.disk));
    }
    for (const folder of new Set(bases.map(parentOf))) {
      try {
        for (const { name } of fileSystem.readdir(folder)) {
          const beside = pathIn(folder, name);
          if (beside === path || found.has(beside) || !isOne(beside.replace(COMPRESSION, ''))) continue;
          const stat = fileSystem.stat(beside);
          if (stat?.kind !== 'file' || inodes.has(inodeKey(stat))) continue;
          inodes.add(inodeKey(stat));
          found.set(beside, { path: beside, size: stat.size, ...this.#stateBeside(beside, stat) });
        }
      } catch {
        // What cannot be listed is not named; why it cannot is not what was asked.
      }
    }
    return [...found.values()].sort((a, b) => (a.path < b.path ? -1 : 1)).slice(0, MAX_EXPLAINED_RELATIVES);
  }

  #stateBeside(path: string, stat: FileStat): Pick<RelatedFile, 'state' | 'offset'> {
    if (isCompressedName(path)) return { state: 'compressed' };
    const saved = this.#options.isOpen() ? undefined : this.#savedOf(path, { stat });
    return saved
      ? { state: 'known', offset: saved.record.resumeAt }
      : { state: this.#options.isOpen() ? 'not followed' : 'not known' };
  }

  /** What a start makes of what is there. */
  #savedOf(path: string, there: PathLook): SavedFile | undefined {
    const { fileSystem, config, finder } = this.#options;
    if (!('stat' in there) || there.stat.kind !== 'file' || isGzipOrZstdName(path)) return undefined;
    const file = { path, stat: there.stat };
    const found = new Map(finder.reaches(path) ? [[path, file]] : []);
    return savedAt(file, this.#records(), { fileSystem, stableInodes: config.stableInodes, found });
  }

  #records(): StreamRecord[] {
    return this.#options.streams.list(this.#options.config.id);
  }

  #tryOpen(path: string): string | undefined {
    try {
      return withOpen(this.#options.fileSystem, path, () => undefined);
    } catch (error) {
      return messageOf(error);
    }
  }

  #look(path: string): PathLook {
    const { fileSystem } = this.#options;
    try {
      const stat = fileSystem.stat(path);
      return stat ? { stat } : { link: fileSystem.linkTarget(path) };
    } catch (error) {
      return codeOf(error) === 'ELOOP' ? { link: path } : { error: messageOf(error) };
    }
  }
}

type PathLook = { readonly stat: FileStat } | { readonly error: string } | { readonly link: string | undefined };

const COMPRESSION = /\.(?:gz|zst|bz2|xz)$/;

function describeRecord({ id, path, identity, resumeAt, settledTo }: StreamRecord): Partial<FileExplanation> {
  return {
    stream: id,
    firstPath: path,
    ...(identity
      ? { device: identity.device, inode: identity.inode, headBytes: identity.headLength, headHash: identity.headHash }
      : {}),
    savedOffset: resumeAt,
    ...(settledTo === undefined ? {} : { deliveredOffset: settledTo }),
  };
}
