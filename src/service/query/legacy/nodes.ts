/** Typed expressions for what the legacy form says without text: the same functions that the query language has, checked the same way. */
import { applyNamed } from '../../../language/plan/analysis.ts';
import { constantNode, type Node } from '../../../language/plan/tree.ts';
import type { Constant } from '../../../language/types.ts';

/** A function or operator on arguments. Throws an `AplError` where their types do not fit. */
export const apply = (name: string, ...args: readonly Node[]): Node => applyNamed(name, 0, ...args);

/** A value of JSON as a constant; arrays and objects become dynamic ones. */
export function constantOf(value: unknown): Constant {
  switch (typeof value) {
    case 'string':
      return { type: 'string', value };
    case 'boolean':
      return { type: 'bool', value };
    case 'number':
      return Number.isSafeInteger(value) ? { type: 'int', value: BigInt(value) } : { type: 'real', value };
    case 'object':
      return { type: 'dynamic', value: value === null ? null : JSON.stringify(value) };
    default:
      return { type: 'dynamic', value: null };
  }
}

export const literal = (value: unknown): Node => constantNode(constantOf(value));
export const TRUE = literal(true);
export const FALSE = literal(false);

/** A condition that is true or false for every event: what is null counts as false. */
export const settled = (condition: Node): Node => apply('iff', condition, TRUE, FALSE);
