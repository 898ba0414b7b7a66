/** The rows that a query begins with, once names have a meaning. Throws an `AplError`. */
import { searched } from '../operators/search/spec.ts';
import { unionOf } from '../operators/union/spec.ts';
import { analyze, argumentsOf, type NameScope } from '../plan/analysis.ts';
import { wrongType } from '../plan/arguments.ts';
import { assignedColumns } from '../plan/operator.ts';
import { closed } from '../plan/scope.ts';
import type { Node, QuerySource, Tree } from '../plan/tree.ts';
import { meaningError, syntaxError } from '../syntax/apl-error.ts';
import type { Expression, Pipeline } from '../syntax/tree.ts';
import { TYPE_WORDS, type Constant, type Type } from '../types.ts';
import type { SourceText } from './sources.ts';

type SourceOf<Kind extends SourceText['kind']> = SourceText & { readonly kind: Kind };

export function planSource(source: SourceText, names: NameScope, at: number): Tree {
  switch (source.kind) {
    case 'dataset':
      return names.eventsOf!(source.name);
    case 'let':
      return letTable(source, names);
    case 'query':
      return names.plan!(source.pipeline, names.lets);
    case 'union':
      return united(source.tables, source.inner, source.source, source.at, names);
    case 'search': {
      const all = united(
        source.tables,
        false,
        '$table',
        source.at,
        names,
        source.isEverywhere ? viewsOf(names, source.at) : [],
      );
      return { ...all, stages: [...all.stages, ...searched(source.wanted, { ...names, scope: all.scope })] };
    }
    case 'print': {
      const columns = assignedColumns(source.assignments, { ...names, scope: closed([]) });
      const one = rowsOf({ kind: 'rows', columns: [], rows: [[]] }, []);
      return {
        ...one,
        stages: [{ kind: 'project', columns }],
        scope: closed(columns.map(({ name, node }) => [name, node.type])),
      };
    }
    case 'range':
      return ranged(source, names);
    case 'datatable':
      return tabled(source, names);
    case 'none':
      throw syntaxError(at, 'a query begins with a dataset');
  }
}

function united(
  tables: readonly Pipeline[],
  inner: boolean,
  source: string | undefined,
  at: number,
  names: NameScope,
  more: readonly Tree[] = [],
): Tree {
  const [first, ...others] = tables.map((table) => names.plan!(table, names.lets));
  return unionOf(first!, [...others, ...more], inner, source, at);
}

/** The rows of the views that `let` made, under their names. */
function viewsOf(names: NameScope, at: number): Tree[] {
  return [...names.lets].flatMap(([name, bound]) => {
    if (bound.kind !== 'function' || !bound.isView || !('pipeline' in bound.body)) return [];
    const tree = names.plan!(bound.body.pipeline, argumentsOf(bound, name, [], at, names));
    return [{ ...tree, stages: [...tree.stages, { kind: 'label', name } as const] }];
  });
}

function letTable({ name, args, at }: SourceOf<'let'>, names: NameScope): Tree {
  const bound = names.lets.get(name);
  if (bound?.kind === 'table' && !args) return bound.tree;
  if (bound?.kind !== 'function' || !('pipeline' in bound.body) || !args)
    throw meaningError(at, `${JSON.stringify(name)} is no table here`);
  return names.plan!(bound.body.pipeline, argumentsOf(bound, name, args, at, names));
}

const rowsOf = (source: QuerySource, columns: readonly (readonly [string, Type])[]): Tree => ({
  source,
  stages: [],
  scope: closed(columns),
  weight: 1,
});

function ranged({ name, from, to, step }: SourceOf<'range'>, names: NameScope): Tree {
  const [first, last, by] = [from, to, step].map((each) => analyze(each, { ...names, scope: closed([]) })) as [
    Node,
    Node,
    Node,
  ];
  const { type } = first;
  if (type !== 'int' && type !== 'datetime' && type !== 'timespan')
    throw wrongType(from.at, 'an integer, a datetime or a timespan', type, 'range');
  if (last.type !== type) throw wrongType(to.at, 'the same type as from', last.type, 'range');
  const width = type === 'int' ? 'int' : 'timespan';
  if (by.type !== width || by.kind !== 'constant' || (by.constant.value as bigint) === 0n)
    throw meaningError(
      step.at,
      `range of ${type === 'int' ? 'integers' : 'times'} wants ${type === 'int' ? 'an integer' : 'a timespan'} other than 0 as its step`,
      'for fractions divide afterwards: | extend x = x / 10.0',
    );
  return rowsOf({ kind: 'range', name, type, from: first, to: last, step: by }, [[name, type]]);
}

function tabled({ columns, values }: SourceOf<'datatable'>, names: NameScope): Tree {
  const constants = values.map((value, n) => cellOf(value, columns[n % columns.length]![1], names));
  const rows = Array.from({ length: values.length / columns.length }, (_, row) =>
    constants.slice(row * columns.length, (row + 1) * columns.length),
  );
  return rowsOf({ kind: 'rows', columns, rows }, columns);
}

function cellOf(value: Expression, type: Type, names: NameScope): Constant {
  const node = analyze(value, { ...names, scope: closed([]) });
  if (node.kind !== 'constant') throw meaningError(value.at, 'datatable wants literals');
  const { constant } = node;
  if (constant.value === null || constant.type === type || type === 'dynamic') return constant;
  if (type === 'real' && constant.type === 'int') return { type, value: Number(constant.value) };
  throw wrongType(value.at, TYPE_WORDS[type], constant.type, 'datatable');
}
