/** Maps names and signs of other languages of queries and pipelines to ours: the fixes in errors about unknown ones. */
import { nearest } from '../config/nearest.ts';

/** Names with one fix share an entry. */
const namesOf = (fixes: Readonly<Record<string, string>>): ReadonlyMap<string, string> =>
  new Map(Object.entries(fixes).flatMap(([names, fix]) => names.split(' ').map((name) => [name, fix] as const)));

const FUNCTIONS = namesOf({
  'lower downcase': 'write tolower',
  'upper upcase': 'write toupper',
  'substr slice': 'write substring',
  length: 'write len',
  'concat format_sql': 'write strcat',
  'regex_replace regexp_replace': 'write replace_regex',
  'regex_extract regexp_extract': 'write extract',
  exists: 'write isnotnull',
  is_null: 'write isnull',
  'int to_int': 'write toint',
  'float tofloat todecimal': 'write toreal',
  to_string: 'write tostring',
  toarray: 'write parse_json, or pack_array of one value',
  ismap: 'write gettype(value) == "dictionary"',
  cot: 'write 1 / tan(number)',
  ingestion_time: 'write _sysTime',
  cursor_current: 'write _rowId',
  count_distinct: 'write dcount',
  mean: 'write avg',
  median: 'write percentile(value, 50)',
  stddev: 'write stdev',
  'take_any any': 'write arg_max(_time, field)',
  make_bag: 'write make_list(bag_pack("key", field))',
  make_list_with_nulls: 'write make_list(coalesce(field, "null"))',
  presence: 'write count(field), which counts the rows that have it',
  stdevp: 'write sqrt(avg(x * x) - avg(x) * avg(x))',
  variancep: 'write avg(x * x) - avg(x) * avg(x)',
  covariance: 'write avg(a * b) - avg(a) * avg(b)',
  'binary_all_and binary_all_or': 'write make_set(field), and look at its items',
  binary_all_xor: 'write make_list(field), and look at its items',
  'hll dcount_hll hll_merge': 'write dcount, which is exact',
  tdigest: 'write percentiles_array, which is exact',
  percentilesw: 'write percentiles_array; there are no weights',
  percentilew: 'write percentile; there are no weights',
  bin_at: 'write bin(value - start, size) + start',
  bag_set_key: 'write bag_merge(bag_pack("key", value), object), in which the first value counts',
  pack_all: 'write pack(*)',
  jaccard_index: 'write array_length(set_intersect(a, b)) * 1.0 / array_length(set_union(a, b))',
  'parse_sql parse_xml': 'write extract(regex, group, text) for what you need of it',
  parse_version: 'write split(text, "."), and toint of its items',
  unicode_codepoints_to_string: 'write the characters in quotes, such as "\\u0041"',
  isutf8: 'leave it out: every text is UTF-8',
  iscc: 'write value matches regex @"^\\d{13,19}$", which checks the form alone',
  isimei: 'write value matches regex @"^\\d{15}$", which checks the form alone',
  find_pair: 'write mv-apply p = array on (where tostring(p) startswith "key:" | take 1)',
  pair: 'write strcat(key, ":", value)',
  parse_pair: 'write split(text, ":")',
  base64_decode_toarray: 'write unicode_codepoints_from_string(base64_decode_tostring(text))',
  base64_encode_fromarray: 'write base64_encode_tostring of the text',
  'gamma loggamma': 'compute it where you show the result: there is no such function here',
  guid: 'there is no such type: write the text in quotes',
  toguid: 'there is no such type: compare the text as it is',
  new_guid: 'write hash_md5(strcat(_rowId, rand()))',
  decimal: 'write real',
  row_rank_dense: 'write row_cumsum(iff(value != prev(value), 1, 0)), behind a sort by the value',
  row_rank_min: 'write row_number(), behind a sort by the value',
  row_window_session: 'write row_cumsum(iff(_time - prev(_time) > 30m, 1, 0)), behind a sort by _time',
  series_dot_product: 'write series_sum(series_multiply(a, b))',
  series_magnitude: 'write sqrt(series_sum(series_multiply(a, a)))',
  series_cosine_similarity:
    'write series_sum(series_multiply(a, b)) / sqrt(series_sum(series_multiply(a, a)) * series_sum(series_multiply(b, b)))',
  series_max: 'write array_iff(series_greater(a, b), a, b), or series_stats(array).max',
  series_min: 'write array_iff(series_less(a, b), a, b), or series_stats(array).min',
  mask_email: 'write redact(text, "email")',
});

const OPERATORS = namesOf({
  'drop delete remove': 'to leave out events write where not(…), to leave out fields project-away',
  del: 'to leave out fields write project-away',
  keep: 'to keep events write where, to keep fields project-keep',
  'select fields': 'write project-keep',
  'extend-valid': 'write extend: what cannot be computed is null',
  'head first': 'write take',
  tail: 'write sort by _time asc | take',
  dedup: 'write distinct, or summarize arg_max(_time, *) by field',
  reduce: 'write summarize phrases(field), or count() by replace_regex("[0-9]+", "*", field)',
  scan: 'write sort, then extend with row_number, row_cumsum, prev and next',
  partition: 'write sort, then extend with row_number(1, field != prev(field)), or top-nested',
  fork: 'write several queries',
  facet: 'write summarize topk(field, 10) of each field',
  find: 'write search',
  rename: 'write project-rename new = old',
  'set eval': 'write extend',
  route: 'write to_dataset("name")',
  stats: 'write summarize, in queries',
  redact: 'it is a function: extend message = redact(message, …)',
  hash: 'it is a function: extend user = hash(user, …)',
});

const SIGNS = namesOf({
  '& AND': 'write and',
  '#': 'a comment begins with //',
  '`': "write a name with blanks as ['the name']",
  '! NOT': 'write not(…)',
  ':': 'write field == "value", or search field:"value"',
  OR: 'write or',
  '===': 'write ==',
  '!==': 'write !=',
  '?': 'write iff(condition, then, otherwise)',
  like: 'write contains, startswith or matches regex',
  is: 'write isnull(field) or isnotnull(field)',
  not: 'write !in',
  exists: 'write isnotnull(field)',
});

/** Families of functions, by the beginning of their names. */
const FAMILIES: readonly (readonly [RegExp, (match: RegExpExecArray) => string])[] = [
  [/^p(\d{1,2})$/, ([, level]) => `write percentile(value, ${level})`],
  [/^genai_/, () => 'write the path of what you need of the messages, such as messages[0].content, or mv-expand them'],
  [
    /^series_(acos|asin|atan|ceiling|cos|exp|floor|log|pow|sign|sin|tan)$/,
    ([, name]) =>
      `write mv-apply x = array to typeof(real) on (summarize make_list(${name}(x${name === 'pow' ? ', y' : ''})))`,
  ],
  [
    /^series_/,
    () =>
      'compute it where you show the result: there are series_add and kin, series_fill_linear and kin, and series_stats here',
  ],
];

export function foreignFunction(name: string): string | undefined {
  const known = FUNCTIONS.get(name.toLowerCase());
  if (known !== undefined) return known;
  for (const [pattern, fix] of FAMILIES) {
    const match = pattern.exec(name.toLowerCase());
    if (match) return fix(match);
  }
  return undefined;
}

export const foreignOperator = (name: string): string | undefined => OPERATORS.get(name.toLowerCase());
/** The fix of a sign that is wrong in its place. */
export const foreignSign = (text: string): string | undefined => SIGNS.get(text);

/** `did you mean x`, or nothing. */
export function guess(name: string, known: Iterable<string>): string | undefined {
  const near = nearest(name, known);
  return near === undefined ? undefined : `did you mean ${near}`;
}
