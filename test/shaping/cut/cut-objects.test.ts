/**
 * Symptom: `project-away password` let the password pass in `message` where a JSON line was cut, split, unfinished or invalid. Cause: such a line is
 * text, in which no step finds a field. Fix: where a pipeline hides fields, it is dead-lettered; `on_error` decides otherwise.
 */
import { expect, test } from 'vitest';
import { FUNCTIONS } from '../../../src/language/functions/table.ts';
import { QUERY_OPERATORS } from '../../../src/language/operators/table.ts';
import { resultsOf } from './ways.ts';

process.env['CUT_KEY'] = 'key';
const SECRET = 'hunter2';

/** The text after an operator that hides; a new one needs an entry. */
const OPERANDS: Readonly<Record<string, string>> = {
  project: 'level, message, password = "x"',
  'project-away': 'password',
  'project-keep': 'level, message',
};
const operators = QUERY_OPERATORS.filter(({ hides, only }) => hides === true && only !== 'queries').map(
  ({ names: [name] }) => name,
);
const functions = new Set([...FUNCTIONS.values()].filter(({ hides }) => hides === true).map(({ name }) => name));
const HIDING = [
  ...operators.map((name) => `${name} ${OPERANDS[name] ?? 'no operands are known to this test'}`),
  ...[...functions].map((name) => `extend password = ${name}(password${FUNCTIONS.get(name)!.args.some((arg) => arg.startsWith('secret')) ? ', env("CUT_KEY")' : ''})`),
  'project-away user[].password',
  'extend user[].password = mask(user[].password)',
  'where level != "debug" | extend n = 1 | project-away password',
]; // prettier-ignore

const line = (more = ''): string => `{"level":"info","password":"${SECRET}","user":"ann"${more}}`;
const filler = 'x'.repeat(6000);
const LONG = line(`,"filler":"${filler}"`);
const LIMIT = 'max_event_bytes: 4KiB';
const CRI = '2026-11-21T10:15:00.123456789Z stdout';
const docker = (log: string): string => JSON.stringify({ log, stream: 'stdout', time: '2026-11-21T10:15:00Z' });
const SYSLOG = '<13>1 2026-11-21T10:15:00Z host app 1 - -';

interface Cut {
  readonly source: string;
  readonly input: string | Buffer;
}

/** Formats whose lines are fields, and a line with a secret. */
const FIELD_FORMATS: readonly (readonly [source: string, text: (secret: string) => string])[] = [
  ['format: logfmt', (secret) => `user=ann password=${secret}`],
  ['format: csv, csv: {columns: [user, password, more]}', (secret) => `ann,${secret},`],
  ["format: regex, regex: '^(?<user>\\w+) (?<password>\\w+) (?<more>.*)$'", (secret) => `ann ${secret}`],
  [
    'format: combined',
    (secret) => `1.2.3.4 - ann [10/Oct/2026:13:55:36 +0000] "GET /?password=${secret} HTTP/1.1" 200 1`,
  ],
  ['formats: [logfmt, text]', (secret) => `user=ann password=${secret}`],
];

/** Ways for a line to be cut, by format. */
const CUTS: Readonly<Record<string, Cut>> = Object.fromEntries(
  [
    ...['format: auto', 'format: json', 'formats: [json, text]', 'formats: [logfmt, json, text]', 'format: text, parse_json: true', 'format: auto, parse_json: true', 'format: auto, types: {n: int}',
      'format: json, time: {field: t, format: unix}', 'format: auto, charset: iso-8859-1', 'format: auto, time: {format: "2006-01-02"}'].flatMap((format): [string, Cut][] => [
      [`${format}: truncated`, { source: `${format}, ${LIMIT}`, input: `${LONG}\n` }],
      [`${format}: split`, { source: `${format}, ${LIMIT}, on_oversize: split`, input: `${line(`,"filler":"${filler}","password":"${SECRET}"`)}\n` }],
      [`${format}: refused`, { source: `${format}, ${LIMIT}, on_oversize: dead_letter`, input: `${LONG}\n` }],
      [`${format}: unfinished`, { source: format, input: line().slice(0, -1) }],
      [`${format}: invalid`, { source: format, input: `${line()} trailing\n` }],
      [`${format}: blanks`, { source: format, input: ` \t{ \t${line().slice(1, -1)}\n` }],
      [`${format}: control characters`, { source: format, input: `\u0000\u0000${line().slice(0, -1)}\n` }],
      [`${format}: byte order mark`, { source: format, input: `\ufeff\ufeff${line().slice(0, -1)}\n` }],
      [`${format}: too deep`, { source: format, input: `${line(`,"d":${'['.repeat(3000)}${']'.repeat(3000)}`)} x\n` }],
      ...(format.includes('parse_json') ? [] : [[`${format}: over several lines`, { source: `${format}, multiline: {start: '^\\{'}`, input: `{\n"level":"info",\n"password":"${SECRET}"}\n` }] as [string, Cut]]),
      [`${format}: joined to a text`, { source: `${format}, multiline: {start: '^\\d'}`, input: `1 text\n${line()}${format.includes('parse_json') ? ' x' : ''}\n` }],
    ]),
    ['formats: another one takes the cut text', { source: "formats: [json, {regex: '^(?<all>.*)$'}]", input: `${line()} x\n` }],
    ['formats: another one takes its rest', { source: "formats: [json, {regex: '^\\{(?<rest>.*)$'}, text]", input: line().slice(0, -1) }],
    ['formats: another one takes joined lines', { source: "formats: [json, {regex: '^(?<id>\\d) (?<all>[\\s\\S]*)$'}], multiline: {start: '^\\d'}", input: `1 text\n${line()} x\n` }],
    ['joined lines: more than max_lines', { source: "format: auto, multiline: {start: '^\\{', max_lines: 2}", input: `{\n"level":"info",\n"user":"ann",\n"password":"${SECRET}"\n}\n{"a":1}\n` }],
    ['joined lines: continue, more than max_lines', { source: "format: json, multiline: {continue: '^[^{]', max_lines: 2}", input: `{"level":"info",\n"user":[\n1\n],\n"password":"${SECRET}"\n}\n{"a":1}\n` }],
    ['joined lines: over the limit', { source: `format: auto, multiline: {start: '^\\{'}, ${LIMIT}`, input: `{"list":[\n${'1,\n'.repeat(2000)}2],"password":"${SECRET}"}\n{"a":1}\n` }],
    ['joined lines: a text before the object', { source: "format: auto, multiline: {start: '^\\d', max_lines: 2}", input: `1 text\n{"level":"info",\n"user":"ann",\n"password":"${SECRET}"\n}\n2 text\n` }],
    ['joined lines: parse_json', { source: "format: text, parse_json: true, multiline: {start: '^\\{', max_lines: 2}", input: `{\n"level":"info",\n"user":"ann",\n"password":"${SECRET}"\n}\n{"a":1}\n` }],
    ['joined lines: UTF-16', { source: "format: auto, charset: utf-16le, multiline: {start: '^\\{', max_lines: 2}", input: Buffer.from(`{\n"level":"info",\n"password":"${SECRET}"\n}\n{"a":1}\n`, 'utf16le') }],
    ['types: a value of logfmt that is cut', { source: 'format: logfmt, types: {req: json}', input: `req=${JSON.stringify(line().slice(0, -1))} n=1\n` }],
    ['types: a value of JSON that is invalid', { source: 'format: auto, types: {"req.body": json}', input: `{"n":1,"req":{"body":${JSON.stringify(`${line()} x`)}}}\n` }],
    ['types: a value of a regex', { source: "format: regex, regex: '^(?<n>\\d) (?<req>.*)$', types: {req: json}", input: `1 ${line().slice(0, -1)}\n` }],
    ['auto: UTF-16', { source: 'format: auto, charset: utf-16le', input: Buffer.from(`${line()} x\n`, 'utf16le') }],
    ['auto: UTF-16, truncated', { source: `format: auto, charset: utf-16le, ${LIMIT}`, input: Buffer.from(`${LONG}\n`, 'utf16le') }],
    ['auto: UTF-16, split', { source: `format: auto, charset: utf-16le, ${LIMIT}, on_oversize: split`, input: Buffer.from(`${LONG}\n`, 'utf16le') }],
    ['cri: invalid', { source: 'format: cri, parse_json: true', input: `${CRI} F ${line()} trailing {\n` }],
    ['cri: a piece that nothing follows', { source: 'format: cri, parse_json: true', input: `${CRI} P ${line().slice(0, -1)}\n` }],
    ['cri: truncated', { source: `format: cri, parse_json: true, ${LIMIT}`, input: `${CRI} F ${LONG}\n` }],
    ['cri: split', { source: `format: cri, parse_json: true, ${LIMIT}, on_oversize: split`, input: `${CRI} F ${LONG.replace(SECRET, '').replace(filler, filler + SECRET)}\n` }],
    ['cri: pieces over the limit', { source: `format: cri, parse_json: true, ${LIMIT}`, input: `${CRI} P ${line(`,"f":"${'x'.repeat(3000)}`).slice(0, -1)}\n${CRI} F ${'x'.repeat(3000)}","password":"${SECRET}"}\n` }],
    ['docker: invalid line', { source: 'format: docker', input: `${docker(`${line()}\n`).slice(0, -1)}\n` }],
    ['docker: invalid message', { source: 'format: docker, parse_json: true', input: `${docker(`${line()} trailing\n`)}\n` }],
    ['docker: a piece that nothing follows', { source: 'format: docker, parse_json: true', input: `${docker(line().slice(0, -1))}\n` }],
    ['docker: truncated', { source: `format: docker, ${LIMIT}`, input: `${docker(`${LONG}\n`)}\n` }],
    ['docker: split', { source: `format: docker, ${LIMIT}, on_oversize: split`, input: `${docker(`${LONG}\n`)}\n` }],
    ['cri: a piece behind one that was cut', { source: `format: cri, parse_json: true, ${LIMIT}`, input: `${CRI} P ${line(`,"f":"${filler}`).slice(0, -1)}\n${CRI} F ","password":"${SECRET}"}\n` }],
    ['docker: a piece behind one that was cut', { source: `format: docker, ${LIMIT}`, input: `${docker(`{"f":"${filler}`)}\n${docker(`","password":"${SECRET}"}\n`)}\n` }],
    ['docker: pieces behind one that was cut', { source: `format: docker, ${LIMIT}`, input: `${docker(`{"f":"${filler}`)}\n${docker('","pass')}\n${docker(`word":"${SECRET}"}\n`)}\n` }],
    ['docker, parse_json: a piece behind one that was cut', { source: `format: docker, parse_json: true, ${LIMIT}`, input: `${docker(`{"f":"${filler}`)}\n${docker(`","password":"${SECRET}"}\n`)}\n` }],
    ['docker, split: a piece behind one that was cut', { source: `format: docker, ${LIMIT}, on_oversize: split`, input: `${docker(`{"f":"${filler}`)}\n${docker(`","password":"${SECRET}"}\n`)}\n` }],
    ...FIELD_FORMATS.flatMap(([format, text]): [string, Cut][] => [
      [`${format}: truncated`, { source: `${format}, ${LIMIT}`, input: `${text(SECRET)} ${filler}\n` }],
      [`${format}: split`, { source: `${format}, ${LIMIT}, on_oversize: split`, input: `${text(filler)} ${SECRET}\n` }],
      [`${format}: refused`, { source: `${format}, ${LIMIT}, on_oversize: dead_letter`, input: `${text(SECRET)} ${filler}\n` }],
    ]),
    ['logfmt: unfinished', { source: 'format: logfmt', input: `user=ann password="${SECRET}` }],
    ['csv: unfinished', { source: 'format: csv, csv: {columns: [user, password]}', input: `ann,"${SECRET}` }],
    ['csv: a row that a limit cut', { source: `format: csv, csv: {columns: [user, password]}, ${LIMIT}`, input: `ann,"${SECRET}${'\n'.repeat(4500)}"\n` }],
    ['regex: unfinished', { source: "format: regex, regex: '^(?<user>\\w+) (?<password>\\w+) end$'", input: `ann ${SECRET}` }],
    ['formats: unfinished', { source: 'formats: [logfmt, text]', input: `user=ann password="${SECRET}` }],
    ['syslog: a header that is cut', { source: `type: syslog, listen: ["tcp://127.0.0.1:0"], ${LIMIT}`, input: `${SYSLOG.slice(0, -1)}[x password="${SECRET}" f="${filler}"] text\n` }],
    ['syslog: a count that is too small', { source: 'type: syslog, listen: ["tcp://127.0.0.1:0"], parse_json: all', input: `60 ${SYSLOG} ${line()}${SYSLOG.length + 5} ${SYSLOG} next` }],
    ...['all', 'cee', 'fields'].flatMap((parse): [string, Cut][] => {
      const source = `type: syslog, listen: ["tcp://127.0.0.1:0"], parse_json: ${parse}`;
      const cookie = parse === 'cee' ? '@cee: ' : '';
      return [
        [`syslog, parse_json ${parse}: invalid`, { source, input: `${SYSLOG} ${cookie}${line()} trailing\n` }],
        [`syslog, parse_json ${parse}: truncated`, { source: `${source}, ${LIMIT}`, input: `${SYSLOG} ${cookie}${LONG}\n` }],
        [`syslog, parse_json ${parse}: split`, { source: `${source}, ${LIMIT}, on_oversize: split`, input: `${SYSLOG} ${cookie}${LONG.replace(SECRET, '').replace(filler, filler + SECRET)}\n` }],
        [`syslog, parse_json ${parse}: no header`, { source, input: `${line()}\n` }],
      ];
    }),
  ],
); // prettier-ignore

test.each(Object.entries(CUTS))('%s: nothing that a pipeline hides leaves in clear, and all of it is in dead letters', async (_, { source, input }) => {
  const [plain, ...hidden] = await resultsOf(source, [['extend a = 1'], ...HIDING.map((text) => [text])], input);
  expect(plain!.sent).toContain(SECRET);
  const found = hidden.map(({ sent, withheld }, n) => ({
    transform: HIDING[n],
    leaves: sent.includes(SECRET),
    isKept: withheld.some(({ text }) => text.includes(SECRET)),
    isQuoted: withheld.some(({ reason }) => reason.includes(SECRET)),
  }));
  expect(found).toEqual(HIDING.map((transform) => ({ transform, leaves: false, isKept: true, isQuoted: false })));
}); // prettier-ignore

const CUT = CUTS['format: auto: invalid']!;

test('a pipeline hides fields on source, top and sink alike, wherever its step is, also in text that an earlier step made', async () => {
  const before = 'extend other = message | project-rename moved = message';
  const [first, last, between] = await resultsOf(CUT.source, [['project-away password', before], [before, 'project-away password'], [before, 'extend b = 1 | project-away password | extend c = 2', before]], CUT.input);
  for (const { sent, withheld } of [first!, last!, between!]) {
    expect(sent).toBe('');
    expect(withheld).toEqual([{ event: 0, sub: 0, reason: expect.stringContaining('is a cut line or invalid JSON'), text: expect.stringContaining(SECRET) }]);
  }
}); // prettier-ignore

test.each([['keep', 1, 0, 0], ['dead_letter', 0, 1, 0], ['drop', 0, 0, 1]] as const)('on_error: %s decides about a cut object', async (onError, sent, withheld, dropped) => {
  const [result] = await resultsOf(CUT.source, [['project-away password']], CUT.input, onError);
  expect({ sent: result!.sent.split('\n').length - 1, withheld: result!.withheld.length, dropped: result!.dropped }).toEqual({ sent, withheld, dropped });
  expect(result!.sent.includes('"transform_error":"the text is a cut line or invalid JSON')).toBe(onError === 'keep');
}); // prettier-ignore

/** What no pipeline that hides fields holds back: it was read whole, or is no object. */
const WHOLE: Readonly<Record<string, Cut>> = {
  'an object': { source: 'format: auto', input: `${line()}\n \t${line()} \r\n` },
  'an unfinished line that is whole': { source: 'format: json', input: line() },
  'an object whose message is the beginning of one': { source: 'format: auto', input: '{"_time":"2026-11-21T10:15:00Z","message":"{\\"a\\": cut","n":1}\n' },
  'text': { source: 'format: auto', input: 'an {"password" in the middle\n{not json}\n[1]\n{\n' },
  'joined lines that begin no event, and hold no object': { source: "format: auto, multiline: {start: '^\\d', max_lines: 2}", input: 'a\nb {\nc\nd\n1 e\n' },
  'what follows an object that a limit cut': { source: "format: auto, multiline: {start: '^\\d', max_lines: 2}", input: '1\na\nb\nc\n2 d\n' },
  'a truncated text': { source: `format: auto, ${LIMIT}`, input: `${'text '.repeat(2000)}\n` },
  'a text in parts': { source: `format: auto, ${LIMIT}, on_oversize: split`, input: `${'{"a":1} text '.slice(8).repeat(2000)}\n` },
  'text of a format that is never JSON': { source: 'format: text', input: `${line()} x\n` },
  'an unfinished line of fields': { source: 'format: logfmt', input: 'user=ann n=1' },
  'a line of fields that does not fit': { source: 'format: logfmt', input: 'no fields\n' },
  'a message of docker behind one that was not cut': { source: 'format: docker, parse_json: true', input: `${docker('{"a":1}\n')}\n${docker('text\n')}\n` },
  'a whole object of docker behind a line that was cut': { source: `format: docker, parse_json: true, ${LIMIT}`, input: `${docker('{"a":1}\n')}\n` },
  'a value of CSV': { source: 'format: csv, csv: {columns: [message]}', input: '{"a\n' },
  'a message of containers that is text': { source: 'format: cri', input: `${CRI} F ${line()} x\n` },
  'objects of containers': { source: 'format: cri, parse_json: true', input: `${CRI} P {"level":\n${CRI} F "info"}\n` },
  'a message of syslog that is text': { source: 'type: syslog, listen: ["tcp://127.0.0.1:0"]', input: `${SYSLOG} ${line()} x\n` },
  'an object of syslog': { source: 'type: syslog, listen: ["tcp://127.0.0.1:0"], parse_json: all', input: `${SYSLOG} {"a":1}\n` },
  'an object of syslog without its cookie': { source: 'type: syslog, listen: ["tcp://127.0.0.1:0"], parse_json: cee', input: `${SYSLOG} {"a": 1} x\n` },
}; // prettier-ignore

test.each(Object.entries(WHOLE))('%s is sent', async (_, { source, input }) => {
  const [plain, hidden] = await resultsOf(
    source,
    [['extend a = 1'], ['extend a = 1 | project-away no_such_field']],
    input,
  );
  expect(hidden!.withheld).toEqual([]);
  expect(hidden!.sent).toBe(plain!.sent);
});

test('redact of the whole text hides no field: a cut object runs through it', async () => {
  const [result] = await resultsOf(CUT.source, [['extend message = redact(message, "/hunter2/")']], CUT.input);
  expect(result!.withheld).toEqual([]);
  expect(result!.sent).toContain('[REDACTED:pattern]');
  expect(result!.sent).not.toContain(SECRET);
});

test('text that is blank to the limit may be the beginning of an object: its later parts are held back', async () => {
  const [result] = await resultsOf(
    `format: auto, ${LIMIT}, on_oversize: split`,
    [['project-away password']],
    `${' '.repeat(9000)}${line()}x\n`,
  );
  expect(result!.sent).not.toContain(SECRET);
});
