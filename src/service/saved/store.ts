/** Annotations and starred queries, as rows of JSON in the service's database: bounded, and held in memory. */
import { randomUUID } from 'node:crypto';
import { SERVICE_SAVED } from '../limits.ts';
import { badRequest, notFound, quote } from '../http/api-error.ts';
import type { Metadata } from '../metadata.ts';

export interface Store<T extends object> {
  list(): (T & { readonly id: string })[];
  /** Throws an `ApiError` 404. */
  get(id: string): T & { readonly id: string };
  /** Throws an `ApiError` 400 when there are too many. */
  create(value: T): T & { readonly id: string };
  /** Throws an `ApiError` 404. */
  update(id: string, value: T): T & { readonly id: string };
  /** Throws an `ApiError` 404. */
  remove(id: string): void;
}

/** `kind` is the rows' name in the database, `word` what messages call one; ids begin with `prefix`. */
export function openStore<T extends object>({ db }: Metadata, kind: string, word: string, prefix = ''): Store<T> {
  const put = db.prepare('insert or replace into saved values (?, ?, ?)');
  const known = new Map<string, T>();
  for (const row of db.prepare('select id, value from saved where kind = ? order by rowid').all(kind))
    known.set(row['id'] as string, JSON.parse(row['value'] as string) as T);
  const check = (id: string): T => {
    const value = known.get(id);
    if (value === undefined) throw notFound(`${word} ${quote(id)} not found`);
    return value;
  };
  const save = (id: string, value: T): T & { readonly id: string } => {
    put.run(kind, id, JSON.stringify(value));
    known.set(id, value);
    return { ...value, id };
  };
  return {
    list: () => [...known].map(([id, value]) => ({ ...value, id })),
    get: (id) => ({ ...check(id), id }),
    create(value) {
      if (known.size >= SERVICE_SAVED)
        throw badRequest(`there are ${SERVICE_SAVED} of these already, the most that this service keeps: remove a ${word}`);
      return save(`${prefix}${randomUUID()}`, value);
    },
    update(id, value) {
      check(id);
      return save(id, value);
    },
    remove(id) {
      check(id);
      db.prepare('delete from saved where kind = ? and id = ?').run(kind, id);
      known.delete(id);
    },
  };
}
