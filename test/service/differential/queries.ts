/** Random queries over random events: their text, and the rows that they give, computed plainly. */
import * as fc from 'fast-check';
import { column, expressions, word, type Expression, type Row } from './expressions.ts';
import { compareGroups, compareKeys, identity, jsonOf, less, numberOf, setIdentity, type Value } from './values.ts';

/** An event as it is sent; `at` seconds, and the order in which it came. */
export interface Event {
  readonly at: number;
  readonly seq: number;
  readonly fields: Readonly<Record<string, unknown>>;
}

const absent = Symbol('absent');
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.oneof({ arbitrary, weight: 5 }, fc.constant(absent), fc.constant(null));
const mixed = fc.oneof(
  fc.integer({ min: -3, max: 6 }),
  fc.constantFrom(0.5, 5.5),
  word,
  fc.boolean(),
  fc.constantFrom([], [1, 'a'], ['x_y']),
);

/** The first ones give every field all the types that it may have, so that those do not depend on chance. */
const FIRST: readonly Record<string, unknown>[] = [
  { a: 1, b: 0.5, c: 'a', d: true, m: 1 },
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
    }),
    { minLength: 20, maxLength: 60 },
  )
  .map((list): Event[] => {
    const kept = (fields: object): Record<string, unknown> => Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== absent));
    const first = FIRST.map((fields) => ({ at: 5, fields }));
    return [...first, ...list.map(({ at, ...fields }) => ({ at, fields: kept(fields) }))].map((event, seq) => ({ ...event, seq }));
  }); // prettier-ignore

/** JSON numbers without a fraction are integers, whatever they were. */
function stored(value: unknown): Value {
  if (typeof value === 'number') return Number.isInteger(value) ? BigInt(value) : value;
  return value as Value;
}

export const COLUMNS: readonly Expression[] = [
  column('a', 'dynamic', 'int'),
  column('b', 'dynamic', 'int', 'real'),
  column('c', 'dynamic', 'string'),
  column('d', 'dynamic', 'bool'),
  column('m', 'dynamic', 'int', 'real', 'string', 'bool', 'json'),
];

/** The events as rows, in the order that the service gives them: the newest first. */
export function rowsOf(list: readonly Event[]): Row[] {
  return [...list]
    .sort((a, b) => b.at - a.at || b.seq - a.seq)
    .map(({ at, seq, fields }) => new Map<string, Value>([['at', BigInt(at)], ['seq', BigInt(seq)], ...Object.entries(fields).map(([name, value]) => [name, stored(value)] as const)])); // prettier-ignore
}

export interface Query {
  readonly text: string;
  readonly names: readonly string[];
  /** The rows in their order; lists without an order as they come. */
  readonly of: (rows: readonly Row[]) => unknown[][];
}

interface Step {
  readonly text: string;
  readonly columns: readonly Expression[];
  readonly of: (rows: readonly Row[]) => readonly Row[];
}

const start: Step = { text: '', columns: COLUMNS, of: (rows) => rows };

function where(before: Step): fc.Arbitrary<Step> {
  return expressions(before.columns, 2).condition.map((test) => ({
    text: `${before.text} | where ${test.text}`,
    columns: before.columns,
    of: (rows) => before.of(rows).filter((row) => test.of(row) === true),
  }));
}

let made = 0;
function extend(before: Step): fc.Arbitrary<Step> {
  return expressions(before.columns, 2).any.map((value) => {
    const name = `x${made++ % 1000}`;
    return {
      text: `${before.text} | extend ${name} = ${value.text}`,
      columns: [...before.columns, column(name, value.type, ...value.kinds)],
      of: (rows) => before.of(rows).map((row) => new Map([...row, [name, value.of(row)]])),
    };
  });
}

function sort(before: Step): fc.Arbitrary<Step> {
  return fc.tuple(fc.constantFrom(...before.columns), fc.boolean()).map(([by, desc]) => ({
    text: `${before.text} | sort by ${by.text} ${desc ? 'desc' : 'asc'}`,
    columns: before.columns,
    // Equal ones stay newest first.
    of: (rows) => {
      const natural = [...before.of(rows)].sort((p, q) => Number(q.get('at')) - Number(p.get('at')) || Number(q.get('seq')) - Number(p.get('seq')));
      return natural.sort((p, q) => compareKeys(by.of(p), by.of(q), desc));
    },
  })); // prettier-ignore
}

function take(before: Step): fc.Arbitrary<Step> {
  return fc.nat(30).map((count) => ({
    text: `${before.text} | take ${count}`,
    columns: before.columns,
    of: (rows) => before.of(rows).slice(0, count),
  }));
}

const steps = fc.array(fc.constantFrom(where, extend, extend, sort, take), { maxLength: 4 });

function project({ text, columns, of }: Step): fc.Arbitrary<Query> {
  const { any } = expressions(columns, 2);
  return fc.array(any, { minLength: 1, maxLength: 4 }).map((list) => ({
    text: `${text} | project ${list.map((value, n) => `p${n} = ${value.text}`).join(', ')}`,
    names: list.map((_, n) => `p${n}`),
    of: (rows) => of(rows).map((row) => list.map((value) => jsonOf(value.of(row)))),
  }));
}

interface Aggregation {
  readonly text: string;
  readonly of: (rows: readonly Row[]) => unknown;
  /** The value that groups are ordered by; undefined for what has no order. */
  readonly key?: (rows: readonly Row[]) => Value;
}

const there = (values: readonly Value[]): Exclude<Value, null>[] => values.filter((value) => value !== null);
const numbers = ({ of, kinds }: Expression, rows: readonly Row[]): (bigint | number)[] =>
  there(rows.map((row) => numberOf(of(row), kinds))) as (bigint | number)[];
const sum = (values: readonly (bigint | number)[], real: boolean): Value =>
  values.length === 0
    ? null
    : real
      ? values.reduce<number>((total, value) => total + Number(value), 0)
      : values.reduce<bigint>((total, value) => total + (value as bigint), 0n);
const extreme = (values: readonly Value[], greatest: boolean): Value =>
  there(values).reduce<Value>((best, value) => (best === null || less(greatest ? best : value, greatest ? value : best) === true ? value : best), null); // prettier-ignore
/** Lists whose order the language leaves open are compared as sets. */
export const unordered = (list: readonly unknown[]): unknown => ({ unordered: list.map((item) => JSON.stringify(item)).sort() });

function aggregation(columns: readonly Expression[]): fc.Arbitrary<Aggregation> {
  const { number, condition, any, text } = expressions(columns, 1);
  const keyed = (words: string, key: (rows: readonly Row[]) => Value): Aggregation => ({ text: words, key, of: (rows) => jsonOf(key(rows)) });
  return fc.oneof(
    fc.constant(keyed('count()', (rows) => BigInt(rows.length))),
    condition.map((test) => keyed(`countif(${test.text})`, (rows) => BigInt(rows.filter((row) => test.of(row) === true).length))),
    any.map((value) => keyed(`count(${value.text})`, (rows) => BigInt(there(rows.map(value.of)).length))),
    any.map((value) => keyed(`dcount(${value.text})`, (rows) => BigInt(new Set(there(rows.map(value.of)).map(setIdentity)).size))),
    number.map((value) => keyed(`sum(${value.text})`, (rows) => sum(numbers(value, rows), value.kinds.has('real')))),
    fc.tuple(number, condition).map(([value, test]) => keyed(`sumif(${value.text}, ${test.text})`, (rows) => sum(numbers(value, rows.filter((row) => test.of(row) === true)), value.kinds.has('real')))),
    number.map((value) => keyed(`avg(${value.text})`, (rows) => {
      const found = numbers(value, rows);
      return found.length === 0 ? null : Number(sum(found, true)) / found.length;
    })),
    fc.tuple(number, fc.boolean()).map(([value, greatest]) => keyed(`${greatest ? 'max' : 'min'}(${value.text})`, (rows) => extreme(numbers(value, rows), greatest))),
    fc.tuple(text.filter(({ type }) => type === 'string'), fc.boolean()).map(([value, greatest]) => keyed(`${greatest ? 'max' : 'min'}(${value.text})`, (rows) => extreme(rows.map(value.of), greatest))),
    fc.tuple(number, fc.constantFrom(0, 25, 50, 90, 99.9, 100)).map(([value, level]) => keyed(`percentile(${value.text}, ${level})`, (rows) => {
      const found = numbers(value, rows).sort((p, q) => (p < q ? -1 : p > q ? 1 : 0));
      return found[Math.max(0, Math.ceil((level * found.length) / 100) - 1)] ?? null;
    })),
    any.map((value): Aggregation => ({ text: `make_list(${value.text})`, of: (rows) => unordered(there(rows.map(value.of)).map(jsonOf)) })),
    any.map((value): Aggregation => ({
      text: `make_set(${value.text})`, of: (rows) => unordered([...new Map(there(rows.map(value.of)).map((item) => [setIdentity(item), jsonOf(item)])).values()]),
    })),
    any.map((value): Aggregation => ({
      text: `topk(${value.text}, 100)`,
      of: (rows) => {
        const counts = new Map<string, { key: unknown; count: number; error: number }>();
        for (const item of there(rows.map(value.of))) {
          const entry = counts.get(setIdentity(item)) ?? { key: jsonOf(item), count: 0, error: 0 };
          counts.set(setIdentity(item), { ...entry, count: entry.count + 1 });
        }
        return unordered([...counts.values()]);
      },
    })),
  );
} // prettier-ignore

/** Groups without an aggregation that has an order come in the order of their keys. */
function compareAll(p: readonly Value[], q: readonly Value[]): number {
  for (const [n, value] of p.entries()) {
    const order = compareKeys(value, q[n]!, false);
    if (order !== 0) return order;
  }
  return 0;
}

function summarize({ text, columns, of }: Step): fc.Arbitrary<Query> {
  const keys = fc.array(fc.oneof(expressions(columns, 1).any, fc.constantFrom(...columns)), { maxLength: 2 });
  return fc.tuple(fc.array(aggregation(columns), { minLength: 1, maxLength: 3 }), keys).map(([list, by]) => ({
    text: `${text} | summarize ${list.map((item, n) => `s${n} = ${item.text}`).join(', ')}${by.length === 0 ? '' : ` by ${by.map((key, n) => `k${n} = ${key.text}`).join(', ')}`}`,
    names: [...by.map((_, n) => `k${n}`), ...list.map((_, n) => `s${n}`)],
    of(rows) {
      const groups = new Map<string, { keys: Value[]; rows: Row[] }>();
      if (by.length === 0) groups.set('', { keys: [], rows: [...of(rows)] });
      else
        for (const row of of(rows)) {
          const values = by.map((key) => key.of(row));
          const id = values.map(identity).join('\0');
          const group = groups.get(id) ?? { keys: values, rows: [] };
          group.rows.push(row);
          groups.set(id, group);
        }
      const leading = list.find((item) => item.key !== undefined)?.key;
      const order = (p: { keys: Value[]; rows: Row[] }, q: { keys: Value[]; rows: Row[] }): number =>
        (leading ? compareKeys(leading(p.rows), leading(q.rows), true) : compareAll(p.keys, q.keys)) || compareGroups(p.keys, q.keys);
      const found = [...groups.values()].sort(order);
      return found.map((group) => [...group.keys.map(jsonOf), ...list.map((item) => item.of(group.rows))]);
    },
  }));
} // prettier-ignore

function distinct(step: Step): fc.Arbitrary<Query> {
  return fc.uniqueArray(fc.constantFrom(...step.columns), { minLength: 1, maxLength: 2, selector: ({ text }) => text }).map((by) => ({
    text: `${step.text} | distinct ${by.map(({ text }) => text).join(', ')}`,
    names: by.map(({ text }) => text),
    of(rows) {
      const found = new Map(step.of(rows).map((row) => { const values = by.map((key) => key.of(row)); return [values.map(identity).join('\0'), values] as const; }));
      return [...found.values()].sort((p, q) => compareAll(p, q) || compareGroups(p, q)).map((values) => values.map(jsonOf));
    },
  }));
} // prettier-ignore

const counting = (step: Step): fc.Arbitrary<Query> =>
  fc.constant({ text: `${step.text} | count`, names: ['count'], of: (rows) => [[step.of(rows).length]] });

/** A dataset's name goes before the text. */
export const query: fc.Arbitrary<Query> = steps
  .chain((list) => list.reduce<fc.Arbitrary<Step>>((before, step) => before.chain(step), fc.constant(start)))
  .chain((step) => fc.oneof(project(step), project(step), summarize(step), summarize(step), distinct(step), counting(step)));
