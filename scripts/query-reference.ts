/** The tables of docs/query.md, from the compiler's own tables of operators and functions. */
import { AGGREGATE_FUNCTIONS, FUNCTION_GROUPS, OPERATOR_GROUPS } from '../src/language/functions/table.ts';
import { QUERY_OPERATORS } from '../src/language/operators/table.ts';
import { replaceParts } from './marked-parts.ts';

interface Entry {
  readonly names: readonly string[];
  readonly syntax: string;
  readonly doc: string;
  readonly only?: 'queries' | 'transforms';
}

const cell = (text: string): string => text.replaceAll('|', '\\|');

function table(entries: readonly Entry[]): string {
  const rows = entries.map(({ names, syntax, doc, only }) => {
    const others = names.slice(1).map((name) => `\`${cell(name)}\``);
    return `| \`${cell(syntax)}\` | ${cell(doc)}${others.length > 0 ? ` Also ${others.join(', ')}.` : ''}${only === undefined ? '' : ` *In ${only} only.*`} |`;
  });
  return ['| | |', '|---|---|', ...rows].join('\n');
}

const groups = (all: readonly (readonly [string, readonly Entry[]])[]): string =>
  all.map(([title, entries]) => `### ${title}\n\n${table(entries)}`).join('\n\n');

const PARTS: Readonly<Record<string, () => string>> = {
  operators: () => table(QUERY_OPERATORS),
  conditions: () => groups(OPERATOR_GROUPS),
  functions: () => groups(FUNCTION_GROUPS),
  aggregations: () => table(AGGREGATE_FUNCTIONS),
};

export const replaceReference = (page: string): string => replaceParts(page, PARTS, 'docs/query.md');
