/** Finds the SQL of each function (`language/functions/<topic>/sql.ts`), and lists the functions that a query refuses. */
import type { NamedFunction } from '../../../language/function-spec.ts';
import { AGGREGATES_SQL } from '../../../language/functions/aggregates/sql.ts';
import type { AggregateName, NameOnlyIn, ScalarName } from '../../../language/functions/table.ts';
import type { AggregateCall, SqlBuild } from '../values/call.ts';
import type { SqlValue } from '../values/value.ts';
import { FUNCTIONS_SQL } from './topics.ts';

/** Functions without SQL, with the end of the refusal. */
const REFUSED: Readonly<Record<NameOnlyIn<'transforms'>, string>> = {
  redact: '; in a query write replace_regex or mask',
  env: '',
  secret_file: '',
};
const BUILDERS: Readonly<Record<Exclude<ScalarName, keyof typeof REFUSED>, SqlBuild>> = FUNCTIONS_SQL;

export function scalarBuilder(name: ScalarName): SqlBuild {
  if (!isRefused(name)) return BUILDERS[name];
  return (call) => {
    throw call.fail(0, `${name} works in transforms only${REFUSED[name]}`);
  };
}

const isRefused = (name: ScalarName): name is keyof typeof REFUSED => Object.hasOwn(REFUSED, name);

/** An aggregation that only the legacy form has: it brings its SQL along. */
export interface OwnAggregate extends NamedFunction {
  readonly build: (call: AggregateCall) => SqlValue;
}

export function aggregateBuilder(spec: NamedFunction): (call: AggregateCall) => SqlValue {
  return 'build' in spec ? (spec as OwnAggregate).build : AGGREGATES_SQL[spec.name as AggregateName];
}
