/**
 * Every pair of types under every operator, and every type under every aggregation: the engine gives what the rows give, or both refuse; nothing is a
 * 500. Sums of integers are wider than fields, so that results of aggregations are paired, too.
 */
import { describe, expect, test } from 'vitest';
import { CASE_EVENT } from '../../language/function-cases.ts';
import { AGGREGATE_FUNCTIONS, findAggregate } from '../../../src/language/functions/table.ts';
import { writeJson } from '../../../src/json/numbers.ts';
import { compileRows } from '../../../src/shaping/rows/program.ts';
import { context, rowOf } from '../../shaping/rows/support.ts';
import { client, dataset, engine } from './under.ts';
import { ALWAYS, APL } from './ask.ts';

/** A field or literal of each type; `mixed` has integers and floats, `huge` numbers beyond 64 bits. */
const VALUES = [
  'n',
  'zero',
  'f',
  'most',
  'huge',
  '(-2)',
  '2.5',
  '90s',
  'datetime(2026-01-02)',
  '_time',
  'text',
  '"5"',
  'yes',
  'list',
  'bag_pack("a", 1)',
  'gone',
  'missing',
] as const;
/** Those of the same kind, such as `!=` beside `==`, are made of these. */
const OPERATIONS = ['+', '-', '*', '/', '%', '==', '<', '>=', 'between', 'in', 'and'] as const;
const OF_TEXTS = ['=~', 'contains', 'has', 'matches regex', 'has_any'] as const;
const LISTS = new Set(['in', '!in', 'in~', 'has_any']);
const written = (a: string, operation: string, b: string): string => {
  if (operation.endsWith('between')) return `${a} ${operation} (${b} .. ${b})`;
  return LISTS.has(operation) ? `${a} ${operation} (${b})` : `${a} ${operation} ${b}`;
};

interface Asked {
  readonly status: number;
  readonly message: string;
  /** The first row. */
  readonly row: readonly unknown[];
}

/** Allowed differences, with the reason. */
const LISTED: readonly (readonly [RegExp, string])[] = [
  [/^(?:most|huge|integers) % /, 'the engine takes the remainder of floats by a quotient, which is large here'],
  [
    /^huge (?:contains|matches regex) zero$/,
    'a query writes a number beyond 64 bits as a float, a transform with its digits',
  ],
];

async function askFirst(text: string): Promise<Asked> {
  const { status, json } = await client.call('POST', APL, { body: { apl: text, ...ALWAYS } });
  const [table] = (json['tables'] ?? []) as { columns: unknown[][] }[];
  return { status, message: JSON.stringify(json['message']), row: (table?.columns ?? []).map(([first]) => first) };
}

/** What each expression gives, or its refusal. Those of a query that is refused are asked in halves. */
async function valuesOf(before: string, all: readonly string[]): Promise<Map<string, unknown>> {
  // A cluster takes ten times as long over the same SQL.
  const expressions = engine === 'clickhouse' ? all.filter((_, n) => n % 5 === 0) : all;
  const found = new Map<string, unknown>();
  const ask = async (some: readonly string[]): Promise<void> => {
    const { status, message, row } = await askFirst(`${before} ${some.map((each, n) => `v${n} = ${each}`).join(', ')}`);
    if (status === 200) for (const [n, each] of some.entries()) found.set(each, row[n] ?? null);
    else if (status === 400 && some.length === 1) found.set(some[0]!, 'refused');
    else if (status === 400) {
      await ask(some.slice(0, some.length >> 1));
      await ask(some.slice(some.length >> 1));
    } else if (some.length === 1) found.set(some[0]!, `${status} ${message}`);
    else for (const each of some) await ask([each]);
  };
  for (let from = 0; from < expressions.length; from += 40) await ask(expressions.slice(from, from + 40));
  return found;
}

/** The same of one event, by the rows. */
function ofRows(expression: string, event: string): unknown {
  try {
    const [row] = compileRows(`project v = ${expression}`, { from: 'test' }).run(rowOf(event), context);
    return JSON.parse(writeJson(row!.get('v') ?? null));
  } catch {
    return 'refused';
  }
}

function isNear(a: unknown, b: unknown): boolean {
  if (typeof a === 'number' && typeof b === 'number')
    return a === b || Math.abs(a - b) <= 1e-9 * Math.max(Math.abs(a), Math.abs(b));
  return JSON.stringify(a) === JSON.stringify(b);
}

/** Expressions in which the two differ. */
async function differing(before: string, expressions: readonly string[], event: string): Promise<string[]> {
  const found = await valuesOf(before, expressions);
  return [...found].flatMap(([each, value]) => {
    const rows = ofRows(each, event);
    return isNear(value, rows) || LISTED.some(([pattern]) => pattern.test(each))
      ? []
      : [`${each}: ${JSON.stringify(value)}, rows ${JSON.stringify(rows)}`];
  });
}

const pairs = (left: readonly string[], right: readonly string[], operations: readonly string[]): string[] =>
  operations.flatMap((operation) => left.flatMap((a) => right.map((b) => written(a, operation, b))));

describe('types', () => {
  test('every pair of types under every operator gives what the rows give', { timeout: 300_000 }, async () => {
    const events = await dataset();
    await client.ingest(events, CASE_EVENT);
    expect(
      await differing(
        `['${events}'] | project`,
        [...pairs(VALUES, VALUES, OPERATIONS), ...pairs(VALUES, ['text', '"5"', 'n', 'list', 'gone'], OF_TEXTS)],
        CASE_EVENT,
      ),
    ).toEqual([]);
  });

  const NUMBERS = [
    '{"n":42,"f":2.5,"mixed":3,"t":"a"}',
    '{"n":1000000000,"f":-1.25,"mixed":0.5,"t":"b"}',
    '{"n":-7,"mixed":-2.25}',
  ];
  const RESULTS = {
    integers: 'sum(n)',
    small: 'sumif(n, n < 100)',
    floats: 'sum(f)',
    both: 'sum(mixed)',
    events: 'count()',
    some: 'countif(n > 0)',
    different: 'dcount(t)',
    mean: 'avg(f)',
    most: 'max(n)',
    least: 'min(mixed)',
    middle: 'percentile(f, 50)',
    spread: 'stdev(mixed)',
    none: 'sum(nothing)',
  } as const;
  const ARITHMETIC = ['+', '-', '*', '/', '%', '==', '<', '>=', 'between', 'in'];
  const LITERALS = ['3', '2.5', '(-1)'];

  test('results of aggregations go on as numbers under every operator', { timeout: 300_000 }, async () => {
    const events = await dataset();
    await client.ingest(events, NUMBERS.join('\n'));
    const names = Object.keys(RESULTS);
    const summary = Object.entries(RESULTS)
      .map(([name, text]) => `${name} = ${text}`)
      .join(', ');
    const { row } = await askFirst(`['${events}'] | summarize ${summary}`);
    const event = JSON.stringify(Object.fromEntries(names.map((name, n) => [name, row[n]])));
    const all = [...pairs(names, [...names, ...LITERALS], ARITHMETIC), ...pairs(LITERALS, names, ARITHMETIC)];
    expect(await differing(`['${events}'] | summarize ${summary} | project`, all, event)).toEqual([]);
    const inline = new Map(Object.entries(RESULTS));
    const computed = await valuesOf(
      `['${events}'] | summarize`,
      pairs([...inline.values()], [...inline.values(), ...LITERALS], ['+', '-', '*', '/', '%']),
    );
    expect([...computed].filter(([, value]) => typeof value === 'string')).toEqual([]);
  });

  test('every aggregation takes or refuses every type', { timeout: 300_000 }, async () => {
    const events = await dataset();
    await client.ingest(events, CASE_EVENT);
    const calls = AGGREGATE_FUNCTIONS.flatMap(({ names: [name], args }) =>
      VALUES.flatMap((value) => {
        const given = args
          .map((type, n) => (type.startsWith('constant') ? '50' : name === 'spotlight' && n === 0 ? 'yes' : value))
          .slice(0, name === 'dcount' ? 1 : undefined);
        const conditional =
          findAggregate(`${name}if`)?.conditional === true ? [`${name}if(${[...given, 'yes'].join(', ')})`] : [];
        return [`${name}(${given.join(', ')})`, ...conditional];
      }),
    );
    const found = await valuesOf(`['${events}'] | summarize`, [...new Set(calls)]);
    expect([...found].filter(([, value]) => typeof value === 'string' && /^\d{3} /.test(value))).toEqual([]);
  });
});
