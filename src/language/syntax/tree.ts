/** An expression as the parser reads it: names and operators as written, each with its offset in the text. */
import type { Constant } from '../types.ts';

export type Expression =
  | { readonly kind: 'constant'; readonly at: number; readonly constant: Constant }
  | { readonly kind: 'name'; readonly at: number; readonly name: string }
  /** `object.name` and `object['name']`. */
  | { readonly kind: 'member'; readonly at: number; readonly object: Expression; readonly name: string }
  /** `object[index]`. */
  | { readonly kind: 'index'; readonly at: number; readonly object: Expression; readonly index: Expression }
  /** `object[]`: each item of a list. */
  | { readonly kind: 'each'; readonly at: number; readonly object: Expression }
  /** A function, or an operator under its own sign: `strlen`, `+`, `!contains`. */
  | {
      readonly kind: 'call';
      readonly at: number;
      readonly name: string;
      readonly args: readonly Expression[];
      readonly operator: boolean;
    }
  /** Inside the arguments of a call: `name = value`, and `*`. */
  | { readonly kind: 'named'; readonly at: number; readonly name: string; readonly value: Expression }
  | { readonly kind: 'star'; readonly at: number }
  /** A query in parentheses: a list of values after `in`, one value in `toscalar`. */
  | { readonly kind: 'query'; readonly at: number; readonly pipeline: Pipeline; readonly scalar: boolean };

/** A query that was read, for whoever makes typed trees. */
export interface Pipeline {
  readonly at: number;
}

/** `value` or `name = value`, as extend, project and summarize have it. */
export interface Assignment {
  readonly at: number;
  readonly name: string | undefined;
  readonly value: Expression;
  /** The value as it is written. */
  readonly text: string;
}

/** The field that an expression is nothing but: `a`, `a.b`, `['a']`. */
export function fieldNameOf(expression: Expression): string | undefined {
  if (expression.kind === 'name') return expression.name;
  if (expression.kind !== 'member') return undefined;
  const object = fieldNameOf(expression.object);
  return object === undefined ? undefined : `${object}.${expression.name}`;
}

/** The same where the name may reach into lists: `a[].b`. Lists in lists count as one: `a[][].b` is `a[].b`. */
export function reachingNameOf(expression: Expression): string | undefined {
  if (expression.kind !== 'each' && expression.kind !== 'member') return fieldNameOf(expression);
  const object = reachingNameOf(expression.object);
  if (object === undefined) return undefined;
  if (expression.kind === 'member') return `${object}.${expression.name}`;
  return reachesIntoList(expression.object) ? object : `${object}${EACH}`;
}

/** Behind the name of a list: each item of it. */
export const EACH = '[]';
const reachesIntoList = ({ kind }: Expression): boolean => kind === 'each';

/** The expressions that one is made of directly. */
export function subexpressionsOf(node: Expression): readonly Expression[] {
  switch (node.kind) {
    case 'member':
    case 'each':
      return [node.object];
    case 'index':
      return [node.object, node.index];
    case 'call':
      return node.args;
    case 'named':
      return [node.value];
    case 'constant':
    case 'name':
    case 'star':
    case 'query':
      return [];
  }
}
