import { expect, test } from 'vitest';
import { planSteps } from '../../src/shaping/analysis.ts';
import { compileRows } from '../../src/shaping/rows/program.ts';

const plan = (text: string) => planSteps(compileRows(text, { from: 'test' }).steps);

test('analysis finds the byte operations of a pipeline of comparisons, removed, renamed and added fields', () => {
  expect(
    plan(
      'where level != 20 and ("x" == a or 5 < b) | project-away req.headers, c | project-rename d = e | extend env = "pröd", n = 7, f = 1.5, t = true',
    ),
  ).toEqual([
    {
      bytes: [
        {
          kind: 'compare',
          condition: {
            kind: 'and',
            parts: [
              { kind: 'test', field: 'level', operator: '!=', literal: 20 },
              {
                kind: 'or',
                parts: [
                  { kind: 'test', field: 'a', operator: '==', literal: 'x' },
                  { kind: 'test', field: 'b', operator: '>', literal: 5 },
                ],
              },
            ],
          },
        },
      ],
    },
    {
      bytes: [
        { kind: 'remove', name: 'req.headers' },
        { kind: 'remove', name: 'c' },
      ],
    },
    { bytes: [{ kind: 'rename', from: 'e', to: 'd' }] },
    {
      bytes: [
        { kind: 'add', name: 'env', json: '"pröd"' },
        { kind: 'add', name: 'n', json: '7' },
        { kind: 'add', name: 'f', json: '1.5' },
        { kind: 'add', name: 't', json: 'true' },
      ],
    },
  ]);
});

test('analysis finds nested fields, lists and negations in conditions, and the kept fields', () => {
  const is = (field: string, literal: string | number) => ({ kind: 'test', field, operator: '==', literal });
  expect(plan('where not(req.id == "x") and level !in (1, 2) | project-keep a, b')).toEqual([
    {
      bytes: [
        {
          kind: 'compare',
          condition: {
            kind: 'and',
            parts: [
              { kind: 'not', part: is('req.id', 'x') },
              { kind: 'not', part: { kind: 'or', parts: [is('level', 1), is('level', 2)] } },
            ],
          },
        },
      ],
    },
    { bytes: [{ kind: 'keep', names: ['a', 'b'] }] },
  ]);
});

test.for([
  ['where a == 9007199254740993', 'a double does not hold the number'],
  ['where not(isnull(a))', '`isnull` computes a value'],
  ['where tolower(a) == "x"', 'no side of the comparison is a plain field'],
  ['where a contains "x"', '`contains` computes a value'],
  ['where a == b', 'a value is computed of the event'],
  ['where _time > ago(1h)', 'no side of the comparison is a plain field'],
  ['extend a = b', 'a value is computed of the event'],
  ['extend a.b = 1', 'may be nested'],
  ['project-away x*', '`x*` may be any field'],
  ['project a', '`project` looks at every field'],
  ['project-keep a.b', 'may be nested'],
  ['project-keep _time', '`_time` stays in every event'],
  ['project-rename a = b.c', 'may be nested'],
] as const)('analysis says why the step "%s" needs values', ([text, why]) => {
  expect(plan(text)).toEqual([{ why: expect.stringContaining(why) }]);
});
