/** Events as rows with a column for each field, for joins and for unions of unlike rows. */
import { Relation } from './relation.ts';

/** The rows as plain columns, no longer as events. Limited rows keep their order up to the limit. */
export function flat(relation: Relation): Relation {
  if (relation.parts.limit !== undefined) return flat(relation.nest());
  const { parts } = relation;
  const item = parts.item ?? parts.event?.rowId;
  return new Relation({
    ...parts,
    columns: relation.allColumns(),
    event: undefined,
    open: false,
    removed: [],
    order: undefined,
    item,
  });
}
