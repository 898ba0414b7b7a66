/** What functions that keep secrets give. The tests set `NAME` to "value" and `KEY` to "secret"; secret_file has tests of its own. */
import type { FunctionCase } from '../function-cases.ts';
import type { HIDING } from '../../../src/language/functions/hiding/spec.ts';

export const HIDING_CASES: Readonly<Record<keyof typeof HIDING, readonly FunctionCase[]>> = {
  redact: [['"from a@b.com at 10.0.0.1", "email"', 'from [REDACTED:email] at 10.0.0.1'],
    ['"a@b.com, 10.0.0.1"', '[REDACTED:email], [REDACTED:ipv4]'],
    ['"T-12 xxx", @"ticket=/T-\\d+/", "/x+/"', '[REDACTED:ticket] [REDACTED:pattern]'],
    ['string(null), "email"', null]],
  hash: [['"World", 100', 51, { only: 'queries', source: 'xxHash64' }], ['"", 1000', 921, { only: 'queries' }],
    ['tostring(hash("World"))', '1846988464401551951', { only: 'queries' }], ['hash(2, 7) == hash("2", 7)', true, { only: 'queries' }],
    ['hash(n) == hash(42.0)', true, { only: 'queries' }], ['missing', null, { only: 'queries' }], ['word, 1', 0, { only: 'queries' }],
    ['hash(true) == hash("true")', true, { only: 'queries' }],
    ['"a", env("KEY")', '4048c44911916043ff626895ff78c526', { only: 'transforms', source: 'RFC 2104, with SHA-256' }]],
  env: [['"NAME"', 'value'], ['"NOT_SET"', null]],
  secret_file: [],
}; // prettier-ignore
