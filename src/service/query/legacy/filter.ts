/** SQL of a legacy filter tree: a condition that is true or false for every event. A field that an event lacks matches nothing but `not-…`. */
import type { Dataset } from '../../datasets/catalog.ts';
import { badRequest, quote } from '../../http/api-error.ts';
import { fieldSql, type Params } from '../fields.ts';
import { parseTime } from '../times.ts';
import type { Filter } from './request.ts';

const COMPARE: Readonly<Record<string, string>> = {
  '==': '=', eq: '=', '>': '>', gt: '>', '>=': '>=', gte: '>=', '<': '<', lt: '<', '<=': '<=', lte: '<=',
}; // prettier-ignore
const NEGATED: Readonly<Record<string, string>> = { '!=': '==', ne: '==', 'not-exists': 'exists' };

export function filterSql(filter: Filter, dataset: Dataset, params: Params): string {
  const { op, children } = filter;
  if (op === 'and' || op === 'or') {
    const parts = children.map((child) => filterSql(child, dataset, params));
    return parts.length === 0 ? 'true' : `(${parts.join(` ${op} `)})`;
  }
  if (op === 'not')
    return `not (${children.length === 0 ? 'false' : children.map((child) => filterSql(child, dataset, params)).join(' and ')})`;
  const plain = NEGATED[op] ?? (op.startsWith('not-') ? op.slice(4) : undefined);
  if (plain !== undefined) return `not ${conditionSql({ ...filter, op: plain }, dataset, params)}`;
  return conditionSql(filter, dataset, params);
}

function conditionSql(filter: Filter, dataset: Dataset, params: Params): string {
  const { op, field, value } = filter;
  if (field === '_time' || field === '_sysTime') return timeSql(filter, params);
  const sql = fieldSql(dataset, field, params);
  if (op === 'exists') return sql.exists;
  const compare = COMPARE[op];
  if (compare) {
    if (typeof value === 'number')
      return `ifNull(${sql.number} ${compare} ${Number.isSafeInteger(value) ? params.bind('Int64', value) : params.bind('Float64', value)}, false)`;
    if (typeof value === 'string') return `ifNull(${sql.string} ${compare} ${params.bind('String', value)}, false)`;
    if (typeof value === 'boolean' && compare === '=') return `ifNull(${sql.boolean} = ${value ? 'true' : 'false'}, false)`;
    throw badRequest(`the filter on ${quote(field)}: ${op} wants a number or a string, == also a boolean`);
  }
  return textSql(filter, sql.string, params);
}

function textSql(filter: Filter, string: string, params: Params): string {
  const { op, field, value, caseSensitive } = filter;
  const functions: Readonly<Record<string, string>> = {
    'starts-with': 'startsWith',
    'ends-with': 'endsWith',
    contains: 'contains',
    regexp: 'match',
  };
  const name = functions[op];
  if (name === undefined) throw badRequest(`the filter operation ${quote(op)} is not available yet`);
  if (typeof value !== 'string') throw badRequest(`the filter on ${quote(field)}: ${op} wants a string`);
  if (name === 'match') return `ifNull(match(${string}, ${params.bind('String', caseSensitive ? value : `(?i)${value}`)}), false)`;
  const [text, wanted] = caseSensitive
    ? [string, params.bind('String', value)]
    : [`lowerUTF8(${string})`, `lowerUTF8(${params.bind('String', value)})`];
  return name === 'contains' ? `ifNull(position(${text}, ${wanted}) > 0, false)` : `ifNull(${name}(${text}, ${wanted}), false)`;
}

function timeSql({ op, field, value }: Filter, params: Params): string {
  if (op === 'exists') return 'true';
  const compare = COMPARE[op];
  if (!compare || typeof value !== 'string') throw badRequest(`the filter on ${field}: wanted ==, !=, >, >=, < or <= and an RFC 3339 time`);
  const ns = parseTime(field, value, BigInt(Date.now()) * 1_000_000n);
  return `${field} ${compare} fromUnixTimestamp64Nano(${params.bind('Int64', ns)}, 'UTC')`;
}
