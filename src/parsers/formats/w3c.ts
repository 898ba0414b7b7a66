/**
 * Logs whose own header names their columns: W3C extended logs (IIS, CloudFront, Windows Firewall) by `#Fields:`, Zeek's by `#fields`. A later header
 * takes over from its place on. Lines that begin with `#` are not events; `-` is absent; times are UTC, unless the header says local.
 */
import { MAX_CSV_COLUMNS } from '../../core/limits.ts';
import { MAX_CSV_HEADER_BYTES } from '../limits.ts';
import { emptyFields, type EventFields, unparsed } from '../values/fields.ts';
import type { FormatParser } from './line-parser.ts';

const FIELDS = /^#fields:?[ \t](.*)$/i;
/** Zeek's own, written as a character or as `\x2c`. */
const SEPARATOR = /^#separator (?:\\x([\da-f]{2})|(\S))$/i;
const DATE = /^#Date: (\d{4}-\d\d-\d\d)/;
const LOCAL = /^#Time Format: Local/;
const CLOCK = /^(\d{4}-\d\d-\d\d)[ \t](\d\d?:\d\d:\d\d(?:\.\d+)?)(?=[ \t]|$)/;
const UNSET = new Set(['', '-', '(empty)']);

interface Header {
  readonly columns: readonly string[] | undefined;
  /** The date of logs whose lines have a clock alone. */
  readonly date: string | undefined;
  readonly isLocal: boolean;
  /** Between values; undefined where the header does not name it: tabs, else blanks. */
  readonly separator: string | undefined;
  /** The names as one text, of a header that was read. */
  readonly names: string | undefined;
  /** The lines that say so, from which it can be learnt; empty before the first one. */
  readonly text: string;
}

/** `configured`: the columns before the first header. */
export function createW3cParser(configured: readonly string[] | undefined): FormatParser {
  const first: Header = {
    columns: configured,
    date: undefined,
    isLocal: false,
    separator: undefined,
    names: undefined,
    text: '',
  };
  let header = first;
  return {
    restart() {
      header = first;
    },
    learn(head) {
      header = head
        .split('\n')
        .reduce((before, line) => (line.startsWith('#') ? readHeader(before, line.replace(/\r$/, '')) : before), first);
    },
    header: () => header.text,
    parse(text) {
      if (text.startsWith('#')) {
        header = readHeader(header, text);
        return [];
      }
      const { columns, separator = text.includes('\t') ? '\t' : undefined } = header;
      if (!columns) return [unparsedAt(text, 'no line with #Fields is before it', header)];
      const values = separator === undefined ? splitQuoted(text.trim()) : text.split(separator);
      if (values.length !== columns.length)
        return [unparsedAt(text, `${values.length} values for ${columns.length} columns`, header)];
      return [eventOf(values, columns, header)];
    },
  };
}

function readHeader(before: Header, line: string): Header {
  const [, hex, character] = SEPARATOR.exec(line) ?? [];
  const separator = hex === undefined ? character : String.fromCodePoint(parseInt(hex, 16));
  if (separator !== undefined) return withText({ ...before, separator });
  const [, fields] = FIELDS.exec(line) ?? [];
  const own = `#fields${before.separator}`;
  if (line.startsWith(own))
    return withText({ ...before, ...namesOf(line.slice(own.length).replaceAll(before.separator!, '\t')) });
  const [, date] = DATE.exec(line) ?? [];
  if (fields !== undefined) return withText({ ...before, ...namesOf(fields) });
  if (date !== undefined) return withText({ ...before, date });
  return LOCAL.test(line) ? withText({ ...before, isLocal: true }) : before;
}

/** None of a line that could not be found again after a restart. */
function namesOf(fields: string): Pick<Header, 'columns' | 'names'> {
  const found = fields.trim();
  const isTaken = found !== '' && Buffer.byteLength(found) <= MAX_CSV_HEADER_BYTES;
  const columns = isTaken ? found.split(/[ \t]+/).slice(0, MAX_CSV_COLUMNS) : [];
  return { columns, names: columns.join(' ') };
}

function withText(header: Header): Header {
  const { date, isLocal, separator, names } = header;
  const lines = [
    ...(separator === undefined ? [] : [`#separator \\x${separator.codePointAt(0)!.toString(16).padStart(2, '0')}`]),
    ...(date === undefined ? [] : [`#Date: ${date}`]),
    ...(isLocal ? ['#Time Format: Local'] : []),
    ...(names === undefined ? [] : [`#Fields: ${names}`]),
  ];
  return { ...header, text: lines.join('\n') };
}

/** Its time, where it begins with one, is in the zone of the others. */
function unparsedAt(text: string, reason: string, { isLocal }: Header): EventFields {
  const [, date, clock] = CLOCK.exec(text) ?? [];
  return { ...unparsed(text, reason), ...(date === undefined || isLocal ? {} : { _time: `${date} ${clock}Z` }) };
}

/** Values by blanks; quotes hold blanks, and a quote inside of them is doubled. */
function splitQuoted(text: string): string[] {
  if (!text.includes('"')) return text.split(/ +/);
  return [...text.matchAll(/"((?:[^"]|"")*)"(?= |$)|[^ ]+/g)].map(
    ([all, quoted]) => quoted?.replaceAll('""', '"') ?? all,
  );
}

function eventOf(
  values: readonly string[],
  columns: readonly string[],
  { date: headerDate, isLocal }: Header,
): EventFields {
  const event = emptyFields();
  columns.forEach((name, index) => {
    if (!UNSET.has(values[index]!)) event[name] = values[index]!;
  });
  const { date = headerDate, time } = event;
  if (typeof date === 'string' && typeof time === 'string' && /^\d\d?:\d\d:\d\d/.test(time))
    event['_time'] = `${date} ${time}${isLocal ? '' : 'Z'}`;
  return event;
}
