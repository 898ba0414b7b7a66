/** The keys of sources that read lines: how those become events. */
import { field, group, type FieldTable, type FieldValues } from '../../config/fields/field.ts';
import { anyText, choice, duration, flag, integer, list, size, wordOrGroup } from '../../config/fields/kinds.ts';
import { charset, delimiter, pattern, presetName } from '../../config/fields/kinds-lines.ts';
import { columnName, timezone } from '../../config/fields/kinds-special.ts';
import { timeFormat } from '../../config/fields/kinds-time.ts';
import { formatList, namedTypes } from '../../config/fields/kinds-formats.ts';
import { type CommonSourceConfig, hostZone } from './source-fields.ts';

const format = field(
  choice(['auto', 'text', 'json', 'logfmt', 'cri', 'docker', 'combined', 'auditd', 'csv', 'w3c', 'regex']),
  {
    default: 'auto',
    doc: 'auto: JSON objects pass through unchanged, other lines become {"message": line}; json: the others also get a parse_error; text: all lines become messages; the others: docs/formats.md',
  },
);
export const onOversize = field(choice(['truncate', 'split', 'dead_letter']), {
  default: 'truncate',
  doc: 'what happens to a longer one: cut, with truncated and original_bytes; sent in parts, with part and part_last; or its beginning kept as a dead letter',
});
const multilineTable = {
  start: field(pattern, { example: "'^\\d{4}-'", doc: 'a line that matches begins an event; this or `continue`' }),
  continue: field(pattern, { example: "'^\\s'", doc: 'a line that matches belongs to the event before it' }),
  before: field(pattern, {
    example: "'^# Time:'",
    doc: 'a line in front of that of `start` which belongs to the same event',
  }),
  timeout: field(duration('10ms', '1h'), {
    default: '5s',
    doc: 'lines are sent when none has followed them for so long',
  }),
  max_lines: field(integer(2, 100_000), { default: '1000', doc: 'of one event; the next line begins another' }),
  max_bytes: field(size('1KiB', '10MiB'), {
    computed: 'max_event_bytes',
    example: '256KiB',
    doc: 'of one event; the next line begins another',
  }),
} satisfies FieldTable;
const groupTable = {
  by: field(pattern, {
    required: true,
    example: "'audit\\([\\d.:]+\\)'",
    doc: 'finds the key of a line: all that it matches, or what its groups take; a line without a match is an event of its own',
  }),
  within: field(duration('10ms', '1h'), {
    default: '2s',
    doc: 'an event takes lines for so long after its first one, by the times that the lines tell, else by when they were read',
  }),
} satisfies FieldTable;
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
} satisfies FieldTable;
const timeTable = {
  field: field(anyText, {
    example: 'req.time',
    doc: 'where the time is: a key of JSON (a dot for each level), a named group, a CSV column; one that cannot be read gives a time_error',
  }),
  format: field(timeFormat, {
    default: 'auto',
    doc: 'how it is written; a layout may lack the year, which is inferred',
  }),
  timezone: field(timezone, { computed: "the host's", example: 'Europe/Athens', doc: 'of times that name no zone' }),
} satisfies FieldTable;
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
} satisfies FieldTable;

type LineValues = FieldValues<typeof lineFields>;
export type LineConfig = CommonSourceConfig & ReturnType<typeof deriveLines<LineValues>>;

/** What the configuration has of these keys: exactly one pattern of `multiline` is given (check-lines). */
export function deriveLines<V extends LineValues>({ preset: _preset, csv, formats, multiline, time, ...values }: V) {
  return {
    ...values,
    csv: csv ?? PLAIN_CSV,
    formats: formats ?? [],
    multiline: multiline && multilineOf(multiline),
    time: timeOf(time),
    /** A transform follows: text that it may hide must not be in `time_error`. */
    isShaped: false,
    /** Regular expressions whose named groups, matched against the path, are fields. */
    pathFields: [] as readonly string[],
  };
}

type CsvValues = NonNullable<LineValues['csv']>;
/** It has no more keys, as it is part of the digest of events. */
const PLAIN_CSV: Omit<CsvValues, 'optional'> & Partial<CsvValues> = { delimiter: ',', columns: undefined };

export type MultilineConfig = ReturnType<typeof multilineOf>;

/** `kind`: whether the pattern tells the lines that begin an event, or those that go on with it. */
function multilineOf({
  start,
  continue: more,
  before,
  maxBytes = Infinity,
  ...others
}: FieldValues<typeof multilineTable>) {
  const kind: 'start' | 'continue' = start === undefined ? 'continue' : 'start';
  return { ...others, kind, pattern: start ?? more ?? '', ...(before === undefined ? {} : { before }), maxBytes };
}

/**
 * `read`: the time of the read. `auto`: what the kernel finds. `given`: a field, and its format, which is `auto`, `unix…` or a Go
 * layout; without a field that of the default's keys and of the beginning of text. `timezone`: IANA name; of times that name none.
 */
export type TimeConfig =
  /** `kept`: a `_time` of the format's own stays as it is written, for the service. */
  | { readonly kind: 'read' | 'kept' }
  | { readonly kind: 'auto'; readonly timezone: string }
  | { readonly kind: 'given'; readonly field: string | undefined; readonly format: string; readonly timezone: string };

function timeOf(time: LineValues['time']): TimeConfig {
  if (time === 'read') return { kind: 'read' };
  const { field, format, timezone = hostZone() } = time === 'auto' ? { field: undefined, format: 'auto' } : time;
  return field === undefined && format === 'auto'
    ? { kind: 'auto', timezone }
    : { kind: 'given', field, format, timezone };
}
