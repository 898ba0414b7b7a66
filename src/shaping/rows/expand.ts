/** mv-expand: siblings of a row, one for each item of an array or object. */
import { TRANSFORM_EXPANDED_ROWS } from '../limits.ts';
import type { QueryStage } from '../../language/plan/tree.ts';
import type { Of } from './call/call.ts';
import { compile } from './expressions.ts';
import { fieldWriter, removeFields } from './values/paths.ts';
import { canonical, isObject, type EventRow, type RowValue } from './values/value.ts';

type Expand = QueryStage & { readonly kind: 'expand' };

export function expand({ columns, index, limit, items }: Expand): Of<EventRow[]> {
  const parts = columns.map(({ name, node }) => ({
    value: compile(node),
    write: fieldWriter(name),
    pattern: [{ text: name, prefix: false }],
  }));
  const writeIndex = index === undefined ? undefined : fieldWriter(index);
  return (scope) => {
    const values = parts.map(({ value }) => itemsOf(value(scope), items));
    const longest = Math.max(1, ...values.map((value) => (Array.isArray(value) ? value.length : 0)));
    const count = Math.min(longest, limit ?? longest);
    // Siblings by the thousand are a mistake in most cases, and each of them repeats the event.
    if (count > TRANSFORM_EXPANDED_ROWS)
      throw new RangeError(`the array has more than ${TRANSFORM_EXPANDED_ROWS} items; set a limit`);
    return Array.from({ length: count }, (_, n) => {
      const row: EventRow = new Map(scope.row);
      for (const [m, { write, pattern }] of parts.entries()) {
        const item = itemAt(values[m]!, n);
        if (item === null) removeFields(row, pattern);
        else write(row, item);
      }
      writeIndex?.(row, BigInt(n));
      return row;
    });
  };
}

/** The keys of an object as items; anything else stays as it is. */
function itemsOf(value: RowValue, items: Expand['items']): RowValue {
  if (!isObject(value)) return value;
  return Object.entries(value).map(([key, inside]) => (items === 'bag' ? { [key]: inside } : [key, inside]));
}

/** A value that is not an array counts in the first row alone. */
function itemAt(value: RowValue, n: number): RowValue {
  if (Array.isArray(value)) return canonical(value[n] as RowValue | undefined);
  return n === 0 ? value : null;
}
