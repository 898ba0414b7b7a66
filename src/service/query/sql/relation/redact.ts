/** redact: hides the matches of regular expressions in texts. */
import type { QueryStage } from '../../../../language/plan/tree.ts';
import type { RelationColumn } from '../relation-parts.ts';
import { regex } from '../../../../language/functions/text-matching/sql.ts';
import { sql, type Sql, type SqlParams } from '../../values/sql.ts';
import { Relation } from './relation.ts';

type Redact = QueryStage & { readonly kind: 'redact' };

/** Mark a match while its characters are counted. They are noncharacters, so no text has them. */
const [BEGIN, END] = ['\u{FDD0}', '\u{FDD1}'];

export function redact(relation: Relation, { names, patterns, token }: Redact): Relation {
  const { params } = relation.parts.environment;
  const all = names ? new Map(names.map((name) => [name, relation.columnFor(name)] as const)) : relation.allColumns();
  const hidden = [...all].map(([name, column]): [string, RelationColumn] => {
    const { string, ...others } = column.value.facets;
    return [
      name,
      string
        ? {
            ...column,
            value: {
              facets: {
                ...others,
                string: patterns.reduce<Sql>((text, pattern) => without(text, pattern, token, params), string),
              },
            },
          }
        : column,
    ];
  });
  const wanted = hidden.filter(([name, column]) => names !== undefined || column !== all.get(name));
  const kept = [...relation.parts.columns].map(([name, column]): [string, RelationColumn] => [
    name,
    new Map(wanted).get(name) ?? column,
  ]);
  return new Relation({ ...relation.parts, columns: new Map([...kept, ...wanted]) }).nest();
}

/** A token of one character replaces each character that matched, a longer one the whole match. */
function without(text: Sql, pattern: string, token: string, params: SqlParams): Sql {
  const wanted = regex(params.string(pattern));
  if (Array.from(token).length !== 1)
    return sql`replaceRegexpAll(${text}, ${wanted}, ${params.string(token.replaceAll('\\', '\\\\'))})`;
  const [begin, end] = [params.string(BEGIN), params.string(END)];
  const marked = sql`replaceRegexpAll(replaceAll(replaceAll(ifNull(${text}, ''), ${begin}, ''), ${end}, ''), ${wanted}, ${params.string(`${BEGIN}\\0${END}`)})`;
  const piece = sql`concat(repeat(${params.string(token)}, toInt64(lengthUTF8(splitByString(${end}, x)[1]))), splitByString(${end}, x)[2])`;
  return sql`if(isNull(${text}), null, arrayStringConcat(arrayMap((x, n) -> if(n = 1, x, ${piece}), splitByString(${begin}, ${marked}), arrayEnumerate(splitByString(${begin}, ${marked})))))`;
}
