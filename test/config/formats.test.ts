/** The keys that say how lines become events. */
import { describe, expect, test } from 'vitest';
import { CHARSETS, findCharset } from '../../src/config/fields/charsets.ts';
import type { FileConfig } from '../../src/sources/file/file-type.ts';
import { configOf, configWith, problemsOf } from './reading.ts';

const fileOf = (source: string): FileConfig => configOf(configWith({ source })).sources[0] as FileConfig;

describe('group', () => {
  test('has a pattern, and two seconds', () => {
    expect(fileOf("group: {by: 'id=\\d+'}").group).toEqual({ by: 'id=\\d+', withinMs: 2000 });
    expect(fileOf("group: {by: 'id=\\d+', within: 1h}").group).toEqual({ by: 'id=\\d+', withinMs: 3_600_000 });
    expect(fileOf('format: text').group).toBeUndefined();
  });

  test.each<[source: string, message: string | RegExp]>([
    ['group: {within: 1s}', /`by`/],
    ["group: {by: '(a'}", /no regular expression/],
    ["group: {by: '(?=a)'}", /looks ahead/],
    ['group: {by: a, within: 9ms}', /`within`/],
    ['group: {by: a, within: 61m}', /`within`/],
    ['group: {by: a}\nmultiline: {start: a}', /`group` cannot be used with `multiline`; remove one of them/],
    ...['csv', 'w3c', 'cri', 'docker'].map((format): [string, string] => [
      `format: ${format}\ngroup: {by: a}`,
      `\`group\` cannot be used with \`format: ${format}\``,
    ]),
  ])('%s is refused', (source, message) => {
    expect(() => fileOf(source)).toThrow(message);
  });
});

describe('multiline', () => {
  test('has one pattern, a timeout and limits', () => {
    expect(fileOf("multiline: {start: '^\\d{4}-'}").multiline).toEqual({
      kind: 'start',
      pattern: '^\\d{4}-',
      timeoutMs: 5000,
      maxLines: 1000,
      maxBytes: Infinity,
    });
    expect(fileOf("multiline: {continue: '^\\s', timeout: 250ms, max_lines: 20, max_bytes: 64KiB}").multiline).toEqual({
      kind: 'continue',
      pattern: '^\\s',
      timeoutMs: 250,
      maxLines: 20,
      maxBytes: 65_536,
    });
    expect(fileOf('format: text').multiline).toBeUndefined();
  });

  test.each([
    [
      'multiline: {timeout: 1s}',
      "5:5: `multiline` has neither `start` nor `continue`; add `start: '^\\d{4}-'`, or another pattern",
    ],
    ['multiline: {start: a, continue: b}', '5:27: `start` and `continue` are both given; keep one of them'],
    [
      'max_event_bytes: 64KiB\nmultiline: {start: a, max_bytes: 65KiB}',
      '6:38: `max_bytes` (65KiB) is more than `max_event_bytes` (64KiB); lower it, or raise `max_event_bytes`',
    ],
    [
      'format: csv\nmultiline: {start: a}',
      '6:5: `multiline` cannot be used with `format: csv`; remove it: a record in quotes may have several lines anyway',
    ],
    [
      "multiline: {start: '^(?!\\s)'}",
      '5:24: `start`: `^(?!\\s)` looks ahead or behind; write it without `(?=`, `(?!`, `(?<=` and `(?<!`: its cost could not be bounded',
    ],
    [
      "multiline: {start: '(a)\\1'}",
      '5:24: `start`: `(a)\\1` refers back to a group; write it without `\\1` and `\\k<name>`: its cost could not be bounded',
    ],
    [
      "multiline: {start: '(a'}",
      '5:24: `start`: `(a` is no regular expression (Unterminated group); put it in single quotes, and escape what is meant literally',
    ],
    ['multiline: {start: a, max_lines: 1}', '5:38: `max_lines` must be a whole number from 2 to 100000, not `1`'],
  ])('%s', (source, problem) => {
    expect(problemsOf(configWith({ source }))).toEqual([problem]);
  });
});

describe('format', () => {
  test('csv has a delimiter and may have columns', () => {
    expect(fileOf('format: csv').csv).toEqual({ delimiter: ',', columns: undefined });
    expect(fileOf('format: csv\ncsv: {delimiter: tab, columns: [a, b]}').csv).toEqual({
      delimiter: '\t',
      columns: ['a', 'b'],
      optional: 0,
    });
    expect(fileOf('format: csv\ncsv: {delimiter: "\\\\t"}').csv.delimiter).toBe('\t');
    expect(problemsOf(configWith({ source: 'format: csv\ncsv: {delimiter: "::"}' }))).toEqual([
      '6:22: `delimiter`: `::` is not one character; write one character, such as `,` or `;`, or `tab`',
    ]);
  });

  test('regex wants a pattern with names', () => {
    expect(fileOf("format: regex\nregex: '^(?<a>x)'").regex).toBe('^(?<a>x)');
    expect(problemsOf(configWith({ source: 'format: regex' }))[0]).toMatch(
      /^5:13: `format: regex` is given without `regex`; add /,
    );
    expect(problemsOf(configWith({ source: "format: regex\nregex: '^(x)'" }))).toEqual([
      '6:12: `regex` has no named group, so that events would have no fields; name its groups: `(?<level>\\w+)`',
    ]);
  });

  test('with a parser leaves room for host and file among the fields', () => {
    const fields = (count: number) => `fields: {${Array.from({ length: count }, (_, n) => `f${n}: 1`).join(', ')}}`;
    expect(fileOf(`format: text\n${fields(60)}`).fields).toHaveProperty('f59');
    expect(fileOf(`format: logfmt\n${fields(58)}`).fields).toHaveProperty('f57');
    expect(problemsOf(configWith({ source: `format: logfmt\n${fields(59)}` }))[0]).toContain('61 fields');
  });
});

describe('charset', () => {
  test.each([
    ['UTF8', 'utf-8'],
    ['UTF-16', 'utf-16le'],
    ['ISO-8859-1', 'latin1'],
    ['iso8859-15', 'iso-8859-15'],
    ['ISO_8859-7', 'iso-8859-7'],
    ['cp1252', 'windows-1252'],
    ['CP850', 'cp850'],
    ['Shift-JIS', 'shift_jis'],
    ['GB2312', 'gbk'],
    ['KOI8-R', 'koi8-r'],
    ['IBM866', 'cp866'],
    ['win866', 'cp866'],
  ])('%s is %s', (written, charset) => {
    expect(fileOf(`charset: "${written}"`).charset).toBe(charset);
  });

  test('names are found in any spelling, themselves too, and others are not', () => {
    for (const name of CHARSETS) expect(findCharset(name)).toBe(name);
    for (const name of ['', 'utf', 'utf-7', 'utf-32', 'latin', '__proto__', 'cp', 'windows-'])
      expect(findCharset(name)).toBeUndefined();
    expect(problemsOf(configWith({ source: 'charset: lattin1' }))).toEqual([
      '5:14: `charset`: `lattin1` is no charset that is known; did you mean `latin1`?',
    ]);
  });

  test('of messages is any but UTF-16, whose characters have newlines in them', () => {
    const of = (charset: string) =>
      configWith({ sources: `  n: {type: syslog, listen: [udp://127.0.0.1:0], charset: ${charset}}` });
    expect(problemsOf(of('utf-16'))).toEqual([
      '5:59: `charset`: `utf-16` has newlines and NUL inside of characters; name the charset that senders write; no sender of syslog writes UTF-16',
    ]);
  });
});

test.each([
  ['preset: auditd', 'group'],
  ['preset: auditd\nmultiline: {start: a}', 'multiline'],
  ['preset: log4j', 'multiline'],
  ['preset: log4j\ngroup: {by: a}', 'group'],
] as const)('%s joins lines by one of the two keys', (source, key) => {
  const { multiline, group } = fileOf(source);
  expect([multiline && 'multiline', group && 'group'].filter(Boolean)).toEqual([key]);
});
