import { describe, expect, test } from 'vitest';
import { compileRows } from '../../../src/shaping/rows/program.ts';
import { TransformTextError, type PipelineProblem } from '../../../src/shaping/rows/transform-error.ts';
import { shape } from './support.ts';

/** [transform, event, events that it becomes] */
const CASES: readonly (readonly [string, string, readonly string[]])[] = [
  ['where level != "debug"', '{"level":"debug"}', []],
  ['where level != "debug"', '{"level":"info"}', ['{"level":"info"}']],
  ['where level != "debug"', '{"a":1}', ['{"a":1}']],
  ['where status >= 500', '{"status":503}', ['{"status":503}']],
  ['where status >= 500', '{"status":"503"}', []],
  ['where status >= 500', '{"status":null}', []],
  ['where not(path startswith "/health")', '{"path":"/healthz"}', []],
  ['where level == "info" and env == "prod"', '{"level":"info"}', []],
  ['extend b = a + 1', '{"a":1}', ['{"a":1,"b":2}']],
  ['extend a = a + 1', '{"a":1,"z":0}', ['{"a":2,"z":0}']],
  ['extend b = never', '{"b":1}', ['{}']],
  ['extend a = b, b = a', '{"a":1,"b":2}', ['{"a":2,"b":1}']],
  ['extend status = toint(status)', '{"status":"200"}', ['{"status":200}']],
  ['extend x = 7 / 2, y = 7.0 / 2, z = 7 / 0', '{}', ['{"x":3,"y":3.5}']],
  ['extend x = 1.0 / 0, y = log(0), z = sqrt(-1)', '{}', ['{}']],
  ['extend big = n + 1', '{"n":9007199254740993}', ['{"n":9007199254740993,"big":9007199254740994}']],
  ['extend big = n + 1', '{"n":9223372036854775807}', ['{"n":9223372036854775807,"big":-9223372036854775808}']],
  [
    'extend t = todatetime("2026-01-02T03:04:05.000000006Z"), d = 90s',
    '{}',
    ['{"t":"2026-01-02T03:04:05.000000006Z","d":"1m30s"}'],
  ],
  [
    'extend h = hourofday(_time)',
    '{"_time":"2026-03-29T03:30:00+03:00"}',
    ['{"_time":"2026-03-29T03:30:00+03:00","h":0}'],
  ],
  ['extend h = hourofday(_time)', '{"_time":1700000000}', ['{"_time":1700000000,"h":22}']],
  ['extend _time = _time + 1h', '{"_time":"2026-01-02T03:04:05Z"}', ['{"_time":"2026-01-02T04:04:05Z"}']],
  [
    'extend late = now() - _time',
    '{"_time":"2026-11-22T16:08:48.5Z"}',
    ['{"_time":"2026-11-22T16:08:48.5Z","late":"500ms"}'],
  ],
  ['extend req.id = 1', '{"req":{"a":1}}', ['{"req":{"a":1,"id":1}}']],
  ['extend req.id = 1', '{"req.a":1}', ['{"req.a":1,"req.id":1}']],
  ['extend id = req.id', '{"req":{"id":5}}', ['{"req":{"id":5},"id":5}']],
  ['extend id = req.id', '{"req.id":5}', ['{"req.id":5,"id":5}']],
  ["extend id = ['req.id']", '{"req":{"id":5}}', ['{"req":{"id":5},"id":5}']],
  ['extend id = a.b.c', '{"a.b":{"c":5}}', ['{"a.b":{"c":5},"id":5}']],
  ['extend id = a[1], last = a[-1], none = a[9]', '{"a":[1,"x",null]}', ['{"a":[1,"x",null],"id":"x"}']],
  ["extend v = req['content-type'][0]", '{"req":{"content-type":["a"]}}', ['{"req":{"content-type":["a"]},"v":"a"}']],
  ['project b, c = a * 2', '{"a":1,"b":"x"}', ['{"b":"x","c":2}']],
  ['project-away a, b*', '{"a":1,"b":2,"bb":3,"c":4}', ['{"c":4}']],
  [
    'project-away req.headers.authorization',
    '{"req":{"headers":{"authorization":"x","host":"y"},"id":1}}',
    ['{"req":{"headers":{"host":"y"},"id":1}}'],
  ],
  ['project-away req.headers', '{"req":{"headers":{"authorization":"x"}}}', ['{"req":{}}']],
  ['project-away req.headers', '{"req":{"headers":{}},"req.headers":1}', ['{"req":{}}']],
  ["project-away ['req.headers']", '{"req":{"headers":{}}}', ['{"req":{}}']],
  ['project-away req.h*', '{"req":{"headers":{},"host":1,"id":2}}', ['{"req":{"id":2}}']],
  ['project-away password', '{"pass\\u0077ord":"x","a":1}', ['{"a":1}']],
  ['project-keep a, req.id', '{"b":1,"a":2,"req":{"id":3,"x":4}}', ['{"a":2,"req":{"id":3}}']],
  ['project-keep a*', '{"b":1,"ab":2,"a":3}', ['{"ab":2,"a":3}']],
  ['project-rename y = x', '{"a":0,"x":1,"b":2}', ['{"a":0,"y":1,"b":2}']],
  ['project-rename b = a, a = b', '{"a":1,"b":2}', ['{"b":1,"a":2}']],
  ['project-rename id = req.id', '{"req":{"id":1,"x":2}}', ['{"req":{"x":2},"id":1}']],
  ['project-rename y = x', '{"y":1}', ['{"y":1}']],
  ['let limit = 5; where a > limit', '{"a":6}', ['{"a":6}']],
  ['| where a == 1 // a comment\n| extend b = 2', '{"a":1}', ['{"a":1,"b":2}']],
  ['where * contains "needle"', '{"a":{"b":"a needle"}}', ['{"a":{"b":"a needle"}}']],
];

test.each(CASES)('%s on %s', (transform, event, expected) => {
  expect(shape(transform, event)).toEqual(expected);
});

test('objects of the given event are left as they were', () => {
  const nested = { headers: { a: 1, b: 2 } };
  const row = new Map<string, never>([['req', nested as never]]);
  compileRows('project-away req.headers.a | extend req.id = 1', { from: 'test' }).run(row, {} as never);
  expect(nested).toEqual({ headers: { a: 1, b: 2 } });
});

describe('properties', () => {
  const of = (text: string) => compileRows(text, { from: 'test' });

  test('names read and written are top-level names', () => {
    const { reads, writes } = of('where a > 1 | extend x.y = b.c | project-away d');
    expect([...(reads as Set<string>)].sort()).toEqual(['a', 'b', 'b.c', 'd']);
    expect([...(writes as Set<string>)].sort()).toEqual(['d', 'x', 'x.y']);
  });

  test.each(['where * contains "x"', 'project a', 'project-keep a*'])('%s reads or writes all', (text) => {
    expect([of(text).reads, of(text).writes]).toContain('all');
  });

  test.each([
    ['extend a = rand()', false],
    ['extend a = now()', true],
  ] as const)('%s is deterministic: %s', (text, expected) => {
    expect(of(text).deterministic).toBe(expected);
  });

  test.each([
    ['extend a = mask(a)', true],
    ['project-away a', true],
    ['where a > 1', false],
  ] as const)('%s hides: %s', (text, expected) => {
    expect(of(text).hides).toBe(expected);
  });

  test('steps carry their text and place', () => {
    const { steps } = compileRows('where a == 1\n| extend b = 2', { from: 'c.yaml', at: { line: 10, column: 7 } });
    expect(steps.map(({ text, line, column, kind }) => ({ text, line, column, kind }))).toEqual([
      { text: 'where a == 1', line: 10, column: 7, kind: 'where' },
      { text: 'extend b = 2', line: 11, column: 9, kind: 'extend' },
    ]);
  });
});

// Symptom: `o.n = n, n = o.n` lost one of both. Cause: the field that moved was taken for the one that left.
test('fields that swap their places all stay, top-level and nested ones, whatever the order', () => {
  const places = ['a', 'b', 'o.a', 'o.b'];
  const orders = (rest: readonly string[]): string[][] =>
    rest.length === 0
      ? [[]]
      : rest.flatMap((first) => orders(rest.filter((each) => each !== first)).map((others) => [first, ...others]));
  const event = '{"a":"a","b":"b","o":{"a":"o.a","b":"o.b"}}';
  for (const targets of orders(places))
    for (const turn of [0, 1]) {
      const pairs = places.map((from, n) => `${targets[n]} = ${from}`);
      const text = `project-rename ${(turn ? pairs.reverse() : pairs).join(', ')} | project ${places.map((each, n) => `v${n} = ${each}`).join(', ')}`;
      const values = places.map((each) => places[targets.indexOf(each)]);
      expect([text, ...shape(text, event)]).toEqual([
        text,
        JSON.stringify(Object.fromEntries(values.map((value, n) => [`v${n}`, value]))),
      ]);
    }
});

describe('mistakes', () => {
  function problemsOf(text: string): readonly PipelineProblem[] {
    try {
      compileRows(text, { from: 'c.yaml', at: { line: 5, column: 3 } });
    } catch (error) {
      if (error instanceof TransformTextError) return error.problems;
      throw error;
    }
    return [];
  }

  test('all of them are reported, each with its place', () => {
    const problems = problemsOf('extend a = strlenn(b)\n| extend c = substring(1)\n| where "x"');
    expect(problems).toEqual([
      { line: 5, column: 14, message: 'unknown function "strlenn"', fix: 'did you mean strlen' },
      { line: 6, column: 16, message: 'substring takes 2 to 3 arguments, not 1: substring(text, start, length)' },
      { line: 7, column: 11, message: 'wants a condition here, not a string' },
    ]);
  });

  // Symptom: only the first operator that could not be read was reported, the others a round later each.
  test('one is reported for each operator, whatever its mistake, and none twice', () => {
    const text = `wher a == 1
| extend b = (1 +
| where c == "no end | where d
| project x | where gone == 1 and 1 = 2 | extend y = 2 | where z == 1
| where € | extend w = toitn(1) or
| where e == datetime(2026-01-02T10:00:00Z) f | summarise count() | where`;
    expect(problemsOf(text).map(({ line, column, message }) => `${line}:${column} ${message}`)).toEqual([
      '5:3 unknown operator "wher"',
      '7:3 found "|"',
      '7:16 the string has no end',
      '8:39 found "="',
      '9:11 the character "€" has no meaning here',
      '10:47 found "f"',
      '10:51 unknown operator "summarise"',
      '10:76 the query ends here',
    ]);
  });

  test.each([
    ['where a == 1 && b == 2', 'the character "&" has no meaning here; write and'],
    ['where a == 1 || b == 2', 'an operator is missing between | and |; in a condition write or'],
    ['where !(a == 1)', 'found "!"; write not(…)'],
    ['where a not in (1)', 'found "not"; write !in'],
    ['where a === 1', 'found "==="; write =='],
    ['where (a !== "b")', 'found "!=="; write !='],
    ['where not a == "b"', 'found "a"; write not(…)'],
    ['where a == 1 and (not isnull(b))', 'found "isnull"; write not(…)'],
    ['where knot a', 'found "a"; wanted | or the end'],
    ['where a is null', 'found "is"; write isnull(field) or isnotnull(field)'],
    ['where a == 1\nproject-away b', 'found "project-away" without | before it; write | project-away'],
    ['extend b = lower(a)', 'unknown function "lower"; write tolower'],
    [
      'redact a',
      'redact works in queries only, which see many events; it is a function: extend message = redact(message, …)',
    ],
    ['where constructor(a)', 'unknown function "constructor"'],
  ])('what other languages write is answered with what to write here: %s', (text, wanted) => {
    const [problem, ...others] = problemsOf(text);
    expect([`${problem?.message}; ${problem?.fix}`, others]).toEqual([expect.stringContaining(wanted), []]);
  });

  test('mistakes inside of parentheses do not make what follows nested', () => {
    const text = `${`where ${'('.repeat(10)}| `.repeat(80)}where ((a == 1))`;
    expect(new Set(problemsOf(text).map(({ message }) => message))).toEqual(new Set(['found "|"']));
  });

  test('no more operators are read than a transform may have', () => {
    expect(
      problemsOf('wher | '.repeat(5000))
        .map(({ message }) => message)
        .at(-1),
    ).toBe('the transform has more than 100 operators');
  });

  test.each([
    ['summarize count()', 'summarize works in queries only'],
    ['sort by a', 'sort works in queries only'],
    ['take 5', 'take works in queries only'],
    ['wher a > 1', 'unknown operator "wher"; did you mean where; there are where, '],
    ['extend a = bin_auto(_time)', 'bin_auto follows the range of a query'],
    ['extend a = "x" matches regex "(?=a)"', 'no regular expression that can be used'],
    ['project a | where b > 1', 'there is no column "b" here'],
    ['', 'wanted an operator'],
    ['where a = 1', 'wanted "== to compare"'],
  ])('%s: %s', (text, message) => {
    expect(
      problemsOf(text)
        .map(({ message: what, fix }) => `${what}; ${fix}`)
        .join('\n'),
    ).toContain(message.replaceAll('"== to compare"', '== to compare'));
  });
});
