/**
 * The numbers of sources and sinks that people look at: a row is all of one. `status --json`, the screens of `status` and `top`, the status
 * page and the metrics have it from there. Pure; the page runs it in the browser.
 */
import type { ObservedSink, ObservedSource } from './observed.ts';

export interface Stat<Of> {
  readonly value: (of: Of) => number;
  /** Absent where a metric of another form has it. */
  readonly metric?: readonly [name: string, help: string];
  readonly isBytes?: true;
  /** Its column of the status page. */
  readonly column?: string;
  /** There, while it is not 0. */
  readonly level?: 'warn' | 'bad';
  /** Its column of `top`, and which are left out first where the terminal is narrow: those of the highest rank. */
  readonly top?: readonly [name: string, rank: number];
  /** What `status` says behind the number, while it is not 0. */
  readonly said?: string;
}

/** By their names in `status --json`, in the order of their columns. */
export type Stats<Of> = Readonly<Record<string, Stat<Of>>>;

export const SOURCE_STATS = {
  lagBytes: {
    value: ({ stats }) => stats.lagBytes,
    metric: ['source_lag_bytes', 'Bytes that exist and are not read yet'],
    isBytes: true,
    column: 'unread',
    top: ['LAG', 2],
  },
  held: {
    value: ({ held }) => held,
    metric: ['events_held', 'Events accepted and not settled'],
    column: 'in hand',
    top: ['HELD', 4],
    said: 'held',
  },
  accepted: {
    value: ({ accepted }) => accepted,
    metric: ['source_events_total', 'Events read from the source'],
    column: 'accepted',
    // Left out of `top` before the outcomes that add up to it.
    top: ['ACCEPTED', 8],
  },
  delivered: { value: ({ settled }) => settled.delivered, column: 'delivered', top: ['DELIVERED', 5] },
  filtered: { value: ({ settled }) => settled.filtered, column: 'filtered', top: ['FILTERED', 6], said: 'filtered' },
  deadLettered: {
    value: ({ settled }) => settled.dead_lettered,
    column: 'dead letters',
    level: 'warn',
    said: 'dead letters',
  },
  dropped: {
    value: ({ settled }) => settled.dropped,
    column: 'dropped',
    level: 'bad',
    top: ['DROPPED', 7],
    said: 'dropped',
  },
  readBytes: {
    value: ({ stats }) => stats.readBytes,
    metric: ['source_read_bytes_total', 'Bytes read from the source'],
    isBytes: true,
  },
  lostBytes: {
    value: ({ stats }) => stats.lostBytes,
    metric: ['source_lost_bytes_total', 'Bytes destroyed by others before they could be read'],
    isBytes: true,
    said: 'lost',
  },
} satisfies Stats<ObservedSource>;

export const SINK_STATS = {
  retries: { value: ({ retries }) => sum(retries), column: 'retries', top: ['RETRIES', 3] },
  queuedBytes: { value: ({ queuedBytes }) => queuedBytes, isBytes: true, column: 'in memory' },
  memoryBytes: { value: ({ memoryBytes }) => memoryBytes, isBytes: true, top: ['IN MEMORY', 6] },
  diskBytes: {
    value: ({ diskBytes }) => diskBytes,
    isBytes: true,
    column: 'on disk',
    top: ['ON DISK', 7],
    said: 'on disk',
  },
  requests: { value: ({ requests }) => sum(requests) },
  ingested: { value: ({ stored }) => sum(stored) },
  failed: { value: ({ failed }) => sum(failed) },
} satisfies Stats<ObservedSink>;

export type StatValues<Table> = { readonly [Name in keyof Table]: number };

export function valuesOf<Of, Table extends Stats<Of>>(table: Table, of: Of): StatValues<Table> {
  return Object.fromEntries(Object.entries(table).map(([name, { value }]) => [name, value(of)])) as StatValues<Table>;
}

/** A number that a type of sink declares (`facts`), as `status --json` has it. */
export interface Fact {
  readonly said: string;
  readonly value: number;
  readonly isBytes: boolean;
}

interface StatRow {
  readonly id: string;
  readonly facts?: readonly Fact[];
}

/** What `status` says of one source or sink, in the form of facts. */
export function sayStats(stats: Stats<never>, row: StatRow): Fact[] {
  const own = Object.entries(stats).map(([name, { said = '', isBytes = false }]) => ({
    said,
    value: numberIn(row, name),
    isBytes,
  }));
  return [...own, ...(row.facts ?? [])].filter(({ said, value }) => said !== '' && value !== 0);
}

export interface NumberColumn {
  readonly name: string;
  readonly rank: number;
  readonly isBytes: boolean;
  readonly level?: 'warn' | 'bad' | undefined;
  /** Undefined where the row has no such fact. */
  readonly value: (row: StatRow) => number | undefined;
}

/** The columns of a table on the status page, or in `top`: its numbers, then the facts of its rows. */
export function statColumns(stats: Stats<never>, rows: readonly StatRow[], place: 'column' | 'top'): NumberColumn[] {
  const own = Object.entries(stats).flatMap(([key, { column, top, isBytes = false, level }]): NumberColumn | [] => {
    const [name, rank = 0] = place === 'top' ? (top ?? []) : [column];
    return name === undefined ? [] : { name, rank, isBytes, level, value: (row) => numberIn(row, key) };
  });
  const facts = new Map(rows.flatMap((row) => (row.facts ?? []).map((fact) => [fact.said, fact.isBytes])));
  const told = Array.from(facts, ([said, isBytes]): NumberColumn => ({
    name: place === 'top' ? said.toUpperCase() : said,
    rank: 8,
    isBytes,
    value: (row) => row.facts?.find((fact) => fact.said === said)?.value,
  }));
  return [...own, ...told];
}

const numberIn = (row: object, key: string): number => (row as Readonly<Record<string, number>>)[key]!;

function sum(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((total, count) => total + count, 0);
}
