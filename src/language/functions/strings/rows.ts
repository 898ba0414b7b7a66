/** Functions of text. Positions count characters from 0. */
import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { ANSI_PATTERN, PATH_PATTERN, translation, type STRINGS } from './spec.ts';
import type { Evaluate, Of, RowBuild, RowBuilders, RowCall } from '../../../shaping/rows/call/call.ts';
import { lift1, lift2, lift3, ofText } from '../../../shaping/rows/call/lift.ts';
import {
  bounded,
  checkLength,
  compareText,
  countOf,
  indexOf,
  lengthOf,
  substring,
} from '../../../shaping/rows/values/text.ts';
import { wholeOf, type RowValue } from '../../../shaping/rows/values/value.ts';
import { compileRegex, regexArgument, type Regex } from '../../../shaping/rows/call/regex.ts';
import { countGroups } from '../../operators/parse/pattern.ts';
import { groupOf, groupsOf } from '../../plan/literals.ts';
import { trimEndOf } from '../../../core/text/trim-end.ts';

const hash = (algorithm: string): RowBuild => ofText((text) => createHash(algorithm).update(text).digest('hex'));

const titled = (text: string): string => {
  const first = String.fromCodePoint(text.codePointAt(0) ?? 0x20);
  return text === '' ? '' : first.toUpperCase() + text.slice(first.length);
};

const RESERVED: Readonly<Record<string, string>> = { '!': '%21', "'": '%27', '(': '%28', ')': '%29', '*': '%2A' };
const encodeUrl = (text: string): string =>
  encodeURIComponent(text.toWellFormed()).replaceAll(/[!'()*]/g, (char) => RESERVED[char]!);

/** Text other than %XX stays; invalid UTF-8 becomes U+FFFD. */
function decodeUrl(text: string): string {
  if (!text.includes('%')) return text;
  return text.replaceAll(/(?:%[\dA-Fa-f]{2})+/g, (run) => Buffer.from(run.replaceAll('%', ''), 'hex').toString());
}

/** Null if the text is empty or not Base64 of UTF-8. */
function decodeBase64(text: string): string | null {
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return null;
  const bytes = Buffer.from(text, 'base64');
  return (isUtf8(bytes) && bytes.toString()) || null;
}

const quoteRegex = (text: string): string =>
  text.replaceAll('\0', String.raw`\0`).replaceAll(/[\\|()^$.[\]?*+{:-]/g, String.raw`\$&`);

function sub(call: RowCall): Evaluate {
  const length: Of<bigint | null> = call.count > 2 ? call.int(2) : () => 2n ** 62n;
  return lift3(call.string(0), call.int(1), length, (value, from, count) =>
    substring(value, placeIn(value, from), clamped(count, value.length)),
  );
}

/** A place from 0 on; below 0 it counts from the end. */
const placeIn = (text: string, place: bigint): number =>
  clamped(place < 0n ? BigInt(lengthOf(text)) + place : place, text.length);

/** From 0 up to a length. */
const clamped = (value: bigint, length: number): number =>
  value < 0n ? 0 : value > BigInt(length) ? length : Number(value);

function joined(call: RowCall, from: number, delimiter: (scope: Parameters<Evaluate>[0]) => string): Evaluate {
  const parts = Array.from({ length: call.count - from }, (_, n) => call.string(n + from));
  return (scope) => bounded(parts.map((part) => part(scope) ?? '').join(delimiter(scope)));
}

function joinedBy(call: RowCall): Evaluate {
  const delimiter = call.string(0);
  return joined(call, 1, (scope) => delimiter(scope) ?? '');
}

function repeat(call: RowCall): Evaluate {
  const delimiter: Of<string | null> = call.count > 2 ? call.string(2) : () => '';
  return lift3(
    call.string(0),
    call.int(1),
    (scope) => delimiter(scope) ?? '',
    (text, times, between) => {
      const count = clamped(times, 1024);
      checkLength((text.length + between.length) * count);
      return count === 0 ? '' : (text + between).repeat(count - 1) + text;
    },
  );
}

function split(call: RowCall): Evaluate {
  const by = String(call.constant(1).value);
  return ofText((text) => (by === '' ? [text] : text.split(by)))(call);
}

function find(call: RowCall): Evaluate {
  const start: Of<bigint | null> = call.count > 2 ? call.int(2) : () => 0n;
  return lift3(call.string(0), call.string(1), start, (text, wanted, from) =>
    BigInt(indexOf(text, wanted, from < 0n ? placeIn(text, from) : Number(from))),
  );
}

function findRegex(call: RowCall): Evaluate {
  const [regex, text] = [regexArgument(call, 1), call.string(0)];
  const [from, nth, length] = [0n, 1n, -1n].map((absent, n): Of<bigint | null> =>
    call.count > n + 2 ? call.int(n + 2) : () => absent,
  );
  return (scope) => {
    const [pattern, value, begin, occurrence, limit] = [
      regex(scope),
      text(scope),
      from!(scope),
      nth!(scope),
      length!(scope),
    ];
    if (pattern === undefined || value === null || begin === null || occurrence === null || limit === null) return null;
    if (occurrence < 1n || limit < -1n) return null;
    const all = lengthOf(value);
    const first = clamped(begin < 0n ? BigInt(all) + begin : begin, all);
    const window = substring(value, first, limit === -1n ? all : clamped(limit, all));
    let left = occurrence;
    for (const { start, end } of pattern.matches(window))
      if (end > start && --left === 0n) return BigInt(first + lengthOf(window.slice(0, start)));
    return -1n;
  };
}

function replaceString(call: RowCall): Evaluate {
  return lift3(call.string(0), call.string(1), call.string(2), (from, to, text) => {
    if (from === '') return text;
    if (to.length > from.length) checkLength(text.length + countOf(text, from) * (to.length - from.length));
    return text.replaceAll(from, () => to);
  });
}

/** Where the quotes that begin before `from` are closed: at the last pair where nothing else closes them; -1 where nothing does. */
function closingQuote(text: string, from: number): number {
  let pair = -1;
  for (let at = text.indexOf('"', from); at >= 0; at = text.indexOf('"', at + 2)) {
    if (text[at + 1] !== '"') return at;
    pair = at;
  }
  return pair;
}

/** The fields of the first line. Quotes count where a field begins with one that is closed. */
function csvFields(text: string): string[] {
  const fields: string[] = [];
  const end = /[,\r\n]|$/g;
  for (let at = 0; ; at = end.lastIndex + 1) {
    const close = text[at] === '"' ? closingQuote(text, at + 1) : -1;
    const quoted = close < 0 ? '' : text.slice(at + 1, close).replaceAll('""', '"');
    end.lastIndex = close < 0 ? at : close + 1;
    const rest = end.lastIndex;
    end.lastIndex = end.exec(text)!.index;
    fields.push(quoted + text.slice(rest, end.lastIndex));
    if (text[end.lastIndex] !== ',') return fields;
  }
}

const ANSI_ESCAPES = new RegExp(ANSI_PATTERN, 'g');
const PATH_PARTS = new RegExp(PATH_PATTERN, 's');

function pathParts(text: string): RowValue {
  const [, Scheme = '', folder = '', RootPath = '', Filename = '', AlternateDataStreamName = ''] =
    PATH_PARTS.exec(text)!;
  const DirectoryPath = folder.length > 1 ? folder.replace(/[\\/]$/, '') : folder;
  const DirectoryName = DirectoryPath.slice(
    1 + Math.max(...['\\', '/', ':'].map((sign) => DirectoryPath.lastIndexOf(sign))),
  );
  const Extension = Filename.includes('.') ? Filename.slice(Filename.lastIndexOf('.') + 1) : '';
  return { Scheme, RootPath, DirectoryPath, DirectoryName, Filename, Extension, AlternateDataStreamName };
}

function translated(call: RowCall): Evaluate {
  const { from, to } = translation(String(call.constant(0).value), String(call.constant(1).value));
  const other = new Map(from.map((char, n) => [char, to[n]!]));
  return lift1(call.string(2), (text) => bounded(Array.from(text, (char) => other.get(char) ?? char).join('')));
}

/** All but the last characters as `*`. */
function mask(call: RowCall): Evaluate {
  const keep: Of<bigint | null> = call.count > 1 ? call.int(1) : () => 0n;
  return lift2(call.string(0), keep, (text, last) => {
    const length = lengthOf(text);
    const hidden = length - clamped(last, length);
    return '*'.repeat(hidden) + substring(text, hidden, length);
  });
}

function ofRegex(call: RowCall, text: number, build: (value: string, regex: Regex) => ReturnType<Evaluate>): Evaluate {
  const [pattern, value] = [regexArgument(call, 0), call.string(text)];
  return (scope) => {
    const [regex, found] = [pattern(scope), value(scope)];
    return regex === undefined || found === null ? null : build(found, regex);
  };
}

function countOfRegex(call: RowCall): Evaluate {
  return ofRegex(call, 1, (text, regex) => {
    let count = 0n;
    for (const { start, end } of regex.matches(text)) if (end > start) count++;
    return count;
  });
}

/** `$1` and `${1}` insert groups, `$0` the whole match; `\\` is a backslash to the service's engine. */
function replaceRegex(call: RowCall): Evaluate {
  const rewrite = String(call.constant(1).value);
  const parts = rewrite
    .split(/\$(?:(\d)|\{(\d)\})/)
    .map((part, n) => ({ part, kind: n % 3 }))
    .filter(({ part }) => part !== undefined);
  return ofRegex(call, 2, (text, regex) =>
    bounded(
      regex.replace(text, ({ groups }) =>
        parts.map(({ part, kind }) => (kind === 0 ? part : (groups[Number(part)] ?? ''))).join(''),
      ),
    ),
  );
}

function extract(call: RowCall): Evaluate {
  const group = groupOf(call);
  const [pattern, text] = [regexArgument(call, 0), call.string(2)];
  return (scope) => pattern(scope)?.first(text(scope) ?? '')?.groups[group] ?? null;
}

function extractAll(call: RowCall): Evaluate {
  const groups = groupsOf(call, countGroups(String(call.constant(0).value)));
  const [only] = groups;
  return ofRegex(call, call.count - 1, (text, regex) =>
    Array.from(regex.matches(text), (match) =>
      groups.length === 1 ? (match.groups[only!] ?? '') : groups.map((group) => match.groups[group] ?? ''),
    ),
  );
}

/** The characters of a set removed from the ends of a text. */
const trim =
  (start: boolean, end: boolean): RowBuild =>
  (call) => {
    const set = new Set(String(call.constant(0).value));
    return lift1(call.string(1), (text) => {
      if (set.size === 0) return text;
      const chars = Array.from(text);
      const from = start ? chars.findIndex((char) => !set.has(char)) : 0;
      const to = end ? chars.findLastIndex((char) => !set.has(char)) + 1 : chars.length;
      return from < 0 ? '' : chars.slice(from, to).join('');
    });
  };

/** In trim_regex a dot matches a newline, too. */
const trimRegex =
  (start: boolean, end: boolean): RowBuild =>
  (call) => {
    const unit = `(?:${String(call.constant(0).value)})+`;
    const fail = (message: string): Error => call.fail(0, message);
    const sides = [...(start ? [`(?s)^(?:${unit})`] : []), ...(end ? [`(?s)(?:${unit})$`] : [])].map((side) =>
      compileRegex(side, fail),
    );
    return lift1(call.string(1), (text) => sides.reduce((result, side) => side.replace(result, () => ''), text));
  };

export const STRINGS_ROWS: RowBuilders<typeof STRINGS> = {
  strlen: ofText((text) => BigInt(lengthOf(text))),
  string_size: ofText((text) => BigInt(Buffer.byteLength(text))),
  tolower: ofText((text) => text.toLowerCase()),
  toupper: ofText((text) => text.toUpperCase()),
  totitle: ofText(titled),
  reverse: ofText((text) => Array.from(text).reverse().join('')),
  trim_space: ofText((text) => trimEndOf(text.replace(/^[\t\n\f\r ]+/, ''), '\t\n\f\r ')),
  url_encode: ofText((text) => bounded(encodeUrl(text))),
  url_decode: ofText(decodeUrl),
  base64_encode_tostring: ofText((text) => bounded(Buffer.from(text).toString('base64'))),
  base64_decode_tostring: ofText(decodeBase64),
  regex_quote: ofText((text) => bounded(quoteRegex(text))),
  hash_md5: hash('md5'),
  hash_sha1: hash('sha1'),
  hash_sha256: hash('sha256'),
  hash_sha512: hash('sha512'),
  // oxlint-disable-next-line no-control-regex
  isascii: ofText((text) => /^[\0-\x7f]*$/.test(text)),
  substring: sub,
  strcat: (call) => joined(call, 0, () => ''),
  strcat_delim: joinedBy,
  strcmp: (call) => lift2(call.string(0), call.string(1), (a, b) => wholeOf(Math.sign(compareText(a, b)))),
  strrep: repeat,
  split,
  indexof: find,
  indexof_regex: findRegex,
  countof: (call) => lift2(call.string(0), call.string(1), (wanted, text) => BigInt(countOf(text, wanted))),
  countof_regex: countOfRegex,
  replace_string: replaceString,
  replace_regex: replaceRegex,
  extract,
  extract_all: extractAll,
  trim: trim(true, true),
  trim_regex: trimRegex(true, true),
  trim_start: trim(true, false),
  trim_start_regex: trimRegex(true, false),
  trim_end: trim(false, true),
  trim_end_regex: trimRegex(false, true),
  strip_ansi_escapes: ofText((text) => text.replaceAll(ANSI_ESCAPES, '')),
  parse_csv: ofText(csvFields),
  parse_path: ofText(pathParts),
  translate: translated,
  unicode_codepoints_from_string: ofText((text) => Array.from(text, (char) => BigInt(char.codePointAt(0)!))),
  mask,
  quote: ofText((text) => JSON.stringify(text)),
};
