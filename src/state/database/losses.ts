/**
 * Bytes that were lost, or dropped by policy, for each owner of marks: kept when their stream is forgotten, so that an audit names them in
 * any later process. Ranges that touch are one row. Beyond the limit the oldest keep their counts and lose their places.
 */
import type { DatabaseSync } from 'node:sqlite';
import type { Loss } from '../../core/stream.ts';
import { MAX_LOSSES } from '../limits.ts';

export interface StoredLoss extends Loss {
  /** Whose marks step over it (core/checkpoint-owner). */
  readonly owner: string;
  /** Wall clock of the newest. */
  readonly atMs: number;
  /** 1 once somebody acknowledged it; absent in a new one. */
  readonly acknowledged?: number;
}

/** In place of a position that is not known. */
const NOWHERE = -1;
/** A row as a `StoredLoss`. */
export const AS_LOSS = `source, path, stream, sink as owner, reason, nullif(from_byte, ${NOWHERE}) as "from", bytes, at_ms as atMs, acknowledged`;
/** Bytes of theirs may turn up again, as when a file is moved back; those of the others are gone, or never sent. */
const MAY_COME_BACK = "reason not in ('cut_off', 'not_there_again', 'disk_buffer', 'dropped')";

export class Losses {
  readonly #statements;
  /** Not written yet; those that touch are one. */
  #pending: StoredLoss[] = [];
  /** Streams of which bytes may come back. */
  readonly sought: Set<string>;
  readonly #changed: Set<object>;

  /** Adds itself to `changed` when there is something to write. */
  constructor(database: DatabaseSync, changed: Set<object>) {
    this.#changed = changed;
    const same = 'source = ? and path = ? and stream = ? and sink = ? and reason = ?';
    this.#statements = {
      touching: database.prepare(
        `delete from losses where ${same} and from_byte between ? and ? and from_byte + bytes >= ? returning ${AS_LOSS}`,
      ),
      insert: database.prepare('insert into losses values (?, ?, ?, ?, ?, ?, ?, ?, ?)'),
      count: database.prepare('select count(*) as rows from losses'),
      oldest: database.prepare(
        `delete from losses where rowid in (select rowid from losses where stream != '' or path != '' order by at_ms, rowid limit ?) returning ${AS_LOSS}`,
      ),
      forget: database.prepare('delete from losses where at_ms < ? and stream not in (select id from streams)'),
      acknowledge: database.prepare('update losses set acknowledged = 1 where at_ms < ?'),
      covered: database.prepare(
        `delete from losses where stream = ? and sink = ? and ${MAY_COME_BACK} and from_byte < ? and from_byte + bytes > ? returning ${AS_LOSS}`,
      ),
    };
    const sought = database.prepare(`select distinct stream from losses where stream != '' and ${MAY_COME_BACK}`).all();
    this.sought = new Set(sought.map(({ stream }) => String(stream)));
  }

  /** Notes a loss, to be written with the next commit. */
  add(loss: StoredLoss): void {
    const next = this.#pending.length < MAX_LOSSES ? loss : withoutPlace(loss);
    const at = this.#pending.findLastIndex((other) => merge(other, next));
    if (at < 0) this.#pending.push(next);
    else this.#pending[at] = merge(this.#pending[at]!, next)!;
    this.#changed.add(this);
  }

  get hasChanges(): boolean {
    return this.#pending.length > 0;
  }

  /** Writes losses, within the caller's transaction; `noteWritten` once the pending ones are committed. */
  write(losses: readonly StoredLoss[] = this.#pending): void {
    for (const loss of losses) this.#insert(loss);
    this.#keepBound();
  }

  noteWritten(): void {
    this.#pending = [];
  }

  #insert(loss: StoredLoss): void {
    const { source, path, stream, owner, reason } = loss;
    if (stream !== '') this.sought.add(stream);
    const [first, last] = loss.from === null ? [NOWHERE, NOWHERE] : [0, loss.from + loss.bytes];
    const rows = this.#statements.touching.all(source, path, stream, owner, reason, first, last, loss.from ?? NOWHERE);
    const whole = lossesOf(rows).reduce((sum, row) => merge(sum, row) ?? sum, loss);
    this.#statements.insert.run(
      source,
      path,
      stream,
      owner,
      reason,
      whole.from ?? NOWHERE,
      whole.bytes,
      whole.atMs,
      whole.acknowledged ?? 0,
    );
  }

  /**
   * Marks losses noted before this time (wall clock) as known, within the caller's transaction; those of forgotten streams go, as nobody
   * takes them for delivered.
   */
  acknowledge(beforeMs: number): void {
    this.#statements.forget.run(beforeMs);
    this.#statements.acknowledge.run(beforeMs);
  }

  /** These bytes of a stream that is `sought` were read after all: removes their losses, within the caller's transaction. */
  regain(stream: string, owner: string, from: number, to: number): void {
    for (const loss of lossesOf(this.#statements.covered.all(stream, owner, to, from))) {
      const [start, end] = [loss.from!, loss.from! + loss.bytes];
      if (start < from) this.#insert({ ...loss, bytes: from - start });
      if (end > to) this.#insert({ ...loss, from: to, bytes: end - to });
    }
  }

  /** Some at a time, so that not each further one has to look for the oldest. */
  #keepBound(): void {
    const rows = Number(this.#statements.count.get()!['rows']);
    if (rows <= MAX_LOSSES) return;
    for (const loss of lossesOf(this.#statements.oldest.all(rows - MAX_LOSSES + MAX_LOSSES / 10)))
      this.#insert(withoutPlace(loss));
  }
}

const lossesOf = (rows: readonly object[]): StoredLoss[] => rows as StoredLoss[];

function withoutPlace(loss: StoredLoss): StoredLoss {
  return { ...loss, path: '', stream: '', from: null };
}

/** Both as one; undefined where they do not touch. */
function merge(a: StoredLoss, b: StoredLoss): StoredLoss | undefined {
  const isSame =
    a.stream === b.stream && a.owner === b.owner && a.reason === b.reason && a.source === b.source && a.path === b.path;
  if (!isSame) return undefined;
  const atMs = Math.max(a.atMs, b.atMs);
  const acknowledged = Math.min(a.acknowledged ?? 0, b.acknowledged ?? 0);
  if (a.from === null || b.from === null)
    return a.from === b.from ? { ...a, bytes: a.bytes + b.bytes, atMs, acknowledged } : undefined;
  const [from, to] = [Math.min(a.from, b.from), Math.max(a.from + a.bytes, b.from + b.bytes)];
  return to - from > a.bytes + b.bytes ? undefined : { ...a, from, bytes: to - from, atMs, acknowledged };
}
