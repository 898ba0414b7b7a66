/**
 * Which dead letters there are, and which were dropped: their files alone cannot tell that one of them was removed by hand. A row is on disk
 * before the mark passes its events, and changed before its file goes. Of dropped ones the newest are kept, of the others only the sums.
 */
import type { DatabaseSync } from 'node:sqlite';
import type { Letter, LetterIndex } from '../dead-letters.ts';
import { MAX_LOSSES } from '../limits.ts';

/** `command`: `dead-letters drop`; `when_full`: by policy; `missing`: its file was not there when an agent started. */
export type LetterEnd = 'command' | 'when_full' | 'missing';

/** The letters of one file and stream. */
export interface IndexedLetters {
  /** The id of their file; empty for the sums of older ones. */
  readonly id: string;
  readonly source: string;
  readonly path: string;
  readonly stream: string;
  readonly sink: string;
  readonly dataset: string;
  /** 0 where it is not known: the file was written by an earlier version. */
  readonly events: number;
  /** Null while they are kept. */
  readonly end: LetterEnd | null;
}

/** A row as `IndexedLetters`. */
export const AS_INDEXED = 'id, source, path, stream, sink, dataset, events, ended as "end"';
const IS_MISSED = "(ended is null or ended = 'missing')";

export class StoredLetterIndex implements LetterIndex {
  readonly #statements;
  readonly #save: () => void;
  readonly #changed: Set<object>;
  /** Written with the next commit. */
  #pending: (() => void)[] = [];

  /** Adds itself to `changed` when there is something to write. `save` writes it, unless the disk refuses. */
  constructor(database: DatabaseSync, changed: Set<object>, save: () => void) {
    this.#save = save;
    this.#changed = changed;
    const prepare = (sql: string) => database.prepare(sql);
    this.#statements = {
      all: prepare(`select distinct id, ended from letters where ${IS_MISSED}`),
      insert: prepare('insert into letters values (?, ?, ?, ?, ?, ?, ?, ?, ?)'),
      remove: prepare('delete from letters where id = ?'),
      known: prepare(`select 1 from letters where id = ? and ${IS_MISSED} limit 1`),
      end: prepare(`update letters set ended = ?, at_ms = ? where id = ? and ${IS_MISSED}`),
      count: prepare('select count(*) as rows from letters where ended is not null'),
      oldest: prepare(
        `delete from letters where rowid in (select rowid from letters where ended is not null and id != '' order by at_ms, rowid limit ?) returning ${AS_INDEXED}`,
      ),
      add: prepare(
        "update letters set events = events + ? where id = '' and source = ? and sink = ? and dataset = ? and ended = ?",
      ),
    };
  }

  found(ids: ReadonlySet<string>): void {
    const rows = this.#statements.all.all().map((row) => [String(row['id']), row['ended']] as const);
    const known = new Set(rows.map(([id]) => id));
    for (const id of ids) if (!known.has(id)) this.#note(() => this.#insert({ ...NOWHERE, id }));
    for (const [id, ended] of rows) {
      const isThere = ids.has(id);
      if (isThere !== (ended === null))
        this.#note(() => this.#statements.end.run(isThere ? null : 'missing', Date.now(), id));
    }
  }

  ids(): string[] {
    return this.#statements.all.all().map((row) => String(row['id']));
  }

  kept(id: string, letters: readonly Letter[]): void {
    const rows = Map.groupBy(letters, ({ about }) => about.stream);
    this.#note(() => {
      this.#statements.remove.run(id);
      for (const [stream, [{ about } = letters[0]!, ...others]] of rows) {
        const { source, file: path, sink, dataset } = about;
        this.#insert({ id, source, path, stream, sink, dataset, events: 1 + others.length, end: null });
      }
    });
  }

  removed(id: string, why: 'replayed' | LetterEnd): boolean {
    const isKnown = this.#statements.known.get(id) !== undefined;
    this.#note(() => {
      if (why === 'replayed') this.#statements.remove.run(id);
      else this.#statements.end.run(why, Date.now(), id);
    });
    this.#save();
    return isKnown;
  }

  /** Writes pending changes, within the caller's transaction; `noteWritten` once that is committed. */
  write(): void {
    for (const change of this.#pending) change();
    this.#keepBound();
  }

  noteWritten(): void {
    this.#pending = [];
  }

  #note(change: () => void): void {
    this.#pending.push(change);
    this.#changed.add(this);
  }

  #insert({ id, source, path, stream, sink, dataset, events, end }: IndexedLetters): void {
    this.#statements.insert.run(id, source, path, stream, sink, dataset, events, end, Date.now());
  }

  #keepBound(): void {
    const rows = Number(this.#statements.count.get()!['rows']);
    if (rows <= MAX_LOSSES) return;
    for (const each of this.#statements.oldest.all(
      rows - MAX_LOSSES + MAX_LOSSES / 10,
    ) as unknown as IndexedLetters[]) {
      const { source, sink, dataset, events, end } = each;
      if (this.#statements.add.run(events, source, sink, dataset, end).changes === 0)
        this.#insert({ ...each, id: '', path: '', stream: '' });
    }
  }
}

/** The facts of letters that an earlier version kept. */
const NOWHERE = { source: '', path: '', stream: '', sink: '', dataset: '', events: 0, end: null };
