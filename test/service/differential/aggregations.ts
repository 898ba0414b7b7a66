/** Random aggregations, with and without a condition: their text, and what they give of a group's rows, computed plainly. */
import * as fc from 'fast-check';
import { PHRASE_GAPS } from '../../../src/language/functions/aggregates/spec.ts';
import { AGGREGATE_FUNCTIONS } from '../../../src/language/functions/table.ts';
import { truth, type Expression, type Row } from './expression.ts';
import { expressions } from './expressions.ts';
import { jsonOf, less, numberOf, setIdentity, textOf, type Value } from './values.ts';

export interface Aggregation {
  readonly text: string;
  /** `seconds`: the time that a row of the result covers. */
  readonly of: (rows: readonly Row[], seconds: number) => unknown;
  /** The value that groups are ordered by; undefined without an order. */
  readonly key?: (rows: readonly Row[]) => Value;
}

/** An aggregation whose text is still to be put together. */
interface Part extends Omit<Aggregation, 'text'> {
  readonly name: string;
  readonly args: readonly string[];
}

export const there = (values: readonly Value[]): Exclude<Value, null>[] => values.filter((value) => value !== null);
export const numbersOf = ({ of, kinds }: Expression, rows: readonly Row[]): (bigint | number)[] =>
  there(rows.map((row) => numberOf(of(row), kinds))) as (bigint | number)[];
const sum = (values: readonly (bigint | number)[], real: boolean): Value =>
  real
    ? values.reduce<number>((total, value) => total + Number(value), 0)
    : values.reduce<bigint>((total, value) => total + (value as bigint), 0n);
export const extreme = (values: readonly Value[], greatest: boolean): Value =>
  there(values).reduce<Value>(
    (best, value) => (best === null || less(greatest ? best : value, greatest ? value : best) === true ? value : best),
    null,
  );
/** Lists whose order the language leaves open are compared as sets. */
export const unordered = (list: readonly unknown[]): unknown => ({
  unordered: list.map((item) => JSON.stringify(item)).sort(),
});

/** A sum in another order may differ by the rounding of its parts. */
export const near = (value: Value, parts: readonly number[], accuracy = 1e-12): unknown =>
  typeof value === 'number' && Number.isFinite(value)
    ? { near: value, within: accuracy * Math.max(1, ...parts.map(Math.abs)) * Math.max(1, parts.length) }
    : jsonOf(value);

/** Of the sample; 0 of fewer than two. */
export function variance(values: readonly number[]): number {
  if (values.length < 2) return 0;
  const mean = values.reduce((total, value) => total + value, 0) / values.length;
  return values.reduce((total, value) => total + (value - mean) ** 2, 0) / (values.length - 1);
}

export function nearestRank(values: readonly (bigint | number)[], level: number): bigint | number | null {
  const found = values.toSorted((p, q) => (p < q ? -1 : p > q ? 1 : 0));
  return found[Math.max(0, Math.ceil((level * found.length) / 100) - 1)] ?? null;
}

export function histogram(values: readonly number[], size: number): object[] {
  if (values.length === 0) return [];
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const width = (high - low) / size;
  const bins = high > low ? size : 1;
  const binOf = (value: number): number => (high > low ? Math.min(size - 1, Math.floor((value - low) / width)) : 0);
  return Array.from({ length: bins }, (_, n) => ({
    from: low + n * width,
    to: n === size - 1 ? high : low + (n + 1) * width,
    count: values.filter((value) => binOf(value) === n).length,
  }));
}

export function counted(values: readonly Value[]): { key: unknown; count: number; error: number }[] {
  const counts = new Map<string, { key: unknown; count: number; error: number }>();
  for (const item of there(values)) {
    const entry = counts.get(setIdentity(item)) ?? { key: jsonOf(item), count: 0, error: 0 };
    counts.set(setIdentity(item), { ...entry, count: entry.count + 1 });
  }
  return [...counts.values()];
}

const TYPES: Readonly<Record<string, string>> = { bigint: 'long', number: 'double', string: 'string', boolean: 'bool' };

/** What buildschema gives of values as the evaluator has them, or as JSON has them. */
export function schemaOf(values: readonly unknown[], isJson = false): unknown {
  const given = values.filter((value) => value !== null && value !== undefined);
  const nested = given.filter((value) => typeof value === 'object');
  const typeOf = (value: unknown): string => (isJson && Number.isInteger(value) ? 'long' : TYPES[typeof value]!);
  const types: unknown[] = [...new Set(given.filter((value) => typeof value !== 'object').map(typeOf))].sort();
  if (nested.length > 0) {
    const below = new Map<string, unknown[]>();
    const add = (key: string, found: readonly unknown[]): void =>
      void below.set(key, [...(below.get(key) ?? []), ...found]);
    for (const value of nested) {
      if (Array.isArray(value)) add('`indexer`', value as unknown[]);
      else for (const [key, item] of Object.entries(value)) if (item !== null) add(key, [item]);
    }
    const keys = [...below.keys()].sort((a, b) =>
      Buffer.compare(Buffer.from(JSON.stringify(a)), Buffer.from(JSON.stringify(b))),
    );
    types.push(Object.fromEntries(keys.map((key) => [key, schemaOf(below.get(key)!, true) ?? []])));
  }
  return types.length > 1 ? types : (types[0] ?? null);
}

/** An array counts as its items. */
export const itemsOf = (value: Value): Value[] =>
  Array.isArray(value) ? (value.filter((item) => item !== null) as Value[]) : [value];

/** Words in a row, the most frequent first. */
function phrases(values: readonly Value[]): string[] {
  const found = values.flatMap((value) =>
    (textOf(value) ?? '')
      .toLowerCase()
      .split(new RegExp(PHRASE_GAPS, 'gu'))
      .flatMap((part) => part.trim().replaceAll(/\s+/g, ' ') || []),
  );
  const counts = Map.groupBy(found, (phrase) => phrase);
  return [...counts]
    .sort(([a, m], [b, n]) => n.length - m.length || Buffer.compare(Buffer.from(a), Buffer.from(b)))
    .map(([phrase]) => phrase);
}

/** What spotlight gives of one field: the values that differ most between the rows that meet the condition and the rest. */
function spotlit(value: Expression, condition: Expression, rows: readonly Row[]): unknown {
  const sides = [true, false].map((wanted) => rows.filter((row) => (truth(condition, row) === true) === wanted));
  const shares = (text: string) => {
    const [here = 0, rest = 0] = sides.map((side) => side.filter((row) => textOf(value.of(row)) === text).length);
    const [share, baseline] = [here / Math.max(sides[0]!.length, 1), rest / Math.max(sides[1]!.length, 1)];
    return {
      value: text,
      comparison_count: here,
      comparison_share: share,
      baseline_count: rest,
      baseline_share: baseline,
      difference: share - baseline,
      frequency_ratio: (share - baseline) / Math.max(share, baseline),
    };
  };
  const found = [...new Set(rows.flatMap((row) => textOf(value.of(row)) ?? []))].map(shares);
  const size = ({ difference }: { difference: number }): number => Math.abs(difference);
  const sorted = found.toSorted(
    (a, b) => size(b) - size(a) || Buffer.compare(Buffer.from(a.value), Buffer.from(b.value)),
  );
  return [{ dimension: value.text, delta_score: Math.max(0, ...sorted.map(size)), differences: sorted.slice(0, 20) }];
}

export const different = (values: readonly Value[]): unknown[] => [
  ...new Map(there(values).map((item) => [setIdentity(item), jsonOf(item)])).values(),
];

/** `big`: a column of integers that a double does not hold. */
function parts(columns: readonly Expression[], big: Expression) {
  const { number: smaller, any, text, condition } = expressions(columns, 1);
  const number = fc.oneof({ arbitrary: smaller, weight: 5 }, fc.constant(big));
  const one = fc.oneof({ arbitrary: any, weight: 5 }, fc.constant(big));
  const plain = fc.constantFrom(...columns.filter(({ text: name }) => ['a', 'b', 'm', 'never'].includes(name)));
  const keyed = (name: string, args: readonly string[], key: (rows: readonly Row[]) => Value): Part => ({
    name,
    args,
    key,
    of: (rows) => jsonOf(key(rows)),
  });
  const real = ({ kinds }: Expression): boolean => kinds.has('real');
  const doubles = (value: Expression, rows: readonly Row[]): number[] => numbersOf(value, rows).map(Number);

  const exact = fc.oneof(
    fc.constant(keyed('count', [], (rows) => BigInt(rows.length))),
    one.map((value) => keyed('count', [value.text], (rows) => BigInt(there(rows.map(value.of)).length))),
    one.map((value) =>
      keyed('dcount', [value.text], (rows) => BigInt(new Set(there(rows.map(value.of)).map(setIdentity)).size)),
    ),
    number
      .filter((value) => !real(value))
      .map((value) => keyed('sum', [value.text], (rows) => sum(numbersOf(value, rows), false))),
    fc
      .tuple(number, fc.constantFrom('min', 'max'))
      .map(([value, name]) => keyed(name, [value.text], (rows) => extreme(numbersOf(value, rows), name === 'max'))),
    fc
      .tuple(
        text.filter(({ type }) => type === 'string'),
        fc.constantFrom('min', 'max'),
      )
      .map(([value, name]) => keyed(name, [value.text], (rows) => extreme(rows.map(value.of), name === 'max'))),
    fc
      .tuple(number, fc.constantFrom(0, 25, 50, 90, 99.9, 100))
      .map(([value, level]) =>
        keyed('percentile', [value.text, String(level)], (rows) => nearestRank(numbersOf(value, rows), level)),
      ),
  );
  const others = fc.oneof(
    number.map((value): Part => ({
      name: 'sum',
      args: [value.text],
      of: (rows) => near(sum(numbersOf(value, rows), real(value)), doubles(value, rows)),
    })),
    number.map((value): Part => ({
      name: 'avg',
      args: [value.text],
      of: (rows) => {
        const found = numbersOf(value, rows);
        // Integers are added up as such.
        return found.length === 0 ? null : near(Number(sum(found, real(value))) / found.length, doubles(value, rows));
      },
    })),
    fc.constant<Part>({ name: 'rate', args: [], of: (rows, seconds) => rows.length / seconds }),
    number.map((value): Part => ({
      name: 'rate',
      args: [value.text],
      of: (rows, seconds) => {
        const total = sum(numbersOf(value, rows), real(value));
        return near(
          Number(total) / seconds,
          doubles(value, rows).map((each) => each / seconds),
        );
      },
    })),
    fc.tuple(number, fc.constantFrom('stdev', 'variance')).map(([value, name]): Part => ({
      name,
      args: [value.text],
      of: (rows) => {
        const found = doubles(value, rows);
        const result = variance(found);
        // The root of a rounding error near 0 is larger than it.
        return name === 'variance'
          ? near(
              result,
              found.map((each) => each * each),
            )
          : near(Math.sqrt(result), found, 1e-7);
      },
    })),
    fc.tuple(number, fc.constantFrom([50], [0, 25, 99], [95, 100])).map(([value, levels]): Part => ({
      name: 'percentiles_array',
      args: [value.text, ...levels.map(String)],
      of: (rows) =>
        numbersOf(value, rows).length === 0
          ? null
          : levels.map((level) => jsonOf(nearestRank(numbersOf(value, rows), level))),
    })),
    one.map((value): Part => ({
      name: 'make_list',
      args: [value.text],
      of: (rows) => unordered(there(rows.map(value.of)).map(jsonOf)),
    })),
    one.map((value): Part => ({
      name: 'make_set',
      args: [value.text],
      of: (rows) => unordered(different(rows.map(value.of).flatMap(itemsOf))),
    })),
    fc
      .oneof(one, plain)
      .map((value): Part => ({ name: 'buildschema', args: [value.text], of: (rows) => schemaOf(rows.map(value.of)) })),
    fc.tuple(text, fc.constantFrom(1, 3, 100)).map(([value, size]): Part => ({
      name: 'phrases',
      args: [value.text, String(size)],
      of: (rows) => phrases(rows.map(value.of)).slice(0, size),
    })),
    fc.tuple(condition, plain).map(([test, value]): Part => ({
      name: 'spotlight',
      args: [test.text, value.text],
      of: (rows) => spotlit(value, test, rows),
    })),
    one.map((value): Part => ({
      name: 'topk',
      args: [value.text, '100'],
      of: (rows) => unordered(counted(rows.map(value.of))),
    })),
    fc.tuple(plain, fc.constantFrom(1, 2, 4, 8)).map(([value, size]): Part => ({
      name: 'histogram',
      args: [value.text, String(size)],
      of: (rows) => histogram(doubles(value, rows), size),
    })),
  );
  return { exact, others, condition };
}

/** A list of one to three, of which the first has an order that rounding cannot change. */
export function aggregations(columns: readonly Expression[], big: Expression): fc.Arbitrary<readonly Aggregation[]> {
  const { exact, others, condition } = parts(columns, big);
  const finished = (part: fc.Arbitrary<Part>): fc.Arbitrary<Aggregation> =>
    fc.tuple(part, fc.option(condition, { freq: 3 })).map(([{ name, args, key, of }, test]) => {
      const names = AGGREGATE_FUNCTIONS.find((spec) => spec.names[0] === name)!.names;
      const called = names[args.join(',').length % names.length]!;
      // `countif` takes a condition alone, `spotlight` has one.
      if (test === null || name === 'spotlight' || (name === 'count') !== (args.length === 0))
        return { text: `${called}(${args.join(', ')})`, of, ...(key && { key }) };
      const kept = (rows: readonly Row[]): Row[] => rows.filter((row) => truth(test, row) === true);
      return {
        text: `${called}if(${[...args, test.text].join(', ')})`,
        of: (rows, seconds) => of(kept(rows), seconds),
        ...(key && { key: (rows: readonly Row[]) => key(kept(rows)) }),
      };
    });
  const all = finished(fc.oneof(exact, others, others));
  return fc.oneof(
    {
      arbitrary: fc.tuple(finished(exact), fc.array(all, { maxLength: 2 })).map(([first, rest]) => [first, ...rest]),
      weight: 4,
    },
    finished(others)
      .map((only) => [only])
      .filter(([only]) => only?.key === undefined && !/^(?:sum|avg|rate|stdev|variance)/.test(only!.text)),
  );
}
