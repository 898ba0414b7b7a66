/** /v2/vfields: names for expressions in the queries of a dataset. */
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { virtualColumns, VirtualFieldError, virtualStages } from '../../language/plan/virtual.ts';
import { SERVICE_QUERY_TEXT } from '../../language/limits.ts';
import {
  SERVICE_DESCRIPTION_LENGTH,
  SERVICE_NAME_LENGTH,
  SERVICE_UNIT_LENGTH,
  SERVICE_VIRTUAL_FIELDS,
  SERVICE_VIRTUAL_FIELDS_LENGTH,
} from '../limits.ts';
import type { Caller } from '../auth/auth.ts';
import type { AccessAction } from '../auth/rights.ts';
import type { Catalog, DatasetRecord } from '../datasets/catalog.ts';
import { ApiError, badRequest, notFound, quote } from '../http/api-error.ts';
import { parameter } from '../http/read-request.ts';
import type { Metadata } from '../metadata.ts';
import type { ColumnsOf } from '../query/source/virtual-events.ts';
import { group } from './endpoint.ts';
import type { Column } from '../../language/plan/tree.ts';
import { ERROR_TYPES, positionIn } from '../../language/syntax/apl-error.ts';
import { programOf } from '../query/plan/program.ts';
import { SqlParams } from '../query/values/sql.ts';

/** Names that every event has from the service itself. */
const OWN = new Set(['_time', '_sysTime', '_rowId', '_cursor']);
const text = (most: number) => z.string().max(most).nullish();
const WANTED = z.strictObject({
  dataset: z.string(),
  name: z
    .string()
    .min(1)
    .max(SERVICE_NAME_LENGTH)
    .refine((name) => !OWN.has(name), 'every event has a field of that name from the service'),
  expression: z.string().min(1).max(SERVICE_QUERY_TEXT),
  description: text(SERVICE_DESCRIPTION_LENGTH),
  type: text(SERVICE_UNIT_LENGTH),
  unit: text(SERVICE_UNIT_LENGTH),
  /** Clients send back what they read. */
  id: text(SERVICE_NAME_LENGTH),
});
const FIELD = z.strictObject({
  id: z.string(),
  dataset: z.string(),
  name: z.string(),
  expression: z.string(),
  description: z.string(),
  type: z.string(),
  unit: z.string(),
});
type StoredField = z.infer<typeof FIELD>;

export type VirtualFields = ReturnType<typeof openVirtualFields>;

export function openVirtualFields({ db }: Metadata, catalog: Catalog) {
  const ofDataset = db.prepare('select * from virtual_fields where dataset = ? order by name');
  const withId = db.prepare('select * from virtual_fields where id = ?');
  const put = db.prepare('insert or replace into virtual_fields values (?, ?, ?, ?, ?, ?, ?)');
  const drop = db.prepare('delete from virtual_fields where id = ?');

  const fieldOf = (row: Record<string, unknown>, { name }: DatasetRecord): StoredField => {
    const { dataset: _, ...rest } = row;
    return { ...(rest as Omit<StoredField, 'dataset'>), dataset: name };
  };
  const fieldsOf = (dataset: DatasetRecord): StoredField[] =>
    ofDataset.all(dataset.id).map((row) => fieldOf(row, dataset));

  const visible = (caller: Caller, id: string): { readonly field: StoredField; readonly dataset: DatasetRecord } => {
    const row = withId.get(id);
    const dataset = row && catalog.list().find((one) => one.id === row['dataset']);
    if (!dataset || !caller.may({ kind: 'dataset-view' }, dataset.name))
      throw notFound(`virtual field ${quote(id)} not found`);
    return { field: fieldOf(row, dataset), dataset };
  };
  const changed = (caller: Caller, name: string, action: AccessAction): DatasetRecord => {
    caller.require({ kind: 'dataset-part', area: 'virtualFields', action }, name);
    return catalog.get(name);
  };
  /** Stores the field if its expression, and all others with it, are valid. */
  const save = (dataset: DatasetRecord, id: string, body: z.infer<typeof WANTED>): StoredField => {
    const { name, expression, description, type, unit } = body;
    const field: StoredField = {
      id,
      dataset: dataset.name,
      name,
      expression,
      description: description ?? '',
      type: type ?? '',
      unit: unit ?? '',
    };
    const others = fieldsOf(dataset).filter((one) => one.id !== id);
    if (others.some((one) => one.name === name))
      throw new ApiError(409, `dataset ${quote(dataset.name)} has a virtual field ${quote(name)} already`);
    if (others.length >= SERVICE_VIRTUAL_FIELDS)
      throw badRequest(`a dataset has at most ${SERVICE_VIRTUAL_FIELDS} virtual fields: remove one`);
    const length = [field, ...others].reduce((sum, each) => sum + each.expression.length + each.description.length, 0);
    if (length > SERVICE_VIRTUAL_FIELDS_LENGTH)
      throw badRequest(
        `the virtual fields of a dataset have at most ${SERVICE_VIRTUAL_FIELDS_LENGTH} characters, all together`,
      );
    try {
      checkColumns(
        dataset,
        virtualColumns([field, ...others], () => true),
      );
    } catch (error) {
      throw error instanceof VirtualFieldError ? inExpression(error) : error;
    }
    put.run(id, dataset.id, name, expression, field.description, field.type, field.unit);
    return field;
  };

  return {
    fieldsOf,
    visible,
    changed,
    save,
    remove: (id: string) => void drop.run(id),
    /** Throws an `ApiError` 400 when a stored field is no longer valid. */
    columnsOf: ((dataset, isWanted) => {
      try {
        return virtualColumns(fieldsOf(dataset), isWanted);
      } catch (error) {
        throw error instanceof VirtualFieldError ? badRequest(error.message) : error;
      }
    }) satisfies ColumnsOf as ColumnsOf,
  };
}

export const virtualFields = group(
  'virtual fields',
  { VirtualField: FIELD },
  (endpoint, { virtualFields: of, catalog }: { readonly virtualFields: VirtualFields; readonly catalog: Catalog }) => {
    const { fieldsOf, visible, changed, save } = of;
    for (const version of ['v1', 'v2'] as const) {
      const path = `/${version}/vfields` as const;
      const list = {
        summary: 'The virtual fields of a dataset, or of all that the token may see',
        query: z.object({ dataset: parameter('its name') }),
        reply: z.array(FIELD),
      };
      endpoint(`GET ${path}`, list, ({ query, caller }) => {
        const { dataset: name } = query();
        if (name !== '') caller.require({ kind: 'dataset-view' }, name);
        const datasets =
          name === ''
            ? catalog.list().filter((one) => caller.may({ kind: 'dataset-view' }, one.name))
            : [catalog.get(name)];
        return datasets.flatMap(fieldsOf);
      });
      endpoint(`POST ${path}`, { summary: 'Makes a virtual field', body: WANTED, reply: FIELD }, ({ caller, body }) => {
        const wanted = body();
        return save(changed(caller, wanted.dataset, 'create'), randomUUID(), wanted);
      });
      endpoint(
        `GET ${path}/:id`,
        { summary: 'A virtual field', reply: FIELD },
        ({ params, caller }) => visible(caller, params.id).field,
      );
      endpoint(
        `PUT ${path}/:id`,
        { summary: 'Changes a virtual field', body: WANTED, reply: FIELD },
        ({ params, caller, body }) => {
          const { dataset } = visible(caller, params.id);
          const wanted = body();
          if (wanted.dataset !== dataset.name)
            throw badRequest(
              `the virtual field is of dataset ${quote(dataset.name)}: make another one for ${quote(wanted.dataset)}`,
            );
          return save(changed(caller, dataset.name, 'update'), params.id, wanted);
        },
      );
      endpoint(`DELETE ${path}/:id`, { summary: 'Removes a virtual field' }, ({ params, caller }) => {
        changed(caller, visible(caller, params.id).dataset.name, 'delete');
        of.remove(params.id);
      });
    }
  },
);

/** Throws a `VirtualFieldError`. */
function checkColumns(dataset: DatasetRecord, columns: readonly Column[]): void {
  for (const column of columns) {
    const end = 1n;
    const environment = { params: new SqlParams(), now: end, start: 0n, end, step: 1n };
    const source = { kind: 'datasets', names: [{ text: dataset.name, at: 0 }] } as const;
    programOf(
      { source, stages: virtualStages([column]) },
      { datasetsOf: () => [dataset], environment, bounds: { start: undefined, end }, limit: 1, cursor: undefined },
    );
  }
}

/** The reply, with the place in the expression. */
function inExpression({ message, field, error }: VirtualFieldError): ApiError {
  const { line, column } = positionIn(field.expression, error.at);
  return new ApiError(
    400,
    `${message} (line ${line}, column ${column} of its expression)`,
    {},
    { message: error.message, line, column, errorType: ERROR_TYPES[error.type] },
  );
}
