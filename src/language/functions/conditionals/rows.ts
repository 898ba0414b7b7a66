/** Null checks and conditionals over one row. */
import type { Evaluate, RowBuilders, RowCall } from '../../../shaping/rows/call/call.ts';
import { ofValue } from '../../../shaping/rows/call/lift.ts';
import type { RowValue } from '../../../shaping/rows/values/value.ts';
import { negated } from '../comparisons/rows.ts';
import type { CONDITIONALS } from './spec.ts';

/** A text that is empty counts as missing. */
const isGiven = (value: RowValue): boolean => value !== null && value !== '';

function iff(call: RowCall): Evaluate {
  const [condition, a, b] = [call.bool(0), call.value(1), call.value(2)];
  return (scope) => (condition(scope) === true ? a(scope) : b(scope));
}

function cases(call: RowCall): Evaluate {
  if (call.count % 2 === 0)
    throw call.fail(call.count - 1, 'wanted pairs of condition and result, then the result of no match');
  const pairs = Array.from(
    { length: (call.count - 1) / 2 },
    (_, n) => [call.bool(2 * n), call.value(2 * n + 1)] as const,
  );
  const last = call.value(call.count - 1);
  return (scope) => {
    for (const [condition, result] of pairs) if (condition(scope) === true) return result(scope);
    return last(scope);
  };
}

function coalesce(call: RowCall): Evaluate {
  const values = Array.from({ length: call.count }, (_, n) => call.value(n));
  return (scope) => {
    for (const value of values) {
      const found = value(scope);
      if (isGiven(found)) return found;
    }
    return null;
  };
}

function ifExists(call: RowCall): Evaluate {
  const [value, otherwise] = [call.value(0), call.value(1)];
  return (scope) => value(scope) ?? otherwise(scope);
}

export const CONDITIONALS_ROWS: RowBuilders<typeof CONDITIONALS> = {
  iff,
  case: cases,
  coalesce,
  column_ifexists: ifExists,
  ensure_field: ifExists,
  isnull: ofValue((value) => value === null),
  isnotnull: ofValue((value) => value !== null),
  isempty: ofValue((value) => !isGiven(value)),
  isnotempty: ofValue(isGiven),
  isbool: ofValue((value) => typeof value === 'boolean'),
  isstring: ofValue((value) => typeof value === 'string'),
  isreal: ofValue((value) => typeof value === 'number'),
  not: negated((call) => call.bool(0)),
};
