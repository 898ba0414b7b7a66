/**
 * make-series without from or to: over the time of events the range of the query counts, over anything else that of the rows, which a query of its
 * own finds before.
 */
import { findAggregate, type AggregateName } from '../../../language/functions/table.ts';
import { applyNamed } from '../../../language/plan/analysis.ts';
import type { Type } from '../../../language/types.ts';
import {
  constantNode,
  type Node,
  type QueryStage,
  type SeriesStage,
  type TimeBound,
  type TreeRows,
  type ValueAggregation,
} from '../../../language/plan/tree.ts';
import type { Cell } from '../../engine/engine.ts';

/** An aggregation of a query that the service asks itself. */
export function ownAggregation(
  name: AggregateName,
  type: Type,
  called: string,
  ...args: readonly Node[]
): ValueAggregation {
  const { spec } = findAggregate(name)!;
  const info = { name, fields: [], args: [] };
  return {
    kind: 'value',
    name: called,
    type,
    spec,
    args,
    condition: undefined,
    at: 0,
    places: args.map(() => 0),
    info,
  };
}

const boundAt = (value: bigint): TimeBound => ({ node: constantNode({ type: 'datetime', value }), at: 0 });

/** `firstRow` answers the first row of a query, by column. */
export async function withSeriesRange(
  tree: TreeRows,
  firstRow: (rows: TreeRows) => Promise<readonly (Cell | undefined)[]>,
): Promise<TreeRows> {
  const { source, stages } = tree;
  const at = stages.findIndex((stage) => stage.kind === 'series');
  const series = stages[at];
  if (series?.kind !== 'series' || (series.from && series.to)) return tree;
  if (source.kind === 'datasets' && series.on.name === '_time') return tree;
  const ns = applyNamed('toint', 0, applyNamed('todatetime', 0, series.on.node));
  const aggregations = (['min', 'max'] as const).map((name) => ownAggregation(name, 'int', name, ns));
  const [least, greatest] = await firstRow({
    source,
    stages: [...stages.slice(0, at), { kind: 'summarize', keys: [], aggregations }],
  });
  const isEmpty = least === undefined || least === null;
  const [from, to] = isEmpty ? [0n, 0n] : [BigInt(String(least)), BigInt(String(greatest)) + 1n];
  const { step } = series;
  const ranged: SeriesStage = {
    ...series,
    from: series.from ?? boundAt(from - (((from % step) + step) % step)),
    to: series.to ?? boundAt(to),
  };
  const none: QueryStage[] = isEmpty ? [{ kind: 'limit', count: 0, exactly: true }] : [];
  return { source, stages: [...stages.slice(0, at), ranged, ...none, ...stages.slice(at + 1)] };
}
