/** mv-expand: a row for each item of an array or object. */
import { analyze, applyNamed, type NameScope } from '../../plan/analysis.ts';
import { wrongType } from '../../plan/arguments.ts';
import { extended, typeOf } from '../../plan/scope.ts';
import {
  constantNode,
  numberedName,
  type Column,
  type ColumnScope,
  type Node,
  type QueryStage,
} from '../../plan/tree.ts';
import { meaningError } from '../../syntax/apl-error.ts';
import { readAssignment, readColumnName, readTypeName } from '../../syntax/expressions.ts';
import type { Parser } from '../../syntax/parser.ts';
import type { Assignment, Pipeline } from '../../syntax/tree.ts';
import type { Type } from '../../types.ts';
import { defaultName, type Operator, operator, type OperatorResult } from '../../plan/operator.ts';

interface ExpandedArray {
  readonly assignment: Assignment;
  readonly type: Type | undefined;
}

/** `[name =] expression [to typeof(type)]`. */
function readExpanded(parser: Parser): ExpandedArray {
  const assignment = readAssignment(parser);
  if (!parser.accept('to')) return { assignment, type: undefined };
  parser.expect('typeof', 'after to');
  parser.expect('(', 'after typeof');
  const type = readTypeName(parser);
  parser.expect(')', 'after the type');
  return { assignment, type };
}

const CONVERSIONS: Readonly<Partial<Record<Type, string>>> = {
  int: 'toint',
  real: 'todouble',
  bool: 'tobool',
  datetime: 'todatetime',
  timespan: 'totimespan',
  string: 'tostring',
};

interface Expansion {
  readonly parts: readonly ExpandedArray[];
  /** The name of the column with the item's number. */
  readonly index: string | undefined;
  readonly limit: number | undefined;
  readonly items: (QueryStage & { readonly kind: 'expand' })['items'];
}

function expanded({ parts, index, limit, items }: Expansion, names: NameScope): OperatorResult {
  const columns: Column[] = [];
  for (const { assignment } of parts) {
    const { at, value } = assignment;
    const node = analyze(value, names);
    if (node.type !== 'dynamic') throw wrongType(value.at, 'an array', node.type, 'mv-expand');
    const name = assignment.name ?? defaultName(value, new Set(columns.map((column) => column.name)));
    if (columns.some((column) => column.name === name) || name === index)
      throw meaningError(at, `two columns would be called ${JSON.stringify(name)}`);
    columns.push({ name, node });
  }
  const made = index === undefined ? columns : [...columns, { name: index, node: INDEX }];
  const stages: QueryStage[] = [{ kind: 'expand', columns, index, limit, items }];
  const conversions = parts.flatMap(({ type, assignment }, n): Column[] => {
    const conversion = type && CONVERSIONS[type];
    const { name } = columns[n]!;
    return conversion
      ? [{ name, node: applyNamed(conversion, assignment.at, { kind: 'column', type: 'dynamic', name }) }]
      : [];
  });
  const scope = extended(
    names.scope,
    made.map(({ name, node }) => ({
      name,
      node: { ...node, type: node === INDEX ? 'int' : 'dynamic' } as Column['node'],
    })),
  );
  if (conversions.length === 0) return { stages, scope };
  return { stages: [...stages, { kind: 'extend', columns: conversions }], scope: extended(scope, conversions) };
}

/** Replaces the number of the item, of which only the type matters. */
const INDEX: Column['node'] = { kind: 'constant', type: 'int', constant: { type: 'int', value: 0n } };

/** `with_itemindex=i x = list to typeof(long), … limit 5`. */
function readExpansion(parser: Parser): Expansion {
  let index: string | undefined;
  let items: Expansion['items'] = 'bag';
  if (parser.option('kind') || parser.option('bagexpansion')) items = parser.word(['bag', 'array'], 'a kind');
  if (parser.option('with_itemindex')) index = readColumnName(parser, 'a name for the number of the item');
  const parts = parser.list(() => readExpanded(parser));
  for (const { assignment } of parts) if (assignment.name !== undefined) parser.made.add(assignment.name);
  const limit = parser.accept('limit') ? parser.count('a number of items after limit') : undefined;
  return { parts, index, limit, items };
}

/** The operators after `on`, applied to the items of each row. */
function appliedTo(expansion: Expansion, inner: Pipeline, names: NameScope): OperatorResult {
  const rows = expanded(expansion, names);
  const [stage] = rows.stages;
  return applied(
    rows,
    stage?.kind === 'expand' ? stage.columns : [],
    names.plan!(inner, names.lets, rows.scope),
    inner.at,
    names,
  );
}

export const EXPAND: readonly Operator[] = [
  operator({
    names: ['mv-expand'],
    syntax:
      'mv-expand [kind=bag | kind=array] [with_itemindex=<name>] [<name> =] <array> [to typeof(<type>)], … [limit <count>]',
    doc: 'Makes a row of each item of an array, or of each key of an object: an object of one key, with kind=array an array of key and value. Several go side by side. A row without either stays as it is; an empty one gives one row with null.',
    read: readExpansion,
    plan: expanded,
  }),
  operator({
    names: ['mv-apply'],
    only: 'queries',
    syntax:
      'mv-apply [with_itemindex=<name>] [<name> =] <array> [to typeof(<type>)], … [limit <count>] on (<operators>)',
    doc: 'Applies operators to the items of the array of each row: where, extend, project-away, project-rename, sort, top, take and summarize. What is left of the items are rows; those of summarize have the columns of their row, too. A row without items is dropped.',
    read(parser) {
      const expansion = readExpansion(parser);
      parser.expect('on', 'and (operators) behind the array');
      parser.expect('(', 'after on');
      const inner = parser.nested(() => parser.subqueries!.steps());
      parser.expect(')', 'after the operators');
      return { expansion, inner };
    },
    plan: ({ expansion, inner }, names) => appliedTo(expansion, inner, names),
  }),
];

/** The number of the row that an item is of; users' names hold no NUL. */
const ROW = numberedName('row', 0);
const NTH = numberedName('nth', 0);
const KEPT = numberedName('kept', 0);
const column = (name: string, type: Node['type'] = 'int'): Node => ({ kind: 'column', type, name });
const before = (name: string): string => numberedName(`before ${name}`, 0);
const without = (...names: readonly string[]): QueryStage => ({
  kind: 'remove',
  names: names.map((text) => ({ text, prefix: false })),
});

const EACH: readonly QueryStage['kind'][] = ['where', 'extend', 'remove', 'rename'];
const SEVERAL: readonly QueryStage['kind'][] = ['sort', 'limit', 'summarize'];

/** Rows without an item do not come out of mv-apply. */
function hasItems(columns: readonly Column[], at: number): QueryStage {
  const zero = constantNode({ type: 'int', value: 0n });
  const size = (node: Node): Node => applyNamed('>', at, applyNamed('array_length', at, node), zero);
  return {
    kind: 'where',
    condition: applyNamed(
      'or',
      at,
      ...columns.flatMap(({ node }) => [size(node), size(applyNamed('bag_keys', at, node))]),
    ),
  };
}

/** A stage as it is within the items of each row. */
function withinRow(stage: QueryStage, at: number): readonly QueryStage[] {
  switch (stage.kind) {
    case 'sort':
      return [{ ...stage, keys: [{ node: column(ROW), name: '', desc: false, nullsFirst: false }, ...stage.keys] }];
    case 'limit': {
      const first = constantNode({ type: 'int', value: 1n });
      const number = { ...applyNamed('row_number', at, first), args: [first, column(ROW)] } as Node;
      const most = constantNode({ type: 'int', value: BigInt(stage.count) });
      const condition = applyNamed('<=', at, column(NTH), most);
      return [{ kind: 'extend', columns: [{ name: NTH, node: number }] }, { kind: 'where', condition }, without(NTH)];
    }
    case 'summarize': {
      const row = { name: ROW, node: column(ROW), binOfTime: undefined };
      const whole = {
        kind: 'row',
        greatest: true,
        by: { name: KEPT, node: column(ROW) },
        take: '*',
        info: { name: 'argmax', fields: [], args: [] },
      } as const;
      const order = { kind: 'sort', keys: [{ node: column(ROW), name: '', desc: false, nullsFirst: false }] } as const;
      return [
        { kind: 'fold', keys: [row, ...stage.keys], aggregations: [...stage.aggregations, whole] },
        without(KEPT),
        order,
      ];
    }
    default:
      return [stage];
  }
}

/** `expansion`: the stages that make rows of the items, of these columns; `inner`: those after `on`, which see the columns of `items`. */
function applied(
  expansion: OperatorResult,
  columns: readonly Column[],
  inner: OperatorResult,
  at: number,
  names: NameScope,
): OperatorResult {
  const other = inner.stages.find(({ kind }) => !EACH.includes(kind) && !SEVERAL.includes(kind));
  if (other)
    throw meaningError(
      at,
      'mv-apply takes where, extend, project-away, project-rename, summarize, sort, top and take',
      'for anything else write mv-expand, and operators behind it',
    );
  const items = hasItems(columns, at);
  if (!inner.stages.some(({ kind }) => SEVERAL.includes(kind)))
    return { stages: [items, ...expansion.stages, ...inner.stages], scope: inner.scope };
  const isFolded = inner.stages.some(({ kind }) => kind === 'summarize');
  // Columns that an item's name hid return once the items are put together.
  const kept = columns.filter(
    ({ name, node }) => isFolded && (names.scope.columns.has(name) || (node.kind === 'column' && node.name === name)),
  );
  const saved = kept.map(({ name }): Column => ({
    name: before(name),
    node: analyze({ kind: 'name', at, name }, names),
  }));
  const restored = kept.filter(({ name }) => !inner.scope.columns.has(name));
  const left = columns
    .filter((each) => isFolded && !kept.includes(each) && !inner.scope.columns.has(each.name))
    .map(({ name }) => name);
  const numbered: QueryStage = {
    kind: 'extend',
    columns: [{ name: ROW, node: applyNamed('row_number', at) }, ...saved],
  };
  const pairs = restored.map(({ name }) => ({ from: before(name), to: name, type: typeOf(names.scope, name)! }));
  return {
    stages: [
      items,
      numbered,
      ...expansion.stages,
      ...inner.stages.flatMap((stage) => withinRow(stage, at)),
      ...(pairs.length === 0 ? [] : [{ kind: 'rename', pairs } as const]),
      without(ROW, ...saved.map(({ name }) => name), ...left),
    ],
    scope: isFolded ? foldedScope(names.scope, inner.scope) : inner.scope,
  };
}

/** The columns of the row, then those that the items made. */
const foldedScope = (outer: ColumnScope, inner: ColumnScope): ColumnScope =>
  extended(
    outer,
    [...inner.columns].map(([name, type]) => ({ name, node: column(name, type) })),
  );
