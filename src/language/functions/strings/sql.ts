/** Functions of text. Positions count characters from 0. */
import { joinSql, list, sql, type Sql } from '../../../service/query/values/sql.ts';
import { jsonString } from '../../../service/query/values/text.ts';
import { asJson, one, type SqlValue } from '../../../service/query/values/value.ts';
import { countGroups } from '../../operators/parse/pattern.ts';
import { groupOf, groupsOf } from '../../plan/literals.ts';
import { ANSI_PATTERN, PATH_PATTERN, translation, type STRINGS } from './spec.ts';
import type { SqlBuild, SqlBuilders, SqlCall } from '../../../service/query/values/call.ts';
import { once } from '../arrays/sql.ts';
import { regex } from '../text-matching/sql.ts';

const text = (value: Sql): SqlValue => one('string', value);
const int = (value: Sql): SqlValue => one('int', sql`toInt64(${value})`);

/** '' for null: functions of the engine that return an array cannot return null. */
const solid = (value: Sql): Sql => sql`ifNull(${value}, '')`;
const unlessNull = (value: Sql, result: Sql): Sql => sql`if(isNull(${value}), null, ${result})`;

const all = (call: SqlCall, from: number): Sql[] =>
  Array.from({ length: call.count - from }, (_, n) => sql`ifNull(${call.string(n + from)}, '')`);

/** JSON array of an array of strings. */
const jsonStrings = (array: Sql): Sql =>
  sql`concat('[', arrayStringConcat(arrayMap(e -> ${jsonString(sql`e`)}, ${array}), ','), ']')`;

const simple =
  (build: (value: Sql) => Sql): SqlBuild =>
  (call) =>
    text(build(call.string(0)));

const codePointClass = (char: string): string => `\\x{${char.codePointAt(0)!.toString(16)}}`;

/** The characters of a set removed from the ends of a text. */
function trim(call: SqlCall, start: boolean, end: boolean): SqlValue {
  const characters = Array.from(String(call.constant(0).value), codePointClass);
  return characters.length === 0
    ? text(call.string(1))
    : trimRegex(call.string(1), call.params.string(`[${characters.join('')}]+`), start, end);
}

function trimRegex(value: Sql, pattern: Sql, start: boolean, end: boolean): SqlValue {
  const sides = [
    ...(start ? [sql`concat('^(?:', ${pattern}, ')')`] : []),
    ...(end ? [sql`concat('(?:', ${pattern}, ')$')`] : []),
  ];
  return text(sides.reduce((result, side) => sql`replaceRegexpAll(${result}, ${side}, '')`, value));
}

const trimmed =
  (start: boolean, end: boolean): SqlBuild =>
  (call) =>
    trim(call, start, end);
const trimmedRegex =
  (start: boolean, end: boolean): SqlBuild =>
  (call) =>
    trimRegex(call.string(1), call.params.string(`(?:${String(call.constant(0).value)})+`), start, end);

/** Replaces a backslash before a digit, which the engine would always read as a group's number. */
const BACKSLASH = '\u{F8FE}';

/** `$1` and `${1}` of the language are `\1` of the engine. */
function replaceRegex(call: SqlCall): SqlValue {
  const rewrite = String(call.constant(1).value)
    .replaceAll(/\\(?=\d)/g, BACKSLASH)
    .replaceAll('\\', '\\\\')
    .replaceAll(/\$(?:(\d)|\{(\d)\})/g, (_, a: string | undefined, b: string | undefined) => `\\${a ?? b}`);
  const replaced = sql`replaceRegexpAll(${call.string(2)}, ${regex(call.string(0))}, ${call.params.string(rewrite)})`;
  return text(
    rewrite.includes(BACKSLASH) ? sql`replaceAll(${replaced}, ${call.params.string(BACKSLASH)}, '\\\\')` : replaced,
  );
}

function extract(call: SqlCall): SqlValue {
  const group = groupOf(call);
  const groups = sql`extractGroups(${solid(call.string(2))}, concat('(?-s)(', ${call.string(0)}, ')'))`;
  return text(sql`arrayMap(g -> if(length(g) <= ${group}, null, g[${group + 1}]), [${groups}])[1]`);
}

function extractAll(call: SqlCall): SqlValue {
  const last = call.count - 1;
  const groups = groupsOf(call, countGroups(String(call.constant(0).value)));
  // Every group of every match, as rows of matches.
  const found = sql`extractAllGroupsVertical(${solid(call.string(last))}, concat('(?-s)(', ${call.string(0)}, ')'))`;
  const row =
    groups.length === 1
      ? jsonString(sql`m[${groups[0]! + 1}]`)
      : sql`concat('[', ${joinSql(
          groups.map((group) => jsonString(sql`m[${group + 1}]`)),
          sql`, ',', `,
        )}, ']')`;
  const all = sql`concat('[', arrayStringConcat(arrayMap(m -> ${row}, ${found}), ','), ']')`;
  return one('json', unlessNull(call.string(last), all));
}

/** A place from 0 on; below 0 it counts from the end. */
const fromEnd = (value: Sql, place: Sql): Sql =>
  sql`greatest(if(${place} < 0, toInt64(lengthUTF8(${value})) + ${place}, ${place}), 0)`;

function substring(call: SqlCall): SqlValue {
  const start = sql`${fromEnd(call.string(0), call.int(1))} + 1`;
  return text(
    call.count === 2
      ? sql`substringUTF8(${call.string(0)}, ${start})`
      : sql`substringUTF8(${call.string(0)}, ${start}, greatest(${call.int(2)}, 0))`,
  );
}

function indexOf(call: SqlCall): SqlValue {
  const start = call.count > 2 ? fromEnd(call.string(0), call.int(2)) : sql`0`;
  return int(sql`positionUTF8(${call.string(0)}, ${call.string(1)}, toUInt64(${start} + 1)) - 1`);
}

/** The engine tells no places: each match is found with the gap before it, and their bytes add up. An empty one takes a byte. */
function indexOfRegex(call: SqlCall): SqlValue {
  const given = [0, 1, -1].map((absent, n) => (call.count > n + 2 ? call.int(n + 2) : sql`${absent}`));
  const place = once('ix', [call.string(0), ...given], ([value, start, nth, length]) => {
    const from = sql`if(${start!} < 0, greatest(toInt64(lengthUTF8(${value!})) + ${start!}, 0), ${start!})`;
    const limit = sql`if(${length!} = -1, 9223372036854775807, greatest(${length!}, 0))`;
    const pattern = sql`concat('(?-s)((?s:.*?))(', ${call.string(1)}, ')')`;
    const window = solid(sql`substringUTF8(${value!}, ${from} + 1, ${limit})`);
    const ends = sql`arrayCumSum(arrayMap(m -> greatest(length(m[1]) + length(m[2]), 1), f))`;
    const places = sql`arrayFilter((p, m) -> notEmpty(m[2]), arrayMap((e, m) -> e - length(m[2]), ${ends}, f), f)`;
    const before = sql`toInt64(lengthUTF8(substring(w, 1, p[assumeNotNull(${nth!})])))`;
    const inWindow = sql`arrayMap(p -> if(length(p) < ${nth!}, -1, ${from} + ${before}), [arrayMap(f -> ${places}, [extractAllGroupsVertical(w, ${pattern})])[1]])[1]`;
    const at = sql`arrayMap(w -> ${inWindow}, [${window}])[1]`;
    const isAbsent = joinSql(
      [value!, start!, nth!, length!].map((each) => sql`isNull(${each})`),
      sql` or `,
    );
    return sql`if(${isAbsent} or ${nth!} < 1 or ${length!} < -1, null, ${at})`;
  });
  return one('int', place);
}

function repeat(call: SqlCall): SqlValue {
  const [value, times] = [call.string(0), sql`least(greatest(${call.int(1)}, 0), 1024)`];
  if (call.count === 2) return text(sql`repeat(${value}, ${times})`);
  return text(
    sql`concat(repeat(concat(${value}, ${solid(call.string(2))}), greatest(${times} - 1, 0)), if(${times} > 0, ${value}, ''))`,
  );
}

function split(call: SqlCall): SqlValue {
  const [value, by] = [call.string(0), call.string(1)];
  const parts = call.constant(1).value === '' ? sql`[${solid(value)}]` : sql`splitByString(${by}, ${solid(value)})`;
  return one('json', unlessNull(value, jsonStrings(parts)));
}

function mask(call: SqlCall): SqlValue {
  const value = call.string(0);
  if (call.count === 1) return text(sql`repeat('*', lengthUTF8(${value}))`);
  const hidden = sql`greatest(toInt64(lengthUTF8(${value})) - greatest(${call.int(1)}, 0), 0)`;
  return text(sql`concat(repeat('*', ${hidden}), substringUTF8(${value}, ${hidden} + 1))`);
}

/** The fields of the first line. Quotes count where a field begins with one that is closed. */
function csv(call: SqlCall): SqlValue {
  const field = '(?:"(?:[^"]|"")*")?[^,\\r\\n]*';
  const line = sql`extract(${solid(call.string(0))}, ${call.params.string(`^(${field}(?:,${field})*)`)})`;
  const fields = sql`extractAllGroupsVertical(concat(${line}, ','), ${call.params.string('(?:"((?:[^"]|"")*)")?([^,]*),')})`;
  const texts = sql`arrayMap(e -> concat(replaceAll(e[1], '""', '"'), e[2]), ${fields})`;
  return one('json', unlessNull(call.string(0), jsonStrings(texts)));
}

function path(call: SqlCall): SqlValue {
  const groupsOf = sql`extractGroups(${solid(call.string(0))}, ${call.params.string(`(?s)${PATH_PATTERN}`)})`;
  const made = once('pa', [groupsOf], ([groups]) => {
    const group = (n: number): Sql => sql`${groups!}[${n}]`;
    const directory = sql`if(length(${group(2)}) > 1, replaceRegexpOne(${group(2)}, '[\\\\\\\\/]$', ''), ${group(2)})`;
    const parts: readonly (readonly [name: string, part: Sql])[] = [
      ['Scheme', group(1)],
      ['RootPath', group(3)],
      ['DirectoryPath', directory],
      ['DirectoryName', sql`extract(${directory}, '([^\\\\\\\\/:]*)$')`],
      ['Filename', group(4)],
      ['Extension', sql`extract(${group(4)}, '\\\\.([^.]*)$')`],
      ['AlternateDataStreamName', group(5)],
    ];
    const members = parts.map(([name, part]) => sql`${call.params.string(`"${name}":`)}, ${jsonString(part)}`);
    return sql`concat('{', ${joinSql(members, sql`, ',', `)}, '}')`;
  });
  return one('json', unlessNull(call.string(0), made));
}

function translate(call: SqlCall): SqlValue {
  const { from, to } = translation(String(call.constant(0).value), String(call.constant(1).value));
  if (from.length === 0) return text(call.string(2));
  if (to[0] === '')
    return text(
      sql`replaceRegexpAll(${call.string(2)}, ${call.params.string(`[${from.map(codePointClass).join('')}]`)}, '')`,
    );
  return text(
    sql`translateUTF8(${call.string(2)}, ${call.params.string(from.join(''))}, ${call.params.string(to.join(''))})`,
  );
}

/** Read off the bytes of each character: the engine has no function for it. */
function codePoints(call: SqlCall): SqlValue {
  const byte = (n: number, bits: number): Sql =>
    sql`toUInt32(bitAnd(reinterpretAsUInt8(substring(e, ${n}, 1)), ${bits}))`;
  const tail = (from: number, to: number): Sql =>
    joinSql(
      Array.from({ length: to - from + 1 }, (_, n) => sql`${byte(from + n, 63)} * ${64 ** (to - from - n)}`),
      sql` + `,
    );
  const point = sql`multiIf(length(e) = 1, ${byte(1, 127)}, length(e) = 2, ${byte(1, 31)} * 64 + ${tail(2, 2)}, length(e) = 3, ${byte(1, 15)} * 4096 + ${tail(2, 3)}, ${byte(1, 7)} * 262144 + ${tail(2, 4)})`;
  const points = sql`arrayMap(e -> toString(${point}), extractAll(${solid(call.string(0))}, '(?s).'))`;
  return one('json', unlessNull(call.string(0), sql`concat('[', arrayStringConcat(${points}, ','), ']')`));
}

const hash =
  (engine: Sql): SqlBuild =>
  (call) =>
    text(sql`lower(hex(${engine}(${call.string(0)})))`);

export const STRINGS_SQL: SqlBuilders<typeof STRINGS> = {
  strlen: (call) => int(sql`lengthUTF8(${call.string(0)})`),
  string_size: (call) => int(sql`length(${call.string(0)})`),
  tolower: simple((value) => sql`lowerUTF8(${value})`),
  toupper: simple((value) => sql`upperUTF8(${value})`),
  totitle: simple((value) => sql`concat(upperUTF8(substringUTF8(${value}, 1, 1)), substringUTF8(${value}, 2))`),
  reverse: simple((value) => sql`reverseUTF8(${value})`),
  trim_space: simple((value) => sql`replaceRegexpAll(replaceRegexpAll(${value}, '^\\\\s+', ''), '\\\\s+$', '')`),
  url_encode: simple((value) => sql`encodeURLComponent(${value})`),
  url_decode: simple((value) => sql`decodeURLComponent(${value})`),
  base64_encode_tostring: simple((value) => sql`base64Encode(${value})`),
  base64_decode_tostring: simple(
    (value) => sql`if(isValidUTF8(tryBase64Decode(${value})), nullIf(tryBase64Decode(${value}), ''), null)`,
  ),
  regex_quote: simple((value) => sql`regexpQuoteMeta(${value})`),
  hash_md5: hash(sql`MD5`),
  hash_sha1: hash(sql`SHA1`),
  hash_sha256: hash(sql`SHA256`),
  hash_sha512: hash(sql`SHA512`),
  isascii: (call) => one('bool', sql`match(${call.string(0)}, '^[\\\\x00-\\\\x7f]*$')`),
  substring,
  strcat: (call) => text(sql`concat('', ${list(all(call, 0))})`),
  strcat_delim: (call) => text(sql`concat(${joinSql(all(call, 1), sql`, ${solid(call.string(0))}, `)})`),
  strcmp: (call) =>
    int(
      sql`multiIf(${call.string(0)} < ${call.string(1)}, -1, ${call.string(0)} = ${call.string(1)}, 0, isNull(${call.string(0)}) or isNull(${call.string(1)}), null, 1)`,
    ),
  strrep: repeat,
  split,
  indexof: indexOf,
  indexof_regex: indexOfRegex,
  countof: (call) => int(sql`if(empty(${call.string(0)}), 0, countSubstrings(${call.string(1)}, ${call.string(0)}))`),
  countof_regex: (call) => int(sql`countMatches(${call.string(1)}, ${regex(call.string(0))})`),
  replace_string: (call) => text(sql`replaceAll(${call.string(2)}, ${call.string(0)}, ${call.string(1)})`),
  replace_regex: replaceRegex,
  extract,
  extract_all: extractAll,
  trim: trimmed(true, true),
  trim_regex: trimmedRegex(true, true),
  trim_start: trimmed(true, false),
  trim_start_regex: trimmedRegex(true, false),
  trim_end: trimmed(false, true),
  trim_end_regex: trimmedRegex(false, true),
  strip_ansi_escapes: (call) => text(sql`replaceRegexpAll(${call.string(0)}, ${call.params.string(ANSI_PATTERN)}, '')`),
  parse_csv: csv,
  parse_path: path,
  translate,
  unicode_codepoints_from_string: codePoints,
  mask,
  quote: (call) => text(asJson(one('string', call.string(0)))),
};
