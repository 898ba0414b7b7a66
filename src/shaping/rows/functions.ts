/** Finds what computes each function of a row (`language/functions/<topic>/rows.ts`), and lists those that a transform refuses. */
import type { NameOnlyIn, ScalarName } from '../../language/functions/table.ts';
import type { RowBuild } from './call/call.ts';
import { FUNCTIONS_ROWS } from './topics.ts';

const SEES_ONE_EVENT = 'works in queries only, which see many events';

/** Functions that no row can compute, with the text after the name in the error. */
const REFUSED: Readonly<Record<NameOnlyIn<'queries'>, string>> = {
  bin_auto: 'follows the range of a query; in a transform write bin(_time, 1m)',
  row_number: SEES_ONE_EVENT,
  prev: SEES_ONE_EVENT,
  next: SEES_ONE_EVENT,
  row_cumsum: SEES_ONE_EVENT,
};
const BUILDERS: Readonly<Record<Exclude<ScalarName, keyof typeof REFUSED>, RowBuild>> = FUNCTIONS_ROWS;

export function scalarBuilder(name: ScalarName): RowBuild {
  if (!isRefused(name)) return BUILDERS[name];
  return (call) => {
    throw call.fail(0, `${name} ${REFUSED[name]}`);
  };
}

const isRefused = (name: ScalarName): name is keyof typeof REFUSED => Object.hasOwn(REFUSED, name);
