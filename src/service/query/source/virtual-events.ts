/** Virtual fields in queries: those that a query names join the stored fields of each dataset that has them. */
import { isNamed, type Named } from '../../../language/plan/virtual.ts';
import type { Column, DatasetName, Tree } from '../../../language/plan/tree.ts';
import { AplError, attempt } from '../../../language/syntax/apl-error.ts';
import { readExpression } from '../../../language/syntax/expressions.ts';
import { Parser } from '../../../language/syntax/parser.ts';
import { eventsWith, type QueryText } from '../../../language/text/query-text.ts';
import type { Constant } from '../../../language/types.ts';
import type { DatasetRecord } from '../../datasets/catalog.ts';
import type { DatasetsOfQuery } from './datasets-of.ts';
import type { LegacyBody } from '../legacy/schema.ts';

/** The virtual fields of a dataset that are wanted. */
export type ColumnsOf = (dataset: DatasetRecord, isWanted: (name: string) => boolean) => readonly Column[];

export interface VirtualOfQuery {
  readonly eventsOf: (name: DatasetName) => Tree;
  /** Names of those that count. */
  readonly used: readonly string[];
}

/** A `let` or a variable of the request hides a virtual field of the same name. */
export function virtualOf(
  query: QueryText,
  variables: ReadonlyMap<string, Constant>,
  found: DatasetsOfQuery,
  columnsOf: ColumnsOf,
): VirtualOfQuery {
  const bound = new Set([...variables.keys(), ...query.lets.map(({ name }) => name)]);
  const columns = new Map(
    found.all.map(
      (dataset) => [dataset, columnsOf(dataset, (name) => !bound.has(name) && isNamed(name, query.named))] as const,
    ),
  );
  return {
    used: [...new Set([...columns.values()].flat().map(({ name }) => name))],
    eventsOf(name) {
      const datasets = found.of(name);
      const having = datasets.flatMap((dataset) =>
        columns.get(dataset)!.length > 0 ? [{ dataset: dataset.name, columns: columns.get(dataset)! }] : [],
      );
      return eventsWith(
        name,
        having,
        datasets.filter((dataset) => columns.get(dataset)!.length === 0).map((dataset) => dataset.name),
      );
    },
  };
}

/** The fields that a legacy query names. */
export function namedIn({ order, aggregations, groupBy, project, filter, virtualFields }: LegacyBody): Named {
  const fields = new Map<string, number>();
  const add = (name: unknown): void => void (typeof name === 'string' && fields.set(name, 0));
  const addText = (text: unknown): void => {
    if (typeof text !== 'string') return;
    for (const name of namesOf(text)) add(name);
  };
  const addFilter = (part: unknown): void => {
    if (typeof part !== 'object' || part === null) return;
    const { field, children } = part as { readonly field?: unknown; readonly children?: unknown };
    add(field);
    if (Array.isArray(children)) for (const child of children) addFilter(child);
  };
  for (const { field } of [...(order ?? []), ...(aggregations ?? []), ...(project ?? [])]) add(field);
  for (const name of groupBy ?? []) add(name);
  for (const { argument } of aggregations ?? []) {
    for (const item of [argument].flat()) addText(item);
    addFilter(argument);
  }
  addFilter(filter);
  for (const { expr } of virtualFields ?? []) addText(expr);
  return { fields, prefixes: [] };
}

/** Fields that an expression names. Errors are reported when it is read again. */
function namesOf(text: string): Iterable<string> {
  const parser = attempt(() => new Parser(text));
  return parser instanceof AplError || attempt(() => readExpression(parser)) instanceof AplError
    ? [text]
    : parser.fields.keys();
}
