/** Checks the expressions of virtual fields on a dataset by compiling them. */
import { type VirtualFieldError, virtualStages } from '../../../language/plan/virtual.ts';
import type { Column } from '../../../language/plan/tree.ts';
import { ERROR_TYPES, placeOf } from '../../../language/syntax/apl-error.ts';
import type { Dataset } from '../../datasets/catalog.ts';
import { ApiError } from '../../http/api-error.ts';
import { programOf } from '../plan/program.ts';
import { Params } from '../values/sql.ts';

/** Throws a `VirtualFieldError`. */
export function checkColumns(dataset: Dataset, columns: readonly Column[]): void {
  for (const column of columns) {
    const end = 1n;
    const environment = { params: new Params(), now: end, start: 0n, end, step: 1n };
    const source = { kind: 'datasets', names: [{ text: dataset.name, at: 0 }] } as const;
    programOf(
      { source, stages: virtualStages([column]) },
      { datasetsOf: () => [dataset], environment, bounds: { start: undefined, end }, limit: 1, cursor: undefined },
    );
  }
}

/** The reply, with the place in the expression. */
export function inExpression({ message, field, error }: VirtualFieldError): ApiError {
  const { line, column } = placeOf(field.expression, error.at);
  return new ApiError(400, `${message} (line ${line}, column ${column} of its expression)`, {}, { message: error.message, line, column, errorType: ERROR_TYPES[error.type] });
} // prettier-ignore
