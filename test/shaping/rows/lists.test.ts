/** Names that reach into lists: `a[].b`. */
import { expect, test } from 'vitest';
import { compileRows } from '../../../src/shaping/rows/program.ts';
import { outcomeOf, stagesOf } from '../bytes/agreement.ts';

/** All ways agree. */
function shaped(pipeline: string, line: string): string {
  const [bytes, values, objects] = stagesOf(pipeline).map((stage) => outcomeOf(stage, [line]).lines.join('').trimEnd());
  expect({ bytes, values }).toEqual({ bytes: objects, values: objects });
  return objects!;
}

test.each([
  [
    'project-away a[].b',
    '{"a":[{"b":1,"c":1.10},{"c":1e400, "b" : 2}, 7,"x",null,{"b":{"b":1}}],"b":3}',
    '{"a":[{"c":1.10},{"c":1e400}, 7,"x",null,{}],"b":3}',
  ],
  [
    'project-away a[].b[].c',
    '{"a":[{"b":[{"c":1,"d":1.0},{"c":2}]},{"b":{"c":3}},{"c":4}]}',
    '{"a":[{"b":[{"d":1.0},{}]},{"b":{"c":3}},{"c":4}]}',
  ],
  ['project-away a[].b', '{"a":[[{"b":1,"c":2}],[[{"b":3}]]]}', '{"a":[[{"c":2}],[[{}]]]}'],
  ['project-away a[][].b', '{"a":[[{"b":1,"c":2}]]}', '{"a":[[{"c":2}]]}'],
  [
    'project-away req.a[].in.b',
    '{"req":{"a":[{"in":{"b":1,"c":2}},{"in.b":3}]},"req.a":[{"in":{"b":4}}]}',
    '{"req":{"a":[{"in":{"c":2}},{}]},"req.a":[{"in":{}}]}',
  ],
  ['project-away a[].b*', '{"a":[{"bee":1,"c":2,"b":3}]}', '{"a":[{"c":2}]}'],
  ['project-away a[]', '{"a":[1,{"b":2}],"b":1}', '{"a":[],"b":1}'],
  ["project-away ['a b'][].b", '{"a b":[{"b":1}]}', '{"a b":[{}]}'],
  ['project-away a[].b', '{"a":{"b":1},"a[]":1}', '{"a":{"b":1},"a[]":1}'],
  ['project-away a[].password', '{"a":[{"pass\\u0077ord":1,"password":2,"c":3}]}', '{"a":[{"c":3}]}'],
  [
    'project-keep a[].b, c',
    '{"a":[{"b":1.10,"x":"s"},{"x":"s"},"s",[{"b":2,"x":"s"}]],"c":1,"d":2}',
    '{"a":[{"b":1.10},{},{},[{"b":2}]],"c":1}',
  ],
  [
    'extend a[].b = mask(a[].b, 1)',
    '{"a":[{"b":"abc","c":1.10},{"c":2},{"b":12345678901234567891},{"b":null,"d":1}]}',
    '{"a":[{"b":"**c","c":1.10},{"c":2},{"b":"*******************1"},{"b":null,"d":1}]}',
  ],
  [
    'extend a[].b = redact(a[].b, "email")',
    '{"a":[{"b":"to x@example.com"},{"b":"none"}]}',
    '{"a":[{"b":"to [REDACTED:email]"},{"b":"none"}]}',
  ],
  [
    'extend tags[] = redact(tags[], "email")',
    '{"tags":["x@example.com",["y@example.com"],1.0]}',
    '{"tags":["[REDACTED:email]",["[REDACTED:email]"],"1"]}',
  ],
  ['extend a[].b = "x", n = 1', '{"a":[{"b":1},{"c":1}]}', '{"a":[{"b":"x"},{"c":1}],"n":1}'],
  ['extend a[].b = strcat(c, a[].b)', '{"c":"<","a":[{"b":1}]}', '{"c":"<","a":[{"b":"<1"}]}'],
])('%s: %s', (pipeline, line, wanted) => {
  expect(shaped(pipeline, line)).toBe(wanted);
});

// Symptom: `extend req.password = mask(req.password)` masked the field of that name and left that in the object in clear, or the other way round.
test.each([
  ['extend req.p = mask(req.p)', '{"req.p":"ab","req":{"p":"cd","n":1.0}}', '{"req.p":"**","req":{"p":"**","n":1.0}}'],
  [
    'extend a.b.c = mask(a.b.c)',
    '{"a.b.c":"x","a.b":{"c":"x"},"a":{"b.c":"x","b":{"c":"x"}}}',
    '{"a.b.c":"*","a.b":{"c":"*"},"a":{"b.c":"*","b":{"c":"*"}}}',
  ],
  [
    'extend req.p = redact(req.p, "email")',
    '{"req":{"p":"a@b.com"},"req.p":"a@b.com"}',
    '{"req":{"p":"[REDACTED:email]"},"req.p":"[REDACTED:email]"}',
  ],
  ['extend req.p = coalesce(mask(req.p), "none")', '{"req":{}}', '{"req":{"p":"none"}}'],
  ['extend req.p = mask(req.p)', '{"req":{"a":1.0}}', '{"req":{"a":1.0}}'],
])('%s hides every field of that name: %s', (pipeline, line, wanted) => {
  expect(shaped(pipeline, line)).toBe(wanted);
});

test('hash reaches into lists', () => {
  const stage = stagesOf('extend a[].b = hash(a[].b, secret_file("/etc/hostname"))')[0]!;
  expect(outcomeOf(stage, ['{"a":[{"b":"x"}]}']).lines[0]).toMatch(/^\{"a":\[\{"b":"[0-9a-f]{32}"\}\]\}/);
});

test.each([
  'where a[].b == 1',
  'project a[].b',
  'project x = a[].b',
  'extend x = a[].b',
  'extend a[].b = c[].d',
  'extend mask(a[].b)',
  'project-rename x = a[].b',
  'mv-expand a[].b',
  'sample 0.5 by a[].b',
  'to_dataset(a[].b)',
])('%s is refused, with what to write', (pipeline) => {
  expect(() => compileRows(pipeline, { from: 'test' })).toThrow(/\[\]|field/);
});

test('list of many items in an event of many fields takes time in proportion', () => {
  const fields = Array.from({ length: 2000 }, (_, n) => `"f${n}":1`).join(',');
  const line = `{${fields},"a":[${Array.from({ length: 20_000 }, () => '{"b":"x"}').join(',')}]}`;
  expect(outcomeOf(stagesOf('extend a[].b = mask(a[].b)')[2]!, [line]).lines[0]).toContain('{"b":"*"},{"b":"*"}');
});
