/** Random steps that choose, rename, parse and expand columns. */
import * as fc from 'fast-check';
import { column, type Row } from './expression.ts';
import { freshName, stored, type Query, type Step } from './step.ts';
import { jsonOf, textOf, type Value } from './values.ts';

/** Those that are named, and every column that was made. */
export function keep(before: Step): fc.Arbitrary<Step> {
  return fc.subarray(['a', 'b', 'c', 'd'], { minLength: 1 }).map((names) => ({
    text: `${before.text} | project-keep ${[...names, '_time', 'seq', 'g', 'm', 'never', 'x*'].join(', ')}`,
    columns: before.columns.filter(({ text }) => names.includes(text) || !['a', 'b', 'c', 'd'].includes(text)),
    of: before.of,
  }));
}

/** One that has been renamed has its new name from then on. */
export function rename(before: Step): fc.Arbitrary<Step> {
  const others = before.columns.filter(({ text }) => text !== 'm' && text !== 'never');
  if (others.length === 0) return fc.constant(before);
  return fc.constantFrom(...others).map((old) => {
    const name = freshName();
    return {
      text: `${before.text} | project-rename ${name} = ${old.text}`,
      columns: before.columns.map((each) => (each === old ? column(name, old.type, ...old.kinds) : each)),
      of: (rows) => before.of(rows).map((row) => new Map([...row, [name, old.of(row)]])),
    };
  });
}

const textOfC = (row: Row): string => textOf(row.get('c') ?? null) ?? '';
const C = 'tostring(c)';

/** The text before the first blank, and after it. */
export function parse(before: Step): fc.Arbitrary<Step> {
  if (!before.columns.some(({ text }) => text === 'c')) return fc.constant(before);
  return fc.constantFrom('', 'kind=relaxed ', 'kind=regex ').map((kind) => {
    const [first, rest] = [freshName(), freshName()];
    const part = (row: Row, n: number): string | null => /^(.*?) (.*)$/s.exec(textOfC(row))?.[n] ?? null;
    return {
      text: `${before.text} | parse ${kind}${C} with ${first} " " ${rest}`,
      columns: [...before.columns, column(first, 'string', 'string'), column(rest, 'string', 'string')],
      of: (rows) => before.of(rows).map((row) => new Map([...row, [first, part(row, 1)], [rest, part(row, 2)]])),
    };
  });
}

export function parseWhere(before: Step): fc.Arbitrary<Step> {
  if (!before.columns.some(({ text }) => text === 'a')) return fc.constant(before);
  const name = freshName();
  const digits = (row: Row): string | undefined => /^-(\d+)$/.exec(textOf(row.get('a') ?? null) ?? '')?.[1];
  return fc.constant({
    text: `${before.text} | parse-where tostring(a) with "-" ${name}:long`,
    columns: [...before.columns, column(name, 'number', 'int')],
    of: (rows) =>
      before
        .of(rows)
        .filter((row) => digits(row) !== undefined)
        .map((row) => new Map([...row, [name, BigInt(digits(row)!)]])),
  });
}

export function parseKv(before: Step): fc.Arbitrary<Step> {
  if (!['a', 'd'].every((name) => before.columns.some(({ text }) => text === name))) return fc.constant(before);
  const [k, q, d, no] = [freshName(), freshName(), freshName(), freshName()];
  const pairs = `strcat('${k}=', a, ' ${q}="${d}=false x" ${d}=', d, ' z=1')`;
  return fc.constant({
    text: `${before.text} | parse-kv ${pairs} as (${k}:long, ${q}, ${d}:bool, ${no})`,
    columns: [
      ...before.columns,
      column(k, 'number', 'int'),
      column(q, 'string', 'string'),
      column(d, 'bool', 'bool'),
      column(no, 'string', 'string'),
    ],
    of: (rows) =>
      before
        .of(rows)
        .map(
          (row) =>
            new Map([...row, [k, row.get('a') ?? null], [q, `${d}=false x`], [d, row.get('d') ?? null], [no, null]]),
        ),
  });
}

/** All of them, put into an order again. */
export const sample = (before: Step): fc.Arbitrary<Step> =>
  fc.constant({
    text: `${before.text} | sample 1000 | sort by seq asc`,
    columns: before.columns,
    of: (rows) => [...before.of(rows)].sort((p, q) => Number(p.get('seq')) - Number(q.get('seq'))),
  });

/** Arrays as rows: a value that is not an array stays, in the first row. */
export function expand({ text, of }: Step): fc.Arbitrary<Query> {
  const itemsOf = (value: Value | undefined): readonly Value[] =>
    Array.isArray(value) && value.length > 0 ? value.map(stored) : [Array.isArray(value) ? null : (value ?? null)];
  return fc.constant({
    text: `${text} | mv-expand with_itemindex=i e = m | sort by seq asc, i asc | project seq, i, e`,
    names: ['seq', 'i', 'e'],
    of: (rows) =>
      [...of(rows)]
        .sort((p, q) => Number(p.get('seq')) - Number(q.get('seq')))
        .flatMap((row) => itemsOf(row.get('m')).map((item, n) => [jsonOf(row.get('seq')!), n, jsonOf(item)])),
  });
}
