/** Faults in following files, and in reading them. */
import { type Fault, alone, method, withRotated } from './fault.ts';

type ChangeHandler = typeof import('../../../../../src/sources/file/act/change-handler.ts');
type CompressedReader = typeof import('../../../../../src/sources/file/compressed/compressed-reader.ts');
type Copies = typeof import('../../../../../src/sources/file/act/copies.ts');
type CopyMatcher = typeof import('../../../../../src/sources/file/observe/copy-matcher.ts');
type FinishDeleted = typeof import('../../../../../src/sources/file/read/finish-deleted.ts');
type Renewal = typeof import('../../../../../src/sources/file/act/renewal.ts');
type Identities = typeof import('../../../../../src/sources/file/known/stream-identities.ts');
type MissedRotations = typeof import('../../../../../src/sources/file/act/missed-rotations.ts');
type Locate = typeof import('../../../../../src/sources/file/scan/locate.ts');
type Maintenance = typeof import('../../../../../src/sources/file/known/maintenance.ts');
type ObserveFile = typeof import('../../../../../src/sources/file/observe/observe-file.ts');
type ObserveScan = typeof import('../../../../../src/sources/file/observe/observe-scan.ts');
type Offer = typeof import('../../../../../src/sources/file/read/offer.ts');
type PollingRoom = typeof import('../../../../../src/sources/file/polling.ts');
type TrackedFile = Parameters<Copies['Copies']['prototype']['name']>[0];
type StreamOf = TrackedFile['stream'];

const KEEP_OPEN_MS = 10_000;
const OFFER = 'sources/file/read/offer.ts#offerBlock';

let isApplying = false;

export const followingFaults: readonly Fault[] = [
  {
    name: 'a descriptor is closed when its file is deleted',
    include: alone,
    schedule: 'deleted file was given up for a new one that began alike, because nothing of it had been read',
    hooks: {
      'sources/file/act/change-handler.ts#ChangeHandler': (
        Real: ChangeHandler['ChangeHandler'],
      ): ChangeHandler['ChangeHandler'] =>
        class extends Real {
          readonly #descriptors: ConstructorParameters<ChangeHandler['ChangeHandler']>[0]['descriptors'];

          constructor(options: ConstructorParameters<ChangeHandler['ChangeHandler']>[0]) {
            super(options);
            this.#descriptors = options.descriptors;
          }

          override handle(decision: Parameters<InstanceType<ChangeHandler['ChangeHandler']>['handle']>[0]): void {
            if (decision.kind !== 'deleted') return super.handle(decision);
            this.#descriptors.close(decision.observation.file);
            super.handle({ kind: 'gone', observation: { ...decision.observation, held: undefined } });
          }
        },
    },
  },
  {
    name: 'the position moves before the lane has taken the lines',
    include: alone,
    schedule: 'file deleted between the last scan and a stop was not read to its end',
    hooks: {
      [OFFER]:
        (real: Offer['offerBlock']): Offer['offerBlock'] =>
        (lane, stream, block, readAtMs) => {
          const own = stream as StreamOf;
          own.advance(own.offset + own.offeredBytes, [], own.tail);
          return real(lane, stream, block, readAtMs);
        },
    },
  },
  {
    name: 'an unfinished line is sent once more when its rest comes',
    include: alone,
    schedule: 'unfinished line is sent once',
    hooks: {
      [OFFER]:
        (real: Offer['offerBlock']): Offer['offerBlock'] =>
        async (lane, stream, block, readAtMs) => {
          await real(lane, stream, block, readAtMs);
          if (block.single === undefined || block.single.marks?.['truncated'] === true) return;
          // Its position stays where it is, this time.
          const own = stream as StreamOf;
          const { offset } = own;
          const stay: StreamOf['advance'] = (_, parts, tail) => {
            Reflect.deleteProperty(own, 'advance');
            own.advance(offset, parts, tail);
          };
          Object.assign(own, { advance: stay });
        },
    },
  },
  {
    name: 'a stop reads what a batch has of a deleted file once more',
    include: alone,
    schedule: 'block of which a batch has a part was read again when a stop read its deleted file to the end',
    hooks: {
      [OFFER]:
        (real: Offer['offerBlock']): Offer['offerBlock'] =>
        (lane, stream, block, readAtMs) =>
          real(lane, stream, block, readAtMs).catch((error: Error) => {
            // None of it seems to be taken.
            if (error.cause instanceof Error && 'remainingBytes' in error.cause)
              Object.assign(error.cause, { remainingBytes: block.end - block.start });
            throw error;
          }),
    },
  },
  {
    name: 'a file that was rotated away unseen is not looked for',
    include: alone,
    schedule: 'deleted file was given up for a new one that began alike, because nothing of it had been read',
    hooks: {
      'sources/file/act/missed-rotations.ts#MissedRotations': (
        Real: MissedRotations['MissedRotations'],
      ): MissedRotations['MissedRotations'] => method(Real, 'note', () => {}),
    },
  },
  {
    name: 'a renamed file is taken for a new one',
    include: withRotated,
    schedule: 'copy of a file that was renamed in the same moment was read again',
    hooks: {
      'sources/file/observe/observe-scan.ts#observePaths':
        (real: ObserveScan['observePaths']): ObserveScan['observePaths'] =>
        (all, known, options) => {
          const found = [...all];
          for (const { path, stat } of found) {
            const file = known.in(stat);
            if (file && file.disk.path !== path) known.remove(file);
          }
          return real(found, known, options);
        },
    },
  },
  {
    name: 'a file that left its path is not looked for beside it',
    include: alone,
    schedule: 'file that was renamed while it was closed is read on',
    hooks: { 'sources/file/scan/locate.ts#locate': (): Locate['locate'] => () => undefined },
  },
  {
    name: 'a truncated generation does not look for its copy',
    include: withRotated,
    schedule: 'unread file that was truncated, and began as before, counted as cut off though its copy was read',
    hooks: {
      'sources/file/act/copies.ts#Copies': (Real: Copies['Copies']): Copies['Copies'] =>
        class extends Real {
          constructor(options: ConstructorParameters<Copies['Copies']>[0]) {
            super({ ...options, fileSystem: { ...options.fileSystem, readdir: () => [] } });
          }
        },
      'sources/file/observe/copy-matcher.ts#CopyMatcher': (
        Real: CopyMatcher['CopyMatcher'],
      ): CopyMatcher['CopyMatcher'] =>
        class extends Real {
          constructor(options: ConstructorParameters<CopyMatcher['CopyMatcher']>[0]) {
            super({ ...options, fileSystem: { ...options.fileSystem, readdir: () => [] } });
          }
        },
    },
  },
  {
    name: 'what the lane is taking of a file counts as unread when its content is compared',
    include: withRotated,
    schedule: 'file that is truncated while the lane is taking its first lines, and begins alike, begins anew',
    hooks: {
      'sources/file/observe/observe-file.ts#lookAtContent':
        (real: ObserveFile['lookAtContent']): ObserveFile['lookAtContent'] =>
        (file, options) => {
          const { offeredBytes } = file.stream;
          file.stream.offeredBytes = 0;
          const seen = real(file, options);
          file.stream.offeredBytes = offeredBytes;
          return seen;
        },
    },
  },
  {
    name: 'a stream is made when its file is read, not when it is seen',
    include: alone,
    schedule: 'file that was truncated twice counted nothing of what a scan had seen in between',
    hooks: {
      'sources/file/act/change-handler.ts#ChangeHandler': (
        Real: ChangeHandler['ChangeHandler'],
      ): ChangeHandler['ChangeHandler'] =>
        method(Real, 'handle', (_, handle, decision) => {
          isApplying = true;
          try {
            handle(decision);
          } finally {
            isApplying = false;
          }
        }),
      'sources/file/act/renewal.ts#Renewal': (Real: Renewal['Renewal']): Renewal['Renewal'] =>
        class extends Real {
          readonly #known: ConstructorParameters<Renewal['Renewal']>[0]['knownFiles'];

          constructor(options: ConstructorParameters<Renewal['Renewal']>[0]) {
            super(options);
            this.#known = options.knownFiles;
          }

          override renew(...given: Parameters<InstanceType<Renewal['Renewal']>['renew']>): TrackedFile {
            const next = super.renew(...given);
            if (isApplying) this.#known.changed.delete(next);
            return next;
          }
        },
      'sources/file/act/copies.ts#Copies': (Real: Copies['Copies']): Copies['Copies'] =>
        method(Real, 'name', (_, name, file) => !isApplying && name(file)),
    },
  },
  {
    name: 'a file that is gone and was closed may count on being read again',
    include: alone,
    schedule: 'file that was closed when it was deleted took its open batch along',
    hooks: {
      'sources/file/known/stream-identities.ts#StreamIdentities': (
        Real: Identities['StreamIdentities'],
      ): Identities['StreamIdentities'] =>
        method(Real, 'spoolUnlinked', (_, spoolUnlinked, file) => {
          if (file.disk.place !== 'missing') spoolUnlinked(file);
        }),
    },
  },
  {
    name: 'the unfinished line of a deleted file waits as long as any other',
    include: alone,
    schedule: 'unfinished line of a deleted file waited for its time, and went with a kill',
    hooks: {
      'sources/file/known/maintenance.ts#Maintenance': (Real: Maintenance['Maintenance']): Maintenance['Maintenance'] =>
        class extends Real {
          readonly #clock: ConstructorParameters<Maintenance['Maintenance']>[0]['clock'];

          constructor(options: ConstructorParameters<Maintenance['Maintenance']>[0]) {
            super(options);
            this.#clock = options.clock;
          }

          override keep(file: Parameters<InstanceType<Maintenance['Maintenance']>['keep']>[0]): void {
            const { disk, size, stream } = file;
            const isWaiting = disk.place === 'deleted' && stream.position < size && stream.readTo >= size;
            if (isWaiting && this.#clock.monotonic() - disk.changedAtMs < KEEP_OPEN_MS) return;
            super.keep(file);
          }
        },
    },
  },
  {
    name: 'a stop does not look at what was deleted since the last scan',
    include: alone,
    schedule: 'file deleted between the last scan and a stop was not read to its end',
    hooks: {
      'sources/file/polling.ts#Polling': (Real: PollingRoom['Polling']): PollingRoom['Polling'] =>
        method(Real, 'stop', (self, stop) => {
          self.scanOnce = () => Promise.resolve();
          return stop();
        }),
    },
  },
  {
    name: 'a stop does not read deleted files to their ends',
    include: alone,
    schedule: 'file deleted between the last scan and a stop was not read to its end',
    hooks: {
      'sources/file/read/finish-deleted.ts#finishDeleted': (): FinishDeleted['finishDeleted'] => () =>
        Promise.resolve(),
    },
  },
  {
    name: 'what was read of a file is not looked for in compressed files',
    include: 'compressed',
    schedule: 'batch that was under way at a kill was lost, though a compressed file had what was read of its file',
    hooks: {
      'sources/file/compressed/compressed-reader.ts#CompressedReader': (
        Real: CompressedReader['CompressedReader'],
      ): CompressedReader['CompressedReader'] =>
        method(Real, 'reread', (self, reread, span, lane) =>
          self.has(span.stream) ? reread(span, lane) : Promise.resolve(span.from),
        ),
    },
  },
];
