/**
 * Symptom: of `{"req":{"password":"a"},"req":{}}` the first password left through `project-away req.password`. Cause: only the last of repeated keys is a
 * value, and where that did not change, the event's bytes were sent. Fix: on the way to a hidden field, the last of repeated keys is kept alone.
 */
import { expect, test } from 'vitest';
import { excessOf, isSuspect } from '../../hostile/growth.ts';
import { outcomeOf, stagesOf } from './agreement.ts';

/** All ways agree. */
function shaped(pipeline: string, line: string): string {
  const [bytes, values, objects] = stagesOf(pipeline).map((stage) => outcomeOf(stage, [line]).lines.join('').trimEnd());
  expect({ bytes, values }).toEqual({ bytes: objects, values: objects });
  return objects!;
}

test.each([
  ['project-away password', '{"password":"s3cret","a":1,"a":2,"pass\\u0077ord":"s3cret"}', '{"a":1,"a":2}'],
  [
    'project-away req.password',
    '{"req":{"password":"s3cret"},"req":{"b":1.0},"a":1,"a":2}',
    '{"req":{"b":1.0},"a":1,"a":2}',
  ],
  ['project-away req.password', '{"req":{"password":"s3cret"},"req":7}', '{"req":7}'],
  [
    'project-away req.in.password',
    '{"req":{"in":{"password":"s3cret"},"in":{},"k":1,"k":2}}',
    '{"req":{"in":{},"k":1,"k":2}}',
  ],
  [
    'project-away a[].in.password',
    '{"a":[{"in":{"password":"s3cret"},"in":1,"k":1,"k":2},{"b":1.10}]}',
    '{"a":[{"in":1,"k":1,"k":2},{"b":1.10}]}',
  ],
  ['project-away req.pass*', '{"req":{"password":"s3cret"},"req":{"b":1}}', '{"req":{"b":1}}'],
  ['project-keep req.b', '{"req":{"password":"s3cret"},"req":{"b":1}}', '{"req":{"b":1}}'],
  ['extend password = mask(password)', '{"password":"s3cret","password":"****"}', '{"password":"****"}'],
  ['extend req.password = mask(req.password)', '{"req":{"password":"s3cret"},"req":{"b":1}}', '{"req":{"b":1}}'],
  ['extend message = redact(message, "email")', '{"message":"x@example.com","message":"none"}', '{"message":"none"}'],
  ['extend a[].b = mask(a[].b)', '{"a":[{"b":"s3cret"}],"a":[]}', '{"a":[]}'],
  ['where isnotnull(password)', '{"password":"s3cret","password":"x"}', '{"password":"s3cret","password":"x"}'],
])('%s leaves nothing of repeated keys in clear: %s', (pipeline, line, wanted) => {
  expect(shaped(pipeline, line)).toBe(wanted);
});

/** Before each occurrence of a name, all bytes since the event's beginning were looked at: 1 MiB of one name took 9 s. */
test.each(['list', 'accepted'] as const)('a name that comes again and again takes linear time (%s)', (way) => {
  const [stage] = stagesOf('where a != 20');
  const run = (text: string): unknown => outcomeOf(stage!, [text], way);
  const textOf = (bytes: number): string => `{${'"a":1,'.repeat(bytes / 6)}"z":0}`;
  expect(isSuspect(run, textOf) ? excessOf(run, textOf) : undefined).toBeUndefined();
});
