/** Random calls of the functions that are not of time: numbers, texts, conditions and what choosing and conversion give. */
import { createHash } from 'node:crypto';
import * as fc from 'fast-check';
import { called, condition, foldWord, hasTerm, int, number, numberValue, string, truth, union, word, type Condition, type Expression, type Generators, type Row } from './expression.ts'; // prettier-ignore
import { xxHash64 } from './xx-hash.ts';
import { equal, fits64, isNumber, kindOf, textOf, type Value } from './values.ts';

type Of<T> = (row: Row) => T;

/** A text made of the text of a value; null stays null. */
const ofText = (name: string, a: Expression, build: (text: string) => string | null, ...more: string[]): Expression =>
  string(called(name, a.text, ...more), textually(a, build));
const textually = <T>(a: Expression, build: (text: string) => T): Of<T | null> => (row) => {
  const found = textOf(a.of(row));
  return found === null ? null : build(found);
}; // prettier-ignore
const lit = (text: string): string => JSON.stringify(text);

/** Regular expressions that RE2 and JavaScript read alike. */
const PATTERNS = ['a', '[ab]+', '\\d', '^a', 'x|y', 'b$', '(a)(b)?', '([A-Z])([a-z]*)', ' +'] as const;
const pattern = fc.constantFrom(...PATTERNS);
const CUTSETS = ['a', 'ab', ' ', 'Ω%', ']^-', ''] as const;
const HASHES = ['md5', 'sha1', 'sha256', 'sha512'] as const;

const trimmed = (text: string, unit: string, start: boolean, end: boolean): string =>
  text
    .replace(start ? new RegExp(`^(?:${unit})+`, 'u') : /^(?!)/, '')
    .replace(end ? new RegExp(`(?:${unit})+$`, 'u') : /^(?!)/, '');
const quoted = (text: string): string => text.replaceAll(/[\\^$.|?*+()[\]{}/-]/g, String.raw`\$&`);

export function textFunctions({ text, any }: Generators): fc.Arbitrary<Expression> {
  const sides = fc.constantFrom(['', true, true] as const, ['_start', true, false] as const, ['_end', false, true] as const);
  return fc.oneof(
    text.map((a) => ofText('totitle', a, (value) => (Array.from(value)[0] ?? '').toUpperCase() + Array.from(value).slice(1).join(''))),
    text.map((a) => ofText('trim_space', a, (value) => value.replaceAll(/^\s+|\s+$/g, ''))),
    text.map((a) => ofText('url_encode', a, (value) => encodeURIComponent(value).replaceAll(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`))),
    text.map((a) => string(called('url_decode', `url_encode(${a.text})`), (row) => textOf(a.of(row)))),
    text.map((a) => ofText('base64_encode_tostring', a, (value) => Buffer.from(value).toString('base64'))),
    text.map((a) => string(called('base64_decode_tostring', `base64_encode_tostring(${a.text})`), (row) => textOf(a.of(row)) || null)),
    text.map((a) => ofText('regex_quote', a, (value) => value.replaceAll(/[\\|()^$.[\]?*+{:-]/g, String.raw`\$&`))),
    fc.tuple(text, fc.constantFrom(...HASHES)).map(([a, name]) => ofText(`hash_${name}`, a, (value) => createHash(name).update(value).digest('hex'))),
    fc.tuple(text, fc.integer({ min: -4, max: 4 })).map(([a, start]) => ofText('substring', a, (value) => Array.from(value).slice(start).join(''), String(start))),
    fc.tuple(word, any, any).map(([by, a, b]) => string(called('strcat_delim', lit(by), a.text, b.text), (row) => `${textOf(a.of(row)) ?? ''}${by}${textOf(b.of(row)) ?? ''}`)),
    fc.tuple(text, fc.nat(3), fc.option(word)).map(([a, times, by]) => ofText('strrep', a, (value) => Array<string>(times).fill(value).join(by ?? ''), String(times), ...(by === null ? [] : [lit(by)]))),
    fc.tuple(text, fc.constantFrom(...PATTERNS), fc.constantFrom('[$1]', '$0$0', '', '\\\\n${1}')).map(([a, regex, to]) => {
      const grouped = regex.includes('(');
      const used = grouped ? to : to.replaceAll(/\$\{?1\}?/g, '$0');
      const rewritten = (match: string, first: string | undefined): string =>
        used.replaceAll('\\\\', '\\').replaceAll(/\$\{?([01])\}?/g, (_, group) => (group === '0' ? match : (first ?? '')));
      const build = (value: string): string => value.replaceAll(new RegExp(regex, 'gu'), (match, first: unknown) => rewritten(match, typeof first === 'string' && grouped ? first : undefined));
      return string(called('replace_regex', lit(regex), `"${used}"`, a.text), textually(a, build));
    }),
    fc.tuple(text, pattern, fc.nat(2)).map(([a, regex, group]) => string(called('extract', lit(regex), String(group), a.text), (row) => {
      const found = new RegExp(regex, 'u').exec(textOf(a.of(row)) ?? '');
      const groups = regex.split('(').length - 1;
      return found === null || group > groups ? null : (found[group] ?? '');
    })),
    fc.tuple(text, sides, fc.constantFrom(...CUTSETS)).map(([a, [name, start, end], cut]) =>
      string(called(`trim${name}`, lit(cut), a.text), textually(a, (value) => (cut === '' ? value : trimmed(value, `[${quoted(cut)}]`, start, end))))),
    fc.tuple(text, sides, fc.constantFrom('a', '[ab]', ' +', '\\d')).map(([a, [name, start, end], regex]) =>
      string(called(`trim${name}_regex`, lit(regex), a.text), textually(a, (value) => trimmed(value, regex, start, end)))),
    fc.tuple(text, fc.option(fc.nat(3), { nil: undefined })).map(([a, keep]) => ofText('mask', a, (value) => {
      const all = Array.from(value);
      return all.map((char, n) => (n < all.length - (keep ?? 0) ? '*' : char)).join('');
    }, ...(keep === undefined ? [] : [String(keep)]))),
    text.map((a) => ofText('quote', a, (value) => JSON.stringify(value))),
    any.map((a) => string(called('dynamic_to_json', a.text), (row) => {
      const value = a.of(row);
      if (typeof value === 'number') return Number.isFinite(value) ? textOf(value) : null;
      return typeof value === 'string' ? JSON.stringify(value) : textOf(value);
    })),
    any.map((a) => string(called('gettype', a.text), (row) => typeName(a.of(row)))),
  );
} // prettier-ignore

function typeName(value: Value): string {
  const kind = kindOf(value);
  if (kind === 'json') return Array.isArray(value) ? 'array' : 'dictionary';
  return kind === undefined ? 'null' : kind === 'int' ? 'long' : kind;
}

const wholeOf = (value: number): bigint | null => (Number.isFinite(value) ? fits64(BigInt(Math.trunc(value))) : null);

function toInt(value: Value): bigint | null {
  if (typeof value === 'bigint') return value;
  if (typeof value === 'number') return wholeOf(value);
  if (typeof value === 'boolean') return value ? 1n : 0n;
  return typeof value === 'string' && /^[+-]?\d+$/.test(value) ? fits64(BigInt(value.replace('+', ''))) : null;
}

function toReal(value: Value): number | null {
  if (isNumber(value)) return Number(value);
  if (typeof value === 'boolean') return Number(value);
  return typeof value === 'string' && /^[+-]?(?:\d+\.?\d*|\.\d+)$/.test(value) ? Number(value) : null;
}

function toBool(value: Value): boolean | null {
  if (typeof value === 'boolean') return value;
  if (isNumber(value)) return Number(value) !== 0;
  if (typeof value !== 'string') return null;
  if (['1', 't', 'true', 'yes'].includes(value.toLowerCase())) return true;
  return ['0', 'f', 'false', 'no'].includes(value.toLowerCase()) ? false : null;
}

export function numberFunctions({ number: numbers, text, any }: Generators): fc.Arbitrary<Expression> {
  const chars = (value: string): string[] => Array.from(value);
  const indexOf = (value: string, wanted: string, from: number): bigint => {
    const [all, part] = [chars(value), chars(wanted)];
    for (let at = from; at + part.length <= all.length; at++) if (part.every((char, n) => all[at + n] === char)) return BigInt(at);
    return -1n;
  };
  const someWord = word.filter((value) => value !== '');
  return fc.oneof(
    fc.tuple(any, fc.option(fc.constantFrom(1, 7, 1000))).map(([a, most]) => int(called('hash', a.text, ...(most === null ? [] : [String(most)])), (row) => {
      const found = textOf(a.of(row));
      if (found === null) return null;
      return most === null ? BigInt.asIntN(64, xxHash64(found)) : xxHash64(found) % BigInt(most);
    })),
    text.map((a) => int(called('string_size', a.text), textually(a, (value) => BigInt(Buffer.byteLength(value))))),
    fc.tuple(text, text).map(([a, b]) => int(called('strcmp', a.text, b.text), (row) => {
      const [x, y] = [textOf(a.of(row)), textOf(b.of(row))];
      return x === null || y === null ? null : BigInt(Buffer.compare(Buffer.from(x), Buffer.from(y)));
    })),
    fc.tuple(text, someWord, fc.option(fc.integer({ min: -3, max: 2 }))).map(([a, wanted, from]) => {
      const start = (value: string): number => (from !== null && from < 0 ? Math.max(0, Array.from(value).length + from) : (from ?? 0));
      return int(called('indexof', a.text, lit(wanted), ...(from === null ? [] : [String(from)])), textually(a, (value) => indexOf(value, wanted, start(value))));
    }),
    fc.tuple(text, someWord).map(([a, wanted]) => int(called('countof', lit(wanted), a.text), textually(a, (value) => BigInt(value.split(wanted).length - 1)))),
    fc.tuple(text, pattern).map(([a, regex]) => int(called('countof_regex', lit(regex), a.text), textually(a, (value) => BigInt([...value.matchAll(new RegExp(regex, 'gu'))].length)))),
    numbers.map((a) => int(called('sign', a.text), (row) => {
      const value = numberValue(a, row);
      return value === null ? null : value > 0 ? 1n : value < 0 ? -1n : 0n;
    })),
    fc.tuple(numbers, fc.constantFrom(-1, 0, 1, 2)).map(([a, digits]): Expression => {
      const whole = !a.kinds.has('real') && digits >= 0;
      const of = (row: Row): Value => {
        const value = numberValue(a, row);
        if (value === null || whole) return value;
        const factor = 10 ** digits;
        return (Math.sign(Number(value)) * Math.floor(Math.abs(Number(value)) * factor + 0.5)) / factor + 0;
      };
      return whole ? int(called('round', a.text, String(digits)), of as Of<bigint | null>) : number(called('round', a.text, `(${digits})`), of as Of<number | null>);
    }),
    fc.tuple(fc.constantFrom('min_of', 'max_of'), fc.array(numbers, { minLength: 1, maxLength: 3 })).map(([name, list]): Expression => {
      const real = list.some(({ kinds }) => kinds.has('real'));
      const of = (row: Row): Value => {
        const values = list.map((each) => numberValue(each, row)).filter((value) => value !== null).map((value) => (real ? Number(value) : value));
        return values.reduce<bigint | number | null>((best, value) => (best === null || (name === 'min_of' ? value < best : value > best) ? value : best), null);
      };
      return { text: called(name, ...list.map((each) => each.text)), type: 'number', kinds: new Set([real ? 'real' : 'int']), of };
    }),
    numbers.map((a): Expression => ({
      text: `(-${a.text} + 0)`, type: 'number', kinds: new Set([a.kinds.has('real') ? 'real' : 'int']),
      of: (row) => {
        const value = numberValue(a, row);
        return typeof value === 'bigint' ? BigInt.asIntN(64, -value) : value === null ? null : -value + 0;
      },
    })),
    fc.tuple(numbers, numbers, fc.constantFrom('/', '%')).filter(([a, b]) => !a.kinds.has('real') && !b.kinds.has('real')).map(([a, b, sign]) => int(`(${a.text} ${sign} ${b.text})`, (row) => {
      const [x, y] = [numberValue(a, row) as bigint | null, numberValue(b, row) as bigint | null];
      if (x === null || y === null || y === 0n) return null;
      return sign === '%' ? x % y : fits64(x / y);
    })),
    any.map((a) => int(called('toint', a.text), (row) => toInt(a.of(row)))),
    any.map((a) => number(called('todouble', a.text), (row) => toReal(a.of(row)))),
    any.map((a) => int(called('array_length', a.text), (row) => {
      const value = a.of(row);
      return Array.isArray(value) ? BigInt(value.length) : null;
    })),
  );
} // prettier-ignore

const MATHS: Readonly<Record<string, (value: number) => number>> = {
  sqrt: Math.sqrt, exp: Math.exp, exp2: (x) => 2 ** x, exp10: (x) => 10 ** x, log: Math.log, log2: Math.log2, log10: Math.log10, sin: Math.sin, cos: Math.cos, tan: Math.tan,
  asin: Math.asin, acos: Math.acos, atan: Math.atan, radians: (x) => (x / 180) * Math.PI, degrees: (x) => (x / Math.PI) * 180,
}; // prettier-ignore

/** Floats whose last digits may differ: nothing is compared with them. */
export function inexact({ number: numbers }: Generators): fc.Arbitrary<Expression> {
  const real = (a: Expression, row: Row): number | null => {
    const value = a.of(row);
    return isNumber(value) ? Number(value) : null;
  };
  return fc.oneof(
    fc.tuple(numbers, fc.constantFrom(...Object.keys(MATHS))).map(([a, name]) => number(called(name, a.text), (row) => {
      const value = real(a, row);
      return value === null ? null : MATHS[name]!(value);
    })),
    fc.tuple(numbers, numbers, fc.constantFrom('atan2', 'pow')).map(([a, b, name]) => number(called(name, a.text, b.text), (row) => {
      const [x, y] = [real(a, row), real(b, row)];
      return x === null || y === null ? null : name === 'pow' ? x ** y : Math.atan2(x, y);
    })),
    fc.constant(number('pi()', () => Math.PI)),
  );
} // prettier-ignore

const folding = (cased: boolean, value: string): string => (cased ? value : value.toLowerCase());

export function conditionFunctions({ number: numbers, text, any, condition: conditions }: Generators): fc.Arbitrary<Condition> {
  const words = fc.array(word, { minLength: 1, maxLength: 3 });
  return fc.oneof(
    fc.tuple(text, text, fc.boolean()).map(([a, b, not]) => condition(`(${a.text} ${not ? '!~' : '=~'} ${b.text})`, (row) => {
      const [x, y] = [textOf(a.of(row)), textOf(b.of(row))];
      return (x !== null && y !== null && x.toLowerCase() === y.toLowerCase()) !== not;
    })),
    fc.tuple(any.filter(({ type }) => type === 'dynamic' || type === 'string'), words, fc.boolean()).map(([a, list, not]) => condition(`(${a.text} ${not ? '!in~' : 'in~'} (${list.map(lit).join(', ')}))`, (row) => {
      const value = a.of(row);
      return (typeof value === 'string' && list.some((item) => foldWord(item) === foldWord(value))) !== not;
    })),
    fc.tuple(any.filter(({ type }) => type === 'dynamic'), words).map(([a, list]) => condition(`(${a.text} in (dynamic(${JSON.stringify([...list, 5])})))`, (row) => [...list, 5n].some((item) => equal(a.of(row), item)))),
    fc.tuple(text, fc.constantFrom('has_any', 'has_any_cs', 'has_all'), words).map(([a, name, list]) => condition(`(${a.text} ${name} (${list.map(lit).join(', ')}))`, (row) => {
      const found = textOf(a.of(row));
      if (found === null) return false;
      const cased = name === 'has_any_cs';
      const test = (item: string): boolean => hasTerm(folding(cased, found), folding(cased, item));
      return name === 'has_all' ? list.every(test) : list.some(test);
    })),
    fc.tuple(text, fc.constantFrom('hasprefix', 'hassuffix'), word, fc.boolean(), fc.boolean()).map(([a, name, wanted, not, cased]) =>
      condition(`(${a.text} ${not ? '!' : ''}${name}${cased ? '_cs' : ''} ${lit(wanted)})`, (row) => {
        const found = textOf(a.of(row));
        const edge = String.raw`[^\p{L}\p{N}]`;
        const regex = name === 'hasprefix' ? `(?:^|${edge})${quoted(wanted)}` : `${quoted(wanted)}(?:$|${edge})`;
        return (found !== null && new RegExp(regex, cased ? 'u' : 'iu').test(found)) !== not;
      })),
    fc.tuple(text, pattern, fc.boolean()).map(([a, regex, not]) => condition(`(${a.text} ${not ? '!' : ''}matches regex ${lit(regex)})`, (row) => {
      const found = textOf(a.of(row));
      return (found !== null && new RegExp(regex, 'u').test(found)) !== not;
    })),
    fc.tuple(numbers, fc.integer({ min: -9, max: 9 }), fc.integer({ min: -9, max: 9 })).map(([a, low, high]) => condition(`(${a.text} !between ((${low}) .. (${high})))`, (row) => {
      const value = a.of(row);
      return isNumber(value) ? !(value >= low && value <= high) : null;
    })),
    fc.tuple(fc.constantFrom(...TESTS), any).map(([[name, test], a]) => condition(called(name, a.text), (row) => test(a.of(row)))),
    text.map((a) => condition(called('isascii', a.text), textually(a, (value) => /^\p{ASCII}*$/u.test(value)))),
    any.map((a) => condition(called('tobool', a.text), (row) => toBool(a.of(row)))),
    fc.tuple(fc.constantFrom('isnan', 'isinf', 'isfinite'), fc.constantFrom('sqrt', 'log'), numbers).map(([name, made, a]) => condition(called(name, `${made}(${a.text})`), (row) => {
      const value = a.of(row);
      if (!isNumber(value)) return null;
      const result = MATHS[made]!(Number(value));
      return name === 'isnan' ? Number.isNaN(result) : name === 'isinf' ? Math.abs(result) === Infinity : Number.isFinite(result);
    })),
    conditions.map((a) => condition(`(rand() >= 0 and rand() < 1 and ${a.text})`, (row) => truth(a, row))),
  );
} // prettier-ignore

const TESTS: readonly (readonly [name: string, test: (value: Value) => boolean])[] = [
  ['isnotnull', (value) => value !== null],
  ['isnotempty', (value) => value !== null && value !== ''],
  ['isbool', (value) => typeof value === 'boolean'],
  ['isstring', (value) => typeof value === 'string'],
  ['isreal', (value) => typeof value === 'number'],
  ['isint', (value) => typeof value === 'bigint' || Number.isInteger(value)],
];

const JSON_TEXTS = [
  '{"a":[1,2.5,"x",true,null],"b":{"c":-3}}',
  '[[1],"y",false]',
  '5',
  '"t"',
  'true',
  'null',
  'nope',
  '',
  '{}',
] as const;
/** Paths into JSON as the language writes them. */
const PATHS: readonly (readonly [text: string, keys: readonly (string | number)[]])[] = [
  ['', []], ['.a', ['a']], ["['a'][0]", ['a', 0]], ['.a[1]', ['a', 1]], ['.a[-1]', ['a', -1]], ['.a[-3]', ['a', -3]], ['.a[9]', ['a', 9]], ['.b.c', ['b', 'c']], ['[0]', [0]], ['[0][0]', [0, 0]], ['[1]', [1]],
]; // prettier-ignore
const ALL_KINDS: Expression['kinds'] = new Set(['int', 'real', 'string', 'bool', 'json']);

const fromJson = (value: unknown): Value =>
  value === undefined ? null : typeof value === 'number' && Number.isInteger(value) ? BigInt(value) : (value as Value);

/** `otherwise`: for text that is not JSON. */
function parsed(text: string | null, otherwise?: string): unknown {
  try {
    return text === null ? undefined : (JSON.parse(text) as unknown);
  } catch {
    return otherwise;
  }
}

function itemAt(value: unknown, key: string | number): unknown {
  if (typeof key === 'number' && Array.isArray(value)) return value.at(key) as unknown;
  return typeof key === 'string' && typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>)[key] : undefined;
} // prettier-ignore

/** Functions of arguments of any type. */
export function anyFunctions({ condition: conditions, any, text }: Generators): fc.Arbitrary<Expression> {
  const type = (parts: readonly Expression[]): Expression['type'] => (parts.every((part) => part.type === parts[0]!.type) ? parts[0]!.type : 'dynamic');
  const json = (words: string, of: Of<Value>): Expression => ({ text: words, type: 'dynamic', kinds: new Set(['json']), of });
  return fc.oneof(
    fc.tuple(conditions, any, conditions, any, any).map(([p, a, q, b, c]): Expression => ({
      text: called('case', p.text, a.text, q.text, b.text, c.text), type: type([a, b, c]), kinds: union(a, b, c),
      of: (row) => (truth(p, row) === true ? a : truth(q, row) === true ? b : c).of(row),
    })),
    fc.tuple(fc.constantFrom(...JSON_TEXTS), fc.constantFrom(...PATHS), fc.constantFrom('parse_json', 'todynamic')).map(([given, [path, keys], name]): Expression => ({
      text: `${called(name, `'${given}'`)}${path}`, type: 'dynamic', kinds: ALL_KINDS,
      of: () => fromJson(keys.reduce<unknown>(itemAt, parsed(given, name === 'parse_json' ? given : undefined))),
    })),
    fc.tuple(text, fc.constantFrom(' ', 'a', 'b', '')).map(([a, by]) => json(called('split', a.text, lit(by)), textually(a, (value) => (by === '' ? [value] : value.split(by))))),
    fc.tuple(text, pattern).map(([a, regex]) => {
      const groups = regex.split('(').length - 1;
      const wanted = groups === 2 ? '[1, 2]' : '[1]';
      const whole = groups === 0 ? `(${regex})` : regex;
      return json(called('extract_all', lit(whole), `dynamic(${wanted})`, a.text), textually(a, (value) =>
        [...value.matchAll(new RegExp(whole, 'gu'))].map((found) => (groups === 2 ? [found[1] ?? '', found[2] ?? ''] : (found[1] ?? '')))));
    }),
  );
} // prettier-ignore
