/** A query in SQL, LogQL or Lucene as it would be written here: a hint in the message of its refusal, as far as the text shows it. */

/** Enough for a hint; the rest is not read. */
const MOST = 1000;
const CLAUSE = /\b(where|group by|having|order by|limit)\b/i;

/** The text's language, and one line in ours with nearly the same meaning; undefined if it is neither. */
export function foreignLanguage(whole: string): { readonly name: string; readonly here: string } | undefined {
  const text = whole.slice(0, MOST).trim().replaceAll(/\s+/g, ' ');
  const from = text.search(/ from /i);
  const columns = /^select ([^|;]+)$/i.exec(text.slice(0, Math.max(from, 0)))?.[1];
  const source = text.slice(from + ' from '.length);
  const [table] = /^(?:"[^"]*"|'[^']*'|`[^`]*`|[\w.-]+)/.exec(source) ?? [];
  if (columns !== undefined && table !== undefined && !source.includes('|'))
    return { name: 'SQL', here: fromSql(columns, table, source.slice(table.length)) };
  const logql = /^(?:[\w ,()]*\( ?)?\{ ?(\w[\w.]* ?(?:=~|!~|!=|=) ?["`][^}]*)\}(.*)$/.exec(text);
  if (logql) return { name: 'LogQL', here: fromLogql(logql[1]!, logql[2]!) };
  return LUCENE.test(text) ? { name: 'Lucene', here: fromLucene(text) } : undefined;
}

/** Begins with a field, a colon and a term. */
const LUCENE = /^(?:NOT |-|\()*[A-Za-z_@][\w.@-]*:(?:["(*\w/<>{[]).*$/;
const LUCENE_TOKEN =
  /([A-Za-z_@][\w.@-]*):(?:([<>]=?)(\S+?)|([[{])(\S+) TO (\S+)[\]}]|("[^"]*"|[^\s()]+)|\(([^()]*)\))(?=[\s)]|$)|("[^"]*")|(&&|\|\||[()!-])|([^\s()]+)/g;
const LUCENE_WORDS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    AND: 'and',
    '&&': 'and',
    OR: 'or',
    '||': 'or',
    NOT: 'not',
    '!': 'not',
    '-': 'not',
  }),
);

/** Terms without a word between them are all wanted. */
function fromLucene(text: string): string {
  const parts: string[] = [];
  for (const [whole, field = '', sign, bound, , low, high, term, list, phrase] of text.matchAll(LUCENE_TOKEN)) {
    const joins = LUCENE_WORDS.get(whole);
    const last = parts.at(-1);
    if (
      joins !== 'and' &&
      joins !== 'or' &&
      whole !== ')' &&
      last !== undefined &&
      !['and', 'or', 'not', '('].includes(last)
    )
      parts.push('and');
    const name = /^[A-Za-z_]\w*(?:\.\w+)*$/.test(field) ? field : `['${field}']`;
    const quotedTerm = (word: string): string => (word.startsWith('"') ? word : `"${word}"`);
    if (joins !== undefined || whole === '(' || whole === ')') parts.push(joins ?? whole);
    else if (field === '') parts.push(phrase ?? quotedTerm(whole));
    else if (sign !== undefined) parts.push(`${name} ${sign} ${bound}`);
    else if (low !== undefined) parts.push(`${name} between (${low} .. ${high})`);
    else if (list !== undefined)
      parts.push(
        `(${list
          .split(/ OR | /)
          .filter((word) => word !== '')
          .map((word) => `${name}:${quotedTerm(word)}`)
          .join(' or ')})`,
      );
    else parts.push(term === '*' ? `isnotnull(${name})` : `${name}:${quotedTerm(term!)}`);
  }
  return `['dataset'] | search ${parts.join(' ').replaceAll(/not (\([^()]*\)|\S+:"[^"]*"|"[^"]*"|[\w.]+ [<>]=? \S+)/g, 'not($1)')}`;
}

function fromSql(columns: string, table: string, rest: string): string {
  const parts = rest
    .replace(/;\s*$/, '')
    .split(CLAUSE)
    .map((part) => part.trim());
  const clause = (name: string): string | undefined => {
    const at = parts.findIndex((part) => part.toLowerCase() === name);
    return at < 0 ? undefined : parts[at + 1];
  };
  const [where, by, order, limit] = ['where', 'group by', 'order by', 'limit'].map(clause);
  const listed = columns.split(/,(?![^(]*\))/).map((column) => named(column.trim()));
  const aggregated = by !== undefined || listed.some((column) => /\b(?:count|sum|avg|min|max)\(/.test(column));
  const values = listed.filter((column) => !by?.split(',').some((key) => key.trim() === column));
  const sorted = order
    ?.split(',')
    .map((key) => (/ (?:asc|desc)$/i.test(key.trim()) ? key.trim().toLowerCase() : `${key.trim()} asc`));
  return [
    `['${table.replaceAll(/['"`]/g, '')}']`,
    ...(where === undefined ? [] : [`where ${condition(where)}`]),
    ...(aggregated ? [`summarize ${values.join(', ')}${by === undefined ? '' : ` by ${by}`}`] : []),
    ...(aggregated || columns.trim() === '*' ? [] : [`project ${listed.join(', ')}`]),
    ...(sorted ? [`sort by ${sorted.join(', ')}`] : []),
    ...(limit === undefined ? [] : [`take ${limit}`]),
  ].join(' | ');
}

/** `count(*) as n` is `n = count()`. */
function named(column: string): string {
  const [, value = column, name] = /^(.+) as (\w+)$/i.exec(column) ?? [];
  const written = value.replace(/^(count|sum|avg|min|max)\(/i, (call) => call.toLowerCase()).replace('(*)', '()');
  return name === undefined ? written : `${name} = ${written}`;
}

const LIKE: readonly (readonly [RegExp, string])[] = [
  [/ like '%([^%']*)%'/gi, " contains '$1'"],
  [/ like '([^%']*)%'/gi, " startswith '$1'"],
  [/ like '%([^%']*)'/gi, " endswith '$1'"],
];

function condition(text: string): string {
  const likes = LIKE.reduce((found, [like, here]) => found.replaceAll(like, here), text);
  return likes
    .replaceAll(/([\w.]{1,100}) is not null/gi, 'isnotnull($1)')
    .replaceAll(/([\w.]{1,100}) is null/gi, 'isnull($1)')
    .replaceAll(/(?<![<>=!])=(?![=~])/g, '==')
    .replaceAll(/ (and|or|not|in|between) /gi, (word) => word.toLowerCase());
}

const MATCHERS: Readonly<Record<string, string>> = {
  '=': '==',
  '!=': '!=',
  '=~': 'matches regex',
  '!~': '!matches regex',
};
const FILTERS: Readonly<Record<string, string>> = {
  '|=': '* contains',
  '!=': '* !contains',
  '|~': 'message matches regex',
  '!~': 'message !matches regex',
};

function fromLogql(labels: string, rest: string): string {
  const matchers = [...labels.matchAll(/[ ,]*([\w.]+) ?(=~|!~|!=|=) ?(["`][^"`]*["`])/gy)].map(
    ([, name, sign, value]) => `${name} ${MATCHERS[sign!]} ${quoted(value!)}`,
  );
  const filters = [...rest.matchAll(/(\|=|!=|\|~|!~) ?(["`][^"`]*["`])/g)].map(
    ([, sign, value]) => `${FILTERS[sign!]} ${quoted(value!)}`,
  );
  const [, window] = /\[(\d+[smhd])\]/.exec(rest) ?? [];
  return [
    `['dataset']`,
    `where ${[...matchers, ...filters].join(' and ')}`,
    ...(window === undefined ? [] : [`summarize count() by bin(_time, ${window})`]),
  ].join(' | ');
}

const quoted = (text: string): string => `"${text.slice(1, -1)}"`;
