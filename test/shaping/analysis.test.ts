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
              { kind: 'test', field: 'level', operator: '!=', literal: 20n },
              {
                kind: 'or',
                parts: [
                  { kind: 'test', field: 'a', operator: '==', literal: 'x' },
                  { kind: 'test', field: 'b', operator: '>', literal: 5n },
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

test.for([
  ['where req.id == 1', 'may be nested'],
  ['where tolower(a) == "x"', 'no side of the comparison is a plain field'],
  ['where a contains "x"', '`contains` computes a value'],
  ['where a == b', 'a value is computed of the event'],
  ['where _time > ago(1h)', 'no side of the comparison is a plain field'],
  ['extend a = b', 'a value is computed of the event'],
  ['extend a.b = 1', 'may be nested'],
  ['project-away x*', '`x*` may be any field'],
  ['project a', '`project` looks at every field'],
  ['project-rename a = b.c', 'may be nested'],
] as const)('analysis says why the step "%s" needs values', ([text, why]) => {
  expect(plan(text)).toEqual([{ why: expect.stringContaining(why) }]);
});
