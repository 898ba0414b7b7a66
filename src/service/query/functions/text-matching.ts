/** Operators that look into text: contains, startswith, has, matches regex and their kin. A value that is not there matches nothing but `!…`. */
import { all, any, sql, type Sql } from '../sql/sql.ts';
import { facetsOf, oneRequired, type Value } from '../sql/value.ts';
import { listItems, negate } from './comparisons.ts';
import type { Call, ScalarFunction } from './spec.ts';

/** How the searched text and the wanted one are compared. */
interface Match {
  readonly word: string;
  readonly doc: string;
  /** Never null where both texts are there. */
  readonly test: (text: Sql, wanted: Sql) => Sql;
  /** What the test sees of the texts when case does not matter. */
  readonly fold: boolean;
}

const lower = (text: Sql): Sql => sql`lowerUTF8(${text})`;

/** The text to look into. A missing string reads as '', in which no text but the empty one is found. */
function haystack(call: Call, n: number, wanted: Value): Sql {
  const value = call.value(n);
  const onlyString = facetsOf(value).every(([kind]) => kind === 'string');
  const found = typeof wanted.constant?.value === 'string' && wanted.constant.value !== '';
  return onlyString && found && value.plain?.string ? value.plain.string : call.string(n);
}

/** A pattern that finds the term as a whole: no letter or digit directly beside one of its own. */
function termPattern(term: string): string {
  const quoted = term.replaceAll(/[\\^$.|?*+()[\]{}-]/g, String.raw`\$&`);
  const edge = (char: string | undefined): boolean => char !== undefined && /[\p{L}\p{N}]/u.test(char);
  const characters = Array.from(term);
  return `${edge(characters[0]) ? String.raw`(?:^|[^\p{L}\p{N}])` : ''}${quoted}${edge(characters.at(-1)) ? String.raw`(?:$|[^\p{L}\p{N}])` : ''}`;
}

const EDGE = sql`'(?:^|[^\\\\p{L}\\\\p{N}])'`;
const END = sql`'(?:$|[^\\\\p{L}\\\\p{N}])'`;

/** The same pattern of a term that only the running query knows. */
const termPatternSql = (term: Sql): Sql =>
  sql`concat(if(match(${term}, '^[\\\\p{L}\\\\p{N}]'), ${EDGE}, ''), regexpQuoteMeta(${term}), if(match(${term}, '[\\\\p{L}\\\\p{N}]$'), ${END}, ''))`;

function hasTerm(call: Call, text: Sql, term: Value, termText: Sql, fold: boolean): Sql {
  const [seen, wanted] = fold ? [lower(text), lower(termText)] : [text, termText];
  const constant = term.constant?.value;
  const pattern = typeof constant === 'string' ? call.params.string(`${fold ? '(?i)' : ''}${termPattern(constant)}`) : sql`concat(${fold ? sql`'(?i)'` : sql`''`}, ${termPatternSql(termText)})`;
  // Looking for the text first is cheap and settles most.
  return all([sql`position(${seen}, ${wanted}) > 0`, sql`match(${text}, ${pattern})`]);
} // prettier-ignore

const settled = (condition: Sql): Sql => sql`ifNull(${condition}, false)`;

const MATCHES: readonly Omit<Match, 'fold'>[] = [
  { word: 'contains', doc: 'The text contains the other', test: (text, wanted) => sql`position(${text}, ${wanted}) > 0` },
  { word: 'startswith', doc: 'The text begins with the other', test: (text, wanted) => sql`startsWith(${text}, ${wanted})` },
  { word: 'endswith', doc: 'The text ends with the other', test: (text, wanted) => sql`endsWith(${text}, ${wanted})` },
];

function textOperators({ word, doc, test }: Omit<Match, 'fold'>): ScalarFunction[] {
  const operator = (fold: boolean, not: boolean): ScalarFunction => {
    const name = `${not ? '!' : ''}${word}${fold ? '' : '_cs'}`;
    const build = (call: Call): Value => {
      const wanted = call.value(1);
      const text = haystack(call, 0, wanted);
      const condition = fold ? test(lower(text), lower(call.string(1))) : test(text, call.string(1));
      const result = oneRequired('bool', settled(condition));
      return not ? negate(result) : result;
    };
    return { names: [name], syntax: `a ${name} b`, doc: `${not ? 'Not: ' : ''}${doc}${fold ? ', whatever the case' : ', with its case'}.`, args: ['string', 'string'], returns: 'bool', build };
  }; // prettier-ignore
  return [operator(true, false), operator(true, true), operator(false, false), operator(false, true)];
}

function hasOperators(): ScalarFunction[] {
  const operator = (fold: boolean, not: boolean): ScalarFunction => {
    const name = `${not ? '!' : ''}has${fold ? '' : '_cs'}`;
    const build = (call: Call): Value => {
      const term = call.value(1);
      const result = oneRequired('bool', settled(hasTerm(call, haystack(call, 0, term), term, call.string(1), fold)));
      return not ? negate(result) : result;
    };
    const doc = `${not ? 'Not: t' : 'T'}he text contains the other as a whole term of letters and digits, ${fold ? 'whatever the case' : 'with its case'}.`;
    return { names: [name], syntax: `a ${name} b`, doc, args: ['string', 'string'], returns: 'bool', build };
  };
  return [operator(true, false), operator(true, true), operator(false, false), operator(false, true)];
}

/** has_any and has_all: a list of terms on the right. */
function hasMany(name: string, fold: boolean, combine: (conditions: readonly Sql[]) => Sql, doc: string): ScalarFunction {
  const build = (call: Call): Value => {
    const terms = listItems(call).filter((item) => item.facets.string);
    const text = call.string(0);
    return oneRequired('bool', combine(terms.map((term) => settled(hasTerm(call, text, term, term.facets.string!, fold)))));
  };
  return { names: [name], syntax: `a ${name} (b, c, …)`, doc, args: ['string'], rest: 'any', returns: 'bool', build };
}

/** hasprefix and hassuffix: a term of the text begins or ends with the other. */
function hasEdge(word: 'hasprefix' | 'hassuffix', fold: boolean, not: boolean): ScalarFunction {
  const name = `${not ? '!' : ''}${word}${fold ? '' : '_cs'}`;
  const build = (call: Call): Value => {
    const term = call.string(1);
    const quoted = sql`regexpQuoteMeta(${term})`;
    const flag = fold ? sql`'(?i)'` : sql`''`;
    const pattern = word === 'hasprefix' ? sql`concat(${flag}, ${EDGE}, ${quoted})` : sql`concat(${flag}, ${quoted}, ${END})`;
    const result = oneRequired('bool', settled(sql`match(${call.string(0)}, ${pattern})`));
    return not ? negate(result) : result;
  };
  const doc = `${not ? 'Not: a' : 'A'} term of the text ${word === 'hasprefix' ? 'begins' : 'ends'} with the other, ${fold ? 'whatever the case' : 'with its case'}.`;
  return { names: [name], syntax: `a ${name} b`, doc, args: ['string', 'string'], returns: 'bool', build };
}

/** RE2, in which a dot does not match a newline. */
export const regex = (pattern: Sql): Sql => sql`concat('(?-s)', ${pattern})`;

const matchesRegex = (call: Call): Value => oneRequired('bool', settled(sql`match(${call.string(0)}, ${regex(call.string(1))})`));

export const TEXT_MATCHING: readonly ScalarFunction[] = [
  ...[...MATCHES.flatMap(textOperators), ...hasOperators()].map((spec) => ({ ...spec, everything: true })),
  hasMany('has_any', true, any, 'The text contains one of the terms, whatever the case.'),
  hasMany('has_any_cs', false, any, 'The text contains one of the terms, with its case.'),
  hasMany('has_all', true, all, 'The text contains all of the terms, whatever the case.'),
  ...(['hasprefix', 'hassuffix'] as const).flatMap((word) => [hasEdge(word, true, false), hasEdge(word, true, true), hasEdge(word, false, false), hasEdge(word, false, true)]),
  { names: ['matches regex'], syntax: 'a matches regex b', doc: 'The regular expression (RE2) matches somewhere in the text.', args: ['string', 'string'], returns: 'bool', build: matchesRegex },
  { names: ['!matches regex'], syntax: 'a !matches regex b', doc: 'It matches nowhere.', args: ['string', 'string'], returns: 'bool', build: (call) => negate(matchesRegex(call)) },
]; // prettier-ignore
