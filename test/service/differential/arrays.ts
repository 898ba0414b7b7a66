/** Random calls of functions of arrays and sets, over whatever may hold an array. */
import * as fc from 'fast-check';
import { int, string, type Expression, type Generators } from './expression.ts';
import { textOf, type Value } from './values.ts';

type Items = readonly unknown[];

const itemsOf = (value: Value): Items | null => (Array.isArray(value) ? (value as Items) : null);
const identity = (item: unknown): string => JSON.stringify(item);

/** An array made of arrays; null where a part is not an array. */
const made = (text: string, parts: readonly Expression[], build: (arrays: readonly Items[]) => Items): Expression => ({
  text,
  type: 'dynamic',
  kinds: new Set(['json']),
  of: (row) => {
    const found = parts.map(({ of }) => itemsOf(of(row)));
    return found.includes(null) ? null : build(found as Items[]);
  },
});

function different(items: Items): Items {
  return items.filter((item, n) => items.findIndex((other) => identity(other) === identity(item)) === n);
}

const has = (items: Items, item: unknown): boolean => items.some((other) => identity(other) === identity(item));

const SETS: Readonly<Record<string, (a: Items, b: Items) => Items>> = {
  array_concat: (a, b) => [...a, ...b],
  set_union: (a, b) => different([...a, ...b]),
  set_intersect: (a, b) => different(a.filter((item) => has(b, item))),
  set_difference: (a, b) => different(a.filter((item) => !has(b, item))),
  zip: (a, b) => Array.from({ length: Math.max(a.length, b.length) }, (_, n) => [a[n] ?? null, b[n] ?? null]),
};

/** Step by step: one item at a time, so that it shares no arithmetic of places with the code under test. */
function turned(items: Items, count: number, fill?: unknown): Items {
  const found = [...items];
  for (let n = 0; n < Math.abs(count) && found.length > 0; n++) {
    if (count > 0) found.push(fill === undefined ? found.shift() : (found.shift(), fill));
    else found.unshift(fill === undefined ? found.pop() : (found.pop(), fill));
  }
  return found;
}

const LITERALS = ['[]', '[1,"a",null]', '["x_y",2.5]', '[[1],{"k":2},1]'] as const;

export function arrayFunctions({ any }: Generators): fc.Arbitrary<Expression> {
  const literal = fc.constantFrom(...LITERALS).map((json): Expression => ({
    text: `dynamic(${json})`,
    type: 'dynamic',
    kinds: new Set(['json']),
    of: () => JSON.parse(json) as Items,
  }));
  const array = fc.oneof(
    literal,
    any.filter(({ type, kinds }) => type === 'dynamic' && kinds.has('json')),
  );
  const count = fc.integer({ min: -5, max: 5 });
  const one = fc.constantFrom<readonly [text: string, value: unknown]>(
    ['1', 1],
    ['"a"', 'a'],
    ['2.5', 2.5],
    ['dynamic(null)', null],
    ['"1"', '1'],
  );
  return fc.oneof(
    fc
      .tuple(array, array, fc.constantFrom(...Object.keys(SETS)))
      .map(([a, b, name]) => made(`${name}(${a.text}, ${b.text})`, [a, b], ([x, y]) => SETS[name]!(x!, y!))),
    array.map((a) => made(`array_reverse(${a.text})`, [a], ([x]) => [...x!].reverse())),
    fc.tuple(array, count, count).map(([a, first, last]) =>
      made(`array_slice(${a.text}, (${first}), (${last}))`, [a], ([x]) => {
        const place = (at: number): number => (at < 0 ? x!.length + at : at);
        return x!.filter((_, n) => n >= place(first) && n <= place(last));
      }),
    ),
    fc
      .tuple(array, count, fc.boolean())
      .map(([a, by, left]) =>
        made(`array_rotate_${left ? 'left' : 'right'}(${a.text}, (${by}))`, [a], ([x]) => turned(x!, left ? by : -by)),
      ),
    fc
      .tuple(array, count, fc.boolean())
      .map(([a, by, left]) =>
        made(`array_shift_${left ? 'left' : 'right'}(${a.text}, (${by}), 0)`, [a], ([x]) =>
          turned(x!, left ? by : -by, 0),
        ),
      ),
    fc.tuple(array, one).map(([a, [text, value]]) =>
      int(`array_index_of(${a.text}, ${text})`, (row) => {
        const items = itemsOf(a.of(row));
        return items && BigInt(items.findIndex((item) => identity(item) === identity(value)));
      }),
    ),
    array.map((a) =>
      string(`strcat_array(${a.text}, "-")`, (row) => {
        const items = itemsOf(a.of(row));
        return items && items.map((item) => (item === null ? '' : textOf(item as Value))).join('-');
      }),
    ),
  );
}
