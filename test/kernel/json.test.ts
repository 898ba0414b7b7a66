/** Lines that are JSON objects, and lines that only look like it. */
import { describe, expect, test } from 'vitest';
import type { JsonValue } from '../../src/core/block.ts';
import { MAX_JSON_DEPTH } from '../../src/kernel/limits.ts';
import { eventText } from './drive.ts';

const TIME = '2026-11-21T10:15:00.000Z';
const readAtMs = Date.parse(TIME);
const time = `"_time":"${TIME}"`;

/** With a `_time` that the object has, so that nothing is added unless there are fields. */
function passed(line: string | Uint8Array, fields: Record<string, JsonValue> = {}, timestampField?: string): string {
  return eventText(line, { fields, wrapFields: { host: 'never in an object' } }, { readAtMs, timestampField });
}

function passes(line: string): boolean {
  const event = passed(line);
  return !event.startsWith(`{${time},"message":`) && event.startsWith('{');
}

describe('an object line', () => {
  test('passes through with its bytes unchanged', () => {
    const lines = [
      '{"_time":1,"a":"\\u00e9\\/\\ud83d \\ude00\\n","b":[1,-0,0.5,1E+2,1e400,123456789012345678901234567890],"c":{"d":[[],{},[{}]]},"e":null}',
      '{ "_time" : 1 ,\t"a" : [ 1 , 2 ] , "b" : { } }',
      '{\t"_time"\t:\t"1"\t,\r"a":\t[\t"b"\t,\t"c"\t]\t,\t"d":\t{\t}\t}',
      '{"_time":\t"1","a":\r["b",\t"c"],\t"d":"e"}',
      '{"_time":1,"a":1,"a":2,"":"","":""}',
      '{"_time":1,"μήνυμα":"日本語","\x7f":"\u2028\u2029\ufeff"}',
    ];
    for (const line of lines) expect(passed(line)).toBe(`${line}\n`);
  });

  test('loses the spaces around it and its CRs', () => {
    expect(passed(' \t\r {"_time":1} \t\r\r')).toBe('{"_time":1}\n');
  });

  // Symptom: files that were put together, each with a mark, gave text for the first line of each but the first.
  test('loses a byte order mark before it, and the spaces behind that', () => {
    expect(passed('\ufeff{"_time":1}')).toBe('{"_time":1}\n');
    expect(passed('\ufeff \t{"_time":1,"a":"\ufeff"} ')).toBe('{"_time":1,"a":"\ufeff"}\n');
    expect(passed('\ufeff{"a":1}', { s: 1 })).toBe(`{"a":1,"s":1,${time}}\n`);
  });

  test('gets the fields before its closing brace, then the time', () => {
    expect(passed('{"a":1}', { service: 'app', n: [1] })).toBe(`{"a":1,"service":"app","n":[1],${time}}\n`);
    expect(passed('{"a":1 }', { s: 1 })).toBe(`{"a":1 ,"s":1,${time}}\n`);
  });

  test('gets no leading comma when it is empty', () => {
    expect(passed('{}')).toBe(`{${time}}\n`);
    expect(passed(' { } ', { a: 1 })).toBe(`{ "a":1,${time}}\n`);
    expect(passed('{}', { _time: 5 })).toBe('{"_time":5}\n');
  });

  test('keeps its own keys, and a key within it or a value is no key of its own', () => {
    expect(passed('{"service":1,"_time":2}', { service: 'app', env: 'e' })).toBe('{"service":1,"_time":2,"env":"e"}\n');
    expect(passed('{"a":{"service":1},"b":["service"],"c":"service","_time":2}', { service: 'app' })).toBe(
      '{"a":{"service":1},"b":["service"],"c":"service","_time":2,"service":"app"}\n',
    );
  });

  test('gets no time when it has its own, or the timestamp field', () => {
    expect(passed('{"ts":1}', {}, 'ts')).toBe('{"ts":1}\n');
    expect(passed('{"ts":1}', {}, 'time')).toBe(`{"ts":1,${time}}\n`);
    expect(passed('{"\\u005ftime":1}')).toBe('{"\\u005ftime":1}\n');
    expect(passed('{"a":{"_time":1}}')).toBe(`{"a":{"_time":1},${time}}\n`);
    expect(passed('{"ts":1}', { ts: 2 }, 'ts')).toBe('{"ts":1}\n');
    expect(passed('{"a":1}', { _time: 'fixed' })).toBe('{"a":1,"_time":"fixed"}\n');
  });

  test.each([
    ['serv\\u0069ce', 'service'],
    ['\\u0073\\u0065\\u0072\\u0076\\u0069\\u0063\\u0065', 'service'],
    ['\\u00E9', 'é'],
    ['é', 'é'],
    ['\\ud83d\\ude00', '😀'],
    ['😀', '😀'],
    ['\\ud83d', '\ud83d'],
    ['\\ude00\\ud83d', '\ude00\ud83d'],
    ['\\"\\\\\\/\\b\\f\\n\\r\\t', '"\\/\b\f\n\r\t'],
    ['\\u0000', '\0'],
    ['', ''],
    ['a key that is longer than sixteen bytes', 'a key that is longer than sixteen bytes'],
    ['a key that is longer than sixteen bytes\\u002e', 'a key that is longer than sixteen bytes.'],
    ['\\ufffd', '\ufffd'],
    ['\ufffd', '\ufffd'],
  ])('has the key "%s" under its decoded name', (written, name) => {
    const line = `{"x":0,"${written}":1,"_time":2}`;
    expect(passed(line, { [name]: 'field' })).toBe(`${line}\n`);
  });

  test.each([
    ['e\u0301', 'é'],
    ['Service', 'service'],
    ['servic', 'service'],
    ['services', 'service'],
    ['\\ud83d', '\ufffd'],
    ['\\\\u0069', 'i'],
  ])('with the key "%s" does not have "%s"', (written, name) => {
    const line = `{"${written}":1,"_time":2}`;
    expect(passed(line, { [name]: 'field' })).toBe(`{"${written}":1,"_time":2,${JSON.stringify(name)}:"field"}\n`);
  });

  test('gets U+FFFD for invalid UTF-8 in its strings, in keys too', () => {
    const line = Buffer.concat([
      Buffer.from('{"_time":1,"k'),
      Buffer.of(0xff),
      Buffer.from('":"a'),
      Buffer.of(0xe2, 0x82),
      Buffer.from('é","b":2}'),
    ]);
    expect(passed(line)).toBe('{"_time":1,"k\ufffd":"a\ufffdé","b":2}\n');
    expect(passed(line, { 'k\ufffd': 1, c: 3 })).toBe('{"_time":1,"k\ufffd":"a\ufffdé","b":2,"c":3}\n');
  });

  test('may be nested as deep as the limit and no deeper', () => {
    const nested = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
    const lists = (depth: number) => `{"a":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`;
    for (const make of [nested, lists]) {
      expect(passed(make(MAX_JSON_DEPTH)).slice(0, -2)).toBe(`${make(MAX_JSON_DEPTH).slice(0, -1)},${time}`);
      expect(passed(make(MAX_JSON_DEPTH + 1))).toContain('"message":');
    }
  });

  test('passes with more members and strings than one stretch of the index holds', () => {
    const members = Array.from({ length: 3000 }, (_, i) => `"key${i}":${i % 3 ? i : `"${'v'.repeat(i % 70)}\\n"`}`);
    const line = `{${members.join(',')},"service":1,"_time":2}`;
    expect(passed(line, { service: 'app', late: true })).toBe(`${line.slice(0, -1)},"late":true}\n`);
  });
});

describe('a line that only looks like JSON', () => {
  test.each([
    '{',
    '}',
    '{]',
    '[}',
    '{"a"}',
    '{"a":}',
    '{"a":1',
    '{"a":1,}',
    '{,"a":1}',
    '{"a":1,,"b":2}',
    '{"a" 1}',
    '{a:1}',
    "{'a':1}",
    '{"a":1}}',
    '{"a":1} x',
    '{"a":1}{"b":2}',
    '{"a":[1,]}',
    '{"a":[1 2]}',
    '{"a":[,1]}',
    '{"a":[1}}',
    '{"a":{"b":1]}',
    '{"a":01}',
    '{"a":-}',
    '{"a":-01}',
    '{"a":+1}',
    '{"a":.5}',
    '{"a":1.}',
    '{"a":1.e5}',
    '{"a":1e}',
    '{"a":1e+}',
    '{"a":0x1}',
    '{"a":1.5.5}',
    '{"a":tru}',
    '{"a":True}',
    '{"a":truex}',
    '{"a":nul}',
    '{"a":falsy}',
    '{"a":NaN}',
    '{"a":Infinity}',
    '{"a":"x}',
    '{"a":"\\x"}',
    '{"a":"\\u12g4"}',
    '{"a":"\\u12"}',
    '{"a":"\\"}',
    '{"a":"\t"}',
    '{"a":"\0"}',
    '{"a":"\x1f"}',
    '{"a\t":1}',
    '{"a":1\v}',
    '{"a":1\f}',
    '{"a":\u00a01}',
    '{\ufeff}',
    '\ufeff',
    '\ufeff\ufeff{}',
    ' \ufeff{}',
    '{"a":1/**/}',
    '[1]',
    '"a"',
    '1',
    'null',
    '{"a":é}',
    '{"a":123456789012345x}',
    '{"a":1,"b":02,"c":3}',
  ])('is text: %j', (line) => {
    expect(passes(line)).toBe(false);
    expect(eventText(line, { format: 'json' })).toContain(',"parse_error":"not a JSON object"}\n');
  });

  test('is text when invalid UTF-8 is outside its strings', () => {
    expect(passed(Buffer.concat([Buffer.from('{"a":1'), Buffer.of(0xff), Buffer.from('}')]))).toContain(
      '"message":"{\\"a\\":1\ufffd}"',
    );
  });
});
