/** Functions of text. Positions count characters from 0. */
import type { FunctionTable } from '../../function-spec.ts';

export const STRINGS = {
  strlen: { syntax: 'strlen(text)', doc: 'How many characters the text has.', args: ['string'], returns: 'int' },
  string_size: { syntax: 'string_size(text)', doc: 'How many bytes of UTF-8 the text has.', args: ['string'], returns: 'int' },
  tolower: { syntax: 'tolower(text)', doc: 'The text in lower case.', args: ['string'], returns: 'string' },
  toupper: { syntax: 'toupper(text)', doc: 'The text in upper case.', args: ['string'], returns: 'string' },
  totitle: { syntax: 'totitle(text)', doc: 'The text with its first character in upper case.', args: ['string'], returns: 'string' },
  reverse: { syntax: 'reverse(text)', doc: 'The characters in reverse order.', args: ['string'], returns: 'string' },
  trim_space: { syntax: 'trim_space(text)', doc: 'The text without blanks around it.', args: ['string'], returns: 'string' },
  url_encode: { syntax: 'url_encode(text)', doc: 'The text with what has a meaning in URLs as %XX.', args: ['string'], returns: 'string' },
  url_decode: { syntax: 'url_decode(text)', doc: 'The text with %XX taken for what it stands for.', args: ['string'], returns: 'string' },
  base64_encode_tostring: { syntax: 'base64_encode_tostring(text)', doc: 'The text in Base64.', args: ['string'], returns: 'string' },
  base64_decode_tostring: { syntax: 'base64_decode_tostring(text)', doc: 'The text that is written in Base64; null when it is not.', args: ['string'], returns: 'string' },
  regex_quote: { syntax: 'regex_quote(text)', doc: 'The text with what has a meaning in regular expressions quoted.', args: ['string'], returns: 'string' },
  hash_md5: { syntax: 'hash_md5(text)', doc: 'The hash of the text in hexadecimal.', args: ['string'], returns: 'string' },
  hash_sha1: { syntax: 'hash_sha1(text)', doc: 'The hash of the text in hexadecimal.', args: ['string'], returns: 'string' },
  hash_sha256: { syntax: 'hash_sha256(text)', doc: 'The hash of the text in hexadecimal.', args: ['string'], returns: 'string' },
  hash_sha512: { syntax: 'hash_sha512(text)', doc: 'The hash of the text in hexadecimal.', args: ['string'], returns: 'string' },
  isascii: { syntax: 'isascii(text)', doc: 'Every character is of ASCII.', args: ['string'], returns: 'bool' },
  substring: { syntax: 'substring(text, start, length)', doc: 'Characters from start on, up to length of them.', args: ['string', 'int', 'int'], optional: 1, returns: 'string' },
  strcat: { syntax: 'strcat(a, b, …)', doc: 'The texts of the values one behind the other; null counts as empty.', args: ['any'], rest: 'any', returns: 'string' },
  strcat_delim: { syntax: 'strcat_delim(delimiter, a, b, …)', doc: 'The texts of the values with the delimiter between them.', args: ['string', 'any', 'any'], rest: 'any', returns: 'string' },
  strcmp: { syntax: 'strcmp(a, b)', doc: '-1, 0 or 1, as a sorts before, with or after b.', args: ['string', 'string'], returns: 'int' },
  strrep: { syntax: 'strrep(text, times, delimiter)', doc: 'The text repeated, up to 1,024 times.', args: ['string', 'int', 'string'], optional: 1, returns: 'string' },
  split: { syntax: 'split(text, delimiter)', doc: 'The parts between the delimiters, as an array.', args: ['string', 'constant string'], returns: 'dynamic' },
  indexof: { syntax: 'indexof(text, lookup, start)', doc: 'Where the text first contains the other, -1 where it does not.', args: ['string', 'string', 'int'], optional: 1, returns: 'int' },
  countof: { syntax: 'countof(search, text)', doc: 'How often the text contains the other, without overlaps.', args: ['string', 'string'], returns: 'int' },
  countof_regex: { syntax: 'countof_regex(regex, text)', doc: 'How often the regular expression matches, without overlaps.', args: ['constant string', 'string'], returns: 'int' },
  replace_string: { syntax: 'replace_string(lookup, rewrite, text)', doc: 'The text with every occurrence of lookup replaced.', args: ['string', 'string', 'string'], returns: 'string' },
  replace_regex: { aliases: ['replace'], syntax: 'replace_regex(regex, rewrite, text)', doc: 'The text with every match replaced; `$1` stands for the first group, `$0` for all.', args: ['constant string', 'constant string', 'string'], returns: 'string' },
  extract: { syntax: 'extract(regex, group, text)', doc: 'What a group of the regular expression matches first, 0 for the whole match; null without a match.', args: ['constant string', 'constant int', 'string'], returns: 'string' },
  extract_all: { syntax: 'extract_all(regex, dynamic([1]), text)', doc: 'What the groups match, of every match: an array, of arrays when there are several groups.', args: ['constant string', 'any', 'string'], optional: 1, returns: 'dynamic' },
  trim: { syntax: 'trim(cutset, text)', doc: 'The text without the characters of the set at both ends.', args: ['constant string', 'string'], returns: 'string' },
  trim_regex: { syntax: 'trim_regex(regex, text)', doc: 'The text without what the regular expression matches at both ends.', args: ['constant string', 'string'], returns: 'string' },
  trim_start: { syntax: 'trim_start(cutset, text)', doc: 'The text without the characters of the set at its start.', args: ['constant string', 'string'], returns: 'string' },
  trim_start_regex: { syntax: 'trim_start_regex(regex, text)', doc: 'The text without what the regular expression matches at its start.', args: ['constant string', 'string'], returns: 'string' },
  trim_end: { syntax: 'trim_end(cutset, text)', doc: 'The text without the characters of the set at its end.', args: ['constant string', 'string'], returns: 'string' },
  trim_end_regex: { syntax: 'trim_end_regex(regex, text)', doc: 'The text without what the regular expression matches at its end.', args: ['constant string', 'string'], returns: 'string' },
  parse_csv: { syntax: 'parse_csv(text)', doc: 'The fields of the first line of CSV, as an array of texts.', args: ['string'], returns: 'dynamic' },
  parse_path: { syntax: 'parse_path(text)', doc: 'The parts of the path of a file: `{Scheme, RootPath, DirectoryPath, DirectoryName, Filename, Extension, AlternateDataStreamName}`, with slashes of either kind.', args: ['string'], returns: 'dynamic' },
  translate: { syntax: "translate('abc', 'xyz', text)", doc: 'The text with each character of the first set replaced by that at its place in the second, which its last character makes as long; all are left out where the second is empty.', args: ['constant string', 'constant string', 'string'], returns: 'string' },
  unicode_codepoints_from_string: { syntax: 'unicode_codepoints_from_string(text)', doc: 'The code points of the characters, as an array of integers.', args: ['string'], returns: 'dynamic' },
  mask: { syntax: 'mask(text, keep)', doc: 'The text with a `*` for each character but the last `keep`, 0 without it.', args: ['string', 'int'], optional: 1, returns: 'string', keepsName: true, hides: true },
  quote: { syntax: 'quote(text)', doc: 'The text as a string literal.', args: ['string'], returns: 'string' },
} satisfies FunctionTable; // prettier-ignore

/** Scheme, directory with its slash, drive, file name, name of a data stream; fits every text. */
export const PATH_PATTERN = '^(?:([A-Za-z][A-Za-z0-9+.-]*)://)?((?:([A-Za-z]:))?(?:.*[\\\\/])?)([^\\\\/:]*)(?::([^\\\\/]*))?$';

/** Which character stands for which, as two texts of the same length. */
export function translation(from: string, to: string): { readonly from: readonly string[]; readonly to: readonly string[] } {
  const [search, replace] = [Array.from(from), Array.from(to)];
  const pairs = new Map<string, string>();
  for (const [n, char] of search.entries()) if (!pairs.has(char)) pairs.set(char, replace[n] ?? replace.at(-1) ?? '');
  return { from: [...pairs.keys()], to: [...pairs.values()] };
}
