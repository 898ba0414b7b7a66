/** The closest structured query to a text, as far as the legacy form allows: `request` of a legacy result. */
import { SERVICE_QUERY_DEFAULT_EVENTS, SERVICE_QUERY_MAX_EVENTS } from '../../limits.ts';
import type { QueryStage } from '../../../language/plan/tree.ts';
import { spanText } from '../../../core/time/span-text.ts';

export interface EchoFrame {
  readonly startTime: string;
  readonly endTime: string;
  /** Of the request. */
  readonly limit: number | undefined;
  readonly cursor: string;
  readonly includeCursor: boolean;
  readonly step: bigint;
  readonly series: boolean;
}

export function echoOf(stages: readonly QueryStage[], frame: EchoFrame): object {
  const summarize = stages.findLast((stage) => stage.kind === 'summarize');
  const sort = stages.findLast((stage) => stage.kind === 'sort');
  const project = stages.findLast((stage) => stage.kind === 'project');
  return {
    startTime: frame.startTime,
    endTime: frame.endTime,
    resolution: frame.series ? spanText(frame.step) : 'auto',
    aggregations: (summarize?.aggregations ?? []).map((aggregation) => ({
      alias: aggregation.kind === 'row' ? aggregation.by.name : aggregation.name,
      op: aggregation.info.name,
      field: aggregation.info.fields[0] ?? '*',
      argument: aggregation.info.args.length > 1 ? aggregation.info.args : (aggregation.info.args[0] ?? null),
    })),
    groupBy: (summarize?.keys ?? []).filter(({ binOfTime }) => binOfTime === undefined).map(({ name }) => name),
    // Services of this API family say none of a query by text, and clients read none.
    filter: null,
    order: (sort?.keys ?? []).filter(({ name }) => name !== '').map(({ name, desc }) => ({ field: name, desc })),
    project: (project?.columns ?? []).map(({ name, node }) => ({
      field: node.kind === 'column' ? node.name : name,
      alias: name,
    })),
    virtualFields: stages.flatMap((stage) =>
      stage.kind === 'extend' ? stage.columns.map(({ name, text }) => ({ alias: name, expr: text ?? '' })) : [],
    ),
    limit: limitOf(stages, frame.limit),
    cursor: frame.cursor,
    includeCursor: frame.includeCursor,
    continuationToken: '',
    fieldsMeta: null,
  };
}

/** The lowest limit of text and request. */
function limitOf(stages: readonly QueryStage[], requested: number | undefined): number {
  const limits = stages.flatMap((stage) => (stage.kind === 'limit' ? [stage.count] : []));
  if (requested !== undefined) limits.push(requested);
  return Math.min(...(limits.length > 0 ? limits : [SERVICE_QUERY_DEFAULT_EVENTS]), SERVICE_QUERY_MAX_EVENTS);
}
