/**
 * make-series without from or to: over the time of events the range of the query counts, over anything else that of the rows, which a query of its
 * own finds before.
 */
import { findAggregate } from '../../../language/functions/table.ts';
import { applyNamed } from '../../../language/plan/analysis.ts';
import { constantNode, type Stage, type TimeBound, type Tree, type ValueAggregation } from '../../../language/plan/tree.ts';
import type { Cell } from '../../engine/engine.ts';

type Rows = Pick<Tree, 'source' | 'stages'>;
type Series = Stage & { readonly kind: 'series' };

function extreme(name: 'min' | 'max', { on }: Series): ValueAggregation {
  const ns = applyNamed('toint', 0, applyNamed('todatetime', 0, on.node));
  const { spec } = findAggregate(name)!;
  const info = { name, fields: [], args: [] };
  return { kind: 'value', name, type: 'int', spec, args: [ns], condition: undefined, at: 0, places: [0], info };
}

const boundAt = (value: bigint): TimeBound => ({ node: constantNode({ type: 'datetime', value }), at: 0 });

/** `firstRow` answers the first row of a query, by column. */
export async function withSeriesRange(tree: Rows, firstRow: (rows: Rows) => Promise<readonly (Cell | undefined)[]>): Promise<Rows> {
  const { source, stages } = tree;
  const at = stages.findIndex((stage) => stage.kind === 'series');
  const series = stages[at];
  if (series?.kind !== 'series' || (series.from && series.to)) return tree;
  if (source.kind === 'datasets' && series.on.name === '_time') return tree;
  const aggregations = [extreme('min', series), extreme('max', series)];
  const [least, greatest] = await firstRow({ source, stages: [...stages.slice(0, at), { kind: 'summarize', keys: [], aggregations }] });
  const isEmpty = least === undefined || least === null;
  const [from, to] = isEmpty ? [0n, 0n] : [BigInt(String(least)), BigInt(String(greatest)) + 1n];
  const { step } = series;
  const ranged: Series = { ...series, from: series.from ?? boundAt(from - (((from % step) + step) % step)), to: series.to ?? boundAt(to) };
  const none: Stage[] = isEmpty ? [{ kind: 'limit', count: 0, exactly: true }] : [];
  return { source, stages: [...stages.slice(0, at), ranged, ...none, ...stages.slice(at + 1)] };
}
