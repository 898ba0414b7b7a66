import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatDuration, formatSize, parseDuration, parseSize } from '../../src/config/fields/units.ts';

describe('sizes', () => {
  test.each([
    ['512', 512],
    ['0', 0],
    ['64KiB', 65_536],
    ['1MiB', 1_048_576],
    ['2GiB', 2_147_483_648],
    ['10KB', 10_000],
    ['10MB', 10_000_000],
    ['1GB', 1_000_000_000],
  ])('%s is %d bytes', (text, value) => expect(parseSize(text)).toEqual({ ok: true, value }));

  test.each([
    ['64k', '`64KiB` (counted in 1,024) or `64KB` (counted in 1,000)'],
    ['1mib', '`1MiB`'],
    ['10B', '`10`'],
    ['1.5MiB', '64KiB'],
    ['1 MiB', '64KiB'],
    ['-1', '64KiB'],
    ['', '64KiB'],
    ['1TiB', '64KiB'],
    ['0x10', '64KiB'],
    ['999999999999999GiB', '64KiB'],
  ])('%s is refused with a fix', (text, fix) =>
    expect(parseSize(text)).toMatchObject({ ok: false, fix: expect.stringContaining(fix) as string }),
  );

  test('a formatted size reads back as itself', () => {
    const bytes = fc.oneof(
      fc.nat(1e15 - 1),
      fc.tuple(fc.nat(1000), fc.constantFrom(2 ** 10, 2 ** 20, 2 ** 30)).map(([n, unit]) => n * unit),
    );
    fc.assert(
      fc.property(bytes, (value) => {
        expect(parseSize(formatSize(value))).toEqual({ ok: true, value });
      }),
    );
  });
});

describe('durations', () => {
  test.each([
    ['250ms', 250],
    ['1s', 1000],
    ['5m', 300_000],
    ['1h', 3_600_000],
    ['7d', 604_800_000],
    ['0s', 0],
  ])('%s is %d ms', (text, value) => expect(parseDuration(text)).toEqual({ ok: true, value }));

  test.each([
    ['30', '`30s` for seconds or `30ms` for milliseconds'],
    ['5min', '`5m`'],
    ['5sec', '`5s`'],
    ['1H', '`1h`'],
    ['1month', '`30s`'],
    ['1.5s', '`30s`'],
    ['s', '`30s`'],
    ['999999999999999d', '`30s`'],
  ])('%s is refused with a fix', (text, fix) =>
    expect(parseDuration(text)).toMatchObject({ ok: false, fix: expect.stringContaining(fix) as string }),
  );

  test('a formatted duration reads back as itself', () => {
    const ms = fc
      .tuple(fc.nat(10_000), fc.constantFrom(1, 1000, 60_000, 3_600_000, 86_400_000))
      .map(([n, unit]) => n * unit);
    fc.assert(
      fc.property(ms, (value) => {
        expect(parseDuration(formatDuration(value))).toEqual({ ok: true, value });
      }),
    );
  });
});

test('any text is read as a quantity or refused, never thrown on', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.stringMatching(/^\d+[A-Za-z]*$/)), (text) => {
      for (const parsed of [parseSize(text), parseDuration(text)]) {
        if (parsed.ok) expect(Number.isSafeInteger(parsed.value)).toBe(true);
        else expect(parsed.fix).not.toBe('');
      }
    }),
  );
});
