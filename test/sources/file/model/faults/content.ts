/** Faults in telling files by their content. */
import { type Fault, alone, method, withRotated } from './fault.ts';

type Content = typeof import('../../../../../src/sources/file/known/content.ts');
type CopyCandidates = typeof import('../../../../../src/sources/file/known/copy-candidate.ts');
type SavedFiles = typeof import('../../../../../src/sources/file/observe/saved-files.ts');
type ObserveFile = typeof import('../../../../../src/sources/file/observe/observe-file.ts');
type TrackedFiles = typeof import('../../../../../src/sources/file/known/tracked-file.ts');
type Tails = typeof import('../../../../../src/core/sums.ts');
type NulGaps = typeof import('../../../../../src/sources/file/known/nul-gap.ts');
type NulRuns = typeof import('../../../../../src/sources/file/known/nul-runs.ts');
type Comparison = Content['CopyComparison'];

const CONTENT = 'sources/file/known/content.ts';

export const contentFaults: readonly Fault[] = [
  {
    name: 'a file that is shorter than the position counts as the same',
    include: alone,
    schedule: 'copy with unread lines under the inode of a deleted file counted as that file',
    hooks: {
      [`${CONTENT}#compare`]:
        (real: Content['compare']): Content['compare'] =>
        (fileSystem, fd, size, read, head) =>
          size < read.offset ? 'same' : real(fileSystem, fd, size, read, head),
      [`${CONTENT}#isUntouched`]:
        (real: Content['isUntouched']): Content['isUntouched'] =>
        (fileSystem, fd, read) =>
          fileSystem.fstat(fd).size < read.offset || real(fileSystem, fd, read),
    },
  },
  {
    name: 'a file is the same as long as its last bytes before the position are',
    include: withRotated,
    schedule: 'generation that ended like the one before it was taken for that one',
    hooks: {
      [`${CONTENT}#isUntouched`]:
        (real: Content['isUntouched']): Content['isUntouched'] =>
        (fileSystem, fd, { identity, startAt, offset, tail }) =>
          real(fileSystem, fd, {
            identity: tail.length === 64 ? { ...identity, headLength: 0 } : identity,
            startAt,
            offset,
            tail,
          }),
    },
  },
  {
    name: 'a copy is never recognised',
    include: withRotated,
    schedule: 'copy of a file that was renamed in the same moment was read again',
    hooks: {
      [`${CONTENT}#CopyComparison`]: (Real: Comparison): Comparison =>
        method(Real, 'step', (_, step, ...given) => {
          const verdict = step(...given);
          return verdict === 'same' ? 'different' : verdict;
        }),
    },
  },
  {
    name: 'a copy is recognised by its beginning alone',
    include: alone,
    schedule: 'deleted file was given up for a new one that began alike, because nothing of it had been read',
    hooks: {
      [`${CONTENT}#CopyComparison`]: (Real: Comparison): Comparison =>
        class extends Real {
          readonly #given: ConstructorParameters<Comparison>;

          constructor(...given: ConstructorParameters<Comparison>) {
            super(...given);
            this.#given = given;
          }

          override step(fd: number): 'same' | 'different' {
            const [fileSystem, { identity }] = this.#given;
            if (identity.headLength === 0) return 'different';
            // A stream of which nothing was read agrees with all that begins as it does.
            return new Real(fileSystem, { ...this.#nothingRead }, undefined).step(fd, Infinity, 1) === 'same'
              ? 'same'
              : 'different';
          }

          get #nothingRead(): ConstructorParameters<Comparison>[1] {
            const [, { identity, sum }] = this.#given;
            return { identity, startAt: 0, offset: 0, tail: { length: 0, crc: 0 }, sum };
          }
        },
    },
  },
  {
    name: 'a copy is told by its beginning as long as nothing was read',
    include: alone,
    schedule: 'deleted file was given up for a new one that began alike, because nothing of it had been read',
    hooks: {
      [`${CONTENT}#CopyComparison`]: (Real: Comparison): Comparison =>
        class extends Real {
          constructor(...[fileSystem, stream]: ConstructorParameters<Comparison>) {
            super(fileSystem, stream, undefined);
          }
        },
    },
  },
  {
    name: 'a generation of which nothing was read but where its hole ends is the next one, too',
    include: alone,
    schedule: 'generation behind a hole of another length than the one before is another one',
    hooks: {
      [`${CONTENT}#compare`]:
        (real: Content['compare']): Content['compare'] =>
        (fileSystem, fd, size, { identity, offset, tail }, head) =>
          real(fileSystem, fd, size, { identity, startAt: 0, offset, tail }, head),
      [`${CONTENT}#isUntouched`]:
        (real: Content['isUntouched']): Content['isUntouched'] =>
        (fileSystem, fd, { identity, offset, tail }) =>
          real(fileSystem, fd, { identity, startAt: 0, offset, tail }),
    },
  },
  {
    name: 'the bytes before the position are not compared',
    include: alone,
    schedule: 'deleted file was given up for a new one that began alike, because nothing of it had been read',
    hooks: {
      'core/sums.ts#tailOf':
        (real: Tails['tailOf']): Tails['tailOf'] =>
        (...given) => ({ ...real(...given), crc: 0 }),
    },
  },
  {
    name: 'after a restart the content of a known inode is not compared',
    include: alone,
    schedule: 'generation of which nothing was read took the copy of another one that began alike',
    hooks: {
      'sources/file/observe/saved-files.ts#SavedFiles': (Real: SavedFiles['SavedFiles']): SavedFiles['SavedFiles'] =>
        method(Real, 'factsOf', (_, factsOf, record, there) => ({
          ...factsOf(record, there),
          content: 'same' as const,
        })),
    },
  },
  {
    name: 'a file under the inode of one that left its path is taken for that one, whatever is in it',
    include: withRotated,
    schedule: 'copy under the inode of a file that left its path is another file',
    hooks: {
      'sources/file/observe/observe-file.ts#observe':
        (real: ObserveFile['observe']): ObserveFile['observe'] =>
        (file, options, otherName) => {
          const seen = real(file, options, otherName);
          return otherName ? { ...seen, facts: { ...seen.facts, content: 'same' } } : seen;
        },
    },
  },
  {
    name: 'a stream whose first bytes the lane is taking counts as unread',
    include: alone,
    schedule:
      'copy of a file that the lane was taking was read as an older file that began alike, of which nothing had been read',
    hooks: {
      'sources/file/known/tracked-file.ts#isUnread':
        (): TrackedFiles['isUnread'] =>
        ({ disk, stream }) =>
          disk.place !== 'matched' &&
          disk.place !== 'aside' &&
          disk.fd === undefined &&
          stream.offset === stream.startAt,
    },
  },
  {
    name: 'the copy of a renamed file is looked for under its present name only',
    include: withRotated,
    schedule: 'copy that was looked at before its original was known was read again',
    hooks: {
      'sources/file/known/copy-candidate.ts#basesOf':
        (): CopyCandidates['basesOf'] =>
        ({ disk: { path } }) => [path],
      'sources/file/known/copy-candidate.ts#isNamedAfter':
        (): CopyCandidates['isNamedAfter'] =>
        (path, { disk }) =>
          path !== disk.path && path.startsWith(disk.path),
    },
  },
  {
    name: 'the hole that a file begins with is part of its first line',
    include: alone,
    schedule: 'hole that a file begins with is no line',
    hooks: {
      'sources/file/known/nul-gap.ts#NulGaps': (Real: NulGaps['NulGaps']): NulGaps['NulGaps'] =>
        method(Real, 'pass', (_, pass, file) => (file.size > 0 ? 'over' : pass(file))),
    },
  },
  {
    name: 'a compressed file is known by its inode alone',
    include: 'compressed',
    schedule: 'compressed file under the inode of one that was deleted since the last scan was not read',
    hooks: {
      [`${CONTENT}#hasFingerprint`]:
        (real: Content['hasFingerprint']): Content['hasFingerprint'] =>
        (identity, head) =>
          (head[0] === 0x1f && head[1] === 0x8b) || real(identity, head),
    },
  },
  {
    name: 'NULs that a file ends in are its unfinished line',
    include: alone,
    schedule:
      'NULs that a file ends in were sent as its unfinished line, and what was written in their place was not read',
    hooks: {
      'sources/file/known/nul-runs.ts#findNulRun':
        (): NulRuns['findNulRun'] =>
        ({ length }) =>
          length,
    },
  },
];
