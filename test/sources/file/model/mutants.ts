/**
 * Faults that somebody could make, each as a change of one place in the source. The model test must find every one of them;
 * `find` has to be there exactly once, so that a mutant cannot go stale unseen.
 */
import { LINKS } from './events.ts';

export interface Mutant {
  readonly name: string;
  /** Under `src`. */
  readonly file: string;
  readonly find: string;
  readonly replace: string;
  /** Names that the source follows. */
  readonly include: string;
}

const [alone, withRotated] = ['*.log', '*.log*'];

export const mutants: readonly Mutant[] = [
  {
    name: 'a file that is shorter than the position counts as the same',
    file: 'sources/file/known/content.ts',
    find: "if (size < read.offset || !hasFingerprint(read.identity, head)) return 'different';",
    replace: "if (size < read.offset) return 'same';\n  if (!hasFingerprint(read.identity, head)) return 'different';",
    include: alone,
  },
  {
    name: 'a mark steps over a batch that is not settled',
    file: 'state/database/marks.ts',
    find: 'if (!entry.settled) break;',
    replace: '',
    include: alone,
  },
  {
    name: 'a descriptor is closed when its file is deleted',
    file: 'sources/file/match/apply.ts',
    find: 'return this.#leave(file, stat, kind);',
    replace:
      "if (kind !== 'deleted') return this.#leave(file, stat, kind);\n        this.#options.generations.descriptors.close(file);\n        return this.#leave(file, undefined, 'gone');",
    include: alone,
  },
  {
    name: 'a copy is never recognised',
    file: 'sources/file/known/content.ts',
    find: "return sum.sum === sum.until.sum ? 'same' : 'different';",
    replace: "return 'different';",
    include: withRotated,
  },
  {
    name: 'a copy is recognised by its beginning alone',
    file: 'sources/file/known/content.ts',
    find: "if (identity.headLength === 0 || !hasFingerprint(identity, peekHead(this.#fileSystem, fd))) return 'different';",
    replace: "return identity.headLength > 0 && hasFingerprint(identity, peekHead(this.#fileSystem, fd)) ? 'same' : 'different';",
    include: alone,
  },
  {
    name: 'the position moves before the lane has taken the lines',
    file: 'sources/file/read/reader.ts',
    find: 'await offerBlock(lane, file.stream, block.single ? block : { ...block, sum }, lines.readAtMs);',
    replace:
      'file.stream.advance(block.offset + length, [], file.stream.tail); await offerBlock(lane, file.stream, block.single ? block : { ...block, sum }, lines.readAtMs);',
    include: alone,
  },
  {
    name: 'a file that was rotated away unseen is not looked for',
    file: 'sources/file/match/left-paths.ts',
    find: "if (place !== 'matched' || nextBornMs === undefined) return;",
    replace: 'if (path !== "") return;',
    include: alone,
  },
  {
    name: 'a renamed file is taken for a new one',
    file: 'sources/file/match/match.ts',
    find: 'const file = known.in(found.stat);',
    replace:
      'const had = known.in(found.stat), file = had?.disk.path === found.path ? had : undefined; if (had && !file) known.remove(had);',
    include: withRotated,
  },
  {
    name: 'a file that left its path is not looked for beside it',
    file: 'sources/file/scan/locate.ts',
    find: 'for (const path of known) if',
    replace: 'return undefined;\n  for (const path of known) if',
    include: alone,
  },
  {
    name: 'what is held of a deleted file is left to memory',
    file: 'batcher/keep/deleted-files.ts',
    find: 'if (isOf(batch)) buffer.keepDeleted(batch);',
    replace: 'void batch;',
    include: alone,
  },
  {
    name: 'what is read of a deleted file waits for the age of its batch',
    file: 'batcher/keep/deleted-files.ts',
    find: "batcher.closeWhere(({ origin }) => origin === 'orphan');",
    replace: 'void batcher;',
    include: alone,
  },
  {
    name: 'a stop does not read deleted files to their ends',
    file: 'sources/file/read/finish-deleted.ts',
    find: 'if (file.disk.fd !== undefined && lagOf(file) > 0) await finish(file, options, reader);',
    replace: 'void file;',
    include: alone,
  },
  {
    name: 'an unfinished line is sent once more when its rest comes',
    file: 'sources/file/read/reader.ts',
    find: 'file.stream.advance(block.offset + length, parts, file.stream.tailInHand);',
    replace:
      'file.stream.advance(block.single === undefined || block.single.truncated ? block.offset + length : file.stream.offset, parts, file.stream.tailInHand);',
    include: alone,
  },
  {
    name: 'after a restart the content of a known inode is not compared',
    file: 'sources/file/match/saved-files.ts',
    find: "if (compare(fileSystem, fd, size, known) === 'same') return 'same';",
    replace: "return 'same';",
    include: alone,
  },
  {
    name: 'a stream is made when its file is read, not when it is seen',
    file: 'sources/file/match/apply.ts',
    find: 'if (stat.size > 0 && (current.stream.id === undefined || current.stream.nuls.gapTo > 0)) this.#nameAndLetGo(current);',
    replace: '',
    include: alone,
  },
  {
    name: 'a batch of the last process is sent under a new key',
    file: 'batcher/keep/restore.ts',
    find: 'const unchanged = spans.length === stored.spans.length',
    replace: 'const unchanged = spans.length < 0',
    include: alone,
  },
  {
    name: 'batches are sent before their spans are committed',
    file: 'batcher/send/preparation.ts',
    find: 'if (rows.length > 0) this.#options.keeper.commit(rows);',
    replace: 'void rows;',
    include: alone,
  },
  {
    name: 'a copy is told by its beginning as long as nothing was read',
    file: 'sources/file/known/content.ts',
    find: "if (!this.#hasEndOf(this.#held, fd, size)) return 'different';",
    replace: '',
    include: alone,
  },
  {
    name: 'a stream whose first bytes the lane is taking counts as unread',
    file: 'sources/file/known/tracked-file.ts',
    find: 'file.stream.read.offset === file.stream.startAt;',
    replace: 'file.stream.offset === file.stream.startAt;',
    include: alone,
  },
  {
    name: 'a compressed file is known by its inode alone',
    file: 'sources/file/compressed/compressed-files.ts',
    find: 'if (!hasFingerprint(known.identity, head)) return false;',
    replace: '',
    include: 'compressed',
  },
  {
    name: 'what was read of a file is not looked for in compressed files',
    file: 'sources/file/source.ts',
    find: 'return compressedReader && end === span.from && continued.length === 0 ?',
    replace: 'return compressedReader?.has(span.stream) ?',
    include: 'compressed',
  },
  {
    name: 'what was settled of a file is not saved when it is deleted',
    file: 'agent/build/source-pipeline.ts',
    find: 'state.save();',
    replace: '',
    include: alone,
  },
  {
    name: 'a file that is gone and was closed may count on being read again',
    file: 'sources/file/match/generations.ts',
    find: 'if (isGone(file)) this.identities.noteDeleted(file);',
    replace: "if (file.disk.place === 'deleted') this.identities.noteDeleted(file);",
    include: alone,
  },
  {
    name: 'the unfinished line of a deleted file waits as long as any other',
    file: 'sources/file/known/maintenance.ts',
    find: "file.disk.place === 'deleted' ? LOOK_EVERY_MS : isOver",
    replace: 'isOver',
    include: alone,
  },
  {
    name: 'a stop does not look at what was deleted since the last scan',
    file: 'sources/file/polling.ts',
    find: 'if (this.#hasRun) await this.scanOnce();',
    replace: '',
    include: alone,
  },
  {
    name: 'the copy of a renamed file is looked for under its present name only',
    file: 'sources/file/match/copy-matcher.ts',
    find: 'return first.some((base) => path.startsWith(base)) ? first : [...first, path];',
    replace: 'return first.length === 0 ? [] : [path];',
    include: withRotated,
  },
  {
    name: 'the bytes before the position are not compared',
    file: 'core/tail.ts',
    find: 'crc: crc32(last) }',
    replace: 'crc: 0 }',
    include: alone,
  },
  {
    name: 'a truncated generation does not look for its copy',
    file: 'sources/file/match/copies.ts',
    find: 'const files = basesOf(generation).flatMap((base) => names.extending(base));',
    replace: 'const files = basesOf(generation).flatMap((base) => (names.extending(base), []));',
    include: withRotated,
  },
  {
    name: 'that a batch of a deleted file is settled is saved with the next marks',
    file: 'batcher/keep/batch-keeper.ts',
    find: 'if (!batch.isTracked || batch.canBeRebuilt) return',
    replace: 'if (!batch.isTracked || batch.canBeRebuilt || batch.spoolName === undefined) return',
    include: alone,
  },
  {
    name: 'what the lane is taking of a file counts as unread when its content is compared',
    file: 'sources/file/match/generations.ts',
    find: 'isUntouched(fileSystem, file.disk.fd, file.stream.read)',
    replace: 'isUntouched(fileSystem, file.disk.fd, file.stream)',
    include: alone,
  },
  {
    name: 'a stop reads what a batch has of a deleted file once more',
    file: 'sources/file/read/reader.ts',
    find: 'this.#keepTaken(file, block, error.cause.leftBytes);',
    replace: 'void 0;',
    include: alone,
  },
  {
    name: 'what is in the disk buffer of a deleted file is not committed',
    file: 'batcher/keep/spool-writer.ts',
    find: 'this.#commitTracked();',
    replace: 'void 0;',
    include: alone,
  },
  {
    name: 'the hole that a file begins with is part of its first line',
    file: 'sources/file/known/nul-gap.ts',
    find: "if (stream.offset > 0 || !isAllNuls(stream.identity) || !this.areSought) return 'over';",
    replace: "if (file.size > 0) return 'over';",
    include: alone,
  },
  {
    name: 'a generation of which nothing was read but where its hole ends is the next one, too',
    file: 'sources/file/known/content.ts',
    find: 'if (isAtGap(read) && readByte(fileSystem, fd, read.startAt) === 0) return false;',
    replace: '',
    include: alone,
  },
  {
    name: 'after a restart a target is looked for beside its link alone',
    file: 'sources/file/match/saved-files.ts',
    find: 'const paths = [last.path, record.path, record.identity.realPath, fileSystem.realPath(record.path)];',
    replace: 'const paths = [last.path, record.path];',
    include: LINKS,
  },
  {
    name: 'copies of a target are looked for beside its link alone',
    file: 'sources/file/match/copy-matcher.ts',
    find: 'const first = realPath === firstPath ? [firstPath] : [firstPath, realPath];',
    replace: 'const first = realPath === "" ? [realPath] : [firstPath];',
    include: LINKS,
  },
  {
    name: 'targets that were rotated away unseen are looked for beside the link alone',
    file: 'sources/file/scan/rotated-names.ts',
    find: 'const bases = new Set([firstPath, realPath, present ?? firstPath]);',
    replace: 'const bases = new Set([firstPath]);',
    include: LINKS,
  },
  {
    name: 'a target is no original of copies once its link was removed',
    file: 'sources/file/known/holdings.ts',
    find: "return place === 'aside' && path === stream.realPath ? path : undefined;",
    replace: 'return path === "" ? stream.realPath : undefined;',
    include: LINKS,
  },
];
