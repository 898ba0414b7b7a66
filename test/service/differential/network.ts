/** Calls of functions of addresses, URLs and written times: which one is up to chance, what it gives is written down. */
import * as fc from 'fast-check';
import { string, type Expression } from './expression.ts';

const parts = (scheme: string, host: string, more: object = {}): string =>
  JSON.stringify({ scheme, host, port: '', path: '', username: '', password: '', query: {}, fragment: '', ...more });

const CASES: readonly (readonly [text: string, wanted: string])[] = [
  ['parse_ipv4("10.1.2.3")', '167838211'],
  ['parse_ipv4("255.255.255.255")', '4294967295'],
  ['parse_ipv4("256.1.1.1")', ''],
  ['parse_ipv4("01.2.3.4")', ''],
  ['parse_ipv4("1.2.3")', ''],
  ['ipv4_is_private("10.255.0.1")', 'true'],
  ['ipv4_is_private("172.15.255.255")', 'false'],
  ['ipv4_is_private("172.16.0.0")', 'true'],
  ['ipv4_is_private("172.32.0.1")', 'false'],
  ['ipv4_is_private("192.168.0.1")', 'true'],
  ['ipv4_is_private("::1")', ''],
  ['ipv4_is_in_range("10.1.2.3", "10.0.0.0/8")', 'true'],
  ['ipv4_is_in_range("11.1.2.3", "10.0.0.0/8")', 'false'],
  ['ipv4_is_in_range("8.8.8.8", "8.8.8.8")', 'true'],
  ['ipv4_is_in_range("255.0.0.1", "0.0.0.0/0")', 'true'],
  ['ipv4_is_in_range("", "0.0.0.0/0")', ''],
  ['ipv4_compare("1.2.3.4", "1.2.3.5")', '-1'],
  ['ipv4_compare("1.2.3.4", "1.2.3.5", 24)', '0'],
  ['ipv4_compare("9.0.0.0", "1.2.3.5")', '1'],
  ['ipv4_compare("9.0.0.0", "x")', ''],
  [
    'parse_url("https://ann:secret@example.com:8443/a/b?x=1&y=a%20b&x=2&z#top")',
    parts('https', 'example.com', {
      port: '8443',
      path: '/a/b',
      username: 'ann',
      password: 'secret',
      query: { x: '1', y: 'a b', z: '' },
      fragment: 'top',
    }),
  ],
  ['parse_url("http://[::1]/")', parts('http', '[::1]', { path: '/' })],
  ['parse_url("ftp://h")', parts('ftp', 'h')],
  ['parse_url("http://h?q=%C3%A9+x")', parts('http', 'h', { query: { q: 'é x' } })],
  ['parse_url("/a?b=1")', ''],
  ['parse_urlquery("?a=1&b=%2B")', '{"a":"1","b":"+"}'],
  ['parse_urlquery("")', '{}'],
  ['parse_urlquery("x&x=2")', '{"x":""}'],
  ['format_datetime(datetime(2026-03-04T05:06:07.089012345Z), "yyyy-MM-dd HH:mm:ss.fff")', '2026-03-04 05:06:07.089'],
  ['format_datetime(datetime(2026-03-04T15:06:07.5Z), "d/M/yy h:m:s tt F")', '4/3/26 3:6:7 PM 5'],
  ['format_datetime(datetime(1969-12-31T23:59:59.1234567Z), "yyyyTHHZ hh fffffff")', '1969T23Z 11 1234567'],
  ['format_datetime(datetime(null), "yyyy")', ''],
];

export const networkTexts: fc.Arbitrary<Expression> = fc
  .constantFrom(...CASES)
  .map(([text, wanted]) => string(`tostring(${text})`, () => wanted));
