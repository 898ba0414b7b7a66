/**
 * Which operators, functions and aggregations of the documentation random queries have used. What works on several tables, or on other rows, has
 * its results computed by hand in conformance/query-tables.ts.
 */
import { readFileSync } from 'node:fs';
import { AGGREGATE_FUNCTIONS, findAggregate, FUNCTIONS, OPERATORS } from '../../../src/language/functions/table.ts';
import { QUERY_OPERATORS } from '../../../src/language/operators/table.ts';

const SHARED = [...FUNCTIONS].filter(([, { only }]) => only !== 'transforms').map(([name]) => name);
const FORMS = ['arg_max', 'arg_min'];
const DOCUMENTED = [
  ...QUERY_OPERATORS.filter(({ only }) => only !== 'transforms').flatMap(({ names }) =>
    names.map((name) => `| ${name}`),
  ),
  ...OPERATORS.keys(),
  ...[...SHARED, ...AGGREGATE_FUNCTIONS.flatMap(({ names }) => names), ...FORMS].map((name) => `${name}()`),
  ...AGGREGATE_FUNCTIONS.filter(({ name }) => findAggregate(`${name}if`)?.conditional).map(
    ({ names }) => `${names[0]}if()`,
  ),
];
const uses = new Map<string, number>(DOCUMENTED.map((name) => [name, 0]));

/** Not in random queries, but in cases with results computed by hand. */
const BY_HAND = [
  'join',
  'lookup',
  'union',
  'search',
  'make-series',
  'top-nested',
  'sample-distinct',
  'project-reorder',
  'getschema',
  'render',
  'as',
  'serialize',
  'mv-apply',
  'redact',
]
  .map((name) => `| ${name}`)
  .concat(['row_number()', 'prev()', 'next()', 'row_cumsum()']);

/** Words between blanks, longest first, so that `!in~` is not taken for `in`. */
const INFIX = [...OPERATORS.keys()].sort((a, b) => b.length - a.length);
const infix = new RegExp(
  ` (${INFIX.map((name) => name.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)).join('|')}) `,
  'g',
);

function usedIn(text: string): string[] {
  const bare = text.replaceAll(/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'/g, '""');
  const operators = [...bare.matchAll(/\| ([a-z-]+)/g)].map(([, name]) => `| ${name}`);
  const functions = [...bare.matchAll(/([a-z_0-9]+)\(/g)].map(([, name]) => `${name}()`);
  return [...operators, ...functions, ...[...bare.matchAll(infix)].map(([, name]) => name!)].filter((name) =>
    uses.has(name),
  );
}

const byHand = new Set(
  usedIn(readFileSync(new URL('../conformance/query-tables.ts', import.meta.url), 'utf8').replaceAll("'", '')),
);
for (const name of BY_HAND) if (byHand.has(name)) uses.set(name, 1);

/** Notes what a query's text uses. */
export function noteText(text: string): void {
  for (const name of usedIn(text)) uses.set(name, uses.get(name)! + 1);
}

/** Whether the text uses what none has yet. */
export const usesNew = (text: string): boolean => usedIn(text).some((name) => uses.get(name) === 0);

/** Functions never used, and the rarest of the others. */
export function unused(): { readonly never: string[]; readonly total: number; readonly rarest: string } {
  const sorted = [...uses].sort(([, a], [, b]) => a - b);
  return {
    never: sorted.filter(([, count]) => count === 0).map(([name]) => name),
    total: sorted.length,
    rarest: sorted
      .filter(([, count]) => count > 0)
      .slice(0, 5)
      .map(([name, count]) => `${name} ${count}`)
      .join(', '),
  };
}
