/** Random queries over random events: their text, and the rows that they give, computed plainly. */
import * as fc from 'fast-check';
import { column, word, type Expression, type Row } from './expression.ts';
import { expressions } from './expressions.ts';
import { inexact } from './functions.ts';
import { expand, keep, parse, parseKv, parseWhere, rename, sample } from './columns.ts';
import { freshName, stored, type Query, type Step } from './step.ts';
import { binOf } from './times.ts';
import { timeText } from './calendar.ts';
import { aggregations, type Aggregation } from './aggregations.ts';
import { compareGroups, compareKeys, identity, jsonOf, kindOf, KINDS, numberOf, type Value } from './values.ts';

/** An event as it is sent; `at` seconds, and the order in which it came. */
export interface Event {
  readonly at: number;
  readonly seq: number;
  readonly fields: Readonly<Record<string, unknown>>;
}

const absent = Symbol('absent');
const maybe = <T>(arbitrary: fc.Arbitrary<T>) =>
  fc.oneof({ arbitrary, weight: 5 }, fc.constant(absent), fc.constant(null));
const mixed = fc.oneof(
  fc.integer({ min: -3, max: 6 }),
  fc.constantFrom(0.5, 5.5),
  word,
  fc.boolean(),
  fc.constantFrom([], [1, 'a'], ['x_y']),
);

/** Integers that a double does not hold. */
const BIG = [
  2n ** 53n + 1n,
  -(2n ** 53n) - 1n,
  2n ** 63n - 1n,
  -(2n ** 63n),
  2n ** 62n,
  1_234_567_890_123_456_789n,
] as const;

/** The first ones give every field all the types that it may have, so that those do not depend on chance. */
const FIRST: readonly Record<string, unknown>[] = [
  { a: 1, b: 0.5, c: 'a', d: true, m: 1, g: 2n ** 53n + 1n },
  { b: 1, m: 0.5 },
  { m: 'x' },
  { m: true },
  { m: [1] },
];

export const events = fc
  .array(
    fc.record({
      at: fc.integer({ min: 0, max: 20 }),
      a: maybe(fc.integer({ min: -10, max: 10 })),
      b: maybe(fc.integer({ min: -40, max: 40 }).map((n) => n / 4)),
      c: maybe(word),
      d: maybe(fc.boolean()),
      m: maybe(mixed),
      g: maybe(fc.oneof(fc.constantFrom(...BIG), fc.integer({ min: -3, max: 3 }).map(BigInt))),
    }),
    { minLength: 20, maxLength: 60 },
  )
  .map((list): Event[] => {
    const kept = (fields: object): Record<string, unknown> =>
      Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== absent));
    const first = FIRST.map((fields) => ({ at: 5, fields }));
    return [...first, ...list.map(({ at, ...fields }) => ({ at, fields: kept(fields) }))].map((event, seq) => ({
      ...event,
      seq,
    }));
  });

export const COLUMNS: readonly Expression[] = [
  column('a', 'dynamic', 'int'),
  column('b', 'dynamic', 'int', 'real'),
  column('c', 'dynamic', 'string'),
  column('d', 'dynamic', 'bool'),
  column('m', 'dynamic', 'int', 'real', 'string', 'bool', 'json'),
  // No event ever has it.
  column('never', 'dynamic'),
];
/** Where nothing is added up: sums of floats as large depend on their order. */
const G = column('g', 'dynamic', 'int');

/** The events as rows, in the order that the service gives them: the newest first. */
export function rowsOf(list: readonly Event[]): Row[] {
  return [...list]
    .sort((a, b) => b.at - a.at || b.seq - a.seq)
    .map(
      ({ at, seq, fields }) =>
        new Map<string, Value>([
          ['at', BigInt(at)],
          ['seq', BigInt(seq)],
          ...Object.entries(fields).map(([name, value]) => [name, stored(value)] as const),
        ]),
    );
}

const start: Step = { text: '', columns: COLUMNS, of: (rows) => rows };

function where(before: Step): fc.Arbitrary<Step> {
  return fc
    .tuple(expressions([...before.columns, G], 2).condition, fc.constantFrom('where', 'filter'))
    .map(([test, word]) => ({
      text: `${before.text} | ${word} ${test.text}`,
      columns: before.columns,
      of: (rows) => before.of(rows).filter((row) => test.of(row) === true),
    }));
}

function extend(before: Step): fc.Arbitrary<Step> {
  return expressions(before.columns, 2).any.map((value) => {
    const name = freshName();
    return {
      text: `${before.text} | extend ${name} = ${value.text}`,
      columns: [...before.columns, column(name, value.type, ...value.kinds)],
      of: (rows) => before.of(rows).map((row) => new Map([...row, [name, value.of(row)]])),
    };
  });
}

/** Equal ones stay newest first. */
const sorted = (rows: readonly Row[], by: Expression, desc: boolean, nullsFirst: boolean): Row[] =>
  [...rows]
    .sort((p, q) => Number(q.get('at')) - Number(p.get('at')) || Number(q.get('seq')) - Number(p.get('seq')))
    .sort(
      (p, q) =>
        (nullsFirst ? Number(by.of(q) === null) - Number(by.of(p) === null) : 0) ||
        compareKeys(by.of(p), by.of(q), desc),
    );

function sort(before: Step): fc.Arbitrary<Step> {
  const words = fc.constantFrom('sort', 'order');
  return fc
    .tuple(
      fc.constantFrom(...before.columns, G),
      fc.constantFrom('desc', 'asc', ''),
      fc.constantFrom('', ' nulls first', ' nulls last'),
      words,
    )
    .map(([by, way, nulls, word]) => ({
      text: `${before.text} | ${word} by ${by.text} ${way}${nulls}`,
      columns: before.columns,
      of: (rows) => sorted(before.of(rows), by, way !== 'asc', nulls === '' ? way === 'asc' : nulls === ' nulls first'),
    }));
}

function top(before: Step): fc.Arbitrary<Step> {
  return fc
    .tuple(
      fc.nat(20),
      expressions([...before.columns, G], 1).any.filter(({ type }) => type !== 'bool'),
      fc.constantFrom('', ' asc', ' desc'),
    )
    .map(([count, by, way]) => ({
      text: `${before.text} | top ${count} by ${by.text}${way}`,
      columns: before.columns,
      of: (rows) => sorted(before.of(rows), by, way !== ' asc', way === ' asc').slice(0, count),
    }));
}

/** Without one of the plain fields; `m` stays, which may be of any type. */
function away(before: Step): fc.Arbitrary<Step> {
  return fc.constantFrom('a', 'b', 'c', 'd').map((name) => ({
    text: `${before.text} | project-away ${name}, nothing*`,
    columns: before.columns.filter(({ text }) => text !== name),
    of: before.of,
  }));
}

function take(before: Step): fc.Arbitrary<Step> {
  return fc.tuple(fc.nat(30), fc.constantFrom('take', 'limit')).map(([count, word]) => ({
    text: `${before.text} | ${word} ${count}`,
    columns: before.columns,
    of: (rows) => before.of(rows).slice(0, count),
  }));
}

const steps = fc.array(
  fc.constantFrom(
    where,
    where,
    extend,
    extend,
    extend,
    sort,
    sort,
    top,
    away,
    keep,
    rename,
    parse,
    parseWhere,
    parseKv,
    sample,
    take,
    take,
  ),
  {
    maxLength: 4,
  },
);

function project({ text, columns, of }: Step): fc.Arbitrary<Query> {
  const generators = expressions([...columns, G], 2);
  return fc
    .array(
      fc.oneof(
        { arbitrary: generators.any, weight: 2 },
        generators.condition,
        generators.text,
        generators.number,
        inexact(expressions(columns, 0)),
      ),
      { minLength: 3, maxLength: 8 },
    )
    .map((list) => ({
      text: `${text} | project ${list.map((value, n) => `p${n} = ${value.text}`).join(', ')}`,
      names: list.map((_, n) => `p${n}`),
      of: (rows) => of(rows).map((row) => list.map((value) => jsonOf(value.of(row)))),
    }));
}

/** Groups without an aggregation that has an order come in the order of their keys. */
function compareAll(p: readonly Value[], q: readonly Value[]): number {
  for (const [n, value] of p.entries()) {
    const order = compareKeys(value, q[n]!, false);
    if (order !== 0) return order;
  }
  return 0;
}

interface Group {
  readonly keys: readonly Value[];
  readonly rows: readonly Row[];
}

/** Rows by the values of their keys; without keys one group, which may be empty. */
function grouped(rows: readonly Row[], by: readonly Expression[]): Group[] {
  if (by.length === 0) return [{ keys: [], rows }];
  const groups = new Map<string, { keys: Value[]; rows: Row[] }>();
  for (const row of rows) {
    const keys = by.map((key) => key.of(row));
    const id = keys.map(identity).join('\0');
    const group = groups.get(id) ?? { keys, rows: [] };
    group.rows.push(row);
    groups.set(id, group);
  }
  return [...groups.values()];
}

/** The largest first aggregation first, then in the order of the keys. */
function inOrder(list: readonly Aggregation[], p: Group, q: Group): number {
  return byLeading(list, p, q) ?? (compareAll(p.keys, q.keys) || compareGroups(p.keys, q.keys));
}

/** Undefined where no aggregation has an order. */
function byLeading(list: readonly Aggregation[], p: Group, q: Group): number | undefined {
  const leading = list.find((item) => item.key !== undefined)?.key;
  return leading && (compareKeys(leading(p.rows), leading(q.rows), true) || compareGroups(p.keys, q.keys));
}

/** Of the range that queries have. */
const YEARS_SECONDS = 730 * 86_400;

function summarize({ text, columns, of }: Step): fc.Arbitrary<Query> {
  const keys = fc.array(fc.oneof(expressions([...columns, G], 1).any, fc.constantFrom(...columns, G)), {
    maxLength: 2,
  });
  return fc.tuple(aggregations(columns, G), keys).map(([list, by]) => ({
    text: `${text} | summarize ${list.map((item, n) => `s${n} = ${item.text}`).join(', ')}${by.length === 0 ? '' : ` by ${by.map((key, n) => `k${n} = ${key.text}`).join(', ')}`}`,
    names: [...by.map((_, n) => `k${n}`), ...list.map((_, n) => `s${n}`)],
    of: (rows) =>
      grouped(of(rows), by)
        .sort((p, q) => inOrder(list, p, q))
        .map((group) => [...group.keys.map(jsonOf), ...list.map((item) => item.of(group.rows, YEARS_SECONDS))]),
  }));
}

/** By bins of time: the rows in the order of time, and the totals without it. */
function series({ text, columns, of }: Step): fc.Arbitrary<Query> {
  const keys = fc.array(fc.constantFrom(...columns), { maxLength: 1 });
  const seconds = fc.constantFrom(1, 5, 60);
  return fc.tuple(aggregations(columns, G), keys, seconds).map(([list, by, width]) => ({
    text: `${text} | summarize ${list.map((item, n) => `s${n} = ${item.text}`).join(', ')} by ${[...by.map((key) => `k0 = ${key.text}`), `bin(_time, ${width}s)`].join(', ')}`,
    names: [...by.map(() => 'k0'), '_time', ...list.map((_, n) => `s${n}`)],
    of(rows) {
      const bin = (row: Row): bigint => binOf(row, BigInt(width) * 1_000_000_000n);
      const found = of(rows);
      const bins = [...new Set(found.map(bin))].sort((p, q) => (p < q ? -1 : 1));
      return bins.flatMap((start) =>
        grouped(
          found.filter((row) => bin(row) === start),
          by,
        )
          .sort((p, q) => byLeading(list, p, q) ?? compareGroups(p.keys, q.keys))
          .map((group) => [
            ...group.keys.map(jsonOf),
            timeText(start),
            ...list.map((item) => item.of(group.rows, width)),
          ]),
      );
    },
    totals: (rows) =>
      grouped(of(rows), by)
        .sort((p, q) => inOrder(list, p, q))
        .map((group) => [...group.keys.map(jsonOf), ...list.map((item) => item.of(group.rows, YEARS_SECONDS))]),
  }));
}

/** The row in which a column is greatest or least; of equal ones the last, or the first, in time. */
function extremeRow({ text, columns, of }: Step): fc.Arbitrary<Query> {
  const some = fc.uniqueArray(fc.constantFrom(...columns.filter(({ type }) => type !== 'bool'), G), {
    minLength: 2,
    maxLength: 4,
    selector: (column) => column.text,
  });
  return fc.tuple(some, fc.boolean(), fc.boolean()).map(([[first, ...rest], greatest, isGrouped]) => {
    const by = first!;
    const [key, take] = isGrouped && rest.length > 1 ? [rest.slice(0, 1), rest.slice(1)] : [[], rest];
    const numeric = by.kinds.has('int') || by.kinds.has('real');
    const compared = (row: Row): Value => {
      const value = by.of(row);
      return numeric
        ? numberOf(value, by.kinds)
        : kindOf(value) === [...by.kinds].sort((p, q) => KINDS.indexOf(p) - KINDS.indexOf(q))[0]
          ? value
          : null;
    };
    const chosen = (rows: readonly Row[]): Row | undefined => {
      const found = rows.filter((row) => compared(row) !== null);
      const ranked = found.sort(
        (p, q) =>
          compareKeys(compared(p), compared(q), false) ||
          Number(p.get('at')) - Number(q.get('at')) ||
          Number(p.get('seq')) - Number(q.get('seq')),
      );
      return greatest ? ranked.at(-1) : ranked[0];
    };
    const leading = [by, ...take].find(({ kinds, type }) => !kinds.has('json') && type !== 'bool');
    const valueOf = (column: Expression, rows: readonly Row[]): Value => {
      const row = chosen(rows);
      return row ? column.of(row) : null;
    };
    const order = (p: Group, q: Group): number =>
      (leading ? compareKeys(valueOf(leading, p.rows), valueOf(leading, q.rows), true) : compareAll(p.keys, q.keys)) ||
      compareGroups(p.keys, q.keys);
    return {
      text: `${text} | summarize ${greatest ? 'arg_max' : 'arg_min'}(${[by, ...take].map((column) => column.text).join(', ')})${key.length === 0 ? '' : ` by ${key[0]!.text}`}`,
      names: [...key, by, ...take].map((column) => column.text),
      of: (rows) =>
        grouped(of(rows), key)
          .sort(order)
          .map((group) => [
            ...group.keys.map(jsonOf),
            ...[by, ...take].map((column) => jsonOf(valueOf(column, group.rows))),
          ]),
    };
  });
}

function distinct(step: Step): fc.Arbitrary<Query> {
  return fc
    .uniqueArray(fc.constantFrom(...step.columns), { minLength: 1, maxLength: 2, selector: ({ text }) => text })
    .map((by) => ({
      text: `${step.text} | distinct ${by.map(({ text }) => text).join(', ')}`,
      names: by.map(({ text }) => text),
      of(rows) {
        const found = new Map(
          step.of(rows).map((row) => {
            const values = by.map((key) => key.of(row));
            return [values.map(identity).join('\0'), values] as const;
          }),
        );
        return [...found.values()]
          .sort((p, q) => compareAll(p, q) || compareGroups(p, q))
          .map((values) => values.map(jsonOf));
      },
    }));
}

const counting = (step: Step): fc.Arbitrary<Query> =>
  fc.constant({ text: `${step.text} | count`, names: ['count'], of: (rows) => [[step.of(rows).length]] });

/** A dataset's name goes before the text. */
export const query: fc.Arbitrary<Query> = steps
  .chain((list) => list.reduce<fc.Arbitrary<Step>>((before, step) => before.chain(step), fc.constant(start)))
  .chain((step) =>
    fc.oneof(
      project(step),
      project(step),
      summarize(step),
      summarize(step),
      series(step),
      extremeRow(step),
      distinct(step),
      counting(step),
      expand(step),
    ),
  );
