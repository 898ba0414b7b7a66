/**
 * Queries take turns, fairly by token and kind, as their results are large until they are written. Long ones take at most half of the turns: short
 * ones overtake those that wait.
 */
import type { DatasetRecord } from '../datasets/catalog.ts';
import type { Engine } from '../engine/engine.ts';
import { FairBudget } from '../fairness/fair-budget.ts';
import { SERVICE_LONG_QUERY_ROWS, SERVICE_WAITING_QUERIES } from '../limits.ts';
import type { RequestRange } from './run.ts';

export class QueryTurns {
  readonly #all: FairBudget;
  readonly #long: FairBudget;
  readonly #waited: (seconds: number) => void;

  /** `waited` is called as each turn begins. */
  constructor(atOnce: number, waited: (seconds: number) => void) {
    this.#all = new FairBudget(atOnce, SERVICE_WAITING_QUERIES);
    this.#long = new FairBudget(Math.ceil(atOnce / 2), SERVICE_WAITING_QUERIES);
    this.#waited = waited;
  }

  get waiting(): number {
    return this.#all.waiting + this.#long.waiting;
  }

  /** Throws an `ApiError` 429 when too many wait, or the signal's reason. */
  async run<T>(holder: string, isLong: boolean, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const since = performance.now();
    const long = isLong ? await this.#long.take(holder, 1, signal) : undefined;
    try {
      const turn = await this.#all.take(holder, 1, signal);
      try {
        this.#waited((performance.now() - since) / 1000);
        return await work();
      } finally {
        turn.release();
      }
    } finally {
      long?.release();
    }
  }
}

/**
 * Judged by the rows in the range, where the engine knows them, as if they were spread evenly over the time that the dataset has. `named`: the
 * datasets of each name in the query, which may join every row of one with every row of the next.
 */
export function isLongQuery(
  engine: Engine,
  named: readonly (readonly DatasetRecord[])[],
  { start, end, now }: RequestRange,
): boolean {
  const rowsOf = ({ table }: DatasetRecord): number => {
    const extent = engine.knownExtent(table);
    if (!extent || extent.max < extent.min) return 0;
    const [from, to] = [max(start ?? extent.min, extent.min), min(end ?? now, extent.max)];
    const share = to < from ? 0 : Number(to - from + 1n) / Number(extent.max - extent.min + 1n);
    return extent.rows * share;
  };
  const rows = named.reduce(
    (product, datasets) =>
      product *
      Math.max(
        1,
        datasets.reduce((sum, dataset) => sum + rowsOf(dataset), 0),
      ),
    1,
  );
  return rows > SERVICE_LONG_QUERY_ROWS;
}

const max = (one: bigint, other: bigint): bigint => (one > other ? one : other);
const min = (one: bigint, other: bigint): bigint => (one < other ? one : other);
