/**
 * Deletes the events that a query by text matches. Without `commit` it counts them and deletes none. It finds the events first and deletes them by
 * their row ids: it deletes exactly those that it counted, whatever is stored meanwhile.
 */
import { z } from 'zod';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { formatTime } from '../../core/time/time-text.ts';
import type { QueryStage, Tree } from '../../language/plan/tree.ts';
import { planOf, readQuery } from '../../language/text/query-text.ts';
import type { Catalog, DatasetRecord } from '../datasets/catalog.ts';
import type { Trimmer } from '../datasets/trim.ts';
import type { Engine } from '../engine/engine.ts';
import { queryHolder } from '../fairness/holder.ts';
import { badRequest } from '../http/api-error.ts';
import { SERVICE_DELETED_EVENTS, SERVICE_DELETED_ROW_IDS } from '../limits.ts';
import { APL_BODY, readVariables, withText } from './apl-request.ts';
import { asReply, readRange, runQuery } from './run.ts';
import type { RunningQueries, RunningQuery } from './running-queries.ts';
import { datasetsOf } from './source/datasets-of.ts';
import { virtualOf, type ColumnsOf } from './source/virtual-events.ts';
import { isLongQuery, type QueryTurns } from './turns.ts';

export const DELETE_BODY = APL_BODY.pick({ apl: true, startTime: true, endTime: true, variables: true }).extend({
  commit: z.boolean().nullish().describe('true deletes; else the events are only counted'),
});
export const DELETED = z.object({
  rowsMatched: z.int(),
  rowsDeleted: z.int(),
  dryRun: z.boolean(),
  firstMatchedEvent: z.iso.datetime().optional(),
  lastMatchedEvent: z.iso.datetime().optional(),
});

export interface DeleteParts {
  readonly catalog: Catalog;
  readonly engine: Engine;
  readonly trimmer: Trimmer;
  readonly columnsOf: ColumnsOf;
  readonly turns: QueryTurns;
  readonly running: RunningQueries;
}

interface DeleteRequest {
  readonly body: () => z.infer<typeof DELETE_BODY>;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** Rows need only their times and ids. */
const ONLY_TIME: QueryStage = {
  kind: 'project',
  columns: [{ name: '_time', node: { kind: 'column', type: 'datetime', name: '_time' } }],
};

export function openDeletes({ catalog, engine, trimmer, columnsOf, turns, running }: DeleteParts) {
  const find = async (
    tree: Tree,
    dataset: DatasetRecord,
    body: Parameters<typeof readRange>[0],
    { signal }: RunningQuery,
  ) => {
    const request = {
      datasets: [dataset],
      datasetsOf: () => [dataset],
      range: readRange(body),
      step: undefined,
      limit: SERVICE_DELETED_EVENTS,
      cursor: undefined,
      cursorText: '',
      startedAt: performance.now(),
      options: { signal, fresh: true },
    };
    const { answer } = await runQuery(engine, request, () => ({ ...tree, stages: [...tree.stages, ONLY_TIME] }), []);
    const at = answer.table.eventAt!;
    const events = [...answer.rows].map((row) => ({ time: BigInt(String(row[at])), id: BigInt(String(row[at + 2])) }));
    return { matched: answer.rowsMatched, events };
  };
  const remove = async (dataset: DatasetRecord, ids: readonly bigint[]): Promise<number> => {
    let deleted = 0;
    for (let from = 0; from < ids.length; from += SERVICE_DELETED_ROW_IDS)
      deleted += await trimmer.remove(
        dataset,
        `_rowId in (${ids.slice(from, from + SERVICE_DELETED_ROW_IDS).join(', ')})`,
      );
    return deleted;
  };

  const run = async (under: RunningQuery, { request, ...asked }: DeleteRequest): Promise<z.infer<typeof DELETED>> => {
    const body = withText(asked.body());
    let used: readonly string[] = [];
    try {
      const variables = readVariables(body.variables);
      const query = readQuery(body.apl);
      const found = datasetsOf(query.datasets, body.apl, catalog, request.caller);
      const [dataset] = found.all;
      if (!dataset || found.all.length > 1) throw badRequest('a delete takes one dataset');
      request.caller.require({ kind: 'dataset', right: 'trim' }, dataset.name);
      under.reads([dataset.name]);
      const virtual = virtualOf(query, variables, found, columnsOf);
      used = virtual.used;
      const tree = planOf(query, variables, virtual.eventsOf);
      const other = tree.stages.find(
        (stage) => stage.kind !== 'where' && !(stage.kind === 'extend' && stage.isVirtual === true),
      );
      if (tree.source.kind !== 'datasets' || other)
        throw badRequest('a delete takes a dataset and where, and no other step');
      const isLong = isLongQuery(engine, [[dataset]], readRange(body));
      return await turns.run(queryHolder(request), isLong, under.signal, () =>
        catalog.use(dataset.name, async () => {
          under.is('running');
          const { matched, events } = await find(tree, dataset, body, under);
          const isWhole = events.length === matched;
          if (body.commit === true && !isWhole)
            throw badRequest(
              `${matched} events match, and at most ${SERVICE_DELETED_EVENTS} can be deleted at once: narrow startTime and endTime`,
            );
          under.signal.throwIfAborted();
          const rowsDeleted =
            body.commit === true
              ? await remove(
                  dataset,
                  events.map(({ id }) => id),
                )
              : 0;
          const [newest, oldest] = [events[0], events.at(-1)];
          return {
            rowsMatched: matched,
            rowsDeleted,
            dryRun: body.commit !== true,
            ...(oldest && isWhole && { firstMatchedEvent: formatTime(oldest.time) }),
            ...(newest && { lastMatchedEvent: formatTime(newest.time) }),
          };
        }),
      );
    } catch (error) {
      throw asReply(error, body.apl, used);
    }
  };
  return (asked: DeleteRequest): Promise<z.infer<typeof DELETED>> =>
    running.track({ ...asked, text: () => withText(asked.body()).apl }, (under) => run(under, asked));
}
