/** Operators that look into text: contains, startswith, has, matches regex and their kin. A value that is not there matches nothing but `!…`. */
import { all, any, sql, type Sql } from '../../../service/query/values/sql.ts';
import { facetsOf, oneRequired, type SqlValue } from '../../../service/query/values/value.ts';
import { listItems, negate } from '../comparisons/sql.ts';
import { SERVICE_QUERY_TERMS } from '../../limits.ts';
import { quoteRegex } from '../../operators/parse/pattern.ts';
import { MATCH_FORMS, type MatchForm, type MatchName, type TEXT_MATCHING } from './spec.ts';
import type { SqlBuild, SqlBuilders, SqlCall } from '../../../service/query/values/call.ts';

const lower = (text: Sql): Sql => sql`lowerUTF8(${text})`;

/** The text to look into. A missing string reads as '', in which no text but the empty one is found. */
function haystack(call: SqlCall, n: number, wanted: SqlValue): Sql {
  const value = call.value(n);
  const onlyString = facetsOf(value).every(([kind]) => kind === 'string');
  const found = typeof wanted.constant?.value === 'string' && wanted.constant.value !== '';
  return onlyString && found && value.plain?.string ? value.plain.string : call.string(n);
}

/** Which ends of the term are letters or digits, beside which there must be none. */
function wordEnds(term: string): readonly [first: boolean, last: boolean] {
  const isWord = (char: string | undefined): boolean => char !== undefined && /[\p{L}\p{N}]/u.test(char);
  const characters = Array.from(term);
  return [isWord(characters[0]), isWord(characters.at(-1))];
}

/** A pattern that finds the term as a whole: directly beside a word's end is what `other` matches, or nothing. */
function termPattern(term: string, other = String.raw`[^\p{L}\p{N}]`): string {
  const [first, last] = wordEnds(term);
  return `${first ? `(?:^|${other})` : ''}${quoteRegex(term)}${last ? `(?:$|${other})` : ''}`;
}

/** A pattern that finds the term with a character outside of ASCII beside a word's end. */
function besideOthers(term: string): string {
  const other = String.raw`[^\x00-\x7F]`;
  const [first, last] = wordEnds(term);
  return [...(first ? [`${other}${quoteRegex(term)}`] : []), ...(last ? [`${quoteRegex(term)}${other}`] : [])].join(
    '|',
  );
}

/** Characters of ASCII other than letters and digits. */
const ASCII_OTHER = String.raw`[\x00-\x2F\x3A-\x40\x5B-\x60\x7B-\x7F]`;

const EDGE = sql`'(?:^|[^\\\\p{L}\\\\p{N}])'`;
const END = sql`'(?:$|[^\\\\p{L}\\\\p{N}])'`;

/** The same pattern of a term that only the running query knows. */
const termPatternSql = (term: Sql): Sql =>
  sql`concat(if(match(${term}, '^[\\\\p{L}\\\\p{N}]'), ${EDGE}, ''), regexpQuoteMeta(${term}), if(match(${term}, '[\\\\p{L}\\\\p{N}]$'), ${END}, ''))`;

/** SQL of a text up to this long may be repeated. */
const SHORT_SQL = 64;

function hasTerm(call: SqlCall, text: Sql, term: SqlValue, termText: Sql, fold: boolean): Sql {
  const [seen, wanted] = fold ? [lower(text), lower(termText)] : [text, termText];
  const constant = term.constant?.value;
  // Looking for the text first is cheap and settles most.
  const found = sql`position(${seen}, ${wanted}) > 0`;
  if (typeof constant !== 'string')
    return all([found, sql`match(${text}, concat(${fold ? sql`'(?i)'` : sql`''`}, ${termPatternSql(termText)}))`]);
  const matches = (where: Sql, pattern: string): Sql =>
    sql`match(${where}, ${call.params.string(`${fold ? '(?i)' : ''}${pattern}`)})`;
  const exactly = termPattern(constant);
  if (text.length > SHORT_SQL || !wordEnds(constant).includes(true)) return all([found, matches(text, exactly)]);
  // The engine compiles a pattern anew for each block of rows, which for all letters there are takes longer than matching: most texts are settled by ASCII. The
  // cast makes a column of a dictionary a plain one, of which only the rows left are read.
  const plain = sql`cast(${text}, 'Nullable(String)')`;
  return all([
    found,
    any([
      matches(text, termPattern(constant, ASCII_OTHER)),
      all([matches(text, besideOthers(constant)), matches(plain, exactly)]),
    ]),
  ]);
}

const settled = (condition: Sql): Sql => sql`ifNull(${condition}, false)`;

type Test = (text: Sql, wanted: Sql) => Sql;
/** Compares text and wanted text; never null if neither is. */
const TESTS: Readonly<Record<'contains' | 'startswith' | 'endswith', Test>> = {
  contains: (text, wanted) => sql`position(${text}, ${wanted}) > 0`,
  startswith: (text, wanted) => sql`startsWith(${text}, ${wanted})`,
  endswith: (text, wanted) => sql`endsWith(${text}, ${wanted})`,
};

function match({ word, fold }: MatchForm, call: SqlCall): Sql {
  if (word === 'hasprefix' || word === 'hassuffix')
    return sql`match(${call.string(0)}, ${edgePattern(word, fold, call.string(1))})`;
  const wanted = call.value(1);
  const text = haystack(call, 0, wanted);
  if (word === 'has') return hasTerm(call, text, wanted, call.string(1), fold);
  return fold ? TESTS[word](lower(text), lower(call.string(1))) : TESTS[word](text, call.string(1));
}

const matching =
  (form: MatchForm): SqlBuild =>
  (call) => {
    const result = oneRequired('bool', settled(match(form, call)));
    return form.not ? negate(result) : result;
  };

/** has_any and has_all: a list of terms on the right. */
const hasMany =
  (fold: boolean, combine: (conditions: readonly Sql[]) => Sql): SqlBuild =>
  (call) => {
    const terms = listItems(call).filter((item) => item.facets.string);
    if (terms.length > SERVICE_QUERY_TERMS)
      throw call.fail(
        1,
        `wanted at most ${SERVICE_QUERY_TERMS} terms, not ${terms.length}: one pattern for all is quicker, such as matches regex "a|b"`,
      );
    const text = call.string(0);
    return oneRequired(
      'bool',
      combine(terms.map((term) => settled(hasTerm(call, text, term, term.facets.string!, fold)))),
    );
  };

/** A term of the text begins or ends with the other. */
function edgePattern(word: 'hasprefix' | 'hassuffix', fold: boolean, term: Sql): Sql {
  const quoted = sql`regexpQuoteMeta(${term})`;
  const flag = fold ? sql`'(?i)'` : sql`''`;
  return word === 'hasprefix' ? sql`concat(${flag}, ${EDGE}, ${quoted})` : sql`concat(${flag}, ${quoted}, ${END})`;
}

/** RE2, in which a dot does not match a newline. */
export const regex = (pattern: Sql): Sql => sql`concat('(?-s)', ${pattern})`;

const matchesRegex = (call: SqlCall): SqlValue =>
  oneRequired('bool', settled(sql`match(${call.string(0)}, ${regex(call.string(1))})`));

export const TEXT_MATCHING_SQL: SqlBuilders<typeof TEXT_MATCHING> = {
  ...(Object.fromEntries(MATCH_FORMS.map(([name, form]) => [name, matching(form)])) as Record<MatchName, SqlBuild>),
  has_any: hasMany(true, any),
  has_any_cs: hasMany(false, any),
  has_all: hasMany(true, all),
  'matches regex': matchesRegex,
  '!matches regex': (call) => negate(matchesRegex(call)),
};
