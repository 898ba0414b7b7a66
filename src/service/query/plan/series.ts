/** Series by time: which queries give one, and its totals. */
import { SERVICE_QUERY_MAX_EVENTS } from '../../limits.ts';
import type { QueryEnvironment } from '../values/call.ts';
import { nodesIn, type GroupKey, type QueryStage } from '../../../language/plan/tree.ts';

export interface TimeSeries {
  /** Where the summarize is among the stages. */
  readonly at: number;
  readonly key: GroupKey;
  readonly width: (environment: QueryEnvironment) => bigint;
  /** No other keys: a limit counts rows. */
  readonly alone: boolean;
}

/** Stages that may follow the summarize of a series. */
const FOLLOWS: ReadonlySet<QueryStage['kind']> = new Set(['sort', 'limit', 'render']);

/** A query that ends in summarize by a bin of `_time`, sorted, limited and drawn at most, gives a series. */
export function seriesOf(stages: readonly QueryStage[]): TimeSeries | undefined {
  const at = stages.findLastIndex(({ kind }) => kind === 'summarize');
  const stage = stages[at];
  if (stage?.kind !== 'summarize' || stages.slice(at + 1).some(({ kind }) => !FOLLOWS.has(kind))) return undefined;
  const key = stage.keys.find(({ binOfTime }) => binOfTime !== undefined);
  if (!key) return undefined;
  return {
    at,
    key,
    width: ({ step }) => (key.binOfTime === 'auto' ? step : (key.binOfTime as bigint)),
    alone: stage.keys.length === 1,
  };
}

/** How many groups are wanted; undefined for all. */
export function groupLimit(
  stages: readonly QueryStage[],
  { at }: TimeSeries,
  limit: number | undefined,
): number | undefined {
  const limits = stages.slice(at).flatMap((stage) => (stage.kind === 'limit' && !stage.exactly ? [stage.count] : []));
  if (limit !== undefined) limits.push(limit);
  return limits.length === 0 ? undefined : Math.min(...limits, SERVICE_QUERY_MAX_EVENTS);
}

/** The stages that give the totals: the same groups without time. */
export function totalsOf(stages: readonly QueryStage[], { at, key }: TimeSeries): QueryStage[] {
  return stages.flatMap((stage, n): QueryStage[] => {
    if (n < at) return [stage];
    if (stage.kind === 'summarize') return [{ ...stage, keys: stage.keys.filter((other) => other !== key) }];
    if (stage.kind !== 'sort') return [];
    const keys = stage.keys.filter(
      ({ node }) => !nodesIn(node).some((part) => part.kind === 'column' && part.name === key.name),
    );
    return keys.length === 0 ? [] : [{ ...stage, keys }];
  });
}
