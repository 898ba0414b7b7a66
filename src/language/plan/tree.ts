/**
 * The typed tree: where rows come from, and the stages that they go through. Queries by text, the legacy form and transforms all become
 * this; the back ends are `service/query` (SQL) and `shaping/rows`. Names are resolved and types checked: a tree can always run.
 */
import type { NamedFunction } from '../function-spec.ts';
import type { ScalarFunction } from '../functions/table.ts';
import type { Constant, Type } from '../types.ts';

export type Node =
  | { readonly kind: 'constant'; readonly type: Type; readonly constant: Constant }
  /** A column, or a field of the events; `otherwise` is what the name means when there is no field of that name. */
  | { readonly kind: 'column'; readonly type: Type; readonly name: string; readonly otherwise?: Node }
  /** The text of all fields of an event. */
  | { readonly kind: 'everything'; readonly type: 'string' }
  /** All columns, in place of arguments or keys. */
  | { readonly kind: 'columns'; readonly type: 'dynamic' }
  | { readonly kind: 'item'; readonly type: 'dynamic'; readonly object: Node; readonly key: string | bigint | Node }
  | {
      readonly kind: 'apply';
      readonly type: Type;
      readonly spec: ScalarFunction;
      readonly args: readonly Node[];
      /** Offset of the call and of each argument in the text, for errors. */
      readonly at: number;
      readonly places: readonly number[];
    }
  /** The first column of the first row of another query. */
  | { readonly kind: 'scalar'; readonly type: Type; readonly query: Tree }
  /** Whether the value is among those of the first column of another query. */
  | {
      readonly kind: 'among';
      readonly type: 'bool';
      readonly value: Node;
      readonly query: Tree;
      readonly negated: boolean;
      readonly caseless: boolean;
    };

/** A call of a function or an operator. */
export type CallNode = Node & { readonly kind: 'apply' };

/** Names may repeat in results of the legacy form: inside a query each has a NUL and a number appended, which are not shown. */
export const numberedName = (name: string, n: number): string => `${name}\0${n}`;
export const shown = (name: string): string => name.split('\0')[0]!;

export interface Column {
  readonly name: string;
  readonly node: Node;
  /** As it was written, where it was. */
  readonly text?: string;
}

/** How an aggregation shows itself in results. */
export interface AggregationInfo {
  readonly name: string;
  readonly fields: readonly string[];
  readonly args: readonly unknown[];
}

export type Aggregation =
  | {
      readonly kind: 'value';
      readonly name: string;
      readonly type: Type;
      readonly spec: NamedFunction;
      readonly args: readonly Node[];
      /** Only rows that meet it count. */
      readonly condition: Node | undefined;
      readonly at: number;
      readonly places: readonly number[];
      readonly info: AggregationInfo;
    }
  /** An expression of aggregations, which it names as columns. */
  | {
      readonly kind: 'computed';
      readonly name: string;
      readonly node: Node;
      readonly parts: readonly Aggregation[];
      readonly info: AggregationInfo;
    }
  /** Columns of the row in which `by` is greatest or least; `*` takes the whole row. */
  | {
      readonly kind: 'row';
      readonly greatest: boolean;
      readonly by: Column;
      readonly take: readonly Column[] | '*';
      readonly info: AggregationInfo;
    };

export interface GroupKey extends Column {
  /** When the key is a bin of `_time`: its width in ns, or that of `bin_auto`. */
  readonly binOfTime: bigint | 'auto' | undefined;
}

export interface SortKey {
  readonly node: Node;
  /** As results show it. */
  readonly name: string;
  readonly desc: boolean;
  readonly nullsFirst: boolean;
}

/** The name of a dataset, or with `*` in it those that match. */
export interface DatasetName {
  readonly text: string;
  readonly at: number;
}

export type QuerySource =
  | { readonly kind: 'datasets'; readonly names: readonly DatasetName[] }
  | {
      readonly kind: 'rows';
      readonly columns: readonly (readonly [name: string, type: Type])[];
      readonly rows: readonly (readonly Constant[])[];
    }
  /** Values from `from` to `to`, both included. */
  | {
      readonly kind: 'range';
      readonly name: string;
      readonly type: Type;
      readonly from: Node;
      readonly to: Node;
      readonly step: Node;
    };

/** Which columns there are at a point of a query. */
export interface ColumnScope {
  /** Fields of events that no stage has named are there. */
  readonly open: boolean;
  readonly columns: ReadonlyMap<string, Type>;
  /** Fields whose type is known without a stage. */
  readonly known: ReadonlyMap<string, Type>;
  /** Fields that were taken away. */
  readonly removed: readonly NamePattern[];
  /** When given, only fields that match are left. */
  readonly kept: readonly NamePattern[] | undefined;
}

/** A whole query, or one inside another. */
export interface Tree {
  readonly source: QuerySource;
  readonly stages: readonly QueryStage[];
  /** The columns of its rows. */
  readonly scope: ColumnScope;
  /** How many queries it is made of, itself included. */
  readonly weight: number;
}

/** Where a query's rows come from, and what becomes of them. */
export type TreeRows = Pick<Tree, 'source' | 'stages'>;

export type JoinKind =
  | 'inner'
  | 'innerunique'
  | 'leftouter'
  | 'rightouter'
  | 'fullouter'
  | 'leftsemi'
  | 'leftanti'
  | 'rightsemi'
  | 'rightanti';

/** The two sides of an equality that rows join by. */
export interface JoinKey {
  readonly left: Node;
  readonly right: Node;
}

/** An aggregation with a name of its own. */
export type ValueAggregation = Aggregation & { readonly kind: 'value' };

/** An array of make-series; steps without rows have the fallback. */
export interface SeriesColumn {
  readonly aggregation: ValueAggregation;
  readonly fallback: Constant;
}

/** A bound in time that no row decides on. */
export interface TimeBound {
  readonly node: Node;
  readonly at: number;
}

export interface NestedLevel {
  readonly count: number;
  readonly key: Column;
  readonly aggregation: ValueAggregation;
  readonly desc: boolean;
}

export type QueryStage =
  | { readonly kind: 'where'; readonly condition: Node }
  /** `isVirtual`: the columns are virtual fields, whose places are in texts of their own. */
  | { readonly kind: 'extend'; readonly columns: readonly Column[]; readonly isVirtual?: true }
  | { readonly kind: 'project'; readonly columns: readonly Column[] }
  | { readonly kind: 'remove'; readonly names: readonly NamePattern[] }
  | { readonly kind: 'keep'; readonly names: readonly NamePattern[] }
  | { readonly kind: 'rename'; readonly pairs: readonly Renamed[] }
  /** A row for each item of the arrays, side by side; `index` is the name of the column with the item's number. */
  | {
      readonly kind: 'expand';
      readonly columns: readonly Column[];
      readonly index: string | undefined;
      readonly limit: number | undefined;
      /** The items of an object: `bag` makes objects of one key, `array` pairs of key and value. */
      readonly items: 'bag' | 'array';
    }
  /** In transforms alone. Windows are in ns. */
  | { readonly kind: 'sample'; readonly fraction: number; readonly by: readonly Node[] }
  | { readonly kind: 'throttle'; readonly count: number; readonly window: bigint; readonly by: readonly Node[] }
  | { readonly kind: 'dedupe'; readonly window: bigint; readonly by: readonly Node[] }
  /** `as`: what `union withsource=` calls the rows. */
  | { readonly kind: 'label'; readonly name: string }
  | { readonly kind: 'route'; readonly dataset: Node }
  /** If both sides have a column of the same name, the right one is called name1; those in `dropped` are left out there. */
  | {
      readonly kind: 'join';
      readonly how: JoinKind;
      readonly right: Tree;
      readonly keys: readonly JoinKey[];
      readonly dropped: readonly string[];
    }
  /** The rows of all, one after the other. `inner`: only columns that all have. `source`: a column that says which query a row is of. */
  | {
      readonly kind: 'union';
      readonly others: readonly Tree[];
      readonly inner: boolean;
      readonly source: string | undefined;
    }
  /** The texts of these columns, of all without names, with the token in place of what the regular expressions match. */
  | {
      readonly kind: 'redact';
      readonly names: readonly string[] | undefined;
      readonly patterns: readonly string[];
      readonly token: string;
    }
  /** Columns that match come first, in the order of the patterns. */
  | { readonly kind: 'reorder'; readonly names: readonly NamePattern[] }
  | {
      readonly kind: 'series';
      readonly columns: readonly SeriesColumn[];
      readonly on: Column;
      readonly from: TimeBound | undefined;
      readonly to: TimeBound | undefined;
      /** ns. */
      readonly step: bigint;
      readonly keys: readonly Column[];
    }
  | { readonly kind: 'nested'; readonly levels: readonly NestedLevel[] }
  /** A row for each column: name, number, type. */
  | { readonly kind: 'schema' }
  /** How the result wants to be drawn. */
  | { readonly kind: 'render'; readonly chart: string; readonly properties: Readonly<Record<string, string>> }
  | { readonly kind: 'summarize'; readonly aggregations: readonly Aggregation[]; readonly keys: readonly GroupKey[] }
  /** The same of the items of each row in mv-apply: what comes out are rows, no groups. */
  | { readonly kind: 'fold'; readonly aggregations: readonly Aggregation[]; readonly keys: readonly GroupKey[] }
  | { readonly kind: 'sort'; readonly keys: readonly SortKey[] }
  /** For a series by time `count` counts groups, unless `exactly` that many rows are wanted. */
  | { readonly kind: 'limit'; readonly count: number; readonly exactly: boolean };

export type SeriesStage = QueryStage & { readonly kind: 'series' };

/** A column under another name. */
export interface Renamed {
  readonly from: string;
  readonly to: string;
  readonly type: Type;
}

/** A name, or with `prefix` every name that begins with it. */
export interface NamePattern {
  readonly text: string;
  readonly prefix: boolean;
}

export const matchesPattern = ({ text, prefix }: NamePattern, name: string): boolean =>
  prefix ? name.startsWith(text) : name === text;

export const ALL_COLUMNS: Node = { kind: 'columns', type: 'dynamic' };
export const isColumns = ({ kind }: Node): boolean => kind === 'columns';
export const constantNode = (constant: Constant): Node => ({ kind: 'constant', type: constant.type, constant });

/** The expressions that an expression is made of. */
export function partsOf(node: Node): readonly Node[] {
  if (node.kind === 'apply') return node.args;
  if (node.kind === 'item') return typeof node.key === 'object' ? [node.object, node.key] : [node.object];
  return node.kind === 'among' ? [node.value] : [];
}

/** The field that an expression is, or is first made of; undefined without one. */
export function nodeName(node: Node): string | undefined {
  if (node.kind === 'column') return node.name;
  const [inner] = partsOf(node);
  const name = inner && nodeName(inner);
  return name !== undefined && node.kind === 'item' && typeof node.key !== 'object' ? `${name}.${node.key}` : name;
}

/** The expression with each call in it as `change` makes it, inner ones first. */
export function mapCalls(node: Node, change: (call: CallNode) => Node): Node {
  if (node.kind === 'apply') return change({ ...node, args: node.args.map((arg) => mapCalls(arg, change)) });
  if (node.kind === 'item') return { ...node, object: mapCalls(node.object, change) };
  return node;
}

/** The expression itself, then all inside it. */
export const nodesIn = (node: Node): Node[] => [node, ...partsOf(node).flatMap(nodesIn)];

/** The calls of these functions in an expression, outer ones first. */
export const callsIn = (node: Node, isWanted: (name: string) => boolean): CallNode[] =>
  nodesIn(node).filter((part): part is CallNode => part.kind === 'apply' && isWanted(part.spec.name));
