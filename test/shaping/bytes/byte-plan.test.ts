/** Which pipelines run over bytes: wholly, for their first conditions, or not at all. */
import { expect, test } from 'vitest';
import { type BytePlan, planBytes } from '../../../src/shaping/bytes/byte-plan.ts';
import { encodePlan } from '../../../src/shaping/bytes/byte-program.ts';
import { compileRows } from '../../../src/shaping/rows/program.ts';

const plan = (text: string): BytePlan | undefined => planBytes(compileRows(text, { from: 'test' }).steps);

test('plan of a pipeline of byte steps has its conditions and all its edits', () => {
  expect(
    plan('where a == 1 | project-away req.headers, b | project-rename d = c | where e == "x" | extend env = "prod"'),
  ).toEqual({
    conditions: [
      { kind: 'test', field: 'a', operator: '==', literal: 1 },
      { kind: 'test', field: 'e', operator: '==', literal: 'x' },
    ],
    edits: {
      kept: undefined,
      removed: ['req.headers', 'b'],
      renamed: [{ from: 'c', to: 'd' }],
      added: [{ name: 'env', json: '"prod"' }],
      screened: [],
    },
  });
  expect(plan('project-keep a, b | extend c = 1')?.edits).toMatchObject({ kept: ['a', 'b'], added: [{ name: 'c' }] });
});

test('plan of another pipeline has the conditions that it begins with', () => {
  expect(plan('where a == 1 | where b == 2 | extend c = tolower(d) | where e == 3')).toEqual({
    conditions: [expect.objectContaining({ field: 'a' }), expect.objectContaining({ field: 'b' })],
    edits: undefined,
  });
});

test.for([
  'extend a = 1 | extend a = 2',
  'extend req = 1 | project-away req.id',
  'project-away a | extend a = 1',
  'project-away req.id | project-rename b = req',
  'project-rename a = b, b = a',
  'extend a = 1 | project-keep a',
  'project-keep a | project-away b',
  'project-away _time',
  'extend a = redact(a, "email") | project-keep a',
  'extend a = redact(a, "email", "ipv4")',
  'extend a = redact(b, "email")',
  'extend a = redact(a)',
])('steps whose order matters have no plan: %s', (text) => {
  expect(plan(text)).toBeUndefined();
});

test('field that a step changed is not read from the bytes behind it', () => {
  expect(plan('project-away req.headers | where req.id == 1')).toBeUndefined();
  expect(plan('where a == 1 | project-rename b = a | where b == 1')).toMatchObject({
    conditions: [{ field: 'a' }],
    edits: undefined,
  });
});

test('plan of more fields than the kernel has slots for is not encoded', () => {
  const names = Array.from({ length: 33 }, (_, n) => `f${n}`);
  expect(encodePlan(plan(`project-away ${names.join(', ')}`)!)).toBeUndefined();
  expect(encodePlan(plan(`project-away ${names.slice(1).join(', ')}`)!)).toBeInstanceOf(Buffer);
});
