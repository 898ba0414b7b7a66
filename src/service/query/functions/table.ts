/** How each function of the language becomes SQL. */
import type { NamedFunction } from '../../../language/functions/spec.ts';
import type { AggregateName, ScalarName } from '../../../language/functions/table.ts';
import type { Value } from '../values/value.ts';
import { AGGREGATES_SQL } from './aggregates.ts';
import { ARITHMETIC_SQL, ROUNDING_SQL } from './arithmetic.ts';
import { ARRAYS_SQL } from './arrays.ts';
import { BAGS_SQL } from './bags.ts';
import type { AggregateCall, Build } from './call.ts';
import { COMPARISONS_SQL } from './comparisons.ts';
import { CONDITIONALS_SQL, CONVERSIONS_SQL } from './conversions.ts';
import { DATETIMES_SQL } from './datetimes.ts';
import { HIDING_SQL } from './hiding.ts';
import { MATH_SQL } from './math.ts';
import { NETWORK_SQL } from './network.ts';
import { STRINGS_SQL } from './strings.ts';
import { TEXT_MATCHING_SQL } from './text-matching.ts';
import { WINDOWS_SQL } from './windows.ts';

export const SCALAR_SQL: Readonly<Record<ScalarName, Build>> = {
  ...COMPARISONS_SQL,
  ...TEXT_MATCHING_SQL,
  ...ARITHMETIC_SQL,
  ...CONDITIONALS_SQL,
  ...CONVERSIONS_SQL,
  ...STRINGS_SQL,
  ...DATETIMES_SQL,
  ...ROUNDING_SQL,
  ...MATH_SQL,
  ...HIDING_SQL,
  ...NETWORK_SQL,
  ...ARRAYS_SQL,
  ...BAGS_SQL,
  ...WINDOWS_SQL,
};

/** An aggregation that only the legacy form has: it brings its SQL along. */
export interface OwnAggregate extends NamedFunction {
  readonly build: (call: AggregateCall) => Value;
}

export function aggregateBuilder(spec: NamedFunction): (call: AggregateCall) => Value {
  return 'build' in spec ? (spec as OwnAggregate).build : AGGREGATES_SQL[spec.name as AggregateName];
}
