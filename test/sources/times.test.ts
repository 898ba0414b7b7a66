/**
 * The time of an event by `time`: which text or field it is read from, in which format and zone, and the result for one that is no time.
 */
import { expect, test } from 'vitest';
import { TIME_FORMS } from '../../src/core/time/forms.ts';
import { make } from './made.ts';

const READ = '2026-11-22T18:00:00.500Z';

const timeOf = async (source: string, input: string): Promise<unknown> =>
  (await make(source, input)).events[0]?.['_time'];

const ATHENS = 'time: {timezone: Europe/Athens}';

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
  // The hour of MariaDB, padded with a space, and others with one digit.
  ['2026-11-22  8:25:43 12 [ERROR] mysqld: x', '2026-11-22T06:25:43Z'],
  ['2026-11-22 8:25:43 x', '2026-11-22T06:25:43Z'],
  ['Nov 22  8:25:43 host x', '2026-11-22T06:25:43Z'],
  ['2019-07-10  16:38:08 x', '2019-07-10T13:38:08Z'],
  // The text after the clock: AM and PM.
  ['2026-07-19T02:47:11 PM UTC [1670]DEBUG:x', '2026-07-19T14:47:11Z'],
  ['2026-07-19 12:47:11 am UTC x', '2026-07-19T00:47:11Z'],
  ['2026-07-19 12:47:11.5p.m. UTC x', '2026-07-19T12:47:11.5Z'],
  ['2026-07-19 14:47:11 PM UTC x', READ],
  ['Nov 22, 2026 4:08:49 PM org.apache.catalina.core.StandardServer await', '2026-11-22T14:08:49Z'],
  // A year, and a zone behind it.
  ['Nov 24 07:54:17 2023 host1 tunneld[1234]: x', '2023-11-24T05:54:17Z'],
  ['Nov 21 07:54:17 2001:db8::1 x', '2026-11-21T05:54:17Z'],
  ['Nov 21 07:54:17 2001.example.com x', '2026-11-21T05:54:17Z'],
  ['Thu Dec 28 14:40:08 2017 UTC x', '2017-12-28T14:40:08Z'],
  ['Sun Nov 22 16:08:49 2020 +0200 x', '2020-11-22T14:08:49Z'],
  ['Sun Nov 22 16:08:49 CET 2020', '2020-11-22T15:08:49Z'],
  ['Sun Nov 22 04:08:49 PM CET 2020', '2020-11-22T15:08:49Z'],
  ['Sun Nov 22 2020 16:08:49 GMT+0100 (CET) x', '2020-11-22T15:08:49Z'],
  // Offsets with a name, in brackets, and names of the tz database.
  ['2013-04-15 10:10:10 GMT+2 x', '2013-04-15T08:10:10Z'],
  ['2013-04-15 10:10:10 UTC+02:00 x', '2013-04-15T08:10:10Z'],
  ['2013-04-15 10:10:10 GMT-0700 x', '2013-04-15T17:10:10Z'],
  ['2013-04-15 10:10:10 UTC+5:30 x', '2013-04-15T04:40:10Z'],
  ['2013-04-15 10:10:10 UTC+99 x', READ],
  ['2013-04-15 10:10:10 Z x', '2013-04-15T10:10:10Z'],
  ['2013-04-15 10:10:10 (UTC) x', '2013-04-15T10:10:10Z'],
  ['2013-04-15 10:10:10 [+0200] x', '2013-04-15T08:10:10Z'],
  ['2013-04-15 10:10:10 -03 [7] x', '2013-04-15T13:10:10Z'],
  ['[22-Nov-2024 16:08:51 America/New_York] PHP Notice:  x', '2024-11-22T21:08:51Z'],
  ['[22-Jul-2024 16:08:51 Europe/Berlin] PHP Notice:  x', '2024-07-22T14:08:51Z'],
  ['[22-Nov-2024 16:08:51 America/Argentina/Buenos_Aires] x', '2024-11-22T19:08:51Z'],
  ['[22-Nov-2024 16:08:51 Etc/GMT-3] x', '2024-11-22T13:08:51Z'],
  ['[22-Nov-2024 16:08:51 Europe/Nowhere] x', READ],
  ['2024-11-22T16:08:51+02:00[Europe/Athens] x', '2024-11-22T14:08:51Z'],
  ['2024-11-22T16:08:51[Asia/Tokyo] x', '2024-11-22T07:08:51Z'],
  // Abbreviations: RFC 5322, the one offset of the tz database; others are not taken, and other words are text.
  ['2018-11-17 13:39:22 EST [835-1] LOG:  x', '2018-11-17T18:39:22Z'],
  ['2025-08-13 01:45:01.123 PDT [12345] LOG:  x', '2025-08-13T08:45:01.123Z'],
  ['2022-07-15 23:04:27 AEST [203851-1] user@db LOG:  x', '2022-07-15T13:04:27Z'],
  ['2022-07-15 23:04:27 CST x', '2022-07-16T05:04:27Z'],
  ['2022-07-15 23:04:27 ACDT x', '2022-07-15T12:34:27Z'],
  ['2022-07-15 23:04:27 IST x', READ],
  ['2022-07-15 23:04:27 BRT [7] LOG:  x', READ],
  ['2022-07-15 23:04:27 INFO x', '2022-07-15T20:04:27Z'],
  ['2022-07-15 23:04:27 GET /x', '2022-07-15T20:04:27Z'],
  ['2022-07-15 23:04:27 TCP/UDP x', '2022-07-15T20:04:27Z'],
  // Forms with a beginning of their own.
  ['type=SYSCALL msg=audit(1485893834.891:18877199): arch=c000003e', '2017-01-31T20:17:14.891Z'],
  ['node=web-1 type=CWD msg=audit(1485893834.891:7): cwd="/"', '2017-01-31T20:17:14.891Z'],
  ['I, [2024-06-26T17:00:04.497736 #126554]  INFO -- : x', '2024-06-26T14:00:04.497736Z'],
  ['1:M 22 Nov 2025 16:08:49.123 * Ready', '2025-11-22T14:08:49.123Z'],
  ['[2932] 31 May 04:32:08 # Server started', '2026-05-31T01:32:08Z'],
  ['\x1b[2m2024-05-01T10:00:00.123456Z\x1b[0m \x1b[32m INFO\x1b[0m x', '2024-05-01T10:00:00.123456Z'],
  ['\x1b[32mINFO\x1b[0m [main] 2024-05-01 10:00:00 x', '2024-05-01T07:00:00Z'],
  ['time="2021-09-15T21:17:10Z" level=error msg=x', '2021-09-15T21:17:10Z'],
  ['level=info ts=2021-09-15T21:17:10.5Z msg=x', '2021-09-15T21:17:10.5Z'],
  ['logger=context userId=1 t=2021-09-15T21:17:10.123456789Z level=info', '2021-09-15T21:17:10.123456789Z'],
  ['ts=1631740630.25 level=info', '2021-09-15T21:17:10.25Z'],
  ['t=1631740630 level=info', READ],
  ['level=info msg="at time=2021-09-15T21:17:10Z"', READ],
  ['[1] 2019/02/06 07:19:40.624334 [INF] x', '2019-02-06T05:19:40.624334Z'],
  ['# Time: 2019-03-24T14:01:47.811234Z', '2019-03-24T14:01:47.811234Z'],
  ['# Time: 190324 16:03:00', '2019-03-24T14:03:00Z'],
  ['# Time: 190324  6:03:00', '2019-03-24T04:03:00Z'],
  ['17/06/09 20:10:40 INFO executor.Executor: x', '2017-06-09T17:10:40Z'],
  ['20240501 10:00:00 x', '2024-05-01T07:00:00Z'],
  ['2021.01.27 13:33:05.123456 [ 1 ] {} <Information> x', '2021-01-27T11:33:05.123456Z'],
  ['INFO  [main] 2024-05-01 10:00:00,123 X.java:1 - x', '2024-05-01T07:00:00.123Z'],
  ['WARN  [CompactionExecutor:6] 2024-05-01 10:00:00,123 x', '2024-05-01T07:00:00.123Z'],
  ['INFO|2024-05-01 10:00:00|x', '2024-05-01T07:00:00Z'],
  ['INFO - 2024-05-01 10:00:00 x', '2024-05-01T07:00:00Z'],
  ['2019-12-04\t21:02:31\tLAX1', '2019-12-04T21:02:31Z'],
  ['Nov 4 18:30:40 host x', '2026-11-04T16:30:40Z'],
  ['Oct 27 2015 12:35:40 host x', '2015-10-27T10:35:40Z'],
  ['06/28/2024-10:00:00.1  [**] x', '2024-06-28T07:00:00.1Z'],
  ['03-17 16:13:38.811  1702  2395 D Tag: x', '2026-03-17T14:13:38.811Z'],
  ['2024-05-01 10:10:10:123 x', '2024-05-01T07:10:10.123Z'],
  // Bare numbers, and text after a foreign word.
  ['1386543323.000      4 192.0.2.1 TCP_MISS/200', READ],
  ['081109 203615 148 INFO dfs.DataNode: x', READ],
  ['161209 14:18:50 [Note] x', READ],
  ['17/06/09 20:10:40 x', READ],
  ['03-17 16:13:38 x', READ],
  ['http 2018-07-02T22:23:00.186641Z app/x', READ],
  ['owner bucket [06/Feb/2019:00:00:38 +0000] x', READ],
  ['[2024-05-01 10:00:00 IST] [main] 2020-01-01 10:00:00 x', READ],
  ['[2024-13-01 10:00:00] 2020-01-01 10:00:00 x', READ],
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
];

test.each(TEXTS)('time: a text that begins with %s', async (line, time) => {
  expect(await timeOf(ATHENS, line)).toBe(time);
  // The same again and after others: one line's kept state must not make the next.
  const lines = [line, 'no time', line, ...TEXTS.map(([other]) => other), line];
  const { events } = await make(ATHENS, lines.join('\n'));
  expect([events[0]!['_time'], events[2]!['_time'], events.at(-1)!['_time']]).toEqual([time, time, time]);
});

test.each(TIME_FORMS)('time: the example of the form $layout', async ({ example }) => {
  const time = await timeOf(ATHENS, example);
  // All are of the same day; their clocks say 9, 10 or 16, with and without a zone.
  expect(time).toMatch(/^2025-12-30T(?:07|08|09|10|14):15:00/);
  expect(await timeOf(ATHENS, `x ${example}`)).toBe(READ);
});

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
  ['{"t":{"$date":"2020-05-18T20:18:13.533+00:00"},"s":"I"}', '2020-05-18T20:18:13.533Z'],
  ['{"s":"I", "t" : { "$date" : "2020-05-18T20:18:13.533+00:00" }}', '2020-05-18T20:18:13.533Z'],
  ['{"lvl":"info","t":"2020-05-18T20:18:13.533Z"}', '2020-05-18T20:18:13.533Z'],
  ['{"t":1795363729,"n":1}', READ],
  ['{"t":"1795363729","n":1}', READ],
  ['{"@t":"2020-05-18T20:18:13.5330000Z","@mt":"x"}', '2020-05-18T20:18:13.5330000Z'],
  ['{"Timestamp":"2020-05-18T20:18:13.5330000+02:00","Level":"x"}', '2020-05-18T18:18:13.5330000Z'],
  ['{"message":"x","datetime":"2020-05-18T20:18:13.533000+02:00"}', '2020-05-18T18:18:13.533000Z'],
  ['{"asctime":"2020-05-18 20:18:13,533","levelname":"INFO"}', '2020-05-18T17:18:13.533Z'],
  ['{"__REALTIME_TIMESTAMP":"1589833093533123","MESSAGE":"x"}', '2020-05-18T20:18:13.533123Z'],
  ['{"timeUnixNano":"1589833093533123456"}', '2020-05-18T20:18:13.533123456Z'],
  ['{"instant":{"epochSecond":1589833093,"nanoOfSecond":5000000},"level":"INFO"}', '2020-05-18T20:18:13.005000000Z'],
  ['{"instant":{"epochSecond":1589833093}}', '2020-05-18T20:18:13Z'],
  ['{"instant":1589833093}', READ],
  ['{"time":"2020-05-18T20:18:13+02:00[Europe/Berlin]"}', '2020-05-18T18:18:13Z'],
  ['{"time":"2024-05-01 10:00:00.123 EST"}', '2024-05-01T15:00:00.123Z'],
  ['{"time":"2024-05-01 10:00:00.123 IST"}', READ],
  ['{"time":"2024-05-01 10:00:00 Asia/Tokyo"}', '2024-05-01T01:00:00Z'],
  ['{"time":"17/06/09 20:10:40"}', READ],
  ['{"a":{"time":"2026-11-22T16:08:49Z"}}', READ],
  ['{"time":"2026-11-22T16:08:49Z more"}', READ],
  ['{"time":null,"ts":{},"timestamp":[1795363729]}', READ],
  ['{"time":1e30,"ts":-1,"timestamp":12345,"eventTime":"NaN"}', READ],
  ['{"time":1000000000000000000000000000000}', READ],
  ['{"_time":"what it says","time":1795363729}', 'what it says'],
];

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
  expect(await timeOf(`${ATHENS}\nformat: logfmt`, 'time="2026-11-22 16:08:49" level=info')).toBe(
    '2026-11-22T14:08:49Z',
  );
  expect(await timeOf(`${ATHENS}\nformat: logfmt`, 'ts=1795363729.25 level=info')).toBe('2026-11-22T16:08:49.25Z');
  expect(await timeOf(`${ATHENS}\nformat: logfmt`, '2026-11-22 16:08:49 no pairs')).toBe('2026-11-22T14:08:49Z');
});

test('time: read leaves all of them alone', async () => {
  expect(await timeOf('time: read', '2026-11-22T16:08:49Z x')).toBe(READ);
  expect(await timeOf('time: read', '{"time":"2026-11-22T16:08:49Z"}')).toBe(READ);
  expect(await timeOf("time: read\nformat: regex\nregex: '^(?<_time>\\S+) (?<a>.*)$'", '22/Nov/2026:16:08:49 x')).toBe(
    READ,
  );
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
test('time: an unreadable text is not quoted where a transform may hide it', async () => {
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

const GIVEN: [time: string, line: string, time: string][] = [
  ['{field: at}', '{"at":"2026-11-22T16:08:49.5Z"}', '2026-11-22T16:08:49.5Z'],
  ['{field: req.at, format: unixms}', '{"req":{"at":1795363729123}}', '2026-11-22T16:08:49.123Z'],
  ['{field: req.at}', '{"req.at":1795363729123456789}', '2026-11-22T16:08:49.123456789Z'],
  ['{field: at, format: unix}', '{"at":12345.5}', '1970-01-01T03:25:45.5Z'],
  ['{field: at, format: unixus}', '{"at":-1}', '1969-12-31T23:59:59.999999000Z'],
  [
    '{field: at, format: "02.01.2006 15:04:05", timezone: Europe/Athens}',
    '{"at":"22.11.2026 16:08:49"}',
    '2026-11-22T14:08:49Z',
  ],
  [
    '{field: at, format: "Jan _2 15:04:05", timezone: Europe/Athens}',
    '{"at":"Dec 31 16:08:49"}',
    '2025-12-31T14:08:49Z',
  ],
  [
    '{field: at, format: "2006-01-02 15:04:05 MST", timezone: Europe/Athens}',
    '{"at":"2026-11-22 16:08:49 CET"}',
    '2026-11-22T15:08:49Z',
  ],
  ['{format: "02.01.2006 15:04:05", timezone: Europe/Athens}', '22.11.2026 16:08:49 text', '2026-11-22T14:08:49Z'],
  ['{format: unix}', '1795363729.25 text', '2026-11-22T16:08:49.25Z'],
  ['{format: unixms}', '{"ts":1795363729123}', '2026-11-22T16:08:49.123Z'],
  ['{field: at, timezone: UTC}', '{"at":"Dec 10 06:55:46"}', '2025-12-10T06:55:46Z'],
];

test.each(GIVEN)('time: %s of %s', async (time, line, wanted) => {
  const { events, stats } = await make(`time: ${time}`, line);
  expect(events[0]).toMatchObject({ _time: wanted });
  expect([events[0]!['time_error'], stats.timeErrors]).toEqual([undefined, undefined]);
});

test('time: a field that cannot be read keeps the read time, its text, and is counted', async () => {
  const { lines, stats } = await make(
    'time: {field: at, format: unixms}',
    [
      '{"at":"noon","n":1.0}',
      '{"at":{"a":1}}',
      '{"at":1e30}',
      '{"n":1}',
      '{"_time":"own","at":"noon"}',
      '{}',
      'text',
    ].join('\n'),
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

test('time: a time that was asked for and is more than a day ahead is not taken; a value of the type datetime may be', async () => {
  for (const at of ['"2026-11-23T18:00:01Z"', '1795456801', '"2099-01-01 10:00:00"']) {
    const { events, stats } = await make('time: {field: at}', `{"at":${at}}`);
    expect([events[0], stats.timeErrors]).toEqual([
      { at: JSON.parse(at), time_error: String(JSON.parse(at)), _time: READ },
      1,
    ]);
  }
  expect(await timeOf('time: {field: at}', '{"at":"2026-11-23T18:00:00.9Z"}')).toBe('2026-11-23T18:00:00.9Z');
  const { events } = await make('types: {expires: datetime}', '{"expires":"2099-01-01 10:00:00Z"}');
  expect(events[0]).toMatchObject({ expires: '2099-01-01T10:00:00Z' });
});

// Symptom: PostgreSQL's IST, and CST in China, were hours off. An abbreviation means what the configured zone says first.
test.each([
  ['Asia/Kolkata', 'IST', '2022-07-15T17:34:27Z'],
  ['Asia/Jerusalem', 'IST', '2022-07-15T21:04:27Z'],
  ['Europe/Dublin', 'IST', '2022-07-15T22:04:27Z'],
  ['Asia/Shanghai', 'CST', '2022-07-15T15:04:27Z'],
  ['America/Havana', 'CST', '2022-07-16T04:04:27Z'],
  ['Asia/Manila', 'PST', '2022-07-15T15:04:27Z'],
  ['America/Chicago', 'CST', '2022-07-16T05:04:27Z'],
])('time: in %s the abbreviation %s', async (zone, name, time) => {
  expect(await timeOf(`time: {timezone: ${zone}}`, `2022-07-15 23:04:27 ${name} [7] LOG:  x`)).toBe(time);
  expect(await timeOf(`time: {timezone: ${zone}}`, `{"time":"2022-07-15 23:04:27 ${name}"}`)).toBe(time);
  expect(await timeOf(`preset: postgresql\ntime: {timezone: ${zone}}`, `2022-07-15 23:04:27 ${name} [7] LOG:  x`)).toBe(
    time,
  );
});

test('time: more zones than the kernel keeps, in any order', async () => {
  const zones = [
    'Asia/Tokyo',
    'Europe/Berlin',
    'US/Pacific',
    'Asia/Kolkata',
    'Africa/Cairo',
    'Etc/GMT+3',
    'Australia/Perth',
    'America/Lima',
    'Asia/Dubai',
    'Europe/Oslo',
  ];
  const hours = [7, 15, 24, 10.5, 14, 19, 8, 21, 12, 15];
  const order = [...zones.keys(), ...zones.keys(), 0, 9, 0, 5, 5];
  const { events } = await make(ATHENS, order.map((n) => `2025-01-10 16:00:00 ${zones[n]} x`).join('\n'));
  const wanted = order.map((n) =>
    new Date(Date.parse('2025-01-10T00:00:00Z') + hours[n]! * 3_600_000).toISOString().replace('.000Z', 'Z'),
  );
  expect(events.map((event) => event['_time'])).toEqual(wanted);
});

test('time: a line of a megabyte is looked at only where it begins', async () => {
  const { events } = await make(
    'time: auto',
    `2026-11-22T16:08:49Z ${'x'.repeat(1_000_000)}\n${'9'.repeat(1_000_000)}\n${' '.repeat(1_000_000)}x`,
  );
  expect(events.map((event) => event['_time'])).toEqual(['2026-11-22T16:08:49Z', READ, READ]);
});
