/** Functions of text. Positions count characters from 0. */
import { joinSql, list, sql, type Sql } from '../sql/sql.ts';
import { asJson, one, type Value } from '../sql/value.ts';
import { plainOf, type Call, type ScalarFunction } from './spec.ts';
import { regex } from './text-matching.ts';

const text = (value: Sql): Value => one('string', value);
const int = (value: Sql): Value => one('int', sql`toInt64(${value})`);

/** Text in place of null, for functions of the engine that give an array and so cannot give null. */
const solid = (value: Sql): Sql => sql`ifNull(${value}, '')`;
const unlessNull = (value: Sql, result: Sql): Sql => sql`if(isNull(${value}), null, ${result})`;

const all = (call: Call, from: number): Sql[] =>
  Array.from({ length: call.count - from }, (_, n) => sql`ifNull(${call.string(n + from)}, '')`);

/** JSON array of an array of strings. */
const jsonStrings = (array: Sql): Sql => sql`concat('[', arrayStringConcat(arrayMap(e -> toJSONString(e), ${array}), ','), ']')`;

const simple = (name: string, doc: string, build: (value: Sql) => Sql): ScalarFunction => ({
  names: [name], syntax: `${name}(text)`, doc, args: ['string'], returns: 'string', build: (call) => text(build(call.string(0))),
}); // prettier-ignore

/** The characters of a set removed from the ends of a text. */
function trim(call: Call, start: boolean, end: boolean): Value {
  const characters = Array.from(String(call.constant(0).value), (char) => `\\x{${char.codePointAt(0)!.toString(16)}}`);
  return characters.length === 0
    ? text(call.string(1))
    : trimRegex(call.string(1), call.params.string(`[${characters.join('')}]+`), start, end);
}

function trimRegex(value: Sql, pattern: Sql, start: boolean, end: boolean): Value {
  const sides = [...(start ? [sql`concat('^(?:', ${pattern}, ')')`] : []), ...(end ? [sql`concat('(?:', ${pattern}, ')$')`] : [])];
  return text(sides.reduce((result, side) => sql`replaceRegexpAll(${result}, ${side}, '')`, value));
}

const trimming = (name: string, start: boolean, end: boolean, where: string): ScalarFunction[] => [
  { names: [name], syntax: `${name}(cutset, text)`, doc: `The text without the characters of the set ${where}.`, args: ['constant string', 'string'], returns: 'string',
    build: (call) => trim(call, start, end) },
  { names: [`${name}_regex`], syntax: `${name}_regex(regex, text)`, doc: `The text without what the regular expression matches ${where}.`, args: ['constant string', 'string'],
    returns: 'string', build: (call) => trimRegex(call.string(1), call.params.string(`(?:${String(call.constant(0).value)})+`), start, end) },
]; // prettier-ignore

/** Stands for a backslash before a digit, which the engine would take for a group's number whatever stands before it. */
const BACKSLASH = '\u{F8FE}';

/** `$1` and `${1}` of the language are `\1` of the engine. */
function replaceRegex(call: Call): Value {
  const rewrite = String(call.constant(1).value)
    .replaceAll(/\\(?=\d)/g, BACKSLASH)
    .replaceAll('\\', '\\\\')
    .replaceAll(/\$(?:(\d)|\{(\d)\})/g, (_, a: string | undefined, b: string | undefined) => `\\${a ?? b}`);
  const replaced = sql`replaceRegexpAll(${call.string(2)}, ${regex(call.string(0))}, ${call.params.string(rewrite)})`;
  return text(rewrite.includes(BACKSLASH) ? sql`replaceAll(${replaced}, ${call.params.string(BACKSLASH)}, '\\\\')` : replaced);
}

function extract(call: Call): Value {
  const group = Number(call.constant(1).value);
  if (group < 0 || group > 9) throw call.fail(1, 'wanted the number of a group, 0 for the whole match, up to 9');
  const groups = sql`extractGroups(${solid(call.string(2))}, concat('(?-s)(', ${call.string(0)}, ')'))`;
  return text(sql`arrayMap(g -> if(length(g) <= ${group}, null, g[${group + 1}]), [${groups}])[1]`);
}

function extractAll(call: Call): Value {
  const last = call.count - 1;
  const given: unknown = call.count === 3 ? plainOf(call.constant(1)) : [1];
  const groups = Array.isArray(given) ? given.map(Number) : [];
  if (groups.length === 0 || groups.some((group) => !Number.isInteger(group) || group < 1 || group > 9)) throw call.fail(1, 'wanted numbers of groups from 1 to 9, such as dynamic([1])');
  // Every group of every match, as rows of matches.
  const found = sql`extractAllGroupsVertical(${solid(call.string(last))}, concat('(?-s)(', ${call.string(0)}, ')'))`;
  const row = groups.length === 1 ? sql`toJSONString(m[${groups[0]! + 1}])` : sql`concat('[', ${joinSql(groups.map((group) => sql`toJSONString(m[${group + 1}])`), sql`, ',', `)}, ']')`;
  const all = sql`concat('[', arrayStringConcat(arrayMap(m -> ${row}, ${found}), ','), ']')`;
  return one('json', unlessNull(call.string(last), all));
} // prettier-ignore

function substring(call: Call): Value {
  const start = sql`greatest(${call.int(1)}, 0) + 1`;
  return text(
    call.count === 2
      ? sql`substringUTF8(${call.string(0)}, ${start})`
      : sql`substringUTF8(${call.string(0)}, ${start}, greatest(${call.int(2)}, 0))`,
  );
}

function indexOf(call: Call): Value {
  const start = call.count > 2 ? sql`greatest(${call.int(2)}, 0)` : sql`0`;
  return int(sql`positionUTF8(${call.string(0)}, ${call.string(1)}, toUInt64(${start} + 1)) - 1`);
}

function repeat(call: Call): Value {
  const [value, times] = [call.string(0), sql`least(greatest(${call.int(1)}, 0), 1024)`];
  if (call.count === 2) return text(sql`repeat(${value}, ${times})`);
  return text(sql`concat(repeat(concat(${value}, ${solid(call.string(2))}), greatest(${times} - 1, 0)), if(${times} > 0, ${value}, ''))`);
}

function split(call: Call): Value {
  const [value, by] = [call.string(0), call.string(1)];
  const parts = call.constant(1).value === '' ? sql`[${solid(value)}]` : sql`splitByString(${by}, ${solid(value)})`;
  return one('json', unlessNull(value, jsonStrings(parts)));
}

const hash = (name: string, engine: Sql): ScalarFunction => ({
  names: [name], syntax: `${name}(text)`, doc: 'The hash of the text in hexadecimal.', args: ['string'], returns: 'string',
  build: (call) => text(sql`lower(hex(${engine}(${call.string(0)})))`),
}); // prettier-ignore

export const STRINGS: readonly ScalarFunction[] = [
  { names: ['strlen'], syntax: 'strlen(text)', doc: 'How many characters the text has.', args: ['string'], returns: 'int', build: (call) => int(sql`lengthUTF8(${call.string(0)})`) },
  { names: ['string_size'], syntax: 'string_size(text)', doc: 'How many bytes of UTF-8 the text has.', args: ['string'], returns: 'int', build: (call) => int(sql`length(${call.string(0)})`) },
  simple('tolower', 'The text in lower case.', (value) => sql`lowerUTF8(${value})`),
  simple('toupper', 'The text in upper case.', (value) => sql`upperUTF8(${value})`),
  simple('totitle', 'The text with its first character in upper case.', (value) => sql`concat(upperUTF8(substringUTF8(${value}, 1, 1)), substringUTF8(${value}, 2))`),
  simple('reverse', 'The characters in reverse order.', (value) => sql`reverseUTF8(${value})`),
  simple('trim_space', 'The text without blanks around it.', (value) => sql`replaceRegexpAll(replaceRegexpAll(${value}, '^\\\\s+', ''), '\\\\s+$', '')`),
  simple('url_encode', 'The text with what has a meaning in URLs as %XX.', (value) => sql`encodeURLComponent(${value})`),
  simple('url_decode', 'The text with %XX taken for what it stands for.', (value) => sql`decodeURLComponent(${value})`),
  simple('base64_encode_tostring', 'The text in Base64.', (value) => sql`base64Encode(${value})`),
  simple('base64_decode_tostring', 'The text that is written in Base64; null when it is not.', (value) => sql`nullIf(tryBase64Decode(${value}), '')`),
  simple('regex_quote', 'The text with what has a meaning in regular expressions quoted.', (value) => sql`regexpQuoteMeta(${value})`),
  hash('hash_md5', sql`MD5`),
  hash('hash_sha1', sql`SHA1`),
  hash('hash_sha256', sql`SHA256`),
  hash('hash_sha512', sql`SHA512`),
  { names: ['isascii'], syntax: 'isascii(text)', doc: 'Every character is of ASCII.', args: ['string'], returns: 'bool', build: (call) => one('bool', sql`match(${call.string(0)}, '^[\\\\x00-\\\\x7f]*$')`) },
  { names: ['substring'], syntax: 'substring(text, start, length)', doc: 'Characters from start on, up to length of them.', args: ['string', 'int', 'int'], optional: 1, returns: 'string', build: substring },
  { names: ['strcat'], syntax: 'strcat(a, b, …)', doc: 'The texts of the values one behind the other; null counts as empty.', args: ['any'], rest: 'any', returns: 'string',
    build: (call) => text(sql`concat('', ${list(all(call, 0))})`) },
  { names: ['strcat_delim'], syntax: 'strcat_delim(delimiter, a, b, …)', doc: 'The texts of the values with the delimiter between them.', args: ['string', 'any', 'any'], rest: 'any', returns: 'string',
    build: (call) => text(sql`concat(${joinSql(all(call, 1), sql`, ${solid(call.string(0))}, `)})`) },
  { names: ['strcmp'], syntax: 'strcmp(a, b)', doc: '-1, 0 or 1, as a sorts before, with or after b.', args: ['string', 'string'], returns: 'int',
    build: (call) => int(sql`multiIf(${call.string(0)} < ${call.string(1)}, -1, ${call.string(0)} = ${call.string(1)}, 0, isNull(${call.string(0)}) or isNull(${call.string(1)}), null, 1)`) },
  { names: ['strrep'], syntax: 'strrep(text, times, delimiter)', doc: 'The text repeated, up to 1,024 times.', args: ['string', 'int', 'string'], optional: 1, returns: 'string', build: repeat },
  { names: ['split'], syntax: 'split(text, delimiter)', doc: 'The parts between the delimiters, as an array.', args: ['string', 'constant string'], returns: 'dynamic', build: split },
  { names: ['indexof'], syntax: 'indexof(text, lookup, start)', doc: 'Where the text first contains the other, -1 where it does not.', args: ['string', 'string', 'int'], optional: 1, returns: 'int', build: indexOf },
  { names: ['countof'], syntax: 'countof(search, text)', doc: 'How often the text contains the other, without overlaps.', args: ['string', 'string'], returns: 'int',
    build: (call) => int(sql`if(empty(${call.string(0)}), 0, countSubstrings(${call.string(1)}, ${call.string(0)}))`) },
  { names: ['countof_regex'], syntax: 'countof_regex(regex, text)', doc: 'How often the regular expression matches, without overlaps.', args: ['constant string', 'string'], returns: 'int',
    build: (call) => int(sql`countMatches(${call.string(1)}, ${regex(call.string(0))})`) },
  { names: ['replace_string'], syntax: 'replace_string(lookup, rewrite, text)', doc: 'The text with every occurrence of lookup replaced.', args: ['string', 'string', 'string'], returns: 'string',
    build: (call) => text(sql`replaceAll(${call.string(2)}, ${call.string(0)}, ${call.string(1)})`) },
  { names: ['replace_regex', 'replace'], syntax: 'replace_regex(regex, rewrite, text)', doc: 'The text with every match replaced; `$1` stands for the first group, `$0` for all.',
    args: ['constant string', 'constant string', 'string'], returns: 'string', build: replaceRegex },
  { names: ['extract'], syntax: 'extract(regex, group, text)', doc: 'What a group of the regular expression matches first, 0 for the whole match; null without a match.',
    args: ['constant string', 'constant int', 'string'], returns: 'string', build: extract },
  { names: ['extract_all'], syntax: 'extract_all(regex, dynamic([1]), text)', doc: 'What the groups match, of every match: an array, of arrays when there are several groups.',
    args: ['constant string', 'any', 'string'], optional: 1, returns: 'dynamic', build: extractAll },
  ...trimming('trim', true, true, 'at both ends'),
  ...trimming('trim_start', true, false, 'at its start'),
  ...trimming('trim_end', false, true, 'at its end'),
  { names: ['quote'], syntax: 'quote(text)', doc: 'The text as a string literal.', args: ['string'], returns: 'string', build: (call) => text(asJson(one('string', call.string(0)))) },
]; // prettier-ignore
