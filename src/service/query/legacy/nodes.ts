/** Typed expressions for the legacy form, of the same functions as the query language and with the same checks. */
import { applyNamed } from '../../../language/plan/analysis.ts';
import { constantNode, type Node } from '../../../language/plan/tree.ts';
import { constantOf } from '../../../language/types.ts';

/** A function or operator on arguments. Throws an `AplError` where their types do not fit. */
export const apply = (name: string, ...args: readonly Node[]): Node => applyNamed(name, 0, ...args);

export const literal = (value: unknown): Node => constantNode(constantOf(value));
export const TRUE = literal(true);
export const FALSE = literal(false);

/** A condition that is true or false for every event: null counts as false. */
export const settled = (condition: Node): Node => apply('iff', condition, TRUE, FALSE);
