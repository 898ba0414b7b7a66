/** What other languages of queries and pipelines write, and what is written here: the fixes of names and signs that are unknown. */
import { nearest } from '../config/nearest.ts';

type Names = Readonly<Record<string, string>>;

const FUNCTIONS: Names = {
  lower: 'write tolower',
  downcase: 'write tolower',
  upper: 'write toupper',
  upcase: 'write toupper',
  substr: 'write substring',
  slice: 'write substring',
  length: 'write len',
  concat: 'write strcat',
  regex_replace: 'write replace_regex',
  regexp_replace: 'write replace_regex',
  regex_extract: 'write extract',
  regexp_extract: 'write extract',
  exists: 'write isnotnull',
  is_null: 'write isnull',
  int: 'write toint',
  float: 'write toreal',
  tofloat: 'write toreal',
  to_int: 'write toint',
  to_string: 'write tostring',
  toarray: 'write parse_json, or pack_array of one value',
  ismap: 'write gettype(value) == "dictionary"',
  cot: 'write 1 / tan(number)',
  ingestion_time: 'write _sysTime',
  cursor_current: 'write _rowId',
  count_distinct: 'write dcount',
  mask_email: 'write redact(text, "email")',
};

const OPERATORS: Names = {
  drop: 'to leave out events write where not(…), to leave out fields project-away',
  delete: 'to leave out events write where not(…), to leave out fields project-away',
  remove: 'to leave out events write where not(…), to leave out fields project-away',
  del: 'to leave out fields write project-away',
  keep: 'to keep events write where, to keep fields project-keep',
  select: 'write project-keep',
  fields: 'write project-keep',
  rename: 'write project-rename new = old',
  set: 'write extend',
  eval: 'write extend',
  route: 'write to_dataset("name")',
  stats: 'write summarize, in queries',
  redact: 'it is a function: extend message = redact(message, …)',
  hash: 'it is a function: extend user = hash(user, …)',
};

const SIGNS: Names = {
  '&': 'write and',
  '#': 'a comment begins with //',
  '`': "write a name with blanks as ['the name']",
  '!': 'write not(…)',
  '===': 'write ==',
  '!==': 'write !=',
  '?': 'write iff(condition, then, otherwise)',
  like: 'write contains, startswith or matches regex',
  is: 'write isnull(field) or isnotnull(field)',
  not: 'write !in',
  exists: 'write isnotnull(field)',
};

const find = (names: Names, name: string): string | undefined => (Object.hasOwn(names, name) ? names[name] : undefined);

export const otherFunction = (name: string): string | undefined => find(FUNCTIONS, name.toLowerCase());
export const otherOperator = (name: string): string | undefined => find(OPERATORS, name.toLowerCase());
/** Of what cannot stand where it stands. */
export const otherSign = (text: string): string | undefined => find(SIGNS, text);

/** `did you mean x`, or nothing. */
export function guess(name: string, known: Iterable<string>): string | undefined {
  const near = nearest(name, known);
  return near === undefined ? undefined : `did you mean ${near}`;
}
