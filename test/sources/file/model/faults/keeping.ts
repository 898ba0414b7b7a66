/** Faults in keeping events from read to delivery. */
import { type Fault, alone, method } from './fault.ts';

type DeletedFiles = typeof import('../../../../../src/batcher/keep/deleted-files.ts');
type FileSpooler = typeof import('../../../../../src/batcher/keep/file-spooler.ts');
type Marks = typeof import('../../../../../src/state/database/marks.ts');
type Positions = typeof import('../../../../../src/batcher/store.ts');
type Restore = typeof import('../../../../../src/batcher/keep/restore.ts');
type Store = typeof import('../../../../../src/state/database/store.ts');

let skipsSave = false;

export const keepingFaults: readonly Fault[] = [
  {
    name: 'a mark steps over a batch that is not settled',
    include: alone,
    schedule: 'batch that is settled before the one before it moves no mark',
    hooks: {
      'state/database/marks.ts#Mark': (Real: Marks['Mark']): Marks['Mark'] => {
        const committed = new WeakMap<object, Set<number>>();
        method(Real, 'commit', (self, commit, span, batch) => {
          committed.set(self, (committed.get(self) ?? new Set()).add(batch));
          commit(span, batch);
        });
        // The batches before it are settled with it.
        return method(Real, 'settle', (self, settle, batch) =>
          [...(committed.get(self) ?? [])].flatMap((each) => (each <= batch ? settle(each) : [])),
        );
      },
    },
  },
  {
    name: 'what is held of a deleted file is left to memory',
    include: alone,
    schedule: 'file deleted between the last scan and a stop was not read to its end',
    hooks: {
      'batcher/keep/file-spooler.ts#FileSpooler': (Real: FileSpooler['FileSpooler']): FileSpooler['FileSpooler'] =>
        method(Real, 'keep', () => {}),
    },
  },
  {
    name: 'what is read of a deleted file waits for the age of its batch',
    include: alone,
    schedule: 'unfinished line of a deleted file waited for its time, and went with a kill',
    hooks: {
      'batcher/keep/deleted-files.ts#DeletedFiles': (
        Real: DeletedFiles['DeletedFiles'],
      ): DeletedFiles['DeletedFiles'] => method(Real, 'flush', () => {}),
    },
  },
  {
    name: 'what was settled of a file is not saved when it is deleted',
    include: alone,
    schedule: 'batch that was delivered and not saved lost its key with one of its files',
    hooks: {
      'batcher/keep/deleted-files.ts#DeletedFiles': (
        Real: DeletedFiles['DeletedFiles'],
      ): DeletedFiles['DeletedFiles'] =>
        method(Real, 'keep', (_, keep, stream) => {
          keep(stream);
          skipsSave = true;
        }),
      'state/database/store.ts#State': (Real: Store['State']): Store['State'] =>
        method(Real, 'save', (_, save) => {
          const isSkipped = skipsSave;
          skipsSave = false;
          return isSkipped || save();
        }),
    },
  },
  {
    name: 'a batch of the last process is sent under a new key',
    include: alone,
    schedule: 'block of which a batch has a part was read again when a stop read its deleted file to the end',
    hooks: {
      'batcher/keep/restore.ts#restoreBatches':
        (real: Restore['restoreBatches']): Restore['restoreBatches'] =>
        (options) => {
          // As though it had held another number of events.
          const changed = options.batches.map((batch) => ({
            ...batch,
            spans: batch.spans.map((span) => ({ ...span, events: span.events + 1 })),
          }));
          return real({ ...options, batches: changed });
        },
    },
  },
  {
    name: 'batches are sent before their spans are committed',
    include: alone,
    schedule: 'file deleted between the last scan and a stop was not read to its end',
    hooks: {
      'batcher/store.ts#Positions': (Real: Positions['Positions']): Positions['Positions'] =>
        method(Real, 'commit', () => {}),
    },
  },
  {
    name: 'that a batch of a deleted file is settled is saved with the next marks',
    include: alone,
    schedule: 'batch of a deleted file that was delivered before it was in the disk buffer lost its key in a kill',
    hooks: {
      'state/database/store.ts#State': (Real: Store['State']): Store['State'] =>
        method(Real, 'whenSaved', (_, __, work) => {
          work();
          return true;
        }),
    },
  },
  {
    name: 'what is in the disk buffer of a deleted file is not committed',
    include: alone,
    schedule: 'file deleted between the last scan and a stop was not read to its end',
    hooks: {
      'batcher/store.ts#Positions': (Real: Positions['Positions']): Positions['Positions'] =>
        method(Real, 'commit', (_, commit, batches) => {
          const [written, others] = [true, false].map((isWritten) =>
            batches.filter(({ state }) => (state === 'writing') === isWritten),
          );
          commit(others!);
          // They are committed before they are sent.
          queueMicrotask(() => written!.forEach((batch) => (batch.isCommitted = false)));
        }),
    },
  },
];
