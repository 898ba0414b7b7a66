/** Functions of text. Positions count characters from 0. */
import type { FunctionTable } from '../../function-spec.ts';

export const STRINGS = {
  strlen: { syntax: 'strlen(text)', doc: 'Counts the characters of the text.', args: ['string'], returns: 'int' },
  string_size: { syntax: 'string_size(text)', doc: 'Counts the bytes of the text in UTF-8.', args: ['string'], returns: 'int' },
  tolower: { syntax: 'tolower(text)', doc: 'Converts the text to lower case.', args: ['string'], returns: 'string' },
  toupper: { syntax: 'toupper(text)', doc: 'Converts the text to upper case.', args: ['string'], returns: 'string' },
  totitle: { syntax: 'totitle(text)', doc: 'Converts the first character to upper case.', args: ['string'], returns: 'string' },
  reverse: { syntax: 'reverse(text)', doc: 'Reverses the order of the characters.', args: ['string'], returns: 'string' },
  trim_space: { syntax: 'trim_space(text)', doc: 'Removes blanks from both ends.', args: ['string'], returns: 'string' },
  url_encode: { syntax: 'url_encode(text)', doc: 'Encodes the text for use in a URL (percent-encoding).', args: ['string'], returns: 'string' },
  url_decode: { syntax: 'url_decode(text)', doc: 'Decodes percent-encoding.', args: ['string'], returns: 'string' },
  base64_encode_tostring: { syntax: 'base64_encode_tostring(text)', doc: 'Encodes the text in Base64.', args: ['string'], returns: 'string' },
  base64_decode_tostring: { syntax: 'base64_decode_tostring(text)', doc: 'Decodes Base64; null if the text is not Base64 of UTF-8.', args: ['string'], returns: 'string' },
  regex_quote: { syntax: 'regex_quote(text)', doc: 'Escapes the characters that have a meaning in regular expressions.', args: ['string'], returns: 'string' },
  hash_md5: { syntax: 'hash_md5(text)', doc: 'Returns the MD5 hash of the text in hexadecimal.', args: ['string'], returns: 'string' },
  hash_sha1: { syntax: 'hash_sha1(text)', doc: 'Returns the SHA-1 hash of the text in hexadecimal.', args: ['string'], returns: 'string' },
  hash_sha256: { syntax: 'hash_sha256(text)', doc: 'Returns the SHA-256 hash of the text in hexadecimal.', args: ['string'], returns: 'string' },
  hash_sha512: { syntax: 'hash_sha512(text)', doc: 'Returns the SHA-512 hash of the text in hexadecimal.', args: ['string'], returns: 'string' },
  isascii: { syntax: 'isascii(text)', doc: 'True if all characters are ASCII.', args: ['string'], returns: 'bool' },
  substring: { syntax: 'substring(text, start, length)', doc: 'Returns the characters from start on, at most length of them; the first character is at 0, a start below 0 counts from the end.', args: ['string', 'int', 'int'], optional: 1, returns: 'string' },
  strcat: { syntax: 'strcat(a, b, …)', doc: 'Joins values as one text; null counts as empty.', args: ['any'], rest: 'any', returns: 'string' },
  strcat_delim: { syntax: 'strcat_delim(delimiter, a, b, …)', doc: 'Joins values as one text, with a delimiter between them.', args: ['string', 'any', 'any'], rest: 'any', returns: 'string' },
  strcmp: { syntax: 'strcmp(a, b)', doc: 'Compares two texts: -1 if a sorts before b, 0 if they are equal, else 1.', args: ['string', 'string'], returns: 'int' },
  strrep: { syntax: 'strrep(text, times, delimiter)', doc: 'Repeats the text, up to 1,024 times.', args: ['string', 'int', 'string'], optional: 1, returns: 'string' },
  split: { syntax: 'split(text, delimiter)', doc: 'Splits the text at each delimiter into an array.', args: ['string', 'constant string'], returns: 'dynamic' },
  indexof: { syntax: 'indexof(text, lookup, start)', doc: 'Finds the first occurrence of a text and returns its position from 0; -1 if there is none. A start below 0 counts from the end.', args: ['string', 'string', 'int'], optional: 1, returns: 'int' },
  indexof_regex: { syntax: 'indexof_regex(text, regex, start, occurrence, length)', doc: 'Finds a match of a regular expression, of one character or more, and returns its position from 0; -1 if there is none. It looks at `length` characters from start on (-1 for all); a negative start counts from the end. Null if occurrence is below 1 or length below -1.', args: ['string', 'constant string', 'int', 'int', 'int'], optional: 3, returns: 'int' },
  countof: { syntax: 'countof(search, text)', doc: 'Counts occurrences of a text, without overlaps.', args: ['string', 'string'], returns: 'int' },
  countof_regex: { syntax: 'countof_regex(regex, text)', doc: 'Counts the matches of a regular expression, without overlaps.', args: ['constant string', 'string'], returns: 'int' },
  replace_string: { syntax: 'replace_string(lookup, rewrite, text)', doc: 'Replaces all occurrences of lookup.', args: ['string', 'string', 'string'], returns: 'string' },
  replace_regex: { aliases: ['replace'], syntax: 'replace_regex(regex, rewrite, text)', doc: 'Replaces all matches of a regular expression; `$1` stands for the first group, `$0` for the whole match.', args: ['constant string', 'constant string', 'string'], returns: 'string' },
  extract: { syntax: 'extract(regex, group, text)', doc: 'Returns a group of the first match of a regular expression, 0 for the whole match; null without a match.', args: ['constant string', 'constant int', 'string'], returns: 'string' },
  extract_all: { syntax: 'extract_all(regex, dynamic([1]), text)', doc: 'Returns the groups of all matches as an array; with several groups, as an array of arrays. Without numbers it returns all groups, or the whole matches of a regular expression without groups.', args: ['constant string', 'any', 'string'], optional: 1, returns: 'dynamic' },
  trim: { syntax: 'trim(cutset, text)', doc: 'Removes characters of a set from both ends.', args: ['constant string', 'string'], returns: 'string' },
  trim_regex: { syntax: 'trim_regex(regex, text)', doc: 'Removes matches of a regular expression from both ends.', args: ['constant string', 'string'], returns: 'string' },
  trim_start: { syntax: 'trim_start(cutset, text)', doc: 'Removes characters of a set from the start.', args: ['constant string', 'string'], returns: 'string' },
  trim_start_regex: { syntax: 'trim_start_regex(regex, text)', doc: 'Removes matches of a regular expression from the start.', args: ['constant string', 'string'], returns: 'string' },
  trim_end: { syntax: 'trim_end(cutset, text)', doc: 'Removes characters of a set from the end.', args: ['constant string', 'string'], returns: 'string' },
  trim_end_regex: { syntax: 'trim_end_regex(regex, text)', doc: 'Removes matches of a regular expression from the end.', args: ['constant string', 'string'], returns: 'string' },
  strip_ansi_escapes: { syntax: 'strip_ansi_escapes(text)', doc: 'Removes ANSI escape sequences: colours, movements of the cursor, titles and links.', args: ['string'], returns: 'string' },
  parse_csv: { syntax: 'parse_csv(text)', doc: 'Parses the first line of CSV text into an array of texts.', args: ['string'], returns: 'dynamic' },
  parse_path: { syntax: 'parse_path(text)', doc: 'Splits a file path into `{Scheme, RootPath, DirectoryPath, DirectoryName, Filename, Extension, AlternateDataStreamName}`, at slashes of either kind.', args: ['string'], returns: 'dynamic' },
  translate: { syntax: "translate('abc', 'xyz', text)", doc: 'Replaces each character of the first set by the one at its position in the second; if that is shorter, by its last character; if it is empty, by nothing.', args: ['constant string', 'constant string', 'string'], returns: 'string' },
  unicode_codepoints_from_string: { syntax: 'unicode_codepoints_from_string(text)', doc: 'Returns the code points of the characters as an array of integers.', args: ['string'], returns: 'dynamic' },
  mask: { syntax: 'mask(text, keep)', doc: 'Replaces each character by `*`, except the last `keep` ones (0 by default).', args: ['string', 'int'], optional: 1, returns: 'string', keepsName: true, hides: true },
  quote: { syntax: 'quote(text)', doc: 'Writes the text as a string literal.', args: ['string'], returns: 'string' },
} satisfies FunctionTable; // prettier-ignore

/** Control sequences, strings for the terminal, and what else follows an escape, as ECMA-48 has them; for both back ends. */
export const ANSI_PATTERN =
  '(?:\u001b\\[|\u009b)[0-?]*[ -/]*[@-~]|\u001b[\\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\\\)|\u001b[ -/]*[0-~]';

/** Scheme, directory with its slash, drive, file name, name of a data stream; fits every text. */
export const PATH_PATTERN =
  '^(?:([A-Za-z][A-Za-z0-9+.-]*)://)?((?:([A-Za-z]:))?(?:.*[\\\\/])?)([^\\\\/:]*)(?::([^\\\\/]*))?$';

/** A map of characters, as two texts of the same length. */
export function translation(
  from: string,
  to: string,
): { readonly from: readonly string[]; readonly to: readonly string[] } {
  const [search, replace] = [Array.from(from), Array.from(to)];
  const pairs = new Map<string, string>();
  for (const [n, char] of search.entries()) if (!pairs.has(char)) pairs.set(char, replace[n] ?? replace.at(-1) ?? '');
  return { from: [...pairs.keys()], to: [...pairs.values()] };
}
