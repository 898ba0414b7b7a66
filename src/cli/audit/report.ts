/** The audit as one record: for each stream, sink and dataset what became of its bytes. Joins the state, the disk buffers, the dead letters and the files. */
import { join } from 'node:path';
import { ownersOf } from '../../agent/build/owners.ts';
import type { Config, SinkConfig } from '../../config/model.ts';
import { baseOfOwner, datasetOfOwner, sinkOfOwner } from '../../core/checkpoint-owner.ts';
import { inodeKey } from '../../sources/file/scan/file-system.ts';
import { type AuditedStream, readAuditRows } from '../../state/database/audit-rows.ts';
import type { Proof } from '../../sinks/common/proof.ts';
import { sinkTypeOf } from '../../sinks/registry.ts';
import { sourceTypeOf, type SourceConfig } from '../../sources/registry.ts';
import { readSpoolHeaders } from '../../state/spool/read-headers.ts';
import { type AuditedLetters, collectLetters, NO_LETTERS } from './letters.ts';
import { collectLosses, type Unplaced, unplacedOf, withLosses } from './losses.ts';
import { Locator } from './locate.ts';
import { type ByteRange, rangesOf } from './ranges.ts';

export interface AuditedSink {
  readonly sink: string;
  readonly dataset: string;
  /** What became of events whose range is settled and that are no dead letters, as far as the configuration in force allows. */
  readonly settled_as: readonly ('delivered' | 'filtered' | 'dropped')[];
  readonly ranges: readonly ByteRange[];
  /** Lost or dropped beside them. */
  readonly unplaced: readonly Unplaced[];
  readonly dead_letters: AuditedLetters;
}

export interface StreamAudit {
  readonly source: string;
  /** The events' `file`; empty for a connection, and for standard input. */
  readonly file: string;
  /** Where the file is now; absent where it is gone. */
  readonly now_at?: string;
  /** Absent for a file that was never read. */
  readonly stream?: string;
  readonly sinks: readonly AuditedSink[];
  /** Of a file that was never read. */
  readonly unread_bytes?: number;
}

export interface AuditReport {
  readonly streams: readonly StreamAudit[];
  /** Of sinks whose own records prove what they hold. */
  readonly held: readonly ({ readonly sink: string } & Proof)[];
  /** Files that the proof needs and that cannot be read. */
  readonly problems: readonly string[];
}

type AgentCount = 'accepted' | 'delivered' | 'dead_lettered' | 'dropped' | 'filtered' | 'held' | 'lost_bytes';

/** The counts of the running agent since its start. */
export interface AuditedAgent {
  readonly pid: number;
  readonly balanced: boolean;
  readonly problems: readonly string[];
  readonly sources: readonly ({ readonly id: string } & Readonly<Record<AgentCount, number>>)[];
}

export interface Audit extends AuditReport {
  /** Every byte is settled, a dead letter, in hand, in its file, or acknowledged as lost. */
  readonly ok: boolean;
  /** Counted once for each sink and dataset. */
  readonly totals: Readonly<typeof NO_TOTALS>;
  /** Absent where none runs. */
  readonly agent?: AuditedAgent;
}

/** Bytes by state, those of the lost that are acknowledged, and dead letters. */
export const NO_TOTALS = {
  acknowledged: 0,
  settled: 0,
  in_hand: 0,
  unread: 0,
  lost: 0,
  dropped: 0,
  gap: 0,
  dead_letters: 0,
  missing_letters: 0,
  dropped_letters: 0,
};

interface AuditFindings {
  readonly config: Config;
  readonly letters: ReturnType<typeof collectLetters>;
  readonly losses: ReturnType<typeof collectLosses>;
  readonly spooled: ReadonlySet<string>;
  readonly locator: Locator;
  readonly isRunning: boolean;
}

/** Reads only. Throws `TailraceError` where the state cannot be read. */
export async function makeReport(config: Config, isRunning: boolean): Promise<AuditReport> {
  const { dataDir } = config;
  // Read the state first: everything read later can only be further on.
  const { streams: rows, losses: lost, letters: kept, batches } = readAuditRows(dataDir);
  const losses = collectLosses(lost);
  const spool = readSpoolHeaders(join(dataDir, 'spool'));
  const letters = collectLetters(join(dataDir, 'dead-letters'), kept, () => readAuditRows(dataDir).letters);
  const locator = new Locator(config);
  const found: AuditFindings = {
    config,
    letters,
    losses,
    locator,
    isRunning,
    spooled: new Set(spool.headers.map(({ key }) => key)),
  };
  const known = new Set(rows.flatMap(({ identity }) => (identity ? [inodeKey(identity)] : [])));
  const unread: StreamAudit[] = [];
  for (const source of config.sources) {
    const { files } = sourceTypeOf(source);
    for (const { path, stat } of await locator.find(source)) {
      if (known.has(inodeKey(stat)) || (await files?.leavesOut(source, path)) === true) continue;
      unread.push({ source: source.id, file: path, now_at: path, sinks: [], unread_bytes: stat.size });
    }
  }
  const files = rows.filter(({ identity }) => identity !== undefined).map((row) => auditFile(row, found));
  const live = spool.headers.flatMap(({ sink, dataset, spans }) =>
    spans.map((span) => ({ ...span, sink: sinkOfOwner(sink), dataset })),
  );
  const others = auditOthers(live, new Set(rows.filter(({ identity }) => identity).map(({ id }) => id)), found);
  const streams = [...files.filter(({ sinks }) => sinks.length > 0), ...unread, ...others, ...auditLost(found)];
  const held: AuditReport['held'][number][] = [];
  for (const sink of config.sinks) {
    const proof = await sinkTypeOf(sink).prove?.(
      sink,
      batches.filter(({ owner }) => sinkOfOwner(owner) === sink.id),
    );
    if (proof) held.push({ sink: sink.id, ...proof });
  }
  return { streams, held, problems: [...spool.problems, ...letters.problems] };
}

function auditFile(
  row: AuditedStream,
  { config, letters, losses, spooled, locator, isRunning }: AuditFindings,
): StreamAudit {
  const located = locator.locate(row);
  const source = config.sources.find(({ id }) => id === row.source);
  const owners = ownersOf(config, row.source);
  const sinks = row.marks.flatMap((mark): AuditedSink[] => {
    const isInForce = owners.includes(mark.owner) || owners.includes(baseOfOwner(mark.owner) ?? '');
    // A sink that was removed from the configuration keeps its unsettled batches only.
    if (!isInForce && mark.pending.every(({ isSettled }) => isSettled)) return [];
    const sink = config.sinks.find(({ id }) => id === sinkOfOwner(mark.owner));
    const name = sinkOfOwner(mark.owner);
    const dataset = datasetFor(config, row.source, mark.owner);
    const lost = losses.take(row.id, mark.owner);
    const unplaced = unplacedOf(lost);
    const ranges = withLosses(rangesOf(mark, located, { isRunning, isSpooled: (key) => spooled.has(key) }), lost);
    const outcomes = outcomesOf(config, source, sink);
    return [
      {
        sink: name,
        dataset,
        settled_as: outcomes,
        ranges,
        unplaced,
        dead_letters: letters.take(row.id, name, dataset),
      },
    ];
  });
  const place = located.path === undefined ? {} : { now_at: located.path };
  return { source: row.source, file: row.path, ...place, stream: row.id, sinks };
}

type LiveSpan = Readonly<Record<'source' | 'stream' | 'sink' | 'dataset', string> & Record<'from' | 'to', number>>;

/** Connections and runs, of which only unsettled events are known; and dead letters of streams that are forgotten. */
function auditOthers(
  spans: readonly LiveSpan[],
  files: ReadonlySet<string>,
  { config, letters }: AuditFindings,
): StreamAudit[] {
  const byPlace = Map.groupBy(
    spans.filter(({ stream }) => !files.has(stream)),
    ({ stream, sink, dataset }) => `${stream} ${sink} ${dataset}`,
  );
  const held = [...byPlace.values()].map((group): StreamAudit => {
    const { source, stream, sink, dataset } = group[0]!;
    const ranges = group
      .sort((a, b) => a.from - b.from)
      .map(({ from, to }): ByteRange => ({ from, to, state: 'in_hand', where: 'disk_buffer' }));
    const dead_letters = letters.take(stream, sink, dataset);
    return { source, file: '', stream, sinks: [{ sink, dataset, settled_as: [], ranges, unplaced: [], dead_letters }] };
  });
  const left = letters.rest().map(({ source, file, stream, sink, dataset, found }): StreamAudit => {
    const settled_as = outcomesOf(
      config,
      config.sources.find(({ id }) => id === source),
      config.sinks.find(({ id }) => id === sink),
    );
    return {
      source,
      file,
      stream,
      sinks: [{ sink, dataset, settled_as, ranges: [], unplaced: [], dead_letters: found }],
    };
  });
  return [...held, ...left];
}

/** Losses of streams that are forgotten, and of sinks that are gone. Dead letters of theirs are listed alone. */
function auditLost({ config, losses }: AuditFindings): StreamAudit[] {
  return losses.rest().map((lost): StreamAudit => {
    const { source, path, stream, owner } = lost[0]!;
    const place = { sink: sinkOfOwner(owner), dataset: datasetFor(config, source, owner) };
    const what = { settled_as: [], ranges: withLosses([], lost), unplaced: unplacedOf(lost), dead_letters: NO_LETTERS };
    return { source, file: path, ...(stream === '' ? {} : { stream }), sinks: [{ ...place, ...what }] };
  });
}

function datasetFor(config: Config, source: string, owner: string): string {
  const [from, into] = [
    config.sources.find(({ id }) => id === source),
    config.sinks.find(({ id }) => id === sinkOfOwner(owner)),
  ];
  return datasetOfOwner(owner) ?? from?.dataset ?? into?.dataset ?? '';
}

/** The possible outcomes by the configuration: the state does not store outcomes. */
function outcomesOf(
  config: Config,
  source: SourceConfig | undefined,
  sink: SinkConfig | undefined,
): AuditedSink['settled_as'] {
  const transforms = [source?.transform, config.transform, sink?.transform];
  const mayFilter = transforms.some((each) => each !== undefined);
  const mayDrop = mayFilter || sink?.buffer.whenFull !== 'block' || config.deadLetter.whenFull !== 'block';
  return ['delivered', ...(mayFilter ? (['filtered'] as const) : []), ...(mayDrop ? (['dropped'] as const) : [])];
}
