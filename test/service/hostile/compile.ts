/** The compiler alone, without a service: a text becomes statements, or is refused. */
import type { DatasetRecord } from '../../../src/service/datasets/catalog.ts';
import { programOf } from '../../../src/service/query/plan/program.ts';
import { planOf, readQuery } from '../../../src/language/text/query-text.ts';
import { SqlParams } from '../../../src/service/query/values/sql.ts';
import { AplError } from '../../../src/language/syntax/apl-error.ts';
import { MARK } from './query-texts.ts';

export type Compiled =
  | { readonly kind: 'refused'; readonly message: string }
  | { readonly kind: 'compiled'; readonly statements: readonly string[] };

const dataset: DatasetRecord = {
  id: 1,
  name: 'logs',
  table: 'ds_1',
  created: '',
  who: '',
  description: '',
  retentionDays: 0,
  notes: new Map(),
  mapFields: [],
  own: new Map(),
  written: [],
  fields: new Map([
    ['a', 1],
    ['b', 3],
    ['c', 4],
    ['d', 8],
    ['m', 1 | 2 | 4 | 8 | 16 | 64],
    ['j', 16],
    ['o.p', 1],
    [`${MARK} never`, 5],
  ]),
};

/** Any other failure than a refusal is thrown: a bug. */
export function parseAndCompile(text: string): Compiled {
  try {
    const tree = planOf(readQuery(text), new Map());
    const environment = {
      params: new SqlParams(),
      now: 1_790_000_000_000_000_000n,
      start: 0n,
      end: 1_800_000_000_000_000_000n,
      step: 60_000_000_000n,
    };
    const { rows, count, series } = programOf(tree, {
      datasetsOf: () => [dataset],
      environment,
      bounds: { start: undefined, end: environment.end },
      limit: undefined,
      cursor: undefined,
    });
    return { kind: 'compiled', statements: [rows.sql, count, ...(series ? [series.totals.sql] : [])] };
  } catch (error) {
    if (error instanceof AplError) return { kind: 'refused', message: error.message };
    throw error;
  }
}
