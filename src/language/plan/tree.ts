/**
 * The typed tree: a dataset and the stages that its events go through. Queries by text, the legacy form and
 * transforms all become this; the back ends are `service/query` (SQL) and `shaping/rows`. Names are resolved and types checked: what is in a tree can be run.
 */
import type { NamedFunction } from '../functions/spec.ts';
import type { ScalarFunction } from '../functions/table.ts';
import type { Constant, Type } from '../types.ts';

export type Node =
  | { readonly kind: 'constant'; readonly type: Type; readonly constant: Constant }
  /** A column, or a field of the events; `otherwise` is what the name means when there is no field of that name. */
  | { readonly kind: 'column'; readonly type: Type; readonly name: string; readonly otherwise?: Node }
  /** The text of all fields of an event. */
  | { readonly kind: 'everything'; readonly type: 'string' }
  | { readonly kind: 'item'; readonly type: 'dynamic'; readonly object: Node; readonly key: string | bigint | Node }
  | {
      readonly kind: 'apply';
      readonly type: Type;
      readonly spec: ScalarFunction;
      readonly args: readonly Node[];
      /** Offset of the call and of each argument in the text, for errors. */
      readonly at: number;
      readonly places: readonly number[];
    };

/** Names may repeat in results of the legacy form: inside a query each has a number behind a NUL, which is not shown. */
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

export interface Key extends Column {
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

export type Stage =
  | { readonly kind: 'where'; readonly condition: Node }
  | { readonly kind: 'extend'; readonly columns: readonly Column[] }
  | { readonly kind: 'project'; readonly columns: readonly Column[] }
  | { readonly kind: 'remove'; readonly names: readonly NamePattern[] }
  | { readonly kind: 'keep'; readonly names: readonly NamePattern[] }
  | { readonly kind: 'rename'; readonly pairs: readonly Renamed[] }
  /** A row for each item of the arrays, side by side; `index` is the name of the column with the item's number. */
  | { readonly kind: 'expand'; readonly columns: readonly Column[]; readonly index: string | undefined; readonly limit: number | undefined }
  /** In transforms alone. Windows are in ns. */
  | { readonly kind: 'sample'; readonly fraction: number; readonly by: readonly Node[] }
  | { readonly kind: 'throttle'; readonly count: number; readonly window: bigint; readonly by: readonly Node[] }
  | { readonly kind: 'dedupe'; readonly window: bigint; readonly by: readonly Node[] }
  | { readonly kind: 'route'; readonly dataset: Node }
  | { readonly kind: 'summarize'; readonly aggregations: readonly Aggregation[]; readonly keys: readonly Key[] }
  | { readonly kind: 'sort'; readonly keys: readonly SortKey[] }
  /** Of a series by time `count` are the groups, unless `exactly` that many rows are wanted. */
  | { readonly kind: 'limit'; readonly count: number; readonly exactly: boolean };

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

export const matchesPattern = ({ text, prefix }: NamePattern, name: string): boolean => (prefix ? name.startsWith(text) : name === text);

export const constantNode = (constant: Constant): Node => ({ kind: 'constant', type: constant.type, constant });
