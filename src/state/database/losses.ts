/**
 * Bytes that were lost, or dropped by policy, for each owner of marks: kept when their stream is forgotten, so that an audit names them in
 * any later process. Ranges that touch are one row. Beyond the limit the oldest keep their counts and lose their places.
 */
import type { DatabaseSync, SQLOutputValue } from 'node:sqlite';
import type { Loss } from '../../core/stream.ts';
import { MAX_LOSSES } from '../limits.ts';

export interface StoredLoss extends Loss {
  /** Whose marks step over it (core/owner). */
  readonly owner: string;
  /** Wall clock of the newest. */
  readonly atMs: number;
}

/** In place of a position that is not known. */
const NOWHERE = -1;
const COLUMNS = 'source, path, stream, sink, reason, from_byte, bytes, at_ms';
/** Bytes of theirs may turn up again, as when a file is moved back; those of the others are gone, or never sent. */
const MAY_COME_BACK = "reason not in ('cut_off', 'not_there_again', 'disk_buffer', 'dropped')";

export class Losses {
  readonly #statements;
  /** Not written yet; those that touch are one. */
  #pending: StoredLoss[] = [];
  /** Streams of which bytes may come back. */
  readonly #sought: Set<string>;

  constructor(database: DatabaseSync) {
    const same = 'source = ? and path = ? and stream = ? and sink = ? and reason = ?';
    this.#statements = {
      touching: database.prepare(`delete from losses where ${same} and from_byte between ? and ? and from_byte + bytes >= ? returning *`),
      insert: database.prepare(`insert into losses (${COLUMNS}) values (?, ?, ?, ?, ?, ?, ?, ?)`),
      count: database.prepare('select count(*) as rows from losses'),
      oldest: database.prepare(
        `delete from losses where rowid in (select rowid from losses where stream != '' or path != '' order by at_ms, rowid limit ?) returning *`,
      ),
      forget: database.prepare('delete from losses where at_ms < ?'),
      covered: database.prepare(
        `delete from losses where stream = ? and sink = ? and ${MAY_COME_BACK} and from_byte < ? and from_byte + bytes > ? returning *`,
      ),
    };
    const sought = database.prepare(`select distinct stream from losses where stream != '' and ${MAY_COME_BACK}`).all();
    this.#sought = new Set(sought.map(({ stream }) => String(stream)));
  }

  /** Notes a loss, to be written with the next commit. */
  add(loss: StoredLoss): void {
    const last = this.#pending.at(-1);
    const merged = last && merge(last, this.#pending.length < MAX_LOSSES ? loss : withoutPlace(loss));
    if (merged) this.#pending[this.#pending.length - 1] = merged;
    else if (this.#pending.length < MAX_LOSSES) this.#pending.push(loss);
    else this.#pending = [...foldAll(this.#pending), withoutPlace(loss)];
  }

  get hasChanges(): boolean {
    return this.#pending.length > 0;
  }

  /** Writes what is pending, within the caller's transaction; `noteWritten` once that is committed. */
  write(): void {
    for (const loss of this.#pending) this.insert(loss);
    if (this.#pending.length > 0) this.#keepBound();
  }

  noteWritten(): void {
    this.#pending = [];
  }

  /** Writes one within the caller's transaction. */
  insert(loss: StoredLoss): void {
    const { source, path, stream, owner, reason } = loss;
    if (stream !== '') this.#sought.add(stream);
    const [first, last] = loss.from === undefined ? [NOWHERE, NOWHERE] : [0, loss.from + loss.bytes];
    const rows = this.#statements.touching.all(source, path, stream, owner, reason, first, last, loss.from ?? NOWHERE);
    const whole = rows.map(toLoss).reduce((sum, row) => merge(sum, row) ?? sum, loss);
    this.#statements.insert.run(source, path, stream, owner, reason, whole.from ?? NOWHERE, whole.bytes, whole.atMs);
  }

  /** Forgets what was noted before this time (wall clock), within the caller's transaction. */
  forget(beforeMs: number): void {
    this.#statements.forget.run(beforeMs);
  }

  /** These bytes were read after all: what is noted of them goes, within the caller's transaction. */
  regain(stream: string, owner: string, from: number, to: number): void {
    if (!this.#sought.has(stream)) return;
    for (const loss of this.#statements.covered.all(stream, owner, to, from).map(toLoss)) {
      const [start, end] = [loss.from!, loss.from! + loss.bytes];
      if (start < from) this.insert({ ...loss, bytes: from - start });
      if (end > to) this.insert({ ...loss, from: to, bytes: end - to });
    }
  }

  /** Some at a time, so that not each further one has to look for the oldest. */
  #keepBound(): void {
    const rows = Number(this.#statements.count.get()!['rows']);
    if (rows <= MAX_LOSSES) return;
    for (const loss of this.#statements.oldest.all(rows - MAX_LOSSES + MAX_LOSSES / 10)) this.insert(withoutPlace(toLoss(loss)));
  }
}

export function toLoss(row: Record<string, SQLOutputValue>): StoredLoss {
  const from = Number(row['from_byte']);
  return {
    source: String(row['source']),
    path: String(row['path']),
    stream: String(row['stream']),
    owner: String(row['sink']),
    reason: String(row['reason']) as Loss['reason'],
    from: from === NOWHERE ? undefined : from,
    bytes: Number(row['bytes']),
    atMs: Number(row['at_ms']),
  };
}

function withoutPlace(loss: StoredLoss): StoredLoss {
  return { ...loss, path: '', stream: '', from: undefined };
}

/** Both as one; undefined where they do not touch. */
function merge(a: StoredLoss, b: StoredLoss): StoredLoss | undefined {
  const isSame = a.stream === b.stream && a.owner === b.owner && a.reason === b.reason && a.source === b.source && a.path === b.path;
  if (!isSame) return undefined;
  const atMs = Math.max(a.atMs, b.atMs);
  if (a.from === undefined || b.from === undefined) return a.from === b.from ? { ...a, bytes: a.bytes + b.bytes, atMs } : undefined;
  const [from, to] = [Math.min(a.from, b.from), Math.max(a.from + a.bytes, b.from + b.bytes)];
  return to - from > a.bytes + b.bytes ? undefined : { ...a, from, bytes: to - from, atMs };
}

function foldAll(losses: readonly StoredLoss[]): StoredLoss[] {
  const folded: StoredLoss[] = [];
  for (const loss of losses.map(withoutPlace)) {
    const index = folded.findIndex((other) => merge(other, loss));
    if (index < 0) folded.push(loss);
    else folded[index] = merge(folded[index]!, loss)!;
  }
  return folded;
}
