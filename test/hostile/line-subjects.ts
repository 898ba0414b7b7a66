/** Every way of a line to its event that a source's configuration has, from its tables: formats, presets, types, charsets, joined lines, times. */
import { CHARSETS } from '../../src/config/fields/charsets.ts';
import { namedTypes } from '../../src/config/fields/kinds-formats.ts';
import { PRESET_NAMES } from '../../src/config/presets/preset.ts';
import { lineFields } from '../../src/sources/common/line-fields.ts';
import { createMaker } from '../sources/made.ts';
import { quotedJson, type Subject } from './subject.ts';

const WIDE = 'max_event_bytes: 2MiB';
const REGEX = String.raw`regex: '(?s)^(?<a>\w+)[ =]+(?<b>[^,;]*)[,;]? ?(?<message>.*)$'`;

/** What formats need beside their name. */
const MORE: Readonly<Record<string, string>> = { regex: REGEX };
/** Prefixes after which a format takes the text. */
const BEFORE: Readonly<Record<string, readonly string[]>> = {
  logfmt: ['', 'a=', 'a="', 'time='],
  cri: ['', '2026-11-22T16:08:49Z stdout F ', '2026-11-22T16:08:49Z stdout P '],
  docker: ['', '{"log":"a\\n","stream":"stdout","time":"2026-11-22T16:08:49Z"', '{"log":"'],
  combined: [
    '',
    '10.0.0.7 - ',
    '10.0.0.7 - - [22/Nov/2026:16:08:49 +0100] "',
    '10.0.0.7 - - [22/Nov/2026:16:08:49 +0100] "GET / HTTP/1.1" 200 7 "',
  ],
  auditd: [
    '',
    'type=A msg=audit(1364481363.243:1): ',
    "type=A msg=audit(1364481363.243:1): a='",
    'type=A msg=audit(1364481363.243:1): comm=',
    'type=A msg=audit(1364481363.243:1): avc:  denied  { ',
  ],
  w3c: ['', '#Fields: ', '#Fields: a\n', '#Fields: a b\n"', '#fields\ta\tb\nx\t'],
  csv: ['', 'a,b\n', 'a,b\n"'],
  json: ['', '{"a":"', '{"a":1,'],
  auto: [
    '',
    '{"a":"',
    '[',
    '2026-11-22 16:08:49 ',
    'INFO ',
    'a=',
    'a=b time=',
    '[a] ',
    '\x1b[',
    '2026-11-22 16:08:49 Europe/',
  ],
};

/** The words that a key of the configuration takes. */
const enumOf = (schema: unknown): readonly string[] => (schema as { anyOf: [{ enum: string[] }] }).anyOf[0].enum;
const FORMATS = enumOf(lineFields.format.kind.schema);
const TYPES = enumOf((namedTypes.schema as { additionalProperties: unknown }).additionalProperties);

async function lineSubject(
  name: string,
  source: string,
  before = '',
  encode = (text: string): Buffer => Buffer.from(text),
): Promise<Subject> {
  const make = await createMaker(`${source}\n${WIDE}`);
  return {
    name: `${name}${before === '' ? '' : `, behind ${JSON.stringify(before)}`}`,
    run: (text) => make(encode(before + text)),
  };
}

export async function lineSubjects(): Promise<readonly Subject[]> {
  const of = (name: string, source: string, before: readonly string[] = ['']): Promise<Subject>[] =>
    before.map((text) => lineSubject(name, source, text));
  return Promise.all([
    ...FORMATS.flatMap((format) => of(`format ${format}`, `format: ${format}\n${MORE[format] ?? ''}`, BEFORE[format])),
    ...FORMATS.filter((format) => ['text', 'cri', 'docker'].includes(format)).flatMap((format) =>
      of(`format ${format} with parse_json`, `format: ${format}\nparse_json: true`, [
        ...(BEFORE[format] ?? ['']),
        'x {"a":',
      ]),
    ),
    ...of('formats', `formats: [combined, {${REGEX}}, logfmt, json, text]`),
    ...PRESET_NAMES.flatMap((preset) =>
      of(`preset ${preset}`, `preset: ${preset}`, [
        '',
        '2026-11-22 16:08:49 ',
        '2026-11-22 16:08:49,123 - a - INFO - ',
        '2026/11/22 16:08:49 [error] 1#1: *1 ',
      ]),
    ),
    ...TYPES.flatMap((type) => [
      lineSubject(`type ${type} of logfmt`, `format: logfmt\ntypes: {a: ${type}}`, 'a='),
      ...of(`type ${type} of JSON`, `format: json\ntypes: {a: ${type}, b.c: ${type}}`, [
        '{"a":',
        '{"b":{"c":"1"},"a":"',
        '',
      ]),
    ]),
    ...TYPES.map((type) =>
      lineSubject(`type ${type} of a text of JSON`, `format: json\ntypes: {a: ${type}}`, '', (text) =>
        Buffer.from(`{"a":${quotedJson(text)}}`),
      ),
    ),
    ...CHARSETS.map((charset) =>
      lineSubject(`charset ${charset}`, `format: text\ncharset: ${charset}`, '', (text) =>
        charset.startsWith('utf-16') ? Buffer.from(text, 'utf16le') : Buffer.from(text),
      ),
    ),
    ...of('group', `group: {by: '(?:a|x|[a-z]+ \\d+|\\{).*'}`, ['', 'x\n']),
    ...['start', 'continue'].flatMap((kind) =>
      of(`multiline ${kind}`, `multiline: {${kind}: '^\\s*(?:at|x|[a-z]+ \\d+|\\{).*$'}`, ['', 'x\n']),
    ),
    ...[
      'auto',
      'unix',
      'unixms',
      'unixus',
      'unixnano',
      '2006-01-02T15:04:05.000Z07:00',
      'Jan _2 15:04:05 2006 MST',
      'Monday, 02-Jan-06 15:04:05',
    ].flatMap((format) => [
      ...of(`time ${format}`, `format: text\ntime: {format: '${format}', timezone: UTC}`, [
        '',
        '[',
        '2026-11-22T16:08:49.',
      ]),
      lineSubject(
        `time ${format} of a field`,
        `format: json\ntime: {field: a, format: '${format}', timezone: UTC}`,
        '',
        (text) => Buffer.from(`{"a":${quotedJson(text)}}`),
      ),
    ]),
  ]);
}
