/** Random expressions: their text for the service, and what they are, computed plainly. */
import * as fc from 'fast-check';
import {
  called,
  condition,
  hasTerm,
  numberValue,
  set,
  truth,
  union,
  word,
  type Condition,
  type Expression,
  type Generators,
  type Row,
} from './expression.ts';
import { arrayFunctions } from './arrays.ts';
import { anyFunctions, conditionFunctions, numberFunctions, textFunctions } from './functions.ts';
import { networkTexts } from './network.ts';
import { writtenDown } from './written-down.ts';
import { timeExpressions } from './times.ts';
import { equal, fits64, isNumber, less, textOf, type Kind, type Value } from './values.ts';

const literalNumber = fc.oneof(
  fc.integer({ min: -20, max: 20 }).map((n): Expression => ({
    text: n < 0 ? `(${n})` : String(n),
    type: 'number',
    kinds: set('int'),
    of: () => BigInt(n),
  })),
  fc
    .integer({ min: -40, max: 40 })
    .map((n): Expression => ({ text: `real(${n / 8})`, type: 'number', kinds: set('real'), of: () => n / 8 })),
);
const literalText = word.map((text): Expression => ({
  text: JSON.stringify(text),
  type: 'string',
  kinds: set('string'),
  of: () => text,
}));

const NOTHING: Expression = { text: 'dynamic(null)', type: 'dynamic', kinds: set(), of: () => null };

export function expressions(columns: readonly Expression[], depth: number): Generators {
  // A field that never was is null, whatever is wanted.
  const of = (type: Expression['type'], ...wanted: Kind[]): Expression[] =>
    columns.filter(
      (each) =>
        (each.type === type || each.type === 'dynamic') &&
        (each.kinds.size === 0 || wanted.some((kind) => each.kinds.has(kind))),
    );
  const [numbers, texts, bools] = [of('number', 'int', 'real'), of('string', 'string'), of('bool', 'bool')];
  const leafNumber = fc.oneof({ arbitrary: fc.constantFrom(...numbers), weight: 3 }, literalNumber);
  const leafText = fc.oneof({ arbitrary: fc.constantFrom(...texts), weight: 3 }, literalText);
  const leafAny = fc.oneof(
    { arbitrary: fc.constantFrom(...columns), weight: 4 },
    literalNumber,
    literalText,
    fc.constant(NOTHING),
  );
  if (depth === 0)
    return {
      number: leafNumber,
      text: leafText,
      condition: comparison(leafAny, leafNumber, leafText, bools),
      any: leafAny,
    };
  const inner = expressions(columns, depth - 1);
  const times = timeExpressions(inner);
  const number = fc.oneof(
    leafNumber,
    arithmetic(inner),
    functionsOfNumbers(inner),
    numberFunctions(inner),
    times.numbers,
  );
  const text = fc.oneof(leafText, functionsOfText(inner), textFunctions(inner), networkTexts, writtenDown, times.texts);
  const timed = times.conditions.map(({ text: words, of: test }) => condition(words, test));
  const tests = fc.oneof(
    comparison(inner.any, inner.number, inner.text, bools),
    logic(inner),
    conditionFunctions(inner),
    timed,
  );
  return {
    number,
    text,
    condition: tests,
    any: fc.oneof(leafAny, number, text, tests, choosing(inner), anyFunctions(inner), arrayFunctions(inner)),
  };
}

function arithmetic({ number }: Generators): fc.Arbitrary<Expression> {
  return fc.tuple(number, fc.constantFrom('+', '-', '*'), number).map(([a, sign, b]): Expression => {
    const kinds = a.kinds.has('real') || b.kinds.has('real') ? set('real') : set('int');
    const of = (row: Row): Value => {
      const [x, y] = [numberValue(a, row), numberValue(b, row)];
      if (x === null || y === null) return null;
      if (typeof x === 'bigint' && typeof y === 'bigint')
        return BigInt.asIntN(64, sign === '+' ? x + y : sign === '-' ? x - y : x * y);
      const [p, q] = [Number(x), Number(y)];
      return (sign === '+' ? p + q : sign === '-' ? p - q : p * q) + 0;
    };
    // Plus 0: minus zero is left alone.
    return { text: `(${a.text} ${sign} ${b.text} + 0)`, type: 'number', kinds, of };
  });
}

/** The engine's remainder of floats is exact as long as the quotient is: those of events and literals are small. */
const hasExactRemainder = ({ kinds, text }: Expression): boolean =>
  !kinds.has('real') || /^(?:[abm]|real\(\S+\)|-?\d+)$/.test(text);

function functionsOfNumbers({ number, text, condition }: Generators): fc.Arbitrary<Expression> {
  const divisor = fc.constantFrom(1, 2, 3, 7, -4);
  return fc.oneof(
    fc
      .tuple(number, fc.constantFrom('/', '%'), divisor)
      .filter(([a, sign]) => sign === '/' || hasExactRemainder(a))
      .map(([a, sign, by]): Expression => ({
        text: `(${a.text} ${sign} (${by}) + 0)`,
        type: 'number',
        kinds: a.kinds.has('real') ? set('real') : set('int'),
        of: (row) => {
          const x = numberValue(a, row);
          if (x === null) return null;
          if (typeof x === 'bigint') return sign === '/' ? x / BigInt(by) : x % BigInt(by);
          return (sign === '/' ? x / by : x % by) + 0;
        },
      })),
    fc.tuple(number, fc.constantFrom('floor', 'ceiling', 'abs', 'round')).map(([a, name]): Expression => ({
      text: called(name, a.text),
      type: 'number',
      kinds: name === 'floor' || name === 'ceiling' ? set('int') : a.kinds.has('real') ? set('real') : set('int'),
      of: (row) => {
        const x = numberValue(a, row);
        if (x === null) return null;
        if (typeof x === 'bigint') return name === 'abs' && x < 0n ? BigInt.asIntN(64, -x) : x;
        if (name === 'abs') return Math.abs(x);
        if (name === 'round') return Math.sign(x) * Math.floor(Math.abs(x) + 0.5) + 0;
        return Number.isFinite(x) ? fits64(BigInt(name === 'floor' ? Math.floor(x) : Math.ceil(x))) : null;
      },
    })),
    fc.tuple(number, fc.constantFrom(1, 5, 10)).map(([a, size]): Expression => ({
      text: `bin(${a.text}, ${size})`,
      type: 'number',
      kinds: a.kinds.has('real') ? set('real') : set('int'),
      of: (row) => {
        const x = numberValue(a, row);
        if (x === null) return null;
        if (typeof x === 'number') return Math.floor(x / size) * size;
        const by = BigInt(size);
        return BigInt.asIntN(64, x - (((x % by) + by) % by));
      },
    })),
    text.map((a): Expression => ({
      text: `strlen(${a.text})`,
      type: 'number',
      kinds: set('int'),
      of: (row) => {
        const found = textOf(a.of(row));
        return found === null ? null : BigInt(Array.from(found).length);
      },
    })),
    fc
      .tuple(condition, number, number)
      .map(([test, a, b]): Expression => ({
        text: called('iff', test.text, a.text, b.text),
        type: 'number',
        kinds: union(a, b),
        of: (row) => (truth(test, row) === true ? a.of(row) : b.of(row)),
      }))
      .filter(({ kinds }) => !kinds.has('string')),
  );
}

function functionsOfText({ text, any, number }: Generators): fc.Arbitrary<Expression> {
  const made = (name: string, build: (value: string) => string) =>
    text.map((a): Expression => ({
      text: `${name}(${a.text})`,
      type: 'string',
      kinds: set('string'),
      of: (row) => {
        const found = textOf(a.of(row));
        return found === null ? null : build(found);
      },
    }));
  return fc.oneof(
    made('tolower', (value) => value.toLowerCase()),
    made('toupper', (value) => value.toUpperCase()),
    made('reverse', (value) => Array.from(value).reverse().join('')),
    fc.tuple(any, any).map(([a, b]): Expression => ({
      text: `strcat(${a.text}, ${b.text})`,
      type: 'string',
      kinds: set('string'),
      of: (row) => (textOf(a.of(row)) ?? '') + (textOf(b.of(row)) ?? ''),
    })),
    any.map((a): Expression => ({
      text: `tostring(${a.text})`,
      type: 'string',
      kinds: set('string'),
      of: (row) => textOf(a.of(row)) ?? '',
    })),
    fc.tuple(text, fc.nat(4), fc.nat(3)).map(([a, start, length]): Expression => ({
      text: `substring(${a.text}, ${start}, ${length})`,
      type: 'string',
      kinds: set('string'),
      of: (row) => {
        const found = textOf(a.of(row));
        return found === null
          ? null
          : Array.from(found)
              .slice(start, start + length)
              .join('');
      },
    })),
    fc.tuple(text, fc.constantFrom('a', 'b', ' '), word).map(([a, from, to]): Expression => ({
      text: `replace_string(${JSON.stringify(from)}, ${JSON.stringify(to)}, ${a.text})`,
      type: 'string',
      kinds: set('string'),
      of: (row) => textOf(a.of(row))?.replaceAll(from, () => to) ?? null,
    })),
    fc.tuple(text, number).map(([a]) => a),
  );
}

const isNull = (value: Value): boolean => value === null;
const comparable = (a: Expression, b: Expression): boolean =>
  a.type === b.type || a.type === 'dynamic' || b.type === 'dynamic';

function comparison(
  any: fc.Arbitrary<Expression>,
  number: fc.Arbitrary<Expression>,
  text: fc.Arbitrary<Expression>,
  bools: readonly Expression[],
): fc.Arbitrary<Condition> {
  const pair = fc.tuple(any, any).filter(([a, b]) => comparable(a, b));
  const same = (a: Value, b: Value): boolean | null => (isNull(a) && isNull(b) ? null : equal(a, b));
  const ordered = fc
    .oneof(
      fc.tuple(number, number),
      fc.tuple(text, text),
      pair.filter(([a, b]) => a.type !== 'bool' && b.type !== 'bool'),
    )
    .filter(([a, b]) => comparable(a, b));
  const order = (sign: string, a: Value, b: Value): boolean | null => {
    const [below, above] = [less(a, b), less(b, a)];
    if (below === null || above === null) return null;
    return sign === '<' ? below : sign === '>' ? above : sign === '<=' ? !above : !below;
  };
  const matches: Readonly<Record<string, (value: string, wanted: string) => boolean>> = {
    contains: (value, wanted) => value.includes(wanted),
    startswith: (value, wanted) => value.startsWith(wanted),
    endswith: (value, wanted) => value.endsWith(wanted),
    has: hasTerm,
  };
  return fc.oneof(
    pair.chain(([a, b]) =>
      fc.boolean().map((not) =>
        condition(`(${a.text} ${not ? '!=' : '=='} ${b.text})`, (row) => {
          const found = same(a.of(row), b.of(row));
          return found === null ? null : found !== not;
        }),
      ),
    ),
    fc
      .tuple(ordered, fc.constantFrom('<', '<=', '>', '>='))
      .map(([[a, b], sign]) => condition(`(${a.text} ${sign} ${b.text})`, (row) => order(sign, a.of(row), b.of(row)))),
    fc
      .tuple(text, fc.constantFrom(...Object.keys(matches)), word, fc.boolean(), fc.boolean())
      .map(([a, name, wanted, not, cased]) =>
        condition(`(${a.text} ${not ? '!' : ''}${name}${cased ? '_cs' : ''} ${JSON.stringify(wanted)})`, (row) => {
          const found = textOf(a.of(row));
          const fold = (value: string): string => (cased ? value : value.toLowerCase());
          return (found !== null && matches[name]!(fold(found), fold(wanted))) !== not;
        }),
      ),
    fc
      .tuple(any, fc.array(fc.oneof(literalNumber, literalText), { minLength: 1, maxLength: 4 }), fc.boolean())
      .filter(([a, list]) => list.every((item) => comparable(a, item)))
      .map(([a, list, not]) =>
        condition(
          `(${a.text} ${not ? '!in' : 'in'} (${list.map((item) => item.text).join(', ')}))`,
          (row) => list.some((item) => equal(a.of(row), item.of(row))) !== not,
        ),
      ),
    fc.tuple(number, literalNumber, literalNumber).map(([a, low, high]) =>
      condition(`(${a.text} between (${low.text} .. ${high.text}))`, (row) => {
        const value = a.of(row);
        return isNumber(value) ? value >= (low.of(row) as number) && value <= (high.of(row) as number) : null;
      }),
    ),
    any.map((a) => condition(`isnull(${a.text})`, (row) => isNull(a.of(row)))),
    any.map((a) => condition(`isempty(${a.text})`, (row) => isNull(a.of(row)) || a.of(row) === '')),
    fc.constantFrom(...bools).map((a): Condition => ({ ...a, type: 'bool' })),
  );
}

function logic({ condition: any }: Generators): fc.Arbitrary<Condition> {
  return fc.oneof(
    fc.tuple(fc.constantFrom('and', 'or'), fc.array(any, { minLength: 2, maxLength: 3 })).map(([word, parts]) =>
      condition(`(${parts.map(({ text }) => text).join(` ${word} `)})`, (row) => {
        const found = parts.map((part) => truth(part, row));
        const decisive = word === 'or';
        return found.includes(decisive) ? decisive : found.includes(null) ? null : !decisive;
      }),
    ),
    any.map((part) =>
      condition(`not(${part.text})`, (row) => {
        const found = truth(part, row);
        return found === null ? null : !found;
      }),
    ),
  );
}

function choosing({ condition, any }: Generators): fc.Arbitrary<Expression> {
  const type = (a: Expression, b: Expression): Expression['type'] => (a.type === b.type ? a.type : 'dynamic');
  return fc.oneof(
    fc.tuple(condition, any, any).map(([test, a, b]): Expression => ({
      text: called('iff', test.text, a.text, b.text),
      type: type(a, b),
      kinds: union(a, b),
      of: (row) => (truth(test, row) === true ? a.of(row) : b.of(row)),
    })),
    fc.tuple(any, any).map(([a, b]): Expression => ({
      text: `coalesce(${a.text}, ${b.text})`,
      type: type(a, b),
      kinds: union(a, b),
      of: (row) => [a, b].map(({ of }) => of(row)).find((value) => value !== null && value !== '') ?? null,
    })),
  );
}
