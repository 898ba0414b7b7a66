/** Events as rows with a column for each field: what a join and a union of unlike rows are made of. */
import { Relation } from './relation.ts';

/** The rows without what makes them events. Rows that are limited keep their order up to there. */
export function flat(relation: Relation): Relation {
  if (relation.parts.limit !== undefined) return flat(relation.nest());
  const { parts } = relation;
  const item = parts.item ?? parts.event?.rowId;
  return new Relation({ ...parts, columns: relation.allColumns(), event: undefined, open: false, removed: [], order: undefined, item });
}
