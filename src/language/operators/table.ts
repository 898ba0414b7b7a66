/** All operators by name. */
import type { Operator } from '../plan/operator.ts';
import { OPERATOR_SPECS } from './specs.ts';

export const QUERY_OPERATORS: readonly Operator[] = OPERATOR_SPECS;
export const OPERATORS_BY_NAME: ReadonlyMap<string, Operator> = new Map(
  QUERY_OPERATORS.flatMap((operator) => operator.names.map((name) => [name, operator] as const)),
);
