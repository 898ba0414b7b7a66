/**
 * The file source: puts finder, tracker and reader together. A poll is: find the files, match them to streams, read each a
 * fair share, close and forget what is done. Scanning and reading go on side by side, so that a rotation is seen while the
 * reader waits for the sinks.
 */
import type { EventShape, Lane, Span } from '../../core/block.ts';
import { SCAN_GRACE_MS } from './limits.ts';
import { newStats, type Source, type SourceContext, type SourceStats, type ListedFile } from '../../core/source.ts';
import { StepDeadline } from '../../core/time/clock.ts';
import type { FileConfig } from './file-type.ts';
import { type LineShaping, plainLines, shapeOf } from '../framing/line-shaping.ts';
import { createLines } from '../framing/grouped/grouped-lines.ts';
import type { Lines } from '../framing/lines.ts';
import { CompressedFiles } from './compressed/compressed-files.ts';
import { CompressedReader, takeCompressed } from './compressed/compressed-reader.ts';
import { Explainer } from './explain.ts';
import type { FileExplanation } from '../common/explanation.ts';
import { type FileSystem, nodeFileSystem } from './scan/file-system.ts';
import { Finder } from './scan/finder.ts';
import { fixedPartsOf } from './scan/glob.ts';
import { Links } from './scan/links.ts';
import { guard, PathRefusals } from './scan/path-refusals.ts';
import { ChangeHandler } from './act/change-handler.ts';
import { MissedRotations } from './act/missed-rotations.ts';
import { Renewal } from './act/renewal.ts';
import { KnownContent } from './compressed/known-content.ts';
import { UnreadCompressed } from './compressed/unread-compressed.ts';
import { Notices } from './scan/notices.ts';
import { Polling } from './polling.ts';
import { LineEnds } from './read/line-ends.ts';
import { TailReader } from './read/reader.ts';
import { restore } from './act/restore.ts';
import { skipPresent } from './act/skip-present.ts';
import { Copies } from './act/copies.ts';
import { KnownFiles } from './known/known-files.ts';
import { Maintenance } from './known/maintenance.ts';
import { NulGaps } from './known/nul-gap.ts';
import { OpenFiles } from './known/open-files.ts';
import { RotationChain } from './known/rotation-chain.ts';
import { StreamIdentities } from './known/stream-identities.ts';
import { CopyMatcher } from './observe/copy-matcher.ts';
import { isGzipOrZstdName } from './scan/rotated-names.ts';
import { SpanReader } from './read/span-reader.ts';
import { stateOf, lagOf, type TrackedFile } from './known/tracked-file.ts';
import { Tracker } from './act/tracker.ts';
import { SerialQueue } from './read/offer.ts';

export interface FileSource extends Source {
  /** One scan, then one turn for every file that has something to read. For tests and `--once`. */
  pollOnce(): Promise<{ readonly moreToRead: boolean }>;
  /** Scans all files once, without reading. */
  scanOnce(): Promise<void>;
  /** One turn for every file that has something to read. */
  readRound(): Promise<void>;
  /** Why a path is or is not read, where, and how far behind. */
  explain(path: string): FileExplanation;
}

export interface FileSourceOptions {
  readonly fileSystem?: FileSystem;
  /** As `loadShaping` makes it of the configuration. */
  readonly shaping?: LineShaping;
}

/** Makes the source; nothing is looked at before `open`. */
export function createFileSource(
  config: FileConfig,
  context: SourceContext,
  { fileSystem: system = nodeFileSystem, shaping = plainLines }: FileSourceOptions = {},
): FileSource {
  const { streams, clock, log, lane, rescue, once, reserve, privateFiles } = context;
  const notices = new Notices(log, clock);
  const deadline = new StepDeadline('a scan', clock, SCAN_GRACE_MS);
  const refused = { links: 0 };
  const counters = { ...newStats(), refused };
  const { include, exclude, followLinks } = config;
  const links = new Links({ fixed: fixedPartsOf(include), followLinks, fileSystem: system, clock });
  const fileSystem = guard(system, links, privateFiles);
  const refusals = new PathRefusals({ links, privateFiles, fileSystem, notices, counts: refused });
  const finder = new Finder({ include, exclude, fileSystem, clock, notices, refusals, deadline });
  const shapeOfFile = (path: string): EventShape => shapeOf(config, shaping, { host: context.hostname, file: path });
  const { id: source, ignoreOlderMs, stableInodes, maxDeletedBytes, partialTimeoutMs } = config;
  const { groupTimeoutMs } = shaping;
  const common = {
    ...{ source, fileSystem, streams, clock, notices, stats: counters, once, rescue, shaping },
    shapeOf: shapeOfFile,
  };
  const knownFiles = new KnownFiles(rescue !== undefined);
  const { files } = knownFiles;
  const descriptors = new OpenFiles({ ...common, knownFiles });
  const gaps = new NulGaps(common);
  const identities = new StreamIdentities({ source, fileSystem, streams, rescue, gaps, notices });
  const chain = new RotationChain({ ...common, knownFiles });
  const matcher = new CopyMatcher({ fileSystem, knownFiles, descriptors });
  const following = { ...common, finder, knownFiles, descriptors, gaps, identities, chain, matcher };
  const onUnfound = (file: TrackedFile): void => unreadCompressed.giveUp(file);
  const maintenance = new Maintenance({
    ...{ source, streams, stats: counters, clock, notices, knownFiles, descriptors, rescue },
    ...{ maxDeletedBytes, partialTimeoutMs, groupTimeoutMs, onUnfound },
  });
  const renewal = new Renewal({ ...following, maintenance });
  const copies = new Copies({ ...following, maintenance, renewal });
  const missed = new MissedRotations(common);
  const acting = { ...following, maintenance, copies, missed };
  const handler = new ChangeHandler({ ...acting, renewal });
  const tracker = new Tracker({ ...acting, handler, ignoreOlderMs, stableInodes });
  const makeLines = (): Lines => createLines({ rules: config, shaping, stats: counters, reserve, clock });
  const lines = makeLines();
  const turns = new SerialQueue();
  const lineEnds = new LineEnds({ ...common, knownFiles, compressed: () => compressedFiles.ends() });
  const reading = { ...following, renewal, copies, groupTimeoutMs, lineEnds };
  const reader = new TailReader({ ...reading, lines, lane, turns });
  const unlinkedReader =
    rescue && new TailReader({ ...reading, lines: makeLines(), lane: rescue.lane, turns: new SerialQueue() });
  const spanReader = new SpanReader({ lines, fileSystem, knownFiles, turns });
  const known = new KnownContent(knownFiles);
  const compressedFiles = new CompressedFiles({
    ...{ source, fileSystem, streams, clock, rescue, stableInodes },
    shapeOf: shapeOfFile,
    expire: (stream) => maintenance.expire(stream),
  });
  const compressedReader = config.readCompressed
    ? new CompressedReader({
        ...common,
        lines: makeLines(),
        lane,
        laneTurns: turns,
        files: compressedFiles,
        known,
        gaps,
        lineEnds,
      })
    : undefined;
  const unreadCompressed = new UnreadCompressed({
    ...{ source, fileSystem, streams, stats: counters, notices, known },
    isRead: (path) => compressedReader !== undefined && finder.reaches(path),
  });
  let isOpen = false;
  const explainer = new Explainer({
    ...{ ...common, config, finder, refusals, knownFiles },
    isOpen: () => isOpen,
    compressed: (path) => compressedReader?.explain(path),
  });
  const polling = new Polling({
    ...following,
    config,
    finder,
    deadline,
    tracker,
    handler,
    copies,
    reader,
    lane,
    unlinkedReader,
    compressedReader,
    log,
  });

  async function open(): Promise<void> {
    isOpen = true;
    const records = streams.list(config.id);
    const isFirstRun = streams.hasStarted
      ? !streams.hasStarted(config.id) && records.length === 0
      : records.length === 0;
    const found = await finder.find();
    const isSkipping = isFirstRun && config.startAt === 'end';
    const compressed = takeCompressed(found);
    const isReached = (path: string): boolean => finder.reaches(path) && !refusals.has(path);
    const { plain = [], packed = [] } = Object.groupBy(records, ({ path }) =>
      isGzipOrZstdName(path) ? 'packed' : 'plain',
    );
    const { recognized, unmatched, away } = await restore(plain, {
      tracker,
      handler,
      copies,
      knownFiles,
      fileSystem,
      stableInodes,
      found,
      isReached,
    });
    known.remember(plain);
    if (compressedReader) compressedFiles.open(packed, compressed, isSkipping);
    if (isSkipping)
      skipPresent(found, { ...following, copies, maxEventBytes: config.maxEventBytes, encoding: shaping.encoding });
    await tracker.scan(found, polling.yieldToOthers);
    unreadCompressed.expect(plain.filter(({ id, path }) => isReached(path) && !knownFiles.byStream(id)));
    if (away > 0)
      log.warn(
        { source: config.id, files: away },
        'known files are on a file system that is not there, or cannot be looked at; they are waited for',
      );
    if (unmatched > 0)
      log.info(
        { source: config.id, files: unmatched },
        'files that the patterns do not match any more are not read; their positions are kept',
      );
    log.info(
      { source: config.id, files: files.size, recognized, ...(found.size === 0 && { include: config.include }) },
      found.size === 0 ? 'no file matches yet, looking again at every scan' : 'following files',
    );
  }

  return {
    id: config.id,
    stats: liveStats(counters, knownFiles),
    open,
    async run() {
      await Promise.all([polling.run(once), unreadCompressed.name()]);
    },
    async stop() {
      await unreadCompressed.stop();
      await polling.stop();
      for (const file of files) descriptors.close(file);
    },
    async reread(span: Span, lane: Lane, continued: readonly Span[] = []) {
      const end = compressedReader?.has(span.stream) ? span.from : await spanReader.reread(span, lane, continued);
      return compressedReader && end === span.from && continued.length === 0
        ? compressedReader.reread(span, lane)
        : end;
    },
    readSpan: (span) => spanReader.readSpan(span),
    async pollOnce() {
      await polling.scanOnce();
      await polling.readRound();
      await polling.unlinkedRound();
      await polling.compressedRound();
      return { moreToRead: knownFiles.queue.size + knownFiles.deleted.size > 0 };
    },
    scanOnce: () => polling.scanOnce(),
    readRound: () => polling.readRound(),
    overdue: () => deadline.describe(),
    explain: (path) => explainer.explain(path),
    reaches: (path) => finder.reaches(path) || knownFiles.byPath(path) !== undefined,
    refused: refusals.all,
    listFiles: (limit) => listTrackedFiles(knownFiles, limit),
  };
}

/** The counters, with what is true now computed when it is asked for. */
function liveStats(counters: SourceStats, knownFiles: KnownFiles): SourceStats {
  return Object.defineProperties(counters, {
    lagBytes: { enumerable: true, get: () => knownFiles.lagBytes },
    goneLagBytes: { enumerable: true, get: () => knownFiles.goneLagBytes },
    files: {
      enumerable: true,
      get() {
        const states: Record<string, number> = { active: 0, idle: 0, rotated: 0, deleted: 0, failed: 0 };
        for (const file of knownFiles.files) states[stateOf(file)]! += 1;
        return states;
      },
    },
  });
}

/** Known files for people to look at, those in trouble or behind first: at most `limit` of them, and how many there are. */
function listTrackedFiles(
  known: KnownFiles,
  limit: number,
): { readonly total: number; readonly files: readonly ListedFile[] } {
  const all = [...known.files].map((file) => ({ file, lagBytes: known.isUndecided(file) ? 0 : lagOf(file) }));
  all.sort(
    (a, b) =>
      Number(b.file.disk.failure !== undefined) - Number(a.file.disk.failure !== undefined) || b.lagBytes - a.lagBytes,
  );
  return {
    total: all.length,
    files: all.slice(0, limit).map(({ file, lagBytes }) => describe(file, lagBytes, known.isUndecided(file))),
  };
}

function describe(file: TrackedFile, lagBytes: number, isUndecided: boolean): ListedFile {
  const { disk, stream, size } = file;
  const { path, failure } = disk;
  const state = isUndecided ? 'undecided' : stateOf(file);
  return { path, state, offset: stream.offset, size, lagBytes, ...(failure ? { problem: failure.reason } : {}) };
}
