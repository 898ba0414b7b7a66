/**
 * Annotations and starred queries, as rows of JSON in the service's database. They are read on demand; memory holds only how much there is,
 * in all and of each dataset.
 */
import { randomUUID } from 'node:crypto';
import { SERVICE_SAVED, SERVICE_SAVED_BYTES, SERVICE_SAVED_ITEM_BYTES, SERVICE_SAVED_OF_DATASET } from '../limits.ts';
import { badRequest, notFound, quote } from '../http/api-error.ts';
import type { Metadata } from '../metadata.ts';

export type Saved<T extends object> = T & { readonly id: string };

interface SavedKind<T> {
  /** Its rows' name in the database. */
  readonly kind: string;
  /** What messages call one. */
  readonly word: string;
  /** Ids begin with it. */
  readonly prefix: string;
  readonly datasetsOf: (value: T) => readonly string[];
}

export function openStore<T extends object>({ db }: Metadata, { kind, word, prefix, datasetsOf }: SavedKind<T>) {
  const rows = db.prepare('select id, value from saved where kind = ? order by rowid');
  const find = db.prepare('select value from saved where kind = ? and id = ?');
  const insert = db.prepare('insert into saved values (?, ?, ?)');
  const change = db.prepare('update saved set value = ? where kind = ? and id = ?');
  const drop = db.prepare('delete from saved where kind = ? and id = ?');
  const parse = (text: unknown): T => JSON.parse(text as string) as T;

  let [items, bytes] = [0, 0];
  const ofDataset = new Map<string, number>();
  const count = (value: T, text: string, sign: 1 | -1): void => {
    items += sign;
    bytes += sign * Buffer.byteLength(text);
    for (const name of datasetsOf(value)) {
      const left = (ofDataset.get(name) ?? 0) + sign;
      if (left > 0) ofDataset.set(name, left);
      else ofDataset.delete(name);
    }
  };
  for (const row of rows.iterate(kind)) count(parse(row['value']), row['value'] as string, 1);

  const textOf = (id: string): string => {
    const row = find.get(kind, id);
    if (row === undefined) throw notFound(`${word} ${quote(id)} not found`);
    return row['value'] as string;
  };
  /** Older versions may have kept more than the bounds allow: that stays, and may shrink. Throws an `ApiError` 400. */
  const check = (value: T, text: string, before?: string): void => {
    const size = Buffer.byteLength(text);
    if (size > SERVICE_SAVED_ITEM_BYTES)
      throw badRequest(`the ${word} has ${size} bytes: wanted at most ${SERVICE_SAVED_ITEM_BYTES}`);
    if (before === undefined && items >= SERVICE_SAVED)
      throw badRequest(`there are ${SERVICE_SAVED} of these already, the most that this service keeps: remove one`);
    const more = size - (before === undefined ? 0 : Buffer.byteLength(before));
    if (more > 0 && bytes + more > SERVICE_SAVED_BYTES)
      throw badRequest(`these have ${bytes} of ${SERVICE_SAVED_BYTES} bytes already: remove one`);
    const counted = before === undefined ? [] : datasetsOf(parse(before));
    for (const name of datasetsOf(value))
      if (!counted.includes(name) && (ofDataset.get(name) ?? 0) >= SERVICE_SAVED_OF_DATASET)
        throw badRequest(`dataset ${quote(name)} has ${SERVICE_SAVED_OF_DATASET} of these already: remove one`);
  };
  return {
    /** Those that `isWanted` keeps, oldest first, `limit` of them after the first `offset`. */
    list(isWanted: (value: Saved<T>) => boolean, limit = Infinity, offset = 0) {
      const found: Saved<T>[] = [];
      let skipped = 0;
      if (limit > 0)
        for (const row of rows.iterate(kind)) {
          const value: Saved<T> = { ...parse(row['value']), id: row['id'] as string };
          if (!isWanted(value) || skipped++ < offset) continue;
          if (found.push(value) >= limit) break;
        }
      return found;
    },
    /** Throws an `ApiError` 404. */
    get: (id: string): Saved<T> => ({ ...parse(textOf(id)), id }),
    /** Throws an `ApiError` 400 when it is too large, or there are too many. */
    create(value: T): Saved<T> {
      const text = JSON.stringify(value);
      check(value, text);
      const id = `${prefix}${randomUUID()}`;
      insert.run(kind, id, text);
      count(value, text, 1);
      return { ...value, id };
    },
    /** Throws an `ApiError`: 404, or 400 as `create`. */
    update(id: string, value: T): Saved<T> {
      const before = textOf(id);
      const text = JSON.stringify(value);
      check(value, text, before);
      change.run(text, kind, id);
      count(parse(before), before, -1);
      count(value, text, 1);
      return { ...value, id };
    },
    /** Throws an `ApiError` 404. */
    remove(id: string): void {
      const text = textOf(id);
      drop.run(kind, id);
      count(parse(text), text, -1);
    },
  };
}
