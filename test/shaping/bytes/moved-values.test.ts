/**
 * Symptom: `project-rename` of a nested value printed `[1.0,-0,1e400]` as `[1,0,null]`. Cause: only values that stayed in their place kept their bytes.
 * Fix: a value that a step moves or copies is found again in the event, and its bytes are copied.
 */
import { expect, test } from 'vitest';
import { createPipelineStage } from '../../../src/shaping/pipeline/pipeline-stage.ts';
import { compileRows } from '../../../src/shaping/rows/program.ts';
import type { StageResult } from '../../../src/shaping/stages/stage.ts';

const WAYS = [undefined, 'values', 'objects'] as const;

/** The events that come of a line, by each of the three ways. */
function shaped(text: string, line: string): string[] {
  const found = WAYS.map((only) => {
    const program = compileRows(text, { from: 'test' });
    const options = { program, text, env: {}, onError: 'dead_letter', failed() {}, ...(only && { only }) } as const;
    const bytes = Buffer.from(`${line}\n`);
    const list = {
      bytes,
      count: 1,
      ends: Uint32Array.of(bytes.length),
      origins: new Uint32Array(1),
      subs: new Uint32Array(1),
    };
    const context = { source: 'app', stream: 's', readAtMs: 0, offsetOf: () => 0 };
    const result = createPipelineStage(options).run(list, context) as StageResult;
    expect(result.failures).toEqual([]);
    return result.list.bytes.toString().split('\n').slice(0, -1);
  });
  expect(found[1]).toEqual(found[0]);
  expect(found[2]).toEqual(found[0]);
  return found[0]!;
}

const FORMS = [
  '1.0',
  '-0',
  '1e400',
  '-1E+400',
  '9007199254740993',
  '12345678901234567890',
  '1.10',
  '2e1',
  '"\\u0041"',
  '"a\\/b"',
  'true',
  '{}',
  '[ ]',
  '[1.0,-0,1e400]',
  '[ 1.0 , {"a":1.10,"a":2.0} ]',
  '{"a":1.0,"a":2.0}',
  '{ "\\u0061" : 1e400 , "b":[1.0] }',
  '{"a":{"b":{"c":[9007199254740993,"\\u0041"]}}}',
] as const;
/** Numbers that expressions round. */
const isRounded = (form: string): boolean => form === '12345678901234567890';

/** `V` is the value. */
const MOVES: readonly (readonly [pipeline: string, line: string, sent: string])[] = [
  ['where a == 1', '{"a":1,"v":V}', '{"a":1,"v":V}'],
  ['project-rename m = v', '{"v":V,"w":V}', '{"w":V,"m":V}'],
  ['project-rename m = o.v', '{"o":{"v":V,"w":V}}', '{"o":{"w":V},"m":V}'],
  ['project-rename o.m = o.v', '{"o":{"v":V,"w":V}}', '{"o":{"w":V,"m":V}}'],
  ['project-rename p.m = o.v', '{"o":{"v":V},"p":{"w":V}}', '{"o":{},"p":{"w":V,"m":V}}'],
  ['project-rename m = a.b.v', '{"a":{"b":{"v":V},"w":V}}', '{"a":{"b":{},"w":V},"m":V}'],
  ['project-rename m = ["o.v"]', '{"o.v":V}', '{"m":V}'],
  ['project-rename n = o | project-rename m = n.v', '{"o":{"v":V,"w":V}}', '{"n":{"w":V},"m":V}'],
  ['project-rename n = o | project-away n.x', '{"o":{"x":1,"v":V}}', '{"n":{"v":V}}'],
  ['project-rename n = o | extend n.x = 5', '{"o":{"x":1,"v":V}}', '{"n":{"x":5,"v":V}}'],
  ['project-rename n = o | project-away n.l[].x', '{"o":{"l":[{"x":1,"v":V}]}}', '{"n":{"l":[{"v":V}]}}'],
  ['extend m = v', '{"v":V}', '{"v":V,"m":V}'],
  ['extend m = o.v', '{"o":{"v":V}}', '{"o":{"v":V},"m":V}'],
  ['extend m = o["v"]', '{"o":{"v":V}}', '{"o":{"v":V},"m":V}'],
  ['extend m = l[1]', '{"l":[1,V]}', '{"l":[1,V],"m":V}'],
  ['extend o.m = v', '{"v":V,"o":{"w":V}}', '{"v":V,"o":{"w":V,"m":V}}'],
  ['extend m = v | extend n = m', '{"v":V}', '{"v":V,"m":V,"n":V}'],
  ['extend m = coalesce(none, v)', '{"v":V}', '{"v":V,"m":V}'],
  ['extend a = 5, o.b = 6', '{"a":1,"v":V,"o":{"b":2,"v":V}}', '{"a":5,"v":V,"o":{"b":6,"v":V}}'],
  ['project v, m = o.v', '{"v":V,"o":{"v":V},"x":V}', '{"v":V,"m":V}'],
  ['project-away o.x', '{"o":{"x":1,"v":V},"v":V}', '{"o":{"v":V},"v":V}'],
  ['project-away l[].x', '{"l":[{"x":1,"v":V}]}', '{"l":[{"v":V}]}'],
  ['project-keep o.v, v', '{"o":{"x":1,"v":V},"v":V,"x":1}', '{"o":{"v":V},"v":V}'],
  ['extend o.x = mask(o.x)', '{"o":{"x":"s","v":V},"v":V}', '{"o":{"x":"*","v":V},"v":V}'],
  ['extend message = redact(message, "email")', '{"message":"a@b.com","v":V}', '{"message":"[REDACTED:email]","v":V}'],
  ['sample 1.0', '{"v":V}', '{"v":V}'],
  ['throttle 100 per 1s', '{"v":V}', '{"v":V}'],
  ['dedupe by a within 1s', '{"a":1,"v":V}', '{"a":1,"v":V}'],
  ['to_dataset("x")', '{"v":V}', '{"v":V}'],
];

test.each(MOVES)('%s keeps the bytes of what it moves, and of all it does not touch', (pipeline, line, sent) => {
  const isComputed = /extend|project /.test(pipeline) && /V.*V|m/.test(sent);
  for (const form of FORMS) {
    if (isComputed && isRounded(form)) continue;
    expect([form, ...shaped(pipeline, line.replaceAll('V', form))]).toEqual([form, sent.replaceAll('V', form)]);
  }
});

test.each([
  ['mv-expand v', '{"v":[V]}', FORMS.map((form) => `{"v":${form}}`)],
  ['mv-expand m = o.v', '{"o":{"v":[V]}}', FORMS.map((form) => `{"o":{"v":[V]},"m":${form}}`)],
  [
    'mv-expand v | where isnull(v) or not(v == true)',
    '{"v":[true,true,V]}',
    FORMS.filter((form) => form !== 'true').map((form) => `{"v":${form}}`),
  ],
  ['mv-expand v | project-rename m = v', '{"v":[V]}', FORMS.map((form) => `{"m":${form}}`)],
])('%s keeps the bytes of each item', (pipeline, line, sent) => {
  const forms = FORMS.filter((form) => !isRounded(form));
  const all = forms.join(', ');
  const expected = sent
    .filter((each) => !each.includes(FORMS.find(isRounded)!))
    .map((each) => each.replace('[V]', `[${all}]`));
  expect(shaped(pipeline, line.replace('V', all))).toEqual(expected);
});

test('a value that was computed is printed as computed, though the event has the same number in another form', () => {
  expect(shaped('extend m = v, n = toint(v), s = v + 0', '{"v":1.0}')).toEqual(['{"v":1.0,"m":1.0,"n":1,"s":1}']);
  expect(shaped('extend m = v | extend m = 1.0 / 0', '{"v":1.0}')).toEqual(['{"v":1.0}']);
});

test.each([
  ['project-rename m = o | extend m.a = redact(m.a, "email")', '{"o":V}'],
  ['extend m = o | extend m.a = redact(m.a, "email") | project-away o', '{"o":V}'],
  ['extend m = o | project-away o.a, m.a', '{"o":V}'],
  ['project m = o | project-away m.a', '{"o":V}'],
  ['project-rename m = o.l | extend m[].a = redact(m[].a, "email")', '{"o":{"l":[V]}}'],
  ['project-rename m = o | project-rename n = m.p | extend n.a = redact(n.a, "email")', '{"o":{"p":V}}'],
  ['project-rename m = o | extend a = redact(m.a, "email") | project-away m', '{"o":V}'],
])('of a key that stands twice in what is moved, no earlier value comes back: %s', (pipeline, line) => {
  expect(shaped(pipeline, line.replace('V', '{"a":"ann@b.com","a":"none","n":1.0}')).join('')).not.toContain(
    'ann@b.com',
  );
});

test('a long list in rows, and a name of many dots, are printed in linear time', () => {
  const list = `[${'1.0,'.repeat(900)}1.0]`;
  expect(shaped('mv-expand v', `{"v":${list}}`)).toHaveLength(901);
  const name = 'a.'.repeat(100_000);
  const line = `{"o":{"x":1,"${name}":1.0}}`;
  expect(shaped('project-rename m = o | project-away m.x', line)).toEqual([`{"m":{"${name}":1.0}}`]);
});
