/** The time of an event by `time`: which text or field it is read from, in which format and zone, and what becomes of one that is none. */
import { expect, test } from 'vitest';
import { make } from './made.ts';

const READ = '2026-11-22T18:00:00.500Z';

const timeOf = async (source: string, input: string): Promise<unknown> => (await make(source, input)).events[0]?.['_time'];

const ATHENS = 'time: {timezone: Europe/Athens}';

// prettier-ignore
const TEXTS: [line: string, time: string][] = [
  ['2026-11-22T16:08:49.123456789Z x', '2026-11-22T16:08:49.123456789Z'],
  ['2026-11-22T16:08:49+01:00 x', '2026-11-22T15:08:49Z'],
  ['2026-11-22 16:08:49,123 ERROR [main] App - it broke', '2026-11-22T14:08:49.123Z'],
  ['[2026-11-22T16:08:49,123][INFO ][o.e.n.Node] started', '2026-11-22T14:08:49.123Z'],
  ['2026-11-22 16:08:55.001 UTC [812] LOG:  checkpoint starting', '2026-11-22T16:08:55.001Z'],
  ['2026-11-22 16:08:55.001 CET [812] LOG:  checkpoint starting', '2026-11-22T15:08:55.001Z'],
  ['2026/11/22 16:08:49 [error] 17#17: *1 open() failed', '2026-11-22T14:08:49Z'],
  ['[22/Nov/2026:16:08:49 +0100] "GET /"', '2026-11-22T15:08:49Z'],
  ['Nov 22 16:08:49 web-1 sshd[812]: Accepted', '2026-11-22T14:08:49Z'],
  ['Nov  2 16:08:49 web-1 cron[1]: x', '2026-11-02T14:08:49Z'],
  ['Dec 31 23:59:59 web-1 cron[1]: last year', '2025-12-31T21:59:59Z'],
  ['I1122 16:08:49.123456       1 main.go:7] ready', '2026-11-22T14:08:49.123456Z'],
  ['E20261122 16:08:49.123456 7 x.cc:1] glog', '2026-11-22T14:08:49.123456Z'],
  ['Sun, 22 Nov 2026 16:08:49 GMT x', '2026-11-22T16:08:49Z'],
  ['[Sun Nov 22 16:08:49.123456 2026] [core:error] [pid 7] x', '2026-11-22T14:08:49.123456Z'],
  ['22-Nov-2026 16:08:49.123 INFO [main] org.apache.catalina', '2026-11-22T14:08:49.123Z'],
  ['INFO  2026-11-22 16:08:49,123 x', '2026-11-22T14:08:49.123Z'],
  ['[WARN] 2026-11-22 16:08:49 x', '2026-11-22T14:08:49Z'],
  ['WARN[2026-11-22T16:08:49Z] logrus', '2026-11-22T16:08:49Z'],
  // Not at the beginning, a bare number, too old, too far ahead, no date, no zone that there could be.
  ['at 2026-11-22T16:08:49Z', READ],
  ['1795363729 x', READ],
  ['1999-12-31T23:59:59Z x', READ],
  ['2026-11-24T16:08:49Z x', READ],
  ['2026-02-30 16:08:49 x', READ],
  ['0000-11-22T16:08:49Z x', READ],
  ['2026-11-22T16:08:49+99:00 x', READ],
  ['2026-11-22T16:08:490 x', READ],
  // A clock that is set forward leaves 03:30 out: it counts with the offset before. One that is set back has it twice: the later one.
  ['2026-03-29 03:30:00 x', '2026-03-29T01:30:00Z'],
  ['2026-10-25 03:30:00 x', '2026-10-25T01:30:00Z'],
]; // prettier-ignore

test.each(TEXTS)('time: a text that begins with %s', async (line, time) => {
  expect(await timeOf(ATHENS, line)).toBe(time);
  // The same again and after others: what is kept of one must not make the next.
  const lines = [line, 'no time', line, ...TEXTS.map(([other]) => other), line];
  const { events } = await make(ATHENS, lines.join('\n'));
  expect([events[0]!['_time'], events[2]!['_time'], events.at(-1)!['_time']]).toEqual([time, time, time]);
});

// prettier-ignore
const FIELDS: [line: string, time: string][] = [
  ['{"time":"2026-11-22T16:08:49.5Z"}', '2026-11-22T16:08:49.5Z'],
  ['{"level":30,"time":1795363729123,"msg":"pino"}', '2026-11-22T16:08:49.123Z'],
  ['{"level":"info","ts":1795363729.1234567,"msg":"zap"}', '2026-11-22T16:08:49.1234567Z'],
  ['{"ts":1795363729123456}', '2026-11-22T16:08:49.123456Z'],
  ['{"ts":"1795363729123456789"}', '2026-11-22T16:08:49.123456789Z'],
  ['{"@timestamp":"2026-11-22T16:08:49,123+02:00"}', '2026-11-22T14:08:49.123Z'],
  ['{"eventTime":"2026-11-22 16:08:49"}', '2026-11-22T14:08:49Z'],
  ['{"timestamp":"Sun, 22 Nov 2026 16:08:49 GMT"}', '2026-11-22T16:08:49Z'],
  ['{"time":"12:00","ts":"2026-11-22T16:08:49Z"}', '2026-11-22T16:08:49Z'],
  ['{"ts":"2026-11-22T16:08:49Z","time":"2026-11-22T16:08:50Z"}', '2026-11-22T16:08:50Z'],
  ['{"a":{"time":"2026-11-22T16:08:49Z"}}', READ],
  ['{"time":"2026-11-22T16:08:49Z more"}', READ],
  ['{"time":null,"ts":{},"timestamp":[1795363729]}', READ],
  ['{"time":1e30,"ts":-1,"timestamp":12345,"eventTime":"NaN"}', READ],
  ['{"time":1000000000000000000000000000000}', READ],
  ['{"_time":"what it says","time":1795363729}', 'what it says'],
]; // prettier-ignore

test.each(FIELDS)('time: the object %s', async (line, time) => {
  const { events, lines } = await make(ATHENS, `${line}\n${line}\n${line}`);
  expect(events.map((event) => event['_time'])).toEqual([time, time, time]);
  // Its own bytes stay.
  expect(lines[0]!.startsWith(line.slice(0, -1))).toBe(true);
});

test('time: joined lines have the time of their first', async () => {
  const { events } = await make(
    `${ATHENS}\nmultiline: {start: '^\\d{4}-'}`,
    '2026-11-22 16:08:49,123 ERROR no\n\tat main\n2026-11-22 16:08:50 ok',
  );
  expect(events.map((event) => event['_time'])).toEqual(['2026-11-22T14:08:49.123Z', '2026-11-22T14:08:50Z']);
});

test('time: logfmt, and the message of a regex, bring theirs', async () => {
  expect(await timeOf(`${ATHENS}\nformat: logfmt`, 'time="2026-11-22 16:08:49" level=info')).toBe('2026-11-22T14:08:49Z');
  expect(await timeOf(`${ATHENS}\nformat: logfmt`, 'ts=1795363729.25 level=info')).toBe('2026-11-22T16:08:49.25Z');
  expect(await timeOf(`${ATHENS}\nformat: logfmt`, '2026-11-22 16:08:49 no pairs')).toBe('2026-11-22T14:08:49Z');
});

test('time: read leaves all of them alone', async () => {
  expect(await timeOf('time: read', '2026-11-22T16:08:49Z x')).toBe(READ);
  expect(await timeOf('time: read', '{"time":"2026-11-22T16:08:49Z"}')).toBe(READ);
  expect(await timeOf("time: read\nformat: regex\nregex: '^(?<_time>\\S+) (?<a>.*)$'", '22/Nov/2026:16:08:49 x')).toBe(READ);
});

test('time: a _time group in CLF or the form of nginx is RFC 3339 afterwards', async () => {
  const access = `${ATHENS}\nformat: regex\nregex: '^(?<ip>\\S+) \\[(?<_time>[^\\]]+)\\] (?<rest>.*)$'`;
  expect(await timeOf(access, '10.0.0.7 [22/Nov/2026:16:08:49 +0100] x')).toBe('2026-11-22T15:08:49Z');
  expect(await timeOf(access, '10.0.0.7 [2026/11/22 16:08:49] x')).toBe('2026-11-22T14:08:49Z');
  const { events, stats } = await make(access, '10.0.0.7 [yesterday] x');
  expect(events[0]).toEqual({ ip: '10.0.0.7', rest: 'x', time_error: 'yesterday', _time: READ });
  expect(stats.timeErrors).toBe(1);
});

test('time: a _time that the service is to read stays as it is written', async () => {
  const source = "format: regex\nregex: '^(?<_time>\\S+ \\S+) (?<rest>.*)$'";
  const { events } = await make(source, '2026/11/22 16:08:49 x', { sink: 'timestamp_field: _time' });
  expect(events[0]!['_time']).toBe('2026/11/22 16:08:49');
});

// Symptom: a password in a field that was named as the time left in clear, though the transform removed the field. Cause: time_error quoted it.
test('time: what cannot be read is not quoted where a transform may hide it', async () => {
  const hidden = 'transform: project-away at';
  for (const [source, options] of [
    [hidden, {}],
    ['', { sink: hidden }],
  ] as const) {
    const { events, stats } = await make(`time: {field: at, format: unixms}\n${source}`, '{"at":"s3cret"}', options);
    expect(events).toEqual([{ at: 's3cret', time_error: 'not unixms', _time: READ }]);
    expect(stats.timeErrors).toBe(1);
  }
});

// prettier-ignore
const GIVEN: [time: string, line: string, time: string][] = [
  ['{field: at}', '{"at":"2026-11-22T16:08:49.5Z"}', '2026-11-22T16:08:49.5Z'],
  ['{field: req.at, format: unixms}', '{"req":{"at":1795363729123}}', '2026-11-22T16:08:49.123Z'],
  ['{field: req.at}', '{"req.at":1795363729123456789}', '2026-11-22T16:08:49.123456789Z'],
  ['{field: at, format: unix}', '{"at":12345.5}', '1970-01-01T03:25:45.5Z'],
  ['{field: at, format: unixus}', '{"at":-1}', '1969-12-31T23:59:59.999999000Z'],
  ['{field: at, format: "02.01.2006 15:04:05", timezone: Europe/Athens}', '{"at":"22.11.2026 16:08:49"}', '2026-11-22T14:08:49Z'],
  ['{field: at, format: "Jan _2 15:04:05", timezone: Europe/Athens}', '{"at":"Dec 31 16:08:49"}', '2025-12-31T14:08:49Z'],
  ['{field: at, format: "2006-01-02 15:04:05 MST", timezone: Europe/Athens}', '{"at":"2026-11-22 16:08:49 CET"}', '2026-11-22T15:08:49Z'],
  ['{field: at, format: "2006-01-02 15:04:05 MST", timezone: Europe/Athens}', '{"at":"2026-11-22 16:08:49 XYZ"}', '2026-11-22T14:08:49Z'],
  ['{format: "02.01.2006 15:04:05", timezone: Europe/Athens}', '22.11.2026 16:08:49 text', '2026-11-22T14:08:49Z'],
  ['{format: unix}', '1795363729.25 text', '2026-11-22T16:08:49.25Z'],
  ['{format: unixms}', '{"ts":1795363729123}', '2026-11-22T16:08:49.123Z'],
  ['{field: at, timezone: UTC}', '{"at":"Dec 10 06:55:46"}', '2025-12-10T06:55:46Z'],
]; // prettier-ignore

test.each(GIVEN)('time: %s of %s', async (time, line, wanted) => {
  const { events, stats } = await make(`time: ${time}`, line);
  expect(events[0]).toMatchObject({ _time: wanted });
  expect([events[0]!['time_error'], stats.timeErrors]).toEqual([undefined, undefined]);
});

test('time: a field that cannot be read keeps the read time, its text, and is counted', async () => {
  const { lines, stats } = await make(
    'time: {field: at, format: unixms}',
    ['{"at":"noon","n":1.0}', '{"at":{"a":1}}', '{"at":1e30}', '{"n":1}', '{"_time":"own","at":"noon"}', '{}', 'text'].join('\n'),
  );
  expect(lines).toEqual([
    `{"at":"noon","n":1.0,"time_error":"noon","_time":"${READ}"}`,
    `{"at":{"a":1},"time_error":"{\\"a\\":1}","_time":"${READ}"}`,
    `{"at":1e30,"time_error":"1e30","_time":"${READ}"}`,
    `{"n":1,"_time":"${READ}"}`,
    '{"_time":"own","at":"noon"}',
    `{"_time":"${READ}"}`,
    `{"_time":"${READ}","message":"text"}`,
  ]);
  expect(stats.timeErrors).toBe(3);
});

test('time: a time that was asked for and is more than a day ahead is none; a value of the type datetime may be', async () => {
  for (const at of ['"2026-11-23T18:00:01Z"', '1795456801', '"2099-01-01 10:00:00"']) {
    const { events, stats } = await make('time: {field: at}', `{"at":${at}}`);
    expect([events[0], stats.timeErrors]).toEqual([{ at: JSON.parse(at), time_error: String(JSON.parse(at)), _time: READ }, 1]);
  }
  expect(await timeOf('time: {field: at}', '{"at":"2026-11-23T18:00:00.9Z"}')).toBe('2026-11-23T18:00:00.9Z');
  const { events } = await make('types: {expires: datetime}', '{"expires":"2099-01-01 10:00:00Z"}');
  expect(events[0]).toMatchObject({ expires: '2099-01-01T10:00:00Z' });
});

test('time: a line of a megabyte is looked at only where it begins', async () => {
  const { events } = await make(
    'time: auto',
    `2026-11-22T16:08:49Z ${'x'.repeat(1_000_000)}\n${'9'.repeat(1_000_000)}\n${' '.repeat(1_000_000)}x`,
  );
  expect(events.map((event) => event['_time'])).toEqual(['2026-11-22T16:08:49Z', READ, READ]);
});
