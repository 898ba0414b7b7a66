/** What a pipeline makes of events in their bytes, held against the same pipeline over whole events that are parsed and printed. */
import { writeFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { Members } from '../../src/json/members.ts';
import { createPipelineStage } from '../../src/shaping/pipeline/pipeline-stage.ts';
import { createShaper } from '../../src/shaping/shaper.ts';
import { compileRows } from '../../src/shaping/rows/program.ts';
import { writeJson } from '../../src/json/numbers.ts';
import { parseJson, type EventRow, type RowValue } from '../../src/shaping/rows/values/value.ts';
import type { Shaped } from '../../src/core/shaping.ts';
import { makeTree } from '../support/temp-tree.ts';

function shape(text: string, lines: readonly string[]): Shaped {
  const stage = createPipelineStage({
    program: compileRows(text, { from: 'test' }),
    text,
    env: {},
    onError: 'keep',
    failed: () => {},
  });
  const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''));
  const about = { source: 'app', stream: 's', readAtMs: 1_795_256_100_000, offsetOf: (event: number) => 100 * event };
  return createShaper([stage]).shape({ bytes, count: lines.length, ...about }) as Shaped;
}

const linesOf = ({ bytes }: Shaped): string[] => bytes.toString().split('\n').slice(0, -1);

test('pipeline changes what it names and no other byte', () => {
  const line = '{ "b" : 1.50 , "a":1e2,"n":null, "big":1234567890123456789, "b":2.0,"t":"\\u00e9" }';
  expect(linesOf(shape('where a == 100', [line]))).toEqual([line]);
  expect(linesOf(shape('extend a = a', [line]))).toEqual([line]);
  expect(linesOf(shape('extend a = 1', [line]))).toEqual([line.replace('1e2', '1')]);
  expect(linesOf(shape('project-away b', [line]))).toEqual([
    '{ "a":1e2,"n":null, "big":1234567890123456789,"t":"\\u00e9" }',
  ]);
  // Of a key that occurs twice the last value counts; changed, it takes the first one's place.
  expect(linesOf(shape('extend b = b + 1', [line]))).toEqual([
    '{ "b" : 3 , "a":1e2,"n":null, "big":1234567890123456789,"t":"\\u00e9" }',
  ]);
  expect(linesOf(shape('extend c = big', [line]))).toEqual([line.replace('" }', '" ,"c":1234567890123456789}')]);
  expect(linesOf(shape('project-away t*', [line]))).toEqual([
    '{ "b" : 1.50 , "a":1e2,"n":null, "big":1234567890123456789, "b":2.0 }',
  ]);
  expect(linesOf(shape('project-away a, b, n, big, t', [line]))).toEqual(['{}']);
  expect(linesOf(shape('project-away a', ['{"\\u0061":1,"c":2}']))).toEqual(['{"c":2}']);
});

test('time that a pipeline leaves out stays', () => {
  expect(linesOf(shape('project b', ['{"_time":"2026-11-22T10:00:00Z","a":1,"b":2}']))).toEqual([
    '{"_time":"2026-11-22T10:00:00Z","b":2}',
  ]);
});

test('digest changes with the variables and key files that a pipeline names, and with no others', () => {
  const folder = makeTree({ key: 'one' });
  const digest = (text: string, env: Record<string, string>): string =>
    createPipelineStage({ program: compileRows(text, { from: 'test' }), text, env, onError: 'keep', failed: () => {} })
      .digest;
  const named = 'extend a = env("REGION")';
  expect(digest(named, { REGION: 'x' })).not.toBe(digest(named, { REGION: 'y' }));
  expect(digest(named, { REGION: 'x', OTHER: '1' })).toBe(digest(named, { REGION: 'x', OTHER: '2' }));
  const keyed = `extend a = hash(a, secret_file("${folder}/key"))`;
  const before = digest(keyed, {});
  expect(digest(keyed, {})).toBe(before);
  writeFileSync(`${folder}/key`, 'two');
  expect(digest(keyed, {})).not.toBe(before);
});

const name = fc.constantFrom('a', 'b', 'c', 'req', 'req.id', 'a b', '__proto__', 'é', '_time', 'x"y');
const scalar = fc.oneof(
  fc.constantFrom(
    'null',
    'true',
    '1',
    '1.50',
    '1e2',
    '1234567890123456789',
    '""',
    '"x"',
    '"a\\"b\\\\"',
    '"\\ud834\\udd1e é"',
    '"ünï"',
  ),
  fc.string({ maxLength: 70 }).map((text) => JSON.stringify(text)),
);
const space = fc.constantFrom('', '', '', ' ', '\t ');
const json: fc.Arbitrary<string> = fc.letrec<{ object: string; value: string }>((tie) => ({
  object: fc
    .array(fc.tuple(space, name, space, space, tie('value'), space), { maxLength: 6 })
    .map(
      (members) =>
        `{${members.map(([a, key, b, c, value, d]) => `${a}${JSON.stringify(key)}${b}:${c}${value}${d}`).join(',')}}`,
    ),
  value: fc.oneof(
    { maxDepth: 2 },
    scalar,
    tie('object'),
    fc.array(tie('value'), { maxLength: 3 }).map((items) => `[ ${items.join(' ,')}]`),
  ),
})).object;

const PIPELINES = [
  'where isnotnull(a)',
  'where a == 1 or b contains "x"',
  'extend c = strcat(tostring(a), b)',
  'extend a = b, b = a',
  'extend req.id = 5',
  'extend a = toint("x")',
  'project-away req.id',
  'project-away a, b',
  'project-away re*',
  'project-keep a, req.id',
  'project a, c = b',
  'project-rename z = a',
  'project-rename b = a',
  'extend n = 1 | where n == 1 | project-away n | extend m = a',
];

test('members of an event are those that a parser finds', () => {
  fc.assert(
    fc.property(json, (line) => {
      const members = new Members();
      members.scan(Buffer.from(`x${line}\n`), 1);
      const found = Array.from({ length: members.count }, (_, n) => [
        members.nameOf(n),
        parseJson(members.bytes.toString('utf8', members.valueFrom[n], members.valueTo[n])),
      ]);
      expect(Object.fromEntries(found)).toEqual(parseJson(line));
      expect(members.bytes[members.close]).toBe('}'.charCodeAt(0));
      expect(members.close).toBe(Buffer.byteLength(line));
    }),
    { numRuns: 3000 },
  );
});

test('pipeline over the bytes of events gives what it gives over whole ones', () => {
  fc.assert(
    fc.property(fc.array(json, { minLength: 1, maxLength: 5 }), fc.constantFrom(...PIPELINES), (lines, text) => {
      const program = compileRows(text, { from: 'test' });
      const expected = lines.flatMap((line, n) => {
        const event = parseJson(line) as Record<string, RowValue>;
        const row: EventRow = new Map(Object.entries(event));
        const context = { readAtMs: 0, stream: 's', offset: 100 * n, sub: 0, random: () => 0, env: () => undefined };
        return program.run(row, context).map((each) => {
          if (Object.hasOwn(event, '_time') && !each.has('_time')) each.set('_time', event['_time']!);
          return parseJson(writeJson(Object.fromEntries(each)));
        });
      });
      const shaped = shape(text, lines);
      expect(linesOf(shaped).map((line) => parseJson(line))).toEqual(expected);
      expect(shaped.ends).toHaveLength(lines.length);
      expect(shaped.sent.reduce((sum, each) => sum + each, 0)).toBe(expected.length);
    }),
    { numRuns: 5000 },
  );
});
