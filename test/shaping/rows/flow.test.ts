import { createHmac } from 'node:crypto';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { compileRows } from '../../../src/shaping/rows/program.ts';
import { TransformError } from '../../../src/shaping/rows/transform-error.ts';
import { context, READ_AT_MS, rowOf, shape } from './support.ts';
import { makeTree } from '../../support/temp-tree.ts';

const compile = (text: string) => compileRows(text, { from: 'test' });

/** How many of the events go through, the nth read `ms` later than the one before. */
function passed(text: string, events: readonly string[], ms = 0): boolean[] {
  const program = compile(text);
  return events.map((event, n) => shape(program, event, { readAtMs: READ_AT_MS + n * ms, offset: n }).length > 0);
}
const same = (count: number, event = '{"a":1}'): string[] => Array<string>(count).fill(event);
const count = (results: readonly boolean[]): number => results.filter(Boolean).length;

describe('sample', () => {
  test('keeps about the fraction, and always the same events', () => {
    const first = passed('sample 0.1', same(10_000));
    expect(count(first)).toBeGreaterThan(800);
    expect(count(first)).toBeLessThan(1200);
    expect(passed('sample 0.1', same(10_000))).toEqual(first);
  });

  test('keeps or drops events of equal values together', () => {
    const events = Array.from({ length: 2000 }, (_, n) => `{"trace":"${n % 200}","n":${n}}`);
    const results = passed('sample 0.5 by trace', events);
    for (let n = 200; n < 2000; n++) expect(results[n]).toBe(results[n % 200]);
    expect(count(results)).toBeGreaterThan(600);
    expect(count(results)).toBeLessThan(1400);
  });

  test.each([
    ['sample 0', 0],
    ['sample 1', 50],
    ['sample 0.0', 0],
    ['sample 1.0', 50],
  ] as const)('%s keeps %d of 50', (text, expected) => {
    expect(count(passed(text, same(50)))).toBe(expected);
  });

  test.each(['sample 10', 'sample 1.5'])('%s is refused', (text) => {
    expect(() => compile(text)).toThrow('wanted a fraction from 0 to 1');
  });
});

describe('throttle', () => {
  test('lets that many through in each window', () => {
    expect(count(passed('throttle 3 per 1s', same(10)))).toBe(3);
    expect(count(passed('throttle 3 per 1s', same(20), 100))).toBeGreaterThanOrEqual(6);
  });

  test('counts each group on its own', () => {
    expect(passed('throttle 1 per 1m by a', ['{"a":1}', '{"a":2}', '{"a":1}', '{"a":"1"}', '{}', '{}'])).toEqual([
      true,
      true,
      false,
      true,
      true,
      false,
    ]);
  });

  test('forgets the oldest group of more than 10,000', () => {
    const events = Array.from({ length: 10_002 }, (_, n) => `{"a":${n % 10_001}}`);
    const results = passed('throttle 1 per 1m by a', events);
    expect(count(results)).toBe(10_002);
    expect(count(passed('throttle 1 per 1m by a', [...events.slice(0, 10_000), events[5_000]!]))).toBe(10_000);
  });
});

describe('dedupe', () => {
  test('leaves out events that passed a short time before', () => {
    expect(passed('dedupe by a within 10s', same(5), 4000)).toEqual([true, false, false, true, false]);
    expect(passed('dedupe by a, b within 10s', ['{"a":1}', '{"a":1,"b":1}', '{"b":1,"a":1}'])).toEqual([
      true,
      true,
      false,
    ]);
  });

  test.each(['throttle 1 per 1s', 'dedupe by a within 1s'])('%s is not deterministic', (text) => {
    expect(compile(text).deterministic).toBe(false);
  });
});

describe('mv-expand', () => {
  test.each([
    ['mv-expand a', '{"a":[1,"x",{"k":2}],"b":0}', ['{"a":1,"b":0}', '{"a":"x","b":0}', '{"a":{"k":2},"b":0}']],
    ['mv-expand a', '{"a":[],"b":0}', ['{"b":0}']],
    ['mv-expand a', '{"a":5,"b":0}', ['{"a":5,"b":0}']],
    ['mv-expand a', '{"b":0}', ['{"b":0}']],
    ['mv-expand a, c', '{"a":[1,2],"c":["x"]}', ['{"a":1,"c":"x"}', '{"a":2}']],
    [
      'mv-expand with_itemindex=n x = a to typeof(string)',
      '{"a":[1,2]}',
      ['{"a":[1,2],"x":"1","n":0}', '{"a":[1,2],"x":"2","n":1}'],
    ],
    [
      'mv-expand r = records.list | where r.ok | project r.id',
      '{"records":{"list":[{"ok":true,"id":1},{"ok":false,"id":2}]}}',
      ['{"r.id":1}'],
    ],
  ] as const)('%s of %s', (text, event, expected) => {
    expect(shape(text, event)).toEqual(expected);
  });

  test('of a million items is refused, unless a limit is set', () => {
    const row = () => new Map([['a', Array<number>(1_000_000).fill(1)]]);
    expect(() => compile('mv-expand a').run(row(), context)).toThrow(TransformError);
    expect(compile('mv-expand a limit 100').run(row(), context)).toHaveLength(100);
  });
});

describe('to_dataset', () => {
  const route = (text: string, event: string): string | undefined => {
    const program = compile(text);
    const [row] = program.run(rowOf(event), context);
    return program.datasetOf?.(row!, context);
  };

  test.each([
    ['to_dataset("errors")', '{}', 'errors'],
    ['to_dataset(strcat("app-", service))', '{"service":"web"}', 'app-web'],
    ['to_dataset(iff(level == "error", "errors", ""))', '{"level":"info"}', undefined],
    ['to_dataset(team)', '{}', undefined],
    ['where true', '{}', undefined],
  ])('%s of %s gives %s', (text, event, expected) => {
    expect(route(text, event)).toBe(expected);
  });

  test('is the last step', () => {
    expect(() => compile('to_dataset("x") | where true')).toThrow('nothing can stand behind to_dataset');
  });
});

describe('secrets', () => {
  const pseudonym = (key: string): string => createHmac('sha256', key).update('bob').digest('hex').slice(0, 32);

  test('hash takes its key from the environment', () => {
    const program = compile('extend user = hash(user, env("KEY"))');
    expect(shape(program, '{"user":"bob"}')).toEqual([`{"user":"${pseudonym('secret')}"}`]);
    expect([...program.environment]).toEqual(['KEY']);
    expect(program.hides).toBe(true);
  });

  test('hash takes its key from the first line of a file', () => {
    const path = join(makeTree({ key: 'from file\n' }), 'key');
    const program = compile(`extend user = hash(user, secret_file("${path}"))`);
    expect(shape(program, '{"user":"bob"}')).toEqual([`{"user":"${pseudonym('from file')}"}`]);
    expect([...program.secretFiles]).toEqual([path]);
  });

  test('a missing key fails the event without a word of its values', () => {
    const program = compile('where true\n| extend user = hash(user, env("NOT_SET"))');
    const run = () => program.run(rowOf('{"user":"bob"}'), context);
    expect(run).toThrow('extend at 2:3: the environment variable NOT_SET with the key is not set');
    expect(run).not.toThrow(/bob/);
  });

  test.each([
    ['extend a = hash(a, "key")', 'its key as env("NAME") or secret_file("/path")'],
    ['extend a = hash(a)', 'hash wants its key in a transform as env("NAME") or secret_file("/path")'],
    ['extend a = hash(a, 100)', 'hash wants its key in a transform as env("NAME") or secret_file("/path")'],
    ['extend a = hash(5, env("KEY"))', 'hash does not go with an integer and a string'],
    ['extend a = secret_file("/etc/hostname")', 'secret_file can only be the key of hash'],
    ['extend a = hash(a, secret_file("/nowhere/key"))', 'cannot read the key: ENOENT'],
    ['extend a = redact(a, "emial")', 'unknown kind "emial"; did you mean email; there are '],
    ['extend a = redact(a, "/(/")', 'no regular expression that can be used'],
    ['extend a = redact(a, b)', 'redact wants a text in quotes as argument 2'],
  ])('%s: %s', (text, message) => {
    expect(() => compile(text)).toThrow(message);
  });

  test.each([
    ['extend m = redact(m, "email")', '{"m":"a@b.com, 10.0.0.1"}', '{"m":"[REDACTED:email], 10.0.0.1"}'],
    ['extend m = redact(m)', '{"m":"a@b.com, 10.0.0.1"}', '{"m":"[REDACTED:email], [REDACTED:ipv4]"}'],
    [
      String.raw`extend m = redact(m, @"ticket=/T-\d+/", "/x+/")`,
      '{"m":"T-12 xxx"}',
      '{"m":"[REDACTED:ticket] [REDACTED:pattern]"}',
    ],
    ['extend m = redact(m, "email")', '{"m":null}', '{}'],
    ['extend m = redact(m, "credit_card")', '{"m":4111111111111111}', '{"m":"[REDACTED:credit_card]"}'],
    ['extend m = mask(m, 4)', '{"m":"4111111111111111"}', '{"m":"************1111"}'],
    ['extend m = mask(m)', '{"m":"𝒳y"}', '{"m":"**"}'],
    ['extend m = env("NAME"), n = env("NONE")', '{}', '{"m":"value"}'],
  ])('%s of %s', (text, event, expected) => {
    expect(shape(text, event)).toEqual([expected]);
  });
});
