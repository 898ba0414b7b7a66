/** The fields of sources that read lines: how those become events. */
import { field, group } from '../fields/field.ts';
import type { Table } from '../fields/field.ts';
import { anyText, choice, flag, duration, integer, list, size } from '../fields/kinds.ts';
import { charset, delimiter, pattern, presetName } from '../fields/kinds-lines.ts';
import { columnName, timezone } from '../fields/kinds-special.ts';
import { wordOrGroup } from '../fields/kinds.ts';
import { timeFormat } from '../fields/kinds-time.ts';
import { formatList, namedTypes } from '../fields/kinds-formats.ts';

const format = field(choice(['auto', 'text', 'json', 'logfmt', 'cri', 'docker', 'combined', 'auditd', 'csv', 'w3c', 'regex']), {
  default: 'auto',
  doc: 'auto: JSON objects pass through unchanged, other lines become {"message": line}; json: the others also get a parse_error; text: all lines become messages; the others: docs/formats.md',
});
export const onOversize = field(choice(['truncate', 'split', 'dead_letter']), {
  default: 'truncate',
  doc: 'what happens to a longer one: cut, with truncated and original_bytes; sent in parts, with part and part_last; or its beginning kept as a dead letter',
});
export const multilineTable = {
  start: field(pattern, { example: "'^\\d{4}-'", doc: 'a line that matches begins an event; this or `continue`' }),
  continue: field(pattern, { example: "'^\\s'", doc: 'a line that matches belongs to the event before it' }),
  before: field(pattern, { example: "'^# Time:'", doc: 'a line in front of that of `start` which belongs to the same event' }),
  timeout: field(duration('10ms', '1h'), { default: '5s', doc: 'lines are sent when none has followed them for so long' }),
  max_lines: field(integer(2, 100_000), { default: '1000', doc: 'of one event; the next line begins another' }),
  max_bytes: field(size('1KiB', '10MiB'), {
    computed: 'max_event_bytes',
    example: '256KiB',
    doc: 'of one event; the next line begins another',
  }),
} satisfies Table;
export const groupTable = {
  by: field(pattern, {
    required: true,
    example: "'audit\\([\\d.:]+\\)'",
    doc: 'finds the key of a line: all that it matches, or what its groups take; a line without a match is an event of its own',
  }),
  within: field(duration('10ms', '1h'), {
    default: '2s',
    doc: 'an event takes lines for so long after its first one, by the times that the lines tell, else by when they were read',
  }),
} satisfies Table;
const csvTable = {
  delimiter: field(delimiter, { default: '","', doc: 'for `format: csv`: what stands between two values' }),
  optional: field(integer(0, 1000), {
    default: '0',
    doc: 'how many of the last `columns` a record may lack, such as those that older versions of a program do not write',
  }),
  columns: field(list(columnName, { filled: true, example: '[time, level, message]' }), {
    example: '[time, level, message]',
    doc: 'for `format: csv`: the names of the values, where the first record does not tell them; for `w3c`: those before the first header',
  }),
} satisfies Table;
export const timeTable = {
  field: field(anyText, {
    example: 'req.time',
    doc: 'where the time is: a key of JSON (a dot for each level), a named group, a CSV column; one that cannot be read gives a time_error',
  }),
  format: field(timeFormat, { default: 'auto', doc: 'how it is written; a layout may lack the year, which is inferred' }),
  timezone: field(timezone, { computed: "the host's", example: 'Europe/Athens', doc: 'of times that name no zone' }),
} satisfies Table;
/** Of sources that read lines. */
export const lineFields = {
  preset: field(presetName, {
    example: 'nginx-access',
    doc: "format, time, types, multiline and group of a known program's logs; keys beside it win",
  }),
  format,
  on_oversize: onOversize,
  multiline: field(group(multilineTable), { example: "{start: '^\\d{4}-'}", doc: 'joins lines to one event' }),
  group: field(group(groupTable), {
    example: "{by: 'audit\\([\\d.:]+\\)'}",
    doc: 'lines that carry the same key become one event, across others that stand between them',
  }),
  csv: field(group(csvTable), { example: '{delimiter: ";"}', doc: 'for `format: csv`' }),
  regex: field(pattern, {
    example: "'^(?<level>\\w+) (?<message>.*)$'",
    doc: 'for `format: regex`: its named groups are the fields',
  }),
  time: field(wordOrGroup(['auto', 'read'], timeTable), {
    default: 'auto',
    example: '{field: ts, format: unixms}',
    doc: 'auto: the time that a JSON line, or the beginning of a text, carries itself; read: when it was read',
  }),
  formats: field(formatList, {
    example: "[combined, {regex: '^(?<level>\\w+) (?<message>.*)$'}, text]",
    doc: 'in place of `format`: each line is of the first that fits',
  }),
  types: field(namedTypes, {
    default: '{}',
    example: '{status: int, rt: float}',
    doc: 'of named values, in JSON too (a dot for each level); `-` and empty text are absent, what does not convert stays and is counted; text: only that; escaped: text whose escapes are undone',
  }),
  parse_json: field(flag, {
    default: 'false',
    doc: 'JSON that a message of text, cri or docker is, or ends in, becomes fields; they overwrite nothing',
  }),
  charset: field(charset, {
    default: 'utf-8',
    doc: 'how the bytes are encoded; a byte order mark decides over it; what is invalid becomes U+FFFD',
  }),
};
