/** What a query costs to compile grows with its length, whatever repeats in it; what the engine would take long for is refused by its number. */
import { expect, test, vi } from 'vitest';
import type { ArgType } from '../../src/language/function-spec.ts';
import { FUNCTIONS } from '../../src/language/functions/table.ts';
import {
  SERVICE_QUERY_ARGUMENTS,
  SERVICE_QUERY_DEPTH,
  SERVICE_QUERY_LET_DEPTH,
  SERVICE_QUERY_TERMS,
} from '../../src/language/limits.ts';
import { parseAndCompile } from './hostile/compile.ts';

const work = vi.hoisted(() => ({ pieces: 0, characters: 0 }));
vi.mock('../../src/service/query/values/sql.ts', async (original) => {
  const module = await original<typeof import('../../src/service/query/values/sql.ts')>();
  const sql: typeof module.sql = (strings, ...parts) => {
    const text = module.sql(strings, ...parts);
    work.pieces++;
    work.characters += text.length;
    return text;
  };
  return { ...module, sql };
});

/** Pieces of SQL that were written, and their characters; undefined where the text is refused. */
function workOf(text: string): [pieces: number, characters: number] | undefined {
  [work.pieces, work.characters] = [0, 0];
  return parseAndCompile(text).kind === 'compiled' ? [work.pieces, work.characters] : undefined;
}

const list = (count: number, write: (n: number) => string, separator = ', '): string =>
  Array.from({ length: count }, (_, n) => write(n)).join(separator);
const FITTING: Readonly<Partial<Record<ArgType, string>>> = { any: 'c', bool: 'd', number: 'a', string: 'c', int: '1' };
const OF_FUNCTIONS = [...FUNCTIONS.values()]
  .filter(({ rest }) => rest !== undefined)
  .map(({ names: [name], args, rest }): [string, (count: number) => string] => {
    const address = name.includes('ipv6')
      ? (n: number) => `"fd00:${n}::/64"`
      : name.includes('prefix')
        ? (n: number) => `"10.${n % 256}."`
        : (n: number) => `"10.0.0.${n % 256}"`;
    const fitting = (n: number): string => {
      if (name.includes('ipv') && n > 0) return address(n);
      if (name === 'bag_pack' && n % 2 === 0) return `"k${n}"`;
      return name === 'case' && n % 2 === 0 ? 'd' : (FITTING[args[n] ?? rest!] ?? '"x"');
    };
    return [name, (count) => `logs | extend x = ${name}(${list(count + (name === 'case' ? 1 : 0), fitting)})`];
  });
const FORMS: readonly (readonly [string, (count: number) => string])[] = [
  ...OF_FUNCTIONS,
  ...['in', '!in', 'in~', 'has_any', 'has_any_cs', 'has_all'].map((name): [string, (count: number) => string] => [
    `c ${name}`,
    (count) => `logs | where c ${name} (${list(count, (n) => `"w${n}"`)})`,
  ]),
  ['and', (count) => `logs | where ${list(count, (n) => `a != ${n}`, ' and ')}`],
  ['or', (count) => `logs | where ${list(count, (n) => `c == "${n}"`, ' or ')}`],
  ['extend', (count) => `logs | extend ${list(count, (n) => `x${n} = a + ${n}`)}`],
  ['project', (count) => `logs | project ${list(count, (n) => `x${n} = c`)}`],
  ['sort', (count) => `logs | sort by ${list(count / 2, (n) => `x${n}`)}`],
  ['summarize', (count) => `logs | summarize ${list(count / 2, (n) => `x${n} = countif(a == ${n})`)} by c`],
  ['let', (count) => `let v0 = 1; ${list(count, (n) => `let v${n + 1} = v${n} + 1;`, ' ')} print v${count}`],
  [
    'function',
    (count) => `let f = (x:long) { x + 1 }; print ${list(count / 4, () => 'f(', '')}1${')'.repeat(count / 4)}`,
  ],
];

test.each(FORMS)('%s: twice as many take twice the work', (_name, form) => {
  const [one, two, four] = [64, 128, 256].map((count) => workOf(form(count)));
  // What does not fit these arguments, or is refused for its length.
  if (!one || !two || !four) return;
  for (const n of [0, 1] as const) expect(four[n] - two[n]).toBeLessThan(2.2 * (two[n] - one[n]) + 100);
});

test('all of these compile but the one that takes names of detectors', () => {
  expect(FORMS.filter(([, form]) => workOf(form(64)) === undefined).map(([name]) => name)).toEqual(['redact']);
});

test.each([
  [
    'strcat',
    `print strcat(${list(SERVICE_QUERY_ARGUMENTS + 1, () => '"x"')})`,
    'strcat takes at most 512 arguments, not 513',
  ],
  ['max_of', `print max_of(${list(2000, () => '1')})`, 'max_of takes at most 512 arguments, not 2000'],
  [
    'has_any',
    `logs | where c has_any (${list(SERVICE_QUERY_TERMS + 1, (n) => `"w${n}"`)})`,
    'wanted at most 256 terms, not 257',
  ],
  [
    'has_all of a list',
    `logs | where c has_all (dynamic([${list(500, (n) => `"w${n}"`)}]))`,
    'wanted at most 256 terms, not 500',
  ],
  // Symptom: a stack that was full, and a 500.
  [
    'let upon let',
    `let v0 = 1; ${list(900, (n) => `let v${n + 1} = v${n} + 1;`, ' ')} print v900`,
    `nested deeper than ${SERVICE_QUERY_LET_DEPTH}`,
  ],
  [
    'functions inside each other',
    `let f = (x:long) { ${'('.repeat(90)}x${' + 1)'.repeat(90)} }; print ${'f('.repeat(20)}1${')'.repeat(20)}`,
    `nested deeper than ${SERVICE_QUERY_LET_DEPTH}`,
  ],
  [
    'functions that begin inside each other',
    'let f = (x:long) {'.repeat(3000),
    `nested deeper than ${SERVICE_QUERY_DEPTH}`,
  ],
  [
    'deep values upon each other',
    `let v0 = 1; ${list(20, (n) => `let v${n + 1} = ${'('.repeat(90)}v${n}${' + 1)'.repeat(90)};`, ' ')} print v20`,
    `nested deeper than ${SERVICE_QUERY_LET_DEPTH}`,
  ],
])('%s: too many are refused, with how many may be', (_name, text, message) => {
  expect(parseAndCompile(text)).toEqual({ kind: 'refused', message: expect.stringContaining(message) });
});

test('as many as may be compile', () => {
  for (const text of [
    `print strcat(${list(SERVICE_QUERY_ARGUMENTS, () => '"x"')})`,
    `logs | where c has_any (${list(SERVICE_QUERY_TERMS, (n) => `"w${n}"`)})`,
    `logs | where a in (${list(4000, String)})`,
    `let v0 = 1; ${list(250, (n) => `let v${n + 1} = v${n} + 1;`, ' ')} print v250`,
  ])
    expect(parseAndCompile(text).kind).toBe('compiled');
});
