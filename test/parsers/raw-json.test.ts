/**
 * Symptom: JSON in messages was printed anew: `1.0` beside a Docker message became 1, a key that stood twice was dropped, `\u00e9` became é. Cause: the event
 * was made of values. Fix: members of a found object keep their bytes.
 */
import { expect, test } from 'vitest';
import { resultsOf } from '../shaping/cut/ways.ts';

const MEMBERS = String.raw`"n":1.0,"e":1e400,"big":12345678901234567890,"o":{ "k":1,"k":2.50, "12":1,"0":[1.10 ] },"t":"\u00e9\/","k":1`;
const OBJECT = `{${MEMBERS}}`;
const CRI = '2026-11-21T10:15:00.123456789Z stdout F';
const docker = (log: string, more = ''): string =>
  `{"log":${JSON.stringify(log)},"stream":"stdout","time":"2026-11-21T10:15:00Z"${more}}`;

test.each([
  ['an object', 'format: auto', `${OBJECT}\n`],
  ['one of formats', 'formats: [json, text]', ` ${OBJECT}\r\n`],
  ['one of formats, with parse_json', 'formats: [json, text], parse_json: true', `${OBJECT}\n`],
  [
    'one of formats, with an object in its message',
    'formats: [json, text], parse_json: true',
    `{"message":${JSON.stringify(OBJECT)}, "own":1.0}\n`,
  ],
  ['CRI', 'format: cri, parse_json: true', `${CRI} ${OBJECT}\n`],
  ['CRI, with types', 'format: cri, parse_json: true, types: {x: int}', `${CRI} ${OBJECT.replace('{', '{"x":"7",')}\n`],
  ['CRI, joined', 'format: cri, parse_json: true, multiline: {start: "^."}', `${CRI} ${OBJECT}\n`],
  ['Docker', 'format: docker, parse_json: true', `${docker(`${OBJECT}\n`)}\n`],
  ['text that ends in it', 'format: text, parse_json: true', `done ${OBJECT}\n`],
  ['text with a time', 'format: auto, parse_json: true, time: {format: "2006-01-02"}', `2026-11-21 done ${OBJECT}\n`],
  [
    'syslog, fields',
    'type: syslog, listen: ["tcp://127.0.0.1:0"], parse_json: fields',
    `<13>1 2026-11-21T10:15:00Z host app 1 - - ${OBJECT}\n`,
  ],
  [
    'syslog, all',
    'type: syslog, listen: ["tcp://127.0.0.1:0"], parse_json: all',
    `<13>1 2026-11-21T10:15:00Z host app 1 - - ${OBJECT}\n`,
  ],
])('members of JSON keep their bytes: %s', async (_, source, input) => {
  const [plain, hidden] = await resultsOf(source, [['where 1 == 1'], ['project-away o.none, none']], input);
  const [before = '', after = ''] = MEMBERS.split(',"t":');
  for (const { sent } of [plain!, hidden!]) {
    expect(sent).toContain(before.replaceAll('\n', ' '));
    expect(sent).toContain(`,"t":${after}`);
  }
});

test('keys beside a Docker message keep their form', async () => {
  const [result] = await resultsOf(
    'format: docker',
    [['where 1 == 1']],
    `${docker('m\n', ',"attrs":{"n":1.0,"big":12345678901234567890}')}\n`,
  );
  expect(result!.sent).toContain('"attrs":{"n":1.0,"big":12345678901234567890}');
});

test('line breaks in an object of joined lines become spaces, its numbers stay', async () => {
  const [result] = await resultsOf(
    'format: text, parse_json: true, multiline: {start: "^\\\\S"}',
    [['where 1 == 1']],
    '{ "n":1.0,\n "in": {\r\n "m":1e400 } }\nx\n',
  );
  expect(result!.sent.split('\n')[0]).toContain('"n":1.0,"in":{');
  expect(result!.sent.split('\n')[0]).toMatch(/"in":\{\s+"m":1e400 \}/);
});
