import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { combinedParser } from '../../src/parsers/formats/combined.ts';

const parse = (text: string): unknown => combinedParser.parse(text)[0];
const TIME = '[10/Oct/2000:13:55:36 -0700]';

test.each([
  [
    `127.0.0.1 - frank ${TIME} "GET /apache_pb.gif HTTP/1.0" 200 2326 "http://www.example.com/start.html" "Mozilla/4.08 [en] (Win98; I ;Nav)"`,
    {
      _time: '2000-10-10T13:55:36-07:00',
      client: '127.0.0.1',
      user: 'frank',
      method: 'GET',
      path: '/apache_pb.gif',
      protocol: 'HTTP/1.0',
      status: 200,
      bytes: 2326,
      referer: 'http://www.example.com/start.html',
      user_agent: 'Mozilla/4.08 [en] (Win98; I ;Nav)',
    },
  ],
  [
    `10.0.0.1 - - ${TIME} "GET / HTTP/1.1" 304 - "-" "-"`,
    {
      _time: '2000-10-10T13:55:36-07:00',
      client: '10.0.0.1',
      method: 'GET',
      path: '/',
      protocol: 'HTTP/1.1',
      status: 304,
    },
  ],
  [
    `::1 id "no quote" ${TIME} "GET / HTTP/1.1" 200 1`,
    { message: `::1 id "no quote" ${TIME} "GET / HTTP/1.1" 200 1`, parse_error: 'not in the combined log format' },
  ],
  [
    `::1 id joe smith ${TIME} "GET /common HTTP/2.0" 200 17`,
    {
      _time: '2000-10-10T13:55:36-07:00',
      client: '::1',
      ident: 'id',
      user: 'joe smith',
      method: 'GET',
      path: '/common',
      protocol: 'HTTP/2.0',
      status: 200,
      bytes: 17,
    },
  ],
  [
    `1.2.3.4 - - ${TIME} "\\x16\\x03\\x01" 400 157 "-" "-"`,
    { _time: '2000-10-10T13:55:36-07:00', client: '1.2.3.4', request: '\x16\x03\x01', status: 400, bytes: 157 },
  ],
  [
    `1.2.3.4 - - ${TIME} "GET /\\xc3\\xa9 HTTP/1.1" 200 1 "-" "a \\"quoted\\" agent"`,
    {
      _time: '2000-10-10T13:55:36-07:00',
      client: '1.2.3.4',
      method: 'GET',
      path: '/é',
      protocol: 'HTTP/1.1',
      status: 200,
      bytes: 1,
      user_agent: 'a "quoted" agent',
    },
  ],
  [
    `1.2.3.4 - - ${TIME} "-" 408 0 "-" "-" 0.123 upstream`,
    { _time: '2000-10-10T13:55:36-07:00', client: '1.2.3.4', status: 408, bytes: 0, extra: '0.123 upstream' },
  ],
])('combined %s', (text, event) => {
  expect(parse(text)).toEqual(event);
});

// Symptom: `client: "www.example.com:443", user: "- -"`. Cause: the first word was the client, and all before the time the user.
const BARE = {
  _time: '2000-10-10T13:55:36-07:00',
  method: 'GET',
  path: '/',
  protocol: 'HTTP/1.1',
  status: 200,
  bytes: 5,
};
test.each([
  ['www.example.com:443 203.0.113.9 - -', { vhost: 'www.example.com', vhost_port: 443, client: '203.0.113.9' }],
  ['www.example.com 2001:db8::9 - frank', { vhost: 'www.example.com', client: '2001:db8::9', user: 'frank' }],
  ['10.0.0.5:80 203.0.113.9 - -', { vhost: '10.0.0.5', vhost_port: 80, client: '203.0.113.9' }],
  ['[::1]:8443 client.example.com - -', { vhost: '[::1]', vhost_port: 8443, client: 'client.example.com' }],
  ['- 203.0.113.9 - -', { client: '203.0.113.9' }],
  ['10.0.0.2, 10.0.0.1, 127.0.0.1 - -', { client: '10.0.0.2', clients: ['10.0.0.2', '10.0.0.1', '127.0.0.1'] }],
  ['unknown,10.0.0.1 - frank', { client: 'unknown', clients: ['unknown', '10.0.0.1'], user: 'frank' }],
  [
    'shop.example.com 10.0.0.2, 2001:db8::1 - -',
    { vhost: 'shop.example.com', client: '10.0.0.2', clients: ['10.0.0.2', '2001:db8::1'] },
  ],
  ['10.1.10.51 -  - ', { client: '10.1.10.51' }],
  ['10.1.10.51 - ""', { client: '10.1.10.51' }],
  ['10.1.10.51 - John Smith', { client: '10.1.10.51', user: 'John Smith' }],
  ['gateway.example.com - John Smith', { client: 'gateway.example.com', user: 'John Smith' }],
])('combined: what stands before the time: %s', (who, event) => {
  expect(parse(`${who} ${TIME} "GET / HTTP/1.1" 200 5`)).toEqual({ ...BARE, ...event });
});

test.each([
  '',
  'not a log line',
  `1.2.3.4 - - [32/Oct/2000:13:55:36 -0700] "GET / HTTP/1.1" 200 1`,
  `1.2.3.4 - - [10/Okt/2000:13:55:36 -0700] "GET / HTTP/1.1" 200 1`,
  `1.2.3.4 - - ${TIME} "GET / HTTP/1.1" 20 1`,
  `1.2.3.4 - - ${TIME} "GET / HTTP/1.1" 200`,
  `1.2.3.4 - - ${TIME} "GET / HTTP/1.1`,
])('combined keeps what it cannot parse: %s', (text) => {
  expect(parse(text)).toEqual({ message: text, parse_error: 'not in the combined log format' });
});

test('combined takes any text, in a time that its length says', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom('[', ']', '"', ' ', '\\', 'x', '1', '-'), maxLength: 80 }),
      (text) => void parse(text),
    ),
    { numRuns: 3000 },
  );
  for (const text of [' [a] "'.repeat(150_000), `1 - - ${TIME} "${'\\"'.repeat(500_000)}`, 'a b c ['.repeat(150_000)])
    parse(text);
});
