/** mv-expand: a row for each item of an array. */
import { FUNCTIONS } from '../functions/table.ts';
import { analyze, applied, wrongType, type Names } from '../plan/analysis.ts';
import { extended } from '../plan/scope.ts';
import type { Column, Stage } from '../plan/tree.ts';
import { AplError } from '../syntax/apl-error.ts';
import { readAssignment, readColumnName, readTypeName } from '../syntax/expressions.ts';
import type { Parser } from '../syntax/parser.ts';
import type { Assignment } from '../syntax/tree.ts';
import type { Type } from '../types.ts';
import { defaultName, type Operator, type Result } from './operator.ts';

interface Expanded {
  readonly assignment: Assignment;
  readonly type: Type | undefined;
}

/** `[name =] expression [to typeof(type)]`. */
function readExpanded(parser: Parser): Expanded {
  const assignment = readAssignment(parser);
  if (!parser.accept('to')) return { assignment, type: undefined };
  parser.expect('typeof', 'after to');
  parser.expect('(', 'after typeof');
  const type = readTypeName(parser);
  parser.expect(')', 'after the type');
  return { assignment, type };
}

const CONVERSIONS: Readonly<Partial<Record<Type, string>>> = {
  int: 'toint', real: 'todouble', bool: 'tobool', datetime: 'todatetime', timespan: 'totimespan', string: 'tostring',
}; // prettier-ignore

function expanded(parts: readonly Expanded[], index: string | undefined, limit: number | undefined, names: Names): Result {
  const columns: Column[] = [];
  for (const { assignment } of parts) {
    const { at, value } = assignment;
    const node = analyze(value, names);
    if (node.type !== 'dynamic') throw wrongType(value.at, 'an array', node.type, 'mv-expand');
    const name = assignment.name ?? defaultName(value, new Set(columns.map((column) => column.name)));
    if (columns.some((column) => column.name === name) || name === index)
      throw new AplError('meaning', at, `two columns would be called ${JSON.stringify(name)}`);
    columns.push({ name, node });
  }
  const made = index === undefined ? columns : [...columns, { name: index, node: INDEX }];
  const stages: Stage[] = [{ kind: 'expand', columns, index, limit }];
  const conversions = parts.flatMap(({ type, assignment }, n): Column[] => {
    const spec = type && FUNCTIONS.get(CONVERSIONS[type] ?? '');
    const { name } = columns[n]!;
    return spec ? [{ name, node: applied(spec, [{ kind: 'column', type: 'dynamic', name }], assignment.at, [assignment.at]) }] : [];
  });
  const scope = extended(names.scope, made.map(({ name, node }) => ({ name, node: { ...node, type: node === INDEX ? 'int' : 'dynamic' } as Column['node'] }))); // prettier-ignore
  if (conversions.length === 0) return { stages, scope };
  return { stages: [...stages, { kind: 'extend', columns: conversions }], scope: extended(scope, conversions) };
}

/** Stands for the number of the item, whose type is all that matters of it. */
const INDEX: Column['node'] = { kind: 'constant', type: 'int', constant: { type: 'int', value: 0n } };

export const EXPAND: readonly Operator[] = [
  {
    names: ['mv-expand'],
    syntax: 'mv-expand [with_itemindex=<name>] [<name> =] <array> [to typeof(<type>)], … [limit <count>]',
    doc: 'A row for each item of an array; several arrays go side by side. A row stays as it is where there is no array, and has null for an empty one.',
    read(parser) {
      let index: string | undefined;
      if (parser.accept('with_itemindex')) {
        parser.expect('=', 'after with_itemindex');
        index = readColumnName(parser, 'a name for the number of the item');
      }
      const parts = parser.list(() => readExpanded(parser));
      const limit = parser.accept('limit') ? parser.count('a number of items after limit') : undefined;
      return (names) => expanded(parts, index, limit, names);
    },
  },
];
