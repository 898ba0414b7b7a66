import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { encodeEvent, parseMessage } from '../../../src/sources/syslog/parse.ts';
import { createZone } from '../../../src/sources/syslog/zone.ts';

const receivedAt = '2026-07-10T08:00:00.000Z';
const receipt = {
  receivedAtMs: Date.parse(receivedAt),
  ending: { peer: '192.0.2.1:514' },
  zone: createZone('Europe/Athens'),
  parseJson: 'none' as const,
};
const names: Record<string, readonly [string, number, string, number]> = {
  '13': ['user', 1, 'notice', 5],
  '30': ['daemon', 3, 'info', 6],
  '34': ['auth', 4, 'crit', 2],
  '165': ['local4', 20, 'notice', 5],
  '166': ['local4', 20, 'info', 6],
  '187': ['local7', 23, 'err', 3],
  '189': ['local7', 23, 'notice', 5],
  '191': ['local7', 23, 'debug', 7],
  '0': ['kern', 0, 'emerg', 0],
};

/** The event as it is sent: through JSON, so that absent keys are absent. */
function event(text: string | Buffer): Record<string, unknown> {
  return JSON.parse(encodeEvent({ bytes: Buffer.from(text as string) }, receipt, 10_000, 60_000).json);
}

/** What every event of a priority has; `_time` is that of the receipt unless `fields` says otherwise. */
function parsed(pri: string, fields: Record<string, unknown>): Record<string, unknown> {
  const [facility, facility_code, severity, severity_code] = names[pri]!;
  return { _time: receivedAt, message: '', facility, facility_code, severity, severity_code, peer: '192.0.2.1:514', ...fields };
}

function raw(message: string, parse_error: string): Record<string, unknown> {
  return { _time: receivedAt, message, parse_error, peer: '192.0.2.1:514' };
}

describe('RFC 5424', () => {
  const head = '<165>1 2003-10-11T22:14:15.003Z mymachine.example.com evntslog - ID47 ';
  const fields = { _time: '2003-10-11T22:14:15.003Z', host: 'mymachine.example.com', appname: 'evntslog', msgid: 'ID47' };
  test.each<[string, string, Record<string, unknown>]>([
    [
      'example 1 of the RFC, with a BOM',
      "<34>1 2003-10-11T22:14:15.003Z mymachine.example.com su - ID47 - \uFEFF'su root' failed for lonvick on /dev/pts/8",
      parsed('34', { ...fields, appname: 'su', message: "'su root' failed for lonvick on /dev/pts/8" }),
    ],
    [
      'example 2, an offset and microseconds',
      "<165>1 2003-08-24T05:14:15.000003-07:00 192.0.2.1 myproc 8710 - - %% It's time to make the do-nuts.",
      parsed('165', {
        _time: '2003-08-24T05:14:15.000003-07:00',
        host: '192.0.2.1',
        appname: 'myproc',
        procid: '8710',
        message: "%% It's time to make the do-nuts.",
      }),
    ],
    [
      'example 3, structured data',
      `${head}[exampleSDID@32473 iut="3" eventSource="Application" eventID="1011"] \uFEFFAn application event log entry...`,
      parsed('165', {
        ...fields,
        structured_data: { 'exampleSDID@32473': { iut: '3', eventSource: 'Application', eventID: '1011' } },
        message: 'An application event log entry...',
      }),
    ],
    [
      'example 4, two elements and no message',
      `${head}[exampleSDID@32473 iut="3"][examplePriority@32473 class="high"]`,
      parsed('165', { ...fields, structured_data: { 'exampleSDID@32473': { iut: '3' }, 'examplePriority@32473': { class: 'high' } } }),
    ],
    [
      'escapes, and a backslash that escapes nothing',
      `${head}[a q="\\"x\\" \\\\ \\] \\n"] m`,
      parsed('165', { ...fields, structured_data: { a: { q: '"x" \\ ] \\n' } }, message: 'm' }),
    ],
    [
      'a repeated name, an empty element, a repeated id',
      `${head}[a n="1" n="2" n="3"][b][a m="4"] m`,
      parsed('165', { ...fields, structured_data: { a: { n: ['1', '2', '3'], m: '4' }, b: {} }, message: 'm' }),
    ],
    [
      'names that objects have',
      `${head}[__proto__ constructor="1" __proto__="2"] m`,
      parsed('165', { ...fields, structured_data: JSON.parse('{"__proto__":{"constructor":"1","__proto__":"2"}}'), message: 'm' }),
    ],
    ['only nil fields', '<13>1 - - - - - -', parsed('13', {})],
    [
      'nanoseconds',
      '<13>1 2026-01-01T00:00:00.123456789+02:00 h a - - - m',
      parsed('13', { _time: '2026-01-01T00:00:00.123456789+02:00', host: 'h', appname: 'a', message: 'm' }),
    ],
    ['spaces at both ends of the message', '<13>1 - - - - - -   m  ', parsed('13', { message: '  m  ' })],
    ['more than one line', '<13>1 - - - - - - a\nb', parsed('13', { message: 'a\nb' })],
  ])('takes %s', (_name, text, expected) => {
    expect(event(text)).toEqual(expected);
  });

  test.each([
    ['<13>1 2003-13-11T22:14:15Z h a p m - x', 'RFC 5424 timestamp is not valid'],
    ['<13>1 2003-02-29T22:14:15Z h a p m - x', 'RFC 5424 timestamp is not valid'],
    ['<13>1 2003-10-11T24:14:15Z h a p m - x', 'RFC 5424 timestamp is not valid'],
    ['<13>1 2003-10-11T22:14:15 h a p m - x', 'RFC 5424 timestamp is not valid'],
    ['<13>1 2003-10-11T22:14:15.1234567890Z h a p m - x', 'RFC 5424 timestamp is not valid'],
    ['<13>1 2003-10-11T22:14:15Z h', 'RFC 5424 header ends early'],
    ['<13>1 -  a p m - x', 'RFC 5424 header has an empty field'],
    ['<13>2 - h a p m - x', 'RFC 5424 version 2 is not known'],
    ['<13>1 - h a p m x', 'RFC 5424 structured data is missing'],
    ['<13>1 - h a p m [] x', 'RFC 5424 structured data has an element without an id'],
    ['<13>1 - h a p m [a b] x', 'RFC 5424 structured data has a parameter without a value'],
    ['<13>1 - h a p m [a b="c', 'RFC 5424 structured data has a value without an end'],
    ['<13>1 - h a p m [a b="c\\"] x', 'RFC 5424 structured data has a value without an end'],
    ['<13>1 - h a p m [a b="c"', 'RFC 5424 structured data has an element without an end'],
    ['<13>1 - h a p m [a]x', 'RFC 5424 structured data is not followed by a space'],
    ['<13>1 - h a p m -x', 'RFC 5424 structured data is not followed by a space'],
  ])('keeps %s whole', (text, reason) => {
    expect(event(text)).toEqual(raw(text, reason));
  });
});

describe('RFC 3164', () => {
  test.each<[string, string, Record<string, unknown>]>([
    [
      'example 1 of the RFC',
      "<34>Oct 11 22:14:15 mymachine su: 'su root' failed for lonvick on /dev/pts/8",
      parsed('34', {
        _time: '2025-10-11T19:14:15Z',
        host: 'mymachine',
        appname: 'su',
        message: "'su root' failed for lonvick on /dev/pts/8",
      }),
    ],
    [
      'a tag with a process id',
      '<30>Jul  9 22:14:15 web-1.example postfix/smtpd[99]: x: y',
      parsed('30', { _time: '2026-07-09T19:14:15Z', host: 'web-1.example', appname: 'postfix/smtpd', procid: '99', message: 'x: y' }),
    ],
    [
      'systemd without a host',
      '<30>Jul 10 10:59:59 systemd[1]: Started Session 1.',
      parsed('30', { _time: '2026-07-10T07:59:59Z', appname: 'systemd', procid: '1', message: 'Started Session 1.' }),
    ],
    [
      'the kernel',
      '<0>Jul 10 10:59:59 h kernel: [   12.3] oops',
      parsed('0', { _time: '2026-07-10T07:59:59Z', host: 'h', appname: 'kernel', message: '[   12.3] oops' }),
    ],
    [
      'a tag without a host',
      '<13>Jul 10 10:59:59 su: hello',
      parsed('13', { _time: '2026-07-10T07:59:59Z', appname: 'su', message: 'hello' }),
    ],
    [
      'a host without a tag',
      '<13>Jul 10 10:59:59 router just words',
      parsed('13', { _time: '2026-07-10T07:59:59Z', host: 'router', message: 'just words' }),
    ],
    [
      'an IPv6 host',
      '<13>Jul 10 10:59:59 fe80::1 app[]: m',
      parsed('13', { _time: '2026-07-10T07:59:59Z', host: 'fe80::1', appname: 'app', message: 'm' }),
    ],
    ['a bare priority', '<13>', parsed('13', {})],
    ['no header', '<13>hello world', parsed('13', { message: 'hello world' })],
    ['only a tag', '<13>myapp[7]: hello', parsed('13', { appname: 'myapp', procid: '7', message: 'hello' })],
    ['JSON', '<13>{"a": 1, "b": "c: d"}', parsed('13', { message: '{"a": 1, "b": "c: d"}' })],
    ['an address that is no tag', '<13>http://example.com/ is down', parsed('13', { message: 'http://example.com/ is down' })],
    [
      'the ISO time of rsyslog, with its digits',
      '<13>2026-07-10T11:00:00.123456+03:00 host app[1]: m',
      parsed('13', { _time: '2026-07-10T11:00:00.123456+03:00', host: 'host', appname: 'app', procid: '1', message: 'm' }),
    ],
    [
      'an ISO time without a zone',
      '<13>2026-01-10 11:00:00.5 host app: m',
      parsed('13', { _time: '2026-01-10T09:00:00.5Z', host: 'host', appname: 'app', message: 'm' }),
    ],
    [
      'an ISO zone without a colon',
      '<13>2026-01-10T11:00:00+0200 host app: m',
      parsed('13', { _time: '2026-01-10T11:00:00+02:00', host: 'host', appname: 'app', message: 'm' }),
    ],
    ['a date that does not exist, as text', '<13>Feb 30 10:00:00 host app: m', parsed('13', { message: 'Feb 30 10:00:00 host app: m' })],
    [
      'FortiGate',
      '<189>date=2026-07-10 time=10:00:00 devname="FG100" devid="FG1" type="traffic" msg="a b"',
      parsed('189', { message: 'date=2026-07-10 time=10:00:00 devname="FG100" devid="FG1" type="traffic" msg="a b"' }),
    ],
    [
      'Cisco IOS with a sequence number and a clock that is not set',
      '<187>29: *Mar  1 18:46:11.123: %LINK-3-UPDOWN: Interface GigabitEthernet0/1, changed state to up',
      parsed('187', {
        _time: '2026-03-01T16:46:11.123Z',
        appname: '%LINK-3-UPDOWN',
        message: 'Interface GigabitEthernet0/1, changed state to up',
      }),
    ],
    [
      'Cisco IOS with its host, a year and UTC',
      '<189>45: router1: .Jul 10 2026 07:00:00.001 UTC: %SYS-5-CONFIG_I: Configured from console by vty0 (10.0.0.1)',
      parsed('189', {
        _time: '2026-07-10T07:00:00.001Z',
        host: 'router1',
        appname: '%SYS-5-CONFIG_I',
        message: 'Configured from console by vty0 (10.0.0.1)',
      }),
    ],
    [
      'Cisco ASA',
      '<166>Jul 10 2026 10:00:00 asa01 : %ASA-6-302013: Built inbound TCP connection 1 for outside:1.2.3.4/80',
      parsed('166', {
        _time: '2026-07-10T07:00:00Z',
        host: 'asa01',
        appname: '%ASA-6-302013',
        message: 'Built inbound TCP connection 1 for outside:1.2.3.4/80',
      }),
    ],
    ['Cisco ASA without a time', '<166>%ASA-6-302014: Teardown', parsed('166', { appname: '%ASA-6-302014', message: 'Teardown' })],
    [
      'a year behind the clock',
      '<13>Jul 10 10:00:00 2026 host app: m',
      parsed('13', { _time: '2026-07-10T07:00:00Z', host: 'host', appname: 'app', message: 'm' }),
    ],
    ['text that begins like a version', '<13>1 apple a day', parsed('13', { message: '1 apple a day' })],
    ['a priority with a zero in front', '<030>app: m', parsed('30', { appname: 'app', message: 'm' })],
    ['NUL inside', '<13>a\0b', parsed('13', { message: 'a\0b' })],
  ])('takes %s', (_name, text, expected) => {
    expect(event(text)).toEqual(expected);
  });
});

test.each(['hello', '<192>x', '<>x', '<-1>x', '<1234>x', '<13', '<a>x', ' <13>x', 'Oct 11 22:14:15 host su: m', '\0', '{"a":1}'])(
  'a message without a priority is kept whole: %j',
  (text) => {
    expect(event(text)).toEqual(raw(text, 'no <PRI> from 0 to 191 at the beginning'));
  },
);

test('invalid UTF-8 becomes U+FFFD', () => {
  expect(event(Buffer.from('<13>caf\xe9', 'latin1'))).toEqual(parsed('13', { message: 'caf\uFFFD' }));
});

test('a message that was cut keeps what its header says', () => {
  const { json, isTruncated } = encodeEvent({ bytes: Buffer.from('<13>app: abc'), originalBytes: 5000 }, receipt, 100, 10_000);
  expect(JSON.parse(json)).toEqual(parsed('13', { appname: 'app', message: 'abc', truncated: true, original_bytes: 5000 }));
  expect(isTruncated).toBe(true);
});

test('a message that repair makes longer than the limit is cut after the repair', () => {
  const { json } = encodeEvent({ bytes: Buffer.concat([Buffer.from('<13>'), Buffer.alloc(96, 0xff)]) }, receipt, 100, 10_000);
  expect(JSON.parse(json)).toEqual(parsed('13', { message: '\uFFFD'.repeat(33), truncated: true, original_bytes: 100 }));
});

test('an event whose JSON is too long for the window keeps its beginning', () => {
  const { json, isTruncated } = encodeEvent({ bytes: Buffer.from(`<13>${'\u0001'.repeat(2000)}`) }, receipt, 10_000, 4096);
  expect(Buffer.byteLength(json)).toBeLessThanOrEqual(4096);
  expect(JSON.parse(json)).toMatchObject({ truncated: true, original_bytes: 2004, parse_error: 'too large once written as JSON' });
  expect(isTruncated).toBe(true);
});

const piece = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.constantFrom(
    '<13>',
    '1 ',
    '- ',
    'Oct 11 22:14:15 ',
    '2026-01-01T00:00:00Z ',
    'host ',
    'app[1]: ',
    '[a b="c"]',
    '[',
    ']',
    '"',
    '\\',
    '=',
    ': ',
    '29: *',
    'UTC:',
    ' ',
  ),
);

test('parsing takes any text to an event with its keys, and loses no text it cannot parse', () => {
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const text = pieces.join('').toWellFormed();
      const result = parseMessage(text, receipt);
      expect(Number.isNaN(Date.parse(result['_time'] as string))).toBe(false);
      expect(result['peer']).toBe('192.0.2.1:514');
      if (result['parse_error'] === undefined) expect(text.endsWith(result['message'] as string)).toBe(true);
      else expect(result['message']).toBe(text);
    }),
    { numRuns: 5000 },
  );
});
