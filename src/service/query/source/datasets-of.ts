/** Finds the datasets that a query names, and checks that the caller may read each. */
import { fitsWildcards } from '../../../core/text/wildcards.ts';
import type { DatasetName } from '../../../language/plan/tree.ts';
import { ERROR_TYPES, positionIn } from '../../../language/syntax/apl-error.ts';
import type { Caller } from '../../auth/auth.ts';
import type { Catalog, DatasetRecord } from '../../datasets/catalog.ts';
import { ApiError } from '../../http/api-error.ts';

const RIGHT = { kind: 'dataset', right: 'query' } as const;

export interface DatasetsOfQuery {
  /** Each once, in the order of the text. */
  readonly all: readonly DatasetRecord[];
  readonly of: (name: DatasetName) => readonly DatasetRecord[];
}

const isPattern = ({ text }: DatasetName): boolean => text.includes('*');

/** Throws an `ApiError` 404 or 403 for a name that does not exist or that the caller may not query. A pattern skips those. */
export function datasetsOf(
  names: readonly DatasetName[],
  text: string,
  catalog: Catalog,
  caller: Caller,
): DatasetsOfQuery {
  for (const name of names) if (!isPattern(name)) caller.require(RIGHT, name.text);
  const found = new Map(
    names.map(
      (name) =>
        [name.text, isPattern(name) ? matching(name.text, catalog, caller) : [named(name, text, catalog)]] as const,
    ),
  );
  const all = [...new Set([...found.values()].flat())];
  // Callers also ask for the datasets of a pattern one by one.
  return { all, of: ({ text: name }) => found.get(name) ?? all.filter((dataset) => dataset.name === name) };
}

function matching(text: string, catalog: Catalog, caller: Caller): readonly DatasetRecord[] {
  return catalog.list().filter(({ name }) => caller.may(RIGHT, name) && fitsWildcards(name, text, '*'));
}

function named({ text: name, at }: DatasetName, text: string, catalog: Catalog): DatasetRecord {
  try {
    return catalog.get(name);
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 404) throw error;
    // A query of one word may mean to look for it.
    const message =
      text.trim() === name ? `${error.message}; to look for the word write search "${name}"` : error.message;
    throw new ApiError(404, message, {}, { message, ...positionIn(text, at), errorType: ERROR_TYPES.dataset });
  }
}

/** Runs `work` while none of the datasets can be removed. */
export const usingAll = <T>(catalog: Catalog, datasets: readonly DatasetRecord[], work: () => Promise<T>): Promise<T> =>
  datasets.reduceRight<() => Promise<T>>(
    (inner, { name }) =>
      () =>
        catalog.use(name, inner),
    work,
  )();
