/** Random queries of the legacy form: their body for the service, and the groups or events that they give, computed plainly. */
import * as fc from 'fast-check';
import { hasTerm, word, type Row } from './expression.ts';
import { counted, different, itemsOf, histogram, near, unordered, variance } from './aggregations.ts';
import {
  compareGroups,
  compareKeys,
  equal,
  identity,
  isNumber,
  jsonOf,
  less,
  setIdentity,
  textOf,
  type Value,
} from './values.ts';

const FIELDS = ['a', 'b', 'c', 'd', 'm', 'g', 'never'] as const;
const field = fc.constantFrom(...FIELDS);
const get = (row: Row, name: string): Value => row.get(name) ?? null;

interface Filter {
  readonly body: object;
  readonly of: (row: Row) => boolean;
}

const OPS: Readonly<Record<string, string>> = { eq: '==', ne: '!=', gt: '>', gte: '>=', lt: '<', lte: '<=' };
const number = fc.oneof(fc.integer({ min: -5, max: 6 }), fc.constantFrom(0.5, 5.5, -0.25));
const scalar = (value: unknown): Value =>
  typeof value === 'number' && Number.isInteger(value) ? BigInt(value) : (value as Value);

const comparing = fc
  .tuple(
    field,
    fc.constantFrom('==', '!=', '>', '>=', '<', '<=', ...Object.keys(OPS)),
    fc.oneof(number, word),
    fc.boolean(),
  )
  .map(([name, op, value, not]): Filter => {
    const sign = OPS[op] ?? op;
    const wanted = scalar(value);
    const of = (row: Row): boolean => {
      const found = get(row, name);
      if (sign === '==') return equal(found, wanted);
      if (sign === '!=') return !equal(found, wanted);
      const [below, above] = [less(found, wanted), less(wanted, found)];
      if (below === null || above === null) return false;
      return sign === '<' ? below : sign === '>' ? above : sign === '<=' ? !above : !below;
    };
    return { body: { op: not ? `not-${op}` : op, field: name, value }, of: (row) => of(row) !== not };
  });

const truth = fc
  .tuple(field, fc.boolean())
  .map(([name, value]): Filter => ({ body: { op: '==', field: name, value }, of: (row) => get(row, name) === value }));
const existing = fc.tuple(field, fc.boolean()).map(([name, not]): Filter => ({
  body: { op: not ? 'not-exists' : 'exists', field: name },
  of: (row) => (get(row, name) !== null) !== not,
}));

const TESTS: Readonly<Record<string, (text: string, wanted: string) => boolean>> = {
  contains: (text, wanted) => text.includes(wanted),
  'starts-with': (text, wanted) => text.startsWith(wanted),
  'ends-with': (text, wanted) => text.endsWith(wanted),
  has: hasTerm,
};
const pattern = fc
  .tuple(field, fc.constantFrom('a', '[ab]+', '^5', 'B$', '\\d'), fc.boolean(), fc.boolean())
  .map(([name, value, caseSensitive, not]): Filter => ({
    body: { op: not ? 'not-regexp' : 'regexp', field: name, value, caseSensitive },
    of: (row) => {
      const text = textOf(get(row, name));
      return (text !== null && new RegExp(value, caseSensitive ? 'u' : 'iu').test(text)) !== not;
    },
  }));
const matching = fc
  .tuple(field, fc.constantFrom(...Object.keys(TESTS)), word, fc.boolean(), fc.boolean())
  .map(([name, op, value, caseSensitive, not]): Filter => ({
    body: { op: not ? `not-${op}` : op, field: name, value, caseSensitive },
    of: (row) => {
      const text = textOf(get(row, name));
      const fold = (given: string): string => (caseSensitive ? given : given.toLowerCase());
      return (text !== null && TESTS[op]!(fold(text), fold(value))) !== not;
    },
  }));

const { filter } = fc.letrec<{ filter: Filter }>((tie) => ({
  filter: fc.oneof(
    { maxDepth: 3 },
    comparing,
    comparing,
    truth,
    existing,
    matching,
    pattern,
    fc
      .tuple(fc.constantFrom('and', 'or', 'not'), fc.array(tie('filter'), { maxLength: 3 }))
      .map(([op, children]): Filter => ({
        body: { op, children: children.map(({ body }) => body) },
        of: (row) => {
          if (op === 'or') return children.length === 0 || children.some((child) => child.of(row));
          const all = children.every((child) => child.of(row));
          return op === 'and' ? all : children.length === 0 || !all;
        },
      })),
  ),
}));

interface Aggregation {
  readonly body: object;
  readonly key?: (rows: readonly Row[]) => Value;
  readonly of: (rows: readonly Row[]) => unknown;
}

const there = (rows: readonly Row[], name: string): Exclude<Value, null>[] =>
  rows.map((row) => get(row, name)).filter((value) => value !== null);
const numbers = (rows: readonly Row[], name: string): (bigint | number)[] => there(rows, name).filter(isNumber);
const REAL = new Set(['b', 'm']);

function sum(rows: readonly Row[], name: string): Value {
  const found = numbers(rows, name);
  return REAL.has(name)
    ? found.reduce<number>((total, value) => total + Number(value), 0)
    : found.reduce<bigint>((total, value) => total + (value as bigint), 0n);
}

/** Numbers where the field ever had one, else texts. */
function extreme(rows: readonly Row[], name: string, greatest: boolean): Value {
  const found: Value[] =
    name === 'c' ? there(rows, name) : numbers(rows, name).map((value) => (REAL.has(name) ? Number(value) : value));
  return found.reduce<Value>(
    (best, value) => (best === null || less(greatest ? best : value, greatest ? value : best) === true ? value : best),
    null,
  );
}

const numeric = fc.constantFrom('a', 'b', 'm');
const doubles = (rows: readonly Row[], name: string): number[] => numbers(rows, name).map(Number);
/** Of the range that queries have. */
const YEARS_SECONDS = 730 * 86_400;
const exact = fc.oneof(
  fc.constant<Aggregation>({ body: { op: 'count' }, key: (rows) => BigInt(rows.length), of: (rows) => rows.length }),
  keyed(fc.constantFrom(...FIELDS), 'count', (rows, name) => BigInt(there(rows, name).length)),
  keyed(fc.constantFrom(...FIELDS), 'distinct', (rows, name) =>
    BigInt(new Set(there(rows, name).map(setIdentity)).size),
  ),
  keyed(fc.constantFrom('a', 'b', 'm', 'g'), 'sum', sum),
  keyed(numeric, 'avg', (rows, name) => {
    const found = numbers(rows, name);
    return found.length === 0 ? null : found.reduce<number>((total, value) => total + Number(value), 0) / found.length;
  }),
  keyed(fc.constantFrom('a', 'b', 'c', 'm', 'g'), 'min', (rows, name) => extreme(rows, name, false)),
  keyed(fc.constantFrom('a', 'b', 'c', 'm', 'g'), 'max', (rows, name) => extreme(rows, name, true)),
);
const others = fc.oneof(
  fc.tuple(numeric, fc.constantFrom([50], [0, 25, 99], [95, 100])).map(([name, argument]): Aggregation => ({
    body: { op: 'percentiles', field: name, argument },
    of: (rows) => {
      const found = doubles(rows, name).sort((p, q) => p - q);
      return found.length === 0
        ? null
        : argument.map((level) => found[Math.max(0, Math.ceil((level * found.length) / 100) - 1)]);
    },
  })),
  field.map((name): Aggregation => ({
    body: { op: 'makeset', field: name },
    of: (rows) => unordered(different(there(rows, name).flatMap(itemsOf))),
  })),
  field.map((name): Aggregation => ({
    body: { op: 'makelist', field: name },
    of: (rows) => unordered(there(rows, name).map(jsonOf)),
  })),
  field.map((name): Aggregation => ({
    body: { op: 'topk', field: name, argument: 100 },
    of: (rows) => unordered(counted(there(rows, name))),
  })),
  fc.tuple(numeric, fc.constantFrom(1, 2, 4)).map(([name, argument]): Aggregation => ({
    body: { op: 'histogram', field: name, argument },
    of: (rows) => histogram(doubles(rows, name), argument),
  })),
  fc.tuple(numeric, fc.constantFrom('stdev', 'variance')).map(([name, op]): Aggregation => ({
    body: { op, field: name },
    of: (rows) => {
      const found = doubles(rows, name);
      const result = variance(found);
      if (result === null) return null;
      return op === 'variance'
        ? near(
            result,
            found.map((each) => each * each),
          )
        : near(Math.sqrt(result), found, 1e-7);
    },
  })),
  fc.option(numeric).map((name): Aggregation => ({
    body: { op: 'rate', ...(name !== null && { field: name }) },
    of(rows) {
      const found = name === null ? [] : doubles(rows, name);
      return near((name === null ? rows.length : found.reduce((total, value) => total + value, 0)) / YEARS_SECONDS, []);
    },
  })),
  // Every event has a seq of its own.
  fc.tuple(field, fc.boolean()).map(([name, greatest]): Aggregation => ({
    body: { op: greatest ? 'argmax' : 'argmin', field: 'seq', argument: name },
    of(rows) {
      const sorted = [...rows].sort((p, q) => Number(p.get('seq')) - Number(q.get('seq')));
      const row = greatest ? sorted.at(-1) : sorted[0];
      return row ? jsonOf(get(row, name)) : null;
    },
  })),
);
/** `countif` and its kin: the condition is a filter, in place of the argument. */
const conditional = fc
  .tuple(
    fc.oneof(exact, others).filter(({ body }) => !('argument' in body)),
    filter,
  )
  .map(([{ body, key, of }, test]): Aggregation => {
    const kept = (rows: readonly Row[]): Row[] => rows.filter((row) => test.of(row));
    const { op } = body as { op: string };
    return {
      body: { ...body, op: `${op}if`, argument: test.body },
      of: (rows) => of(kept(rows)),
      ...(key && { key: (rows: readonly Row[]) => key(kept(rows)) }),
    };
  });
const aggregation = fc.oneof(exact, others, conditional);

function keyed(
  names: fc.Arbitrary<string>,
  op: string,
  key: (rows: readonly Row[], name: string) => Value,
): fc.Arbitrary<Aggregation> {
  return names.map((name) => ({
    body: { op, field: name },
    key: (rows) => key(rows, name),
    of: (rows) => jsonOf(key(rows, name)),
  }));
}

/** What the form has: operations of filters, each with and without `not-`, and of aggregations, with and without `if`. */
const FILTERS = [...Object.keys(OPS), ...Object.values(OPS), 'exists', ...Object.keys(TESTS), 'regexp'].flatMap(
  (op) => [op, `not-${op}`],
);
const PLAIN = ['count', 'distinct', 'sum', 'avg', 'min', 'max', 'makeset', 'makelist', 'stdev', 'variance', 'rate'];
export const LEGACY_OPS: readonly string[] = [
  'and',
  'or',
  'not',
  ...FILTERS,
  ...PLAIN,
  ...PLAIN.map((op) => `${op}if`),
  'percentiles',
  'topk',
  'histogram',
  'argmax',
  'argmin',
];

export interface LegacyQuery {
  readonly body: object;
  /** Rows of [group values…, aggregated values…]; of events their seq. */
  readonly of: (rows: readonly Row[]) => unknown[][];
  readonly grouped: boolean;
}

const groups = fc
  .record({
    filter,
    aggregations: fc.tuple(exact, fc.array(aggregation, { maxLength: 2 })).map(([first, rest]) => [first, ...rest]),
    groupBy: fc.uniqueArray(field, { maxLength: 2 }),
    limit: fc.option(fc.integer({ min: 1, max: 8 })),
    desc: fc.option(fc.boolean()),
  })
  .map(({ filter: test, aggregations, groupBy, limit, desc }): LegacyQuery => {
    const by = groupBy[0] !== undefined && desc !== null ? groupBy[0] : undefined;
    return {
      grouped: true,
      body: {
        filter: test.body,
        aggregations: aggregations.map(({ body }, n) => ({ ...body, alias: `v${n}` })),
        groupBy,
        ...(limit !== null && { limit }),
        ...(by !== undefined && { order: [{ field: by, desc }] }),
      },
      of(rows) {
        const found = new Map<string, { keys: Value[]; rows: Row[] }>();
        if (groupBy.length === 0) found.set('', { keys: [], rows: [] });
        for (const row of rows.filter((each) => test.of(each))) {
          const keys = groupBy.map((name) => get(row, name));
          const id = keys.map(identity).join('\0');
          const group = found.get(id) ?? { keys, rows: [] };
          group.rows.push(row);
          found.set(id, group);
        }
        const leading = aggregations.find(({ key }) => key !== undefined)?.key;
        const order = (p: { keys: Value[]; rows: Row[] }, q: { keys: Value[]; rows: Row[] }): number => {
          if (by !== undefined)
            return compareKeys(p.keys[0]!, q.keys[0]!, desc === true) || compareGroups(p.keys, q.keys);
          if (leading) return compareKeys(leading(p.rows), leading(q.rows), true) || compareGroups(p.keys, q.keys);
          return (
            p.keys.reduce<number>((result, key, n) => result || compareKeys(key, q.keys[n]!, false), 0) ||
            compareGroups(p.keys, q.keys)
          );
        };
        const sorted = [...found.values()].sort(order).slice(0, limit ?? 50_000);
        return sorted.map((group) => [...group.keys.map(jsonOf), ...aggregations.map(({ of }) => of(group.rows))]);
      },
    };
  });

const matches = fc
  .record({ filter, by: fc.option(fc.tuple(field, fc.boolean())), limit: fc.option(fc.integer({ min: 1, max: 30 })) })
  .map(({ filter: test, by, limit }): LegacyQuery => ({
    grouped: false,
    body: {
      filter: test.body,
      ...(limit !== null && { limit }),
      ...(by !== null && { order: [{ field: by[0], desc: by[1] }] }),
    },
    of(rows) {
      const kept = rows.filter((row) => test.of(row));
      if (by !== null) kept.sort((p, q) => compareKeys(get(p, by[0]), get(q, by[0]), by[1]));
      return kept.slice(0, limit ?? 1000).map((row) => [Number(row.get('seq'))]);
    },
  }));

export const legacyQuery: fc.Arbitrary<LegacyQuery> = fc.oneof({ arbitrary: groups, weight: 2 }, matches);
