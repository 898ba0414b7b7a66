/** A legacy filter tree as a condition that is true or false for every event. An absent field matches only `not-…`. */
import { SERVICE_QUERY_DEPTH } from '../../../language/limits.ts';
import { SERVICE_QUERY_PARTS } from '../../limits.ts';
import { badRequest, quote } from '../../http/api-error.ts';
import { constantNode, type Node } from '../../../language/plan/tree.ts';
import { parseTime } from '../plan/times.ts';
import { apply, FALSE, literal, settled, TRUE } from './nodes.ts';
import { FILTER } from './schema.ts';

export interface FilterNames {
  readonly column: (name: string) => Node;
  readonly now: bigint;
}

interface Filter {
  readonly op: string;
  readonly field: string;
  readonly value: unknown;
  readonly caseSensitive: boolean;
}

/** Undefined when there is no filter: null, or an empty `op`. Throws an `ApiError` 400. */
export function filterNode(raw: unknown, names: FilterNames): Node | undefined {
  let parts = 0;
  const read = (part: unknown, depth: number): Node | undefined => {
    if (part === null || part === undefined) return undefined;
    if (++parts > SERVICE_QUERY_PARTS) throw badRequest(`the filter has more than ${SERVICE_QUERY_PARTS} parts`);
    if (depth > SERVICE_QUERY_DEPTH) throw badRequest(`the filter is nested deeper than ${SERVICE_QUERY_DEPTH}`);
    const parsed = FILTER.safeParse(part);
    if (!parsed.success) throw badRequest(`the filter is not valid: ${parsed.error.issues[0]?.path.join('.')}: ${parsed.error.issues[0]?.message}`);
    const { op, field, value, caseSensitive, children } = parsed.data;
    const name = (op ?? '').toLowerCase();
    if (name === '') return undefined;
    if (name !== 'and' && name !== 'or' && name !== 'not') return condition({ op: name, field: field ?? '', value, caseSensitive: caseSensitive ?? false }, names);
    const nodes = (children ?? []).map((child) => read(child, depth + 1)).filter((node) => node !== undefined);
    const joined = nodes.length > 1 ? apply(name === 'not' ? 'and' : name, ...nodes) : (nodes[0] ?? (name === 'not' ? FALSE : TRUE));
    return name === 'not' ? apply('not', joined) : joined;
  };
  return read(raw, 1);
} // prettier-ignore

const COMPARE: Readonly<Record<string, string>> = { eq: '==', ne: '!=', gt: '>', gte: '>=', lt: '<', lte: '<=' };
const SIGNS = new Set(['==', '!=', '>', '>=', '<', '<=']);
const TEXT: Readonly<Record<string, string>> = { contains: 'contains', 'starts-with': 'startswith', 'ends-with': 'endswith', has: 'has' };

function condition(filter: Filter, names: FilterNames): Node {
  const isNegated = filter.op.startsWith('not-');
  const name = isNegated ? filter.op.slice(4) : filter.op;
  const sign = COMPARE[name] ?? name;
  const isUnequal = sign === '!=';
  const node = plain({ ...filter, op: isUnequal ? '==' : sign }, names);
  return isNegated === isUnequal ? node : apply('not', node);
}

function plain({ op, field, value, caseSensitive }: Filter, names: FilterNames): Node {
  const column = names.column(field);
  if (op === 'exists') return apply('isnotnull', column);
  if (SIGNS.has(op)) return settled(apply(op, column, compared(op, field, value, column, names)));
  const word = TEXT[op];
  if (word === undefined && op !== 'regexp') throw badRequest(`the filter operation ${quote(op)} is not known`);
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean')
    throw badRequest(`the filter on ${quote(field)}: ${op} wants a string`);
  const text = String(value);
  const searched = column.type === 'dynamic' || column.type === 'string' ? column : apply('tostring', column);
  return op === 'regexp'
    ? apply('matches regex', searched, literal(caseSensitive ? text : `(?i)${text}`))
    : apply(caseSensitive ? `${word!}_cs` : word!, searched, literal(text));
}

function compared(op: string, field: string, value: unknown, column: Node, { now }: FilterNames): Node {
  if (column.type === 'datetime' && typeof value === 'string')
    return constantNode({ type: 'datetime', value: parseTime(field, value, now) });
  const fits = typeof value === 'number' || typeof value === 'string' || (typeof value === 'boolean' && op === '==');
  if (!fits) throw badRequest(`the filter on ${quote(field)}: ${op} wants a number or a string, == also a boolean`);
  return literal(value);
}
