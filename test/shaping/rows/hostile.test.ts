/** Texts and events that nobody means well with: a transform is refused with its mistakes, or runs, or fails with the step that it failed in. */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compileRows, type RowProgram } from '../../../src/shaping/rows/program.ts';
import { writeJson } from '../../../src/json/numbers.ts';
import { TransformError, TransformTextError } from '../../../src/shaping/rows/transform-error.ts';
import type { EventRow, RowValue } from '../../../src/shaping/rows/values/value.ts';
import { anything, likely } from '../../service/hostile/query-texts.ts';
import { context, shape } from './support.ts';

const seed = Number(process.env['TAILRACE_FUZZ_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
const runs = Number(process.env['TAILRACE_FUZZ_TRANSFORMS'] ?? 3000);

const flow = fc.constantFrom(
  'sample 0.5',
  'sample 0.5 by a',
  'throttle 2 per 1s by m',
  'dedupe by a, j within 1s',
  'to_dataset(c)',
  'mv-expand j',
  'mv-expand j[0], m limit 2',
  'parse c with a "x" b:long *',
  'parse-kv c as (a, b:bool)',
  'extend c = redact(c)',
  'extend c = hash(c, env("KEY"))',
  'project-rename a = b, b = a',
  'project-keep o.p, j*',
);
/** Those that transforms take, too. */
const rowwise = likely.filter((query) => !/\| (?:summarize|sort|top|take|distinct|count|sample)|bin_auto/.test(query));
const text = fc.oneof(
  { arbitrary: rowwise.map((query) => query.replace("['#'] | ", '')), weight: 4 },
  fc
    .tuple(rowwise, flow, flow)
    .map(([query, first, last]) => [first, ...query.split(' | ').slice(1), last].join(' | ')),
  likely.map((query) => query.replace("['#'] | ", '')),
  anything,
);

const value: fc.Arbitrary<RowValue> = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<RowValue>(
      null,
      true,
      false,
      0,
      -0,
      1,
      -1,
      0.5,
      1e308,
      5e-324,
      2 ** 53,
      1e19,
      '',
      'x',
      '\ud800',
      '\0',
      'ß',
      '2026-01-01',
      '1h',
      '[1]',
      2n ** 63n,
      -(2n ** 63n),
      2n ** 200n,
    ),
    fc.string({ unit: 'binary', maxLength: 12 }),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('p', 'x', '__proto__', 'a.b', ''), tie('value'), { maxKeys: 3 }),
  ),
})).value as fc.Arbitrary<RowValue>;
const row = fc
  .dictionary(fc.constantFrom('a', 'b', 'c', 'd', 'j', 'm', 'o', 'o.p', '_time', '__proto__', 'x'), value, {
    maxKeys: 8,
  })
  .map((fields): EventRow => new Map(Object.entries(fields)));

test(`random transforms over random events fail only as they may (seed ${seed})`, () => {
  const counts = { refused: 0, failed: 0, ran: 0 };
  fc.assert(
    fc.property(text, fc.array(row, { minLength: 1, maxLength: 4 }), (transform, rows) => {
      let program: RowProgram;
      try {
        program = compileRows(transform, { from: 'test' });
      } catch (error) {
        if (!(error instanceof TransformTextError)) throw error;
        counts.refused++;
        return;
      }
      for (const each of rows) {
        try {
          for (const made of program.run(each, context)) {
            JSON.parse(writeJson(Object.fromEntries(made)));
            program.datasetOf?.(made, context);
          }
          counts.ran++;
        } catch (error) {
          if (!(error instanceof TransformError)) throw error;
          counts.failed++;
        }
      }
    }),
    { seed, numRuns: runs },
  );
  process.stdout.write(
    `transforms: ${counts.refused} refused, ${counts.ran} events shaped, ${counts.failed} failed, seed ${seed}\n`,
  );
  expect(counts.ran).toBeGreaterThan(runs / 20);
});

describe('a text of a mebibyte', () => {
  const MIB = 2 ** 20;
  const run = (transform: string, message: string): string => shape(transform, JSON.stringify({ message }))[0]!;

  test.each([
    [String.raw`extend x = extract(@"(a+)+$", 1, message) | project x`, `${'a'.repeat(MIB)}!`],
    [String.raw`extend x = extract(@"(.*)(.*)(.*)(.*)x", 1, message) | project x`, 'a'.repeat(MIB)],
    [String.raw`extend x = countof_regex(@"[ab]{8}|b", message) | project x`, 'a'.repeat(MIB)],
    [String.raw`extend x = strlen(replace_regex(@"(a|b|ab)*c", "", message)) | project x`, 'ab'.repeat(MIB / 2)],
    ['parse message with * "user=" user " id=" id:long * | project user', 'user= '.repeat(MIB / 6)],
    ['parse-kv message as (a, b) | project a', 'x="y '.repeat(MIB / 5)],
    ['where message has "needle" or message hasprefix "b" | project x = 1', 'needles '.repeat(MIB / 8)],
    ['extend x = strlen(trim(" ", message)), y = strlen(reverse(message)) | project x, y', ' '.repeat(MIB)],
    ['extend x = array_length(split(message, ",")) | project x', ','.repeat(MIB)],
  ])('%s ends', (transform, message) => {
    // The cost grows with the text: patterns that would explode elsewhere would hold this test up for hours.
    expect(() => run(transform, message)).not.toThrow();
  });

  test.each([
    'extend x = replace_string("a", message, message)',
    'extend x = strrep(message, 1024)',
    'extend x = strcat(message, message, message, message, message, message, message, message, message, message, message, message, message, message, message, message, message)',
    'extend x = replace_regex("a{16}", "$0$0$0$0$0$0$0$0$0$0$0$0$0$0$0$0$0$0$0$0", message)',
  ])('%s is refused where it would be too long', (transform) => {
    expect(() => run(transform, 'a'.repeat(MIB))).toThrow(
      'extend at 1:1: the text would be longer than 16777216 characters',
    );
  });
});

test('an event of deeply nested arrays does not break what does not look into it', () => {
  const deep = new Map<string, RowValue>([
    ['a', 1],
    ['j', JSON.parse(`${'['.repeat(5000)}${']'.repeat(5000)}`) as RowValue],
  ]);
  expect(compileRows('where a == 1 | extend b = a + 1', { from: 'test' }).run(deep, context)).toHaveLength(1);
});
