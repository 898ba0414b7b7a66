import { expect, test } from 'vitest';
import { createZone, namedZone } from '../../src/core/time/zone.ts';

function instant(zoneName: string, wallText: string, near: string): string | undefined {
  const [, year, month, day, hour, minute, second] = /^(\d{4}|-)-(\d\d)-(\d\d) (\d\d):(\d\d):(\d\d)$/.exec(wallText)!;
  const wall = {
    year: year === '-' ? undefined : Number(year),
    month: Number(month),
    day: Number(day),
    hour: Number(hour),
    minute: Number(minute),
    second: Number(second),
  };
  const ms = createZone(zoneName).toInstant(wall, Date.parse(near));
  return ms === undefined ? undefined : new Date(ms).toISOString();
}

test.each([
  ['December in January is last year', 'UTC', '--12-31 23:59:59', '2026-01-01T00:00:01Z', '2025-12-31T23:59:59.000Z'],
  ['January in December is next year', 'UTC', '--01-01 00:00:01', '2025-12-31T23:59:59Z', '2026-01-01T00:00:01.000Z'],
  ['a clock ahead stays in the year', 'UTC', '--06-02 00:00:00', '2026-06-01T00:00:00Z', '2026-06-02T00:00:00.000Z'],
  [
    'an old message of this year stays in it',
    'UTC',
    '--01-20 00:00:00',
    '2026-12-01T00:00:00Z',
    '2026-01-20T00:00:00.000Z',
  ],
  ['a day ahead is this year', 'UTC', '--06-02 12:00:00', '2026-06-01T12:00:00Z', '2026-06-02T12:00:00.000Z'],
  ['more than a day ahead is last year', 'UTC', '--06-02 12:00:01', '2026-06-01T12:00:00Z', '2025-06-02T12:00:01.000Z'],
  ['a month far ahead is last year', 'UTC', '--11-05 00:00:00', '2026-02-01T00:00:00Z', '2025-11-05T00:00:00.000Z'],
  [
    '29 February goes back to a leap year',
    'UTC',
    '--02-29 00:00:00',
    '2026-03-01T00:00:00Z',
    '2024-02-29T00:00:00.000Z',
  ],
  [
    'the year is the zone’s own',
    'Pacific/Auckland',
    '--01-01 09:00:00',
    '2025-12-31T20:00:00Z',
    '2025-12-31T20:00:00.000Z',
  ],
  ['summer time counts', 'Europe/Athens', '2026-07-01 12:00:00', '2026-07-01T00:00:00Z', '2026-07-01T09:00:00.000Z'],
  ['winter time counts', 'Europe/Athens', '2026-01-01 12:00:00', '2026-07-01T00:00:00Z', '2026-01-01T10:00:00.000Z'],
  ['half-hour zones count', 'Asia/Kolkata', '2026-01-01 00:00:00', '2026-01-01T00:00:00Z', '2025-12-31T18:30:00.000Z'],
  [
    'a time left out by summer time counts with the offset before',
    'Europe/Athens',
    '2026-03-29 03:30:00',
    '2026-03-29T01:00:00Z',
    '2026-03-29T01:30:00.000Z',
  ],
  [
    'of a repeated hour the nearer one, first',
    'Europe/Athens',
    '2026-10-25 03:30:00',
    '2026-10-25T00:30:05Z',
    '2026-10-25T00:30:00.000Z',
  ],
  [
    'of a repeated hour the nearer one, second',
    'Europe/Athens',
    '2026-10-25 03:30:00',
    '2026-10-25T01:30:05Z',
    '2026-10-25T01:30:00.000Z',
  ],
  // Symptom: a date of the first century was 1,900 years off. Cause: Date.UTC takes the years 0 to 99 for 1900 to 1999.
  [
    'a year below 100 counts',
    'Europe/Athens',
    '0050-06-01 12:00:00',
    '2026-01-01T00:00:00Z',
    '0050-06-01T10:25:08.000Z',
  ],
  [
    'the first year counts',
    'America/New_York',
    '0001-01-01 00:00:00',
    '2026-01-01T00:00:00Z',
    '0001-01-01T04:56:02.000Z',
  ],
  ['30 February is no date', 'UTC', '--02-30 00:00:00', '2026-03-01T00:00:00Z', undefined],
  ['24:00 is no time', 'UTC', '2026-01-01 24:00:00', '2026-03-01T00:00:00Z', undefined],
])('zone: %s', (_name, zone, wall, near, expected) => {
  expect(instant(zone, wall, near)).toBe(expected);
});

// A line may name a zone in any spelling: each costs a look, not offsets of its own.
test('zone: spellings of a name that a log holds share one zone', () => {
  expect(namedZone('Europe/bErLiN')).toBe(namedZone('Europe/Berlin'));
  expect(namedZone('US/Pacific')).toBe(namedZone('America/Los_Angeles'));
  expect(namedZone('Europe/Nowhere')).toBeUndefined();
});
