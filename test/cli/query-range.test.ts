/** `--start` and `--end` as people write them. */
import { afterEach, expect, test } from 'vitest';
import { rangeOf } from '../../src/cli/client/query-range.ts';
import { API_TOKEN, localService } from '../support/local-service.ts';
import { tailraceFor } from './tailrace.ts';

const NOW = Date.parse('2026-11-26T09:00:00Z');
const zone = process.env['TZ'];
afterEach(() => {
  if (zone === undefined) delete process.env['TZ'];
  else process.env['TZ'] = zone;
});

const startOf = (start: string): string | undefined => rangeOf({ start }, NOW).startTime;

test.for([
  ['1h', 'now-1h'],
  ['-1h', 'now-1h'],
  ['now-1h', 'now-1h'],
  ['now - 1h', 'now - 1h'],
  ['now() - 1 hour', 'now-1h'],
  ['5 min', 'now-5m'],
  ['1h30m ago', 'now-90m'],
  ['1.5h', 'now-90m'],
  ['2 days ago', 'now-2d'],
  ['2w', 'now-14d'],
  ['250ms', 'now-250ms'],
  ['now+5m', 'now+5m'],
  ['now', 'now'],
  ['1764126000000000000', '1764126000000000000'],
  ['2026-11-25T03:12:00.123456789Z', '2026-11-25T03:12:00.123456789Z'],
  ['2026-11-25T03:12:00+02:00', '2026-11-25T03:12:00+02:00'],
  ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00Z'],
])('--start %s is %s', ([text, wanted]) => {
  expect(startOf(text!)).toBe(wanted);
});

test.for([
  ['UTC', '03:12', '2026-11-26T03:12:00.000Z'],
  ['UTC', '3:12', '2026-11-26T03:12:00.000Z'],
  ['UTC', '03:12:04.5', '2026-11-26T03:12:04.500Z'],
  // Later today has not been yet.
  ['UTC', '23:50', '2026-11-25T23:50:00.000Z'],
  ['UTC', '09:00', '2026-11-26T09:00:00.000Z'],
  ['UTC', 'today', '2026-11-26T00:00:00.000Z'],
  ['UTC', 'Yesterday', '2026-11-25T00:00:00.000Z'],
  ['UTC', 'yesterday 03:12', '2026-11-25T03:12:00.000Z'],
  ['UTC', '2026-11-25', '2026-11-25T00:00:00.000Z'],
  ['UTC', '2026-11-25 03:12', '2026-11-25T03:12:00.000Z'],
  ['America/New_York', '03:12', '2026-11-26T08:12:00.000Z'],
  ['America/New_York', '04:12', '2026-11-25T09:12:00.000Z'],
  ['America/New_York', '03:12Z', '2026-11-26T03:12:00.000Z'],
  ['America/New_York', 'yesterday', '2026-11-25T05:00:00.000Z'],
  ['America/New_York', '2026-07-01 03:12:04', '2026-07-01T07:12:04.000Z'],
  ['America/New_York', '2026-11-25T03:12', '2026-11-25T08:12:00.000Z'],
  ['Asia/Tokyo', '00:30', '2026-11-25T15:30:00.000Z'],
  ['Asia/Tokyo', '2026-11-25 03:12 UTC', '2026-11-25T03:12:00.000Z'],
  // As lines of events have them.
  ['UTC', '2026-11-25 22:19:30.040-05', '2026-11-26T03:19:30.040Z'],
  ['UTC', '2026-11-25 22:19:30.040+13', '2026-11-25T09:19:30.040Z'],
  ['UTC', '12:30:00.500+05:30', '2026-11-26T07:00:00.500Z'],
  // The day on which clocks went forward.
  ['Europe/Athens', '2026-03-29 12:00', '2026-03-29T09:00:00.000Z'],
])('in %s --start %s is %s', ([tz, text, wanted]) => {
  process.env['TZ'] = tz!;
  expect(startOf(text!)).toBe(wanted);
});

test.for([
  ['03:12', '04:00', '2026-11-26T04:00:00.000Z'],
  // Over midnight, and ahead of now.
  ['23:50', '00:10', '2026-11-26T00:10:00.000Z'],
  ['03:12', '12:00', '2026-11-26T12:00:00.000Z'],
  ['yesterday', '04:00', '2026-11-25T04:00:00.000Z'],
  ['2026-01-05 03:12', '03:12', '2026-01-06T03:12:00.000Z'],
  ['6h', '04:00', '2026-11-26T04:00:00.000Z'],
  ['yesterday', 'today', '2026-11-26T00:00:00.000Z'],
])('from --start %s, --end %s is %s', ([start, end, wanted]) => {
  process.env['TZ'] = 'UTC';
  expect(rangeOf({ start: start!, end: end! }, NOW).endTime).toBe(wanted);
});

test.for([
  '',
  'last week',
  '25:00',
  '03:60',
  '2026-02-31',
  '2026-13-01',
  '1x',
  '1h2',
  'h',
  '-',
  '90',
  'now1h',
  '03:12 tomorrow',
])('%j is refused with what to write', (text) => {
  expect(() => startOf(text)).toThrow(
    expect.objectContaining({ fix: expect.stringContaining('`1h` for an hour ago, `03:12`, `yesterday`') }),
  );
});

// Symptom: "0 rows", without a word, where the two were given the wrong way round.
test.for([
  ['1h', '2h'],
  ['now-30m', 'now() - 1 hour'],
  ['now', 'now-1d'],
  ['2026-11-26T09:00:00Z', '2026-11-26T08:00:00Z'],
  ['03:12', 'yesterday'],
  ['today', '2h30m'],
  ['2026-11-25', '2026-11-24T23:59:59Z'],
])('--start %s with --end %s, which is earlier, is refused with what to do', ([start, end]) => {
  process.env['TZ'] = 'UTC';
  const ONE_AT_NIGHT = Date.parse('2026-11-26T01:00:00Z');
  expect(() => rangeOf({ start: start!, end: end! }, start === 'today' ? ONE_AT_NIGHT : NOW)).toThrow(
    expect.objectContaining({
      message: `--end: "${end}" is before --start "${start}"`,
      fix: 'give the earlier time to --start; `2h` is two hours ago',
    }),
  );
});

const service = localService('logs');

// Symptom: `--start -1h`, `1h` and `yesterday` were refused with "wanted … now-1h".
test('query takes times as they are written', async () => {
  const tailrace = tailraceFor({ TAILRACE_URL: service.url, TAILRACE_TOKEN: API_TOKEN, TZ: 'America/New_York' });
  const hours = [0.5, 3, 40, 100];
  const event = (hour: number) =>
    JSON.stringify({ _time: new Date(Date.now() - hour * 3_600_000).toISOString(), hour });
  expect(await tailrace(['ingest', 'logs'], { input: hours.map(event).join('\n') })).toMatchObject({ code: 0 });
  const found = async (...range: string[]): Promise<unknown[]> => {
    const ended = await tailrace(['query', 'logs', ...range, '-o', 'ndjson']);
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    return ended.json().map(({ hour }) => hour);
  };
  for (const start of ['-1h', '1h', 'now-1h', '1 hour ago']) expect(await found('--start', start)).toEqual([0.5]);
  expect(await found('--start=-4h', '--end', '1h')).toEqual([3]);
  expect(await found('-s', '-2d', '-e', '-1d')).toEqual([40]);
  expect(await found('--start', 'yesterday')).toContain(0.5);
  expect(await found('--start', 'yesterday')).not.toContain(100);
  const clock = new Date(Date.now() - 60 * 60_000);
  const text = clock.toLocaleTimeString('en-GB', { timeZone: 'America/New_York', hour: '2-digit', minute: '2-digit' });
  expect(await found('--start', text)).toEqual([0.5]);
  const wrong = await tailrace(['query', 'logs', '--start', 'last week']);
  expect([wrong.code, wrong.stderr]).toEqual([
    2,
    expect.stringContaining('--start: "last week" is no time\n  fix: write `1h` for an hour ago'),
  ]);
});
