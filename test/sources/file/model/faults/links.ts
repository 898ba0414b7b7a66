/** Faults in following what links lead to. */
import { LINKS } from '../events.ts';
import { type Fault, method } from './fault.ts';

type CopyCandidates = typeof import('../../../../../src/sources/file/known/copy-candidate.ts');
type KnownFiles = (typeof import('../../../../../src/sources/file/known/known-files.ts'))['KnownFiles'];
type RotatedNames = typeof import('../../../../../src/sources/file/scan/rotated-names.ts');
type SavedFiles = (typeof import('../../../../../src/sources/file/observe/saved-files.ts'))['SavedFiles'];

export const linkFaults: readonly Fault[] = [
  {
    name: 'after a restart a target is looked for beside its link alone',
    include: LINKS,
    schedule: 'end of a target was lost whose link was pointed elsewhere while no agent ran',
    hooks: {
      'sources/file/observe/saved-files.ts#SavedFiles': (Real: SavedFiles): SavedFiles =>
        class extends Real {
          constructor(options: ConstructorParameters<SavedFiles>[0]) {
            super({ ...options, fileSystem: { ...options.fileSystem, realPath: () => undefined } });
          }

          override locate(
            record: Parameters<InstanceType<SavedFiles>['locate']>[0],
          ): ReturnType<InstanceType<SavedFiles>['locate']> {
            return super.locate(
              record.identity ? { ...record, identity: { ...record.identity, realPath: record.path } } : record,
            );
          }
        },
    },
  },
  {
    name: 'copies of a target are looked for beside its link alone',
    include: LINKS,
    schedule: 'copy of a target is looked for beside the target',
    hooks: {
      'sources/file/known/copy-candidate.ts#basesOf':
        (): CopyCandidates['basesOf'] =>
        ({ stream: { firstPath }, disk: { path } }) =>
          path.startsWith(firstPath) ? [firstPath] : [firstPath, path],
    },
  },
  {
    name: 'targets that were rotated away unseen are looked for beside the link alone',
    include: LINKS,
    schedule: 'log behind a link that was rotated twice between two looks was not read',
    hooks: {
      'sources/file/scan/rotated-names.ts#FolderNames': (
        Real: RotatedNames['FolderNames'],
      ): RotatedNames['FolderNames'] =>
        method(Real, 'beside', (self, _, { firstPath }) =>
          self.extending(firstPath).map((found) => ({ found, of: { firstPath, realPath: firstPath } })),
        ),
    },
  },
  {
    name: 'a target is no original of copies once its link was removed',
    include: LINKS,
    schedule: 'copy of a target whose link was removed was read as a file of its own, and its original counted as lost',
    hooks: {
      'sources/file/known/known-files.ts#KnownFiles': (Real: KnownFiles): KnownFiles =>
        method(Real, 'leadingTo', (_, leadingTo, path) => {
          const file = leadingTo(path);
          return file?.disk.place === 'aside' ? undefined : file;
        }),
    },
  },
];
