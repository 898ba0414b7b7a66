/** Reading times: the guesses without a format, the unit names, Go layouts; and writing them. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatTime, MAX_TIME_NS, MIN_TIME_NS, readUnixInteger, readUnixTime } from '../../src/core/time/time-text.ts';
import { timeReader } from '../../src/service/ingest/timestamps.ts';
import { parseDuration } from '../../src/service/http/duration.ts';

const read = (value: unknown, format = ''): string => {
  const time = timeReader(format)(value);
  return typeof time === 'bigint' ? formatTime(time) : `refused: ${time}`;
};

describe('without a format', () => {
  test.each([
    ['2026-01-02T03:04:05Z', '2026-01-02T03:04:05Z'],
    ['2026-01-02t03:04:05.1z', '2026-01-02T03:04:05.1Z'],
    ['2026-01-02T03:04:05,123456789-05:30', '2026-01-02T08:34:05.123456789Z'],
    ['2026-01-02T03:04:05.1234567899', '2026-01-02T03:04:05.123456789Z'],
    ['2026-01-02 03:04', '2026-01-02T03:04:00Z'],
    ['20260102T030405Z', '2026-01-02T03:04:05Z'],
    ['2026-01-02', '2026-01-02T00:00:00Z'],
    ['2024-02-29T23:59:60Z', '2024-03-01T00:00:00Z'],
    ['1969-12-31T23:59:59.999999999Z', '1969-12-31T23:59:59.999999999Z'],
    [0, '1970-01-01T00:00:00Z'],
    [-1, '1969-12-31T23:59:59Z'],
    [1767323045.25, '2026-01-02T03:04:05.25Z'],
    ['1767323045.123456789', '2026-01-02T03:04:05.123456789Z'],
    [1767323045123, '2026-01-02T03:04:05.123Z'],
    [1767323045123456, '2026-01-02T03:04:05.123456Z'],
    [1767323045123456789n, '2026-01-02T03:04:05.123456789Z'],
    [1e9, '2001-09-09T01:46:40Z'],
  ])('%s is %s', (value, time) => {
    expect(read(value)).toBe(time);
  });

  test.each([
    '',
    'x',
    '2026-13-01',
    '2026-02-29',
    '2026-01-01T24:00:00Z',
    '2026-01-01T00:00:00+24:00',
    '1899-12-31',
    '2263-01-01',
    1e300,
    Number.NaN,
    true,
    null,
    [],
    '1'.repeat(400),
  ])('%j is refused with a short reason', (value) => {
    expect(read(value)).toMatch(/^refused: .{5,200}$/);
  });
});

test('an integer is the time that its text is, in every unit', () => {
  const powers = fc.constantFrom(undefined, 9 as const, 6 as const, 3 as const, 0 as const);
  const edges = fc.constantFrom(0, -0, 1e10 - 1, 1e10, 1e13 - 1, 1e13, 1e15, Number.MAX_SAFE_INTEGER);
  fc.assert(
    fc.property(fc.oneof(fc.maxSafeNat(), fc.nat(2e9), edges), powers, (value, power) => {
      expect(readUnixInteger(value, power)).toBe(readUnixTime(String(value), power));
    }),
  );
});

describe('with a format', () => {
  test.each([
    ['unix', 1767323045, '2026-01-02T03:04:05Z'],
    ['unix', '1767323045.5', '2026-01-02T03:04:05.5Z'],
    ['unixms', 1767323045123, '2026-01-02T03:04:05.123Z'],
    ['unixus', 1767323045123456, '2026-01-02T03:04:05.123456Z'],
    ['unixnano', 1767323045123456789n, '2026-01-02T03:04:05.123456789Z'],
    ['rfc3339', '2026-01-02T03:04:05Z', '2026-01-02T03:04:05Z'],
    ['2/Jan/2006:15:04:05 -0700', '02/Jan/2026:03:04:05 +0200', '2026-01-02T01:04:05Z'],
    ['2/Jan/2006:15:04:05 +0000', '2/Jan/2026:03:04:05 +0000', '2026-01-02T03:04:05Z'],
    ['Mon Jan _2 15:04:05 2006', 'Fri Jan  2 03:04:05 2026', '2026-01-02T03:04:05Z'],
    ['Mon, 02 Jan 2006 15:04:05 MST', 'Fri, 02 Jan 2026 03:04:05 GMT', '2026-01-02T03:04:05Z'],
    ['Monday, January 2, 2006 3:04PM', 'Friday, January 2, 2026 3:04PM', '2026-01-02T15:04:00Z'],
    ['03:04:05 PM 01/02/06', '12:04:05 AM 01/02/26', '2026-01-02T00:04:05Z'],
    ['2006-01-02T15:04:05.000Z07:00', '2026-01-02T03:04:05.123Z', '2026-01-02T03:04:05.123Z'],
    ['2006-01-02T15:04:05Z07:00', '2026-01-02T03:04:05.123456789+01:00', '2026-01-02T02:04:05.123456789Z'],
    ['2006-01-02 15:04:05,000', '2026-01-02 03:04:05,123', '2026-01-02T03:04:05.123Z'],
    ['2006 002', '2026 033', '2026-02-02T00:00:00Z'],
    ['20060102150405', '20260102030405', '2026-01-02T03:04:05Z'],
  ])('%s reads %s', (format, value, time) => {
    expect(read(value, format)).toBe(time);
  });

  test.each([
    ['2006-01-02', '2026-01-02 '],
    ['2006-01-02', '2026-1-02'],
    ['2006-01-02', '2026-02-30'],
    ['15:04:05.000', '03:04:05.12'],
    ['2/Jan/2006:15:04:05 +0000', '2/Jan/2026:03:04:05 +0100'],
    ['no tokens', 'other'],
    ['unix', 'soon'],
  ])('%s refuses %s', (format, value) => {
    expect(read(value, format)).toMatch(/^refused: /);
  });
});

test('what formatTime writes, the reader reads back, for any nanosecond in range', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: MIN_TIME_NS, max: MAX_TIME_NS }), (ns) => timeReader('')(formatTime(ns)) === ns),
  );
});

test('no text and no layout makes the reader throw', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (format, text) => {
      expect(['bigint', 'string']).toContain(typeof timeReader(format)(text));
    }),
  );
});

test.each([
  ['1h30m', 5_400_000_000_000n],
  ['1.5h', 5_400_000_000_000n],
  ['7d', 604_800_000_000_000n],
  ['100ms1ns', 100_000_001n],
  ['0', 0n],
  ['', undefined],
  ['5', undefined],
  ['-1h', undefined],
  ['999999999999999d', undefined],
])('the duration %j is %s ns', (text, ns) => {
  expect(parseDuration(text)).toBe(ns);
});
