/** Events as rows with a column for each field: what a join and a union of unlike rows are made of. */
import { EVENTS, typeOf } from '../../../language/plan/scope.ts';
import { matchesPattern } from '../../../language/plan/tree.ts';
import type { Made } from './relation-parts.ts';
import { Relation } from './relation.ts';

/** Fields of the events that are columns, though no stage named them: `_time` first. */
export function fieldNames({ parts }: Relation): string[] {
  if (!parts.open || !parts.event) return [];
  return ['_time', ...[...parts.dataset.fields.keys()].sort((a, b) => (a < b ? -1 : 1))].filter(
    (name) => !parts.columns.has(name) && !parts.removed.some((pattern) => matchesPattern(pattern, name)),
  );
}

/** Every column of the rows by name. */
export function columnsOf(relation: Relation): Map<string, Made> {
  const { parts } = relation;
  const fields = fieldNames(relation).map((name): [string, Made] => {
    const bits = parts.dataset.fields.get(name);
    return [name, { value: relation.column(name)!, type: typeOf(EVENTS, name)!, role: 'row', ...(bits !== undefined && { bits }) }];
  });
  return new Map([...fields, ...parts.columns]);
}

/** The rows without what makes them events. Rows that are limited keep their order up to there. */
export function flat(relation: Relation): Relation {
  if (relation.parts.limit !== undefined) return flat(relation.nest());
  const { parts } = relation;
  const item = parts.item ?? parts.event?.rowId;
  return new Relation({ ...parts, columns: columnsOf(relation), event: undefined, open: false, removed: [], order: undefined, item });
}
