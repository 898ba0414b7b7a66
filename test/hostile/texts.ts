/**
 * Texts that nobody means well with, each as long as it is asked for: one byte, a pair or a phrase again and again, openers that are closed or
 * not, keys that are all another. A pattern or parser that tries each place from each other one takes the square of their length.
 */
import { words } from '../support/words.ts';

export interface HostileText {
  readonly name: string;
  /** About so many bytes. */
  readonly of: (bytes: number) => string;
}

const named = (text: string): string => JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text);

/** `unit` again and again behind `before`, with `after` at the end. */
export function repeated(unit: string, before = '', after = ''): HostileText {
  const bytes = Buffer.byteLength(unit);
  const name = [before, `${unit}…`, after].filter((part) => part !== '').map(named);
  return { name: name.join(' '), of: (length) => `${before}${unit.repeat(Math.ceil(length / bytes))}${after}` };
}

/** What `unit` makes of each number. */
function counted(name: string, unit: (n: number) => string, before = '', after = ''): HostileText {
  const of = (length: number): string => {
    const units: string[] = [];
    for (let n = 0, size = 0; size < length; n++) size += units[units.push(unit(n)) - 1]!.length;
    return `${before}${units.join('')}${after}`;
  };
  return { name, of };
}

/** V8's own JSON.stringify takes the square of the depth (70 ms for half a million levels): texts go on in width from here. */
const MOST_LEVELS = 8192;

/** `open` as often as `close`, again and again in one list. */
function nested(open: string, close: string): HostileText {
  const size = open.length + close.length;
  const of = (length: number): string => {
    const levels = Math.min(MOST_LEVELS, Math.ceil(length / size));
    const block = open.repeat(levels) + close.repeat(levels);
    return `[${Array.from({ length: Math.max(1, Math.round(length / block.length)) }, () => block).join(',')}]`;
  };
  return { name: `${named(open)}… ${named(close)}…`, of };
}

const ONE = [
  ...words`0 1 9 a A f Z _ - + . , : ; = / ? & % @ # $ ! ~ ^ * | < > [ ] ( ) { }`,
  ' ',
  '\t',
  '"',
  "'",
  '\\',
  '`',
  '\0',
  '\u001b',
  'é',
  '€',
  '😀',
  '\ufffd',
];
const PAIRS = [
  ...words`a= a, a; a. a: a@ a- a_ a/ 0. 0, 0: 0- 0e 1a :: .. -- // == "" '' \\" \\\\ ="" [" [, [] {} {" ", ": <1> %2 %41 &a= @a. ]] )) }} ^ | $1`,
  'a ',
  ' =',
  '" ',
  "' ",
  ' "',
  '1 ',
  ': ',
  ', ',
  ' -',
  '\\n',
  '\t ',
  'é ',
  '\u001b[',
  'a\n',
  '\n',
  '\r\n',
  '\r',
  ' \n',
];
const PHRASES = [
  'a=b ', 'a="b" ', 'a="b\\" ', 'a=\'b\' ', '"a":1,', '{"a":', '[{"a":', '{"a":"', '{"a":1}', '{"a":1},', '"\\u0000"', '\\u00e9', 'null,', '1,', '1.5e3,', 'true ', '0x', 'a.b.c.', 'a.0.',
  '[a b="c"]', '[a b="c\\]"]', '<13>', '<13>1 - ', '12 <13>', '10.0.0.1 ', '10.0.0.', '::1 ', 'fe80::', '2026-01-01 ', '2026-01-01T00:00:00Z ', '12:30:00.', 'Oct 11 22:14:15 ', '[22/Nov/2026:16:08:49 +0100] "',
  '- - [', 'host app[1]: ', 'http://a:b@c/', 'http://', '://a:', 'a@a.a', '4111 1111 ', '4111-1111-1111-1111 ', 'AKIA', 'eyJa.', 'Bearer ', 'bearer aaaaaa', 'basic ', '-----BEGIN PRIVATE KEY-----', '-----BEGIN ', '-----END ',
  'ghp_a', 'aa-', 'xoxb-', 'sk_live_', 'AIza', 'ya29.', 'hooks.slack.com/services/', '+1 ', 'DE89 3704 ', '1h', '1h30m', '1d2h3m', 'now', '11 1', '55-5 ', 'a@a.a.a.a. é@é. 1', 'AB12 ', '-----BEGIN PRIVATE KEY-----a', 'not ', 'and ', 'x or ', '"" "', '","', '";"', 'a\tb\t', 'stdout F ', '{"log":"',
  'at a.b(', '\n\tat a', 'Caused by: ', 'msg=audit(1.1:1): ', 'type=A msg=audit(1.1:1): ', 'token=', 'password', '\\Q', '(a+)+', '[^]', '(?:', 'where ', '| ',
]; // prettier-ignore

/** Each alone, and with an end that lets a match fail that went well so far. */
export const TEXTS: readonly HostileText[] = [
  ...[...ONE, ...PAIRS, ...PHRASES].map((unit) => repeated(unit)),
  ...[...ONE, ...PAIRS].filter((unit) => !/[\n\r]/.test(unit)).map((unit) => repeated(unit, '', '\u0001')),
  ...[' ', '\t', '0', '.', '/', '-', '='].map((unit) => repeated(unit, 'x', 'x')),
  nested('[', ']'), nested('{"a":', '}'), nested('[{"a":', '}]'), nested('(', ')'), nested('"', '"'), nested('((a+', ')*'),
  counted('keys', (n) => `k${n}=v `), counted('keys of JSON', (n) => `"k${n}":${n},`, '{', '"z":0}'), counted('one key of JSON', () => '"k":1,', '{', '"z":0}'), counted('one long name', (n) => `"${'k'.repeat(200)}${n}":1,`, '{', '"z":0}'),
  counted('array', (n) => `${n},`, '[', '0]'), counted('objects', (n) => `{"a":${n}},`, '[', '0]'), counted('texts', (n) => `"${n}",`, '[', '""]'), counted('nested keys', (n) => `"a${n}":{"b":[${n}]},`, '{', '"z":0}'), counted('keys with dots', (n) => `"a.b${n}":1,`, '{', '"z":0}'),
  counted('lines', (n) => `line ${n}\n`), counted('lines that go on', () => ' x\n'), counted('parts of CRI', () => '2026-11-22T16:08:49Z stdout P x\n'), counted('parts of Docker', () => '{"log":"x","stream":"stdout","time":"2026-11-22T16:08:49Z"}\n'), counted('lines of JSON', (n) => `{"a":${n}}\n`), counted('pairs of a URL', (n) => `k${n}=v&`, 'http://a/?'), counted('columns', (n) => `c${n},`), counted('parameters', (n) => ` a${n}="b"`, '<13>1 - - - - - [x', ']'),
  repeated('"a":"b",', '{', '"z":0}'), repeated('x', '{"a":"', '"}'), repeated('\\\\', '{"a":"', '"}'), repeated('\\"', '{"a":"', '"}'), repeated('\\u0001', '{"a":"', '"}'), repeated(' ', '{', '}'), repeated(' ', '{"a":1', '}'), repeated(' ', '', '{}'), repeated('1', '{"a":', '}'), repeated('0', '{"a":1.', '}'), repeated('1', '{"a":1e', '}'), repeated(' ', '@cee:', 'x'),
]; // prettier-ignore

/** Those that most patterns of the past took the square of. */
export const WORST: readonly HostileText[] = [repeated('1', '', '\u0001'), repeated(' ', 'x', 'x'), repeated('"'), repeated('\\'), nested('[', ']'), repeated('a=b ')]; // prettier-ignore
