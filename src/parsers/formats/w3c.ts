/**
 * Logs whose own header names their columns: W3C extended logs (IIS, CloudFront, Windows Firewall) by `#Fields:`, Zeek's by `#fields`. A later header
 * takes over from its place on. Lines that begin with `#` are no events; what is `-` is absent; times are UTC, unless the header says local.
 */
import { MAX_CSV_COLUMNS } from '../../core/limits.ts';
import { emptyFields, type EventFields, unparsed } from '../values/fields.ts';
import type { FormatParser } from './line-parser.ts';

const FIELDS = /^#fields:?[ \t](.*)$/i;
const DATE = /^#Date: (\d{4}-\d\d-\d\d)/;
const LOCAL = /^#Time Format: Local/;
const UNSET = new Set(['', '-', '(empty)']);

interface Header {
  readonly columns: readonly string[] | undefined;
  /** Of logs whose lines have a clock alone. */
  readonly date: string | undefined;
  readonly isLocal: boolean;
}

/** `configured`: the columns before the first header. */
export function createW3cParser(configured: readonly string[] | undefined): FormatParser {
  const first: Header = { columns: configured, date: undefined, isLocal: false };
  let header = first;
  return {
    restart() {
      header = first;
    },
    learn(head) {
      header = head.split('\n').reduce((before, line) => (line.startsWith('#') ? readHeader(before, line.trimEnd()) : before), first);
    },
    parse(text) {
      if (text.startsWith('#')) {
        header = readHeader(header, text);
        return [];
      }
      const { columns } = header;
      if (!columns) return [unparsed(text, 'no line with #Fields is before it')];
      const values = text.includes('\t') ? text.split('\t') : splitQuoted(text.trim());
      if (values.length !== columns.length) return [unparsed(text, `${values.length} values for ${columns.length} columns`)];
      return [eventOf(values, columns, header)];
    },
  };
}

function readHeader(before: Header, line: string): Header {
  const [, fields] = FIELDS.exec(line) ?? [];
  if (fields !== undefined)
    return {
      ...before,
      columns: fields
        .trim()
        .split(/[ \t]+/)
        .slice(0, MAX_CSV_COLUMNS),
    };
  const [, date] = DATE.exec(line) ?? [];
  if (date !== undefined) return { ...before, date };
  return LOCAL.test(line) ? { ...before, isLocal: true } : before;
}

/** Values by blanks; quotes hold blanks, and a quote inside of them is doubled. */
function splitQuoted(text: string): string[] {
  if (!text.includes('"')) return text.split(/ +/);
  return [...text.matchAll(/"((?:[^"]|"")*)"(?= |$)|[^ ]+/g)].map(([all, quoted]) => quoted?.replaceAll('""', '"') ?? all);
}

function eventOf(values: readonly string[], columns: readonly string[], { date: headerDate, isLocal }: Header): EventFields {
  const event = emptyFields();
  columns.forEach((name, index) => {
    if (!UNSET.has(values[index]!)) event[name] = values[index]!;
  });
  const { date = headerDate, time } = event;
  if (typeof date === 'string' && typeof time === 'string' && /^\d\d?:\d\d:\d\d/.test(time))
    event['_time'] = `${date} ${time}${isLocal ? '' : 'Z'}`;
  return event;
}
