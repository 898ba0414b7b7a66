/** The SQL of the state database, and how its rows become what the state works with. */
import type { DatabaseSync, SQLOutputValue } from 'node:sqlite';
import type { Behind, ReadTime, SpanGroups } from '../../core/block.ts';
import type { ContentPoint } from '../../core/sums.ts';
import type { CompressedEnd, FileIdentity, SavedHeader } from '../../core/stream.ts';
import type { Mark } from './marks.ts';
import type { StoredSpan } from './stored-batch.ts';

export type Statements = ReturnType<typeof prepareStatements>;

/** Prepares them all, once. Types follow from the names. */
export function prepareStatements(database: DatabaseSync) {
  return {
    upsertStream: database.prepare(
      'insert into streams values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (id) do update set start_at = excluded.start_at, device = excluded.device, inode = excluded.inode, head_length = excluded.head_length, head_hash = excluded.head_hash, current_path = excluded.current_path, seen_size = excluded.seen_size, archive_end = excluded.archive_end, real_path = excluded.real_path, in_line = excluded.in_line, headers = excluded.headers',
    ),
    updateSeenSize: database.prepare('update streams set seen_size = ? where id = ?'),
    insertMark: database.prepare('insert or ignore into marks values (?, ?, ?, ?, ?, ?, ?, ?)'),
    upsertMark: database.prepare(
      'insert into marks values (?, ?, ?, ?, ?, ?, ?, ?) on conflict do update set settled_to = excluded.settled_to, tail_length = excluded.tail_length, tail_crc = excluded.tail_crc, content_sum = excluded.content_sum, points = excluded.points, behind = excluded.behind',
    ),
    insertBatch: database.prepare(
      'insert into batches (id, key, sink, dataset, events, created_ms) values (?, ?, ?, ?, ?, ?)',
    ),
    insertSpan: database.prepare('insert into spans values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)'),
    selectSpans: database.prepare('select * from spans where batch = ? order by seq'),
    settleBatch: database.prepare('update batches set settled = 1 where id = ?'),
    deleteBatch: database.prepare('delete from batches where id = ?'),
    deleteSpans: database.prepare('delete from spans where batch = ?'),
    deleteParts: database.prepare('delete from parts where batch = ?'),
    insertPart: database.prepare('insert into parts values (?, ?, ?, ?)'),
    selectParts: database.prepare('select * from parts where batch = ? order by first'),
    deleteStream: database.prepare('delete from streams where id = ?'),
    deleteMark: database.prepare('delete from marks where sink = ? and stream = ?'),
    deleteMarks: database.prepare('delete from marks where stream = ?'),
  };
}

/** The identity columns of a stream's row; undefined for a stream without a file. */
function toIdentity(row: Record<string, SQLOutputValue>): FileIdentity | undefined {
  if (row['device'] === null) return undefined;
  return {
    device: String(row['device']),
    inode: String(row['inode']),
    headLength: Number(row['head_length']),
    headHash: String(row['head_hash']),
    ...(row['current_path'] === null ? {} : { path: String(row['current_path']) }),
    ...(row['real_path'] === null ? {} : { realPath: String(row['real_path']) }),
    ...toInLine(Number(row['in_line'] ?? 0)),
    ...(row['headers'] === null ? {} : { headers: JSON.parse(String(row['headers'])) as SavedHeader[] }),
  };
}

const BEGINS_IN_LINE = 1;
const ENDS_IN_LINE = 2;

function toInLine(flags: number): Pick<FileIdentity, 'beginsInLine' | 'endsInLine'> {
  return {
    ...(flags & BEGINS_IN_LINE ? { beginsInLine: true } : {}),
    ...(flags & ENDS_IN_LINE ? { endsInLine: true } : {}),
  };
}

/** As a stream's row holds it. */
export function inLineOf({ beginsInLine, endsInLine }: Partial<FileIdentity> = {}): number | null {
  return (beginsInLine ? BEGINS_IN_LINE : 0) + (endsInLine ? ENDS_IN_LINE : 0) || null;
}

/** The columns of a stream's row, without its marks. */
export function toStreamFacts(row: Record<string, SQLOutputValue>) {
  return {
    id: String(row['id']),
    source: String(row['source']),
    path: String(row['path']),
    identity: toIdentity(row),
    startAt: Number(row['start_at']),
    createdMs: Number(row['created_ms']),
    seenSize: row['seen_size'] === null ? undefined : Number(row['seen_size']),
    compressedEnd: toCompressedEnd(row['archive_end']),
  };
}

/** The row of a mark. */
export function rowOf(mark: Mark, sink: string, stream: string): (string | number | null)[] {
  const { settledTo, tail, contentSum, passed, behind } = mark;
  return [
    sink,
    stream,
    settledTo,
    tail.length,
    tail.crc,
    contentSum ?? null,
    textOfPoints(passed),
    textOfBehind(behind),
  ];
}

/** Points as a mark's row holds them: `at sum at sum …`. */
function textOfPoints(points: readonly ContentPoint[]): string | null {
  return points.length === 0 ? null : points.map(({ at, sum }) => `${at} ${sum}`).join(' ');
}

export function toPoints(text: SQLOutputValue | undefined): ContentPoint[] {
  const numbers = typeof text === 'string' ? text.split(' ').map(Number) : [];
  return numbers.flatMap((at, index) => (index % 2 === 0 ? [{ at, sum: numbers[index + 1]! }] : []));
}

/** As a stream's row holds it: `size contentSize tailLength tailCrc`, `-` for a content size that is not known. */
export function textOfCompressedEnd(end: CompressedEnd | undefined): string | null {
  return end ? `${end.size} ${end.contentSize ?? '-'} ${end.tail.length} ${end.tail.crc}` : null;
}

function toCompressedEnd(text: SQLOutputValue | undefined): CompressedEnd | undefined {
  if (typeof text !== 'string') return undefined;
  const [size, contentSize, length, crc] = text.split(' ');
  return {
    size: Number(size),
    contentSize: contentSize === '-' ? undefined : Number(contentSize),
    tail: { length: Number(length), crc: Number(crc) },
  };
}

/** Read times as a span's row holds them: `from ms from ms …`. */
export function textOfReads(reads: readonly ReadTime[] | undefined): string | null {
  return reads ? reads.map(({ from, atMs }) => `${from} ${atMs}`).join(' ') : null;
}

export function toReads(text: SQLOutputValue | undefined): ReadTime[] {
  return toPoints(text).map(({ at, sum }) => ({ from: at, atMs: sum }));
}

/** As a mark's row holds it. */
function textOfBehind(behind: Behind | undefined): string | null {
  return behind ? JSON.stringify(behind) : null;
}

export function toBehind(text: SQLOutputValue | undefined): Behind | undefined {
  return typeof text === 'string' ? (JSON.parse(text) as Behind) : undefined;
}

/** As a span's row holds it: each of `untils` as the difference to the one before. */
export function textOfGroups(groups: SpanGroups | undefined): string | null {
  if (!groups) return null;
  const { untils } = groups;
  return JSON.stringify({ ...groups, untils: untils.map((until, n) => until - (untils[n - 1] ?? 0)) });
}

function toGroups(text: string): SpanGroups {
  const groups = JSON.parse(text) as SpanGroups;
  let until = 0;
  return { ...groups, untils: groups.untils.map((more) => (until += more)) };
}

export function toSpan(row: Record<string, SQLOutputValue>): StoredSpan {
  return {
    source: String(row['source']),
    stream: String(row['stream']),
    from: Number(row['from_byte']),
    to: Number(row['to_byte']),
    events: Number(row['events']),
    sum: Number(row['content_sum']),
    tail: { length: Number(row['tail_length']), crc: Number(row['tail_crc']) },
    digest: String(row['digest']),
    ...(row['bytes'] === null ? {} : { bytes: Number(row['bytes']) }),
    ...(row['reads'] === null ? {} : { reads: toReads(row['reads']) }),
    ...(typeof row['behind'] === 'string' ? { groups: toGroups(row['behind']) } : {}),
  };
}
