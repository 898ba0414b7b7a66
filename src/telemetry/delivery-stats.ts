/** What the delivery of a sink counts and measures. A new count is its line here, and its row in stats.ts. */
type Counts = Map<string, number>;

export type DeliveryStats = ReturnType<typeof newDeliveryStats>;

/** `facts`: the names of the metrics. */
export function newDeliveryStats(facts: readonly string[] = []) {
  const counts = (): Counts => new Map();
  return {
    /** By HTTP status, `stored` or `none`. */
    requests: counts(),
    /** By reason. */
    retries: counts(),
    sentBytes: 0,
    /** Events by dataset. */
    stored: counts(),
    failed: counts(),
    /** Other facts in the sink's answers, by metric (core/sink). */
    facts: new Map(facts.map((name) => [name, 0])),
    /** Events by reason, without those that were dead letters before. */
    deadLetters: counts(),
    /** Events of dead letters that were sent again: `delivered` or `refused`. */
    replayed: counts(),
    /** Wall clock of the last answer that stored events, milliseconds. */
    lastStoredMs: undefined as number | undefined,
    /** Of the last request: its HTTP status, `stored` or `none`, and the wall clock in milliseconds. */
    lastAnswer: undefined as { readonly status: string; readonly atMs: number } | undefined,
  };
}

export function addTo(map: Counts, name: string, value: number): void {
  map.set(name, (map.get(name) ?? 0) + value);
}

/** A histogram as plain numbers: cumulative buckets are made when it is scraped. */
export class Histogram {
  readonly bounds: readonly number[];
  readonly counts: number[];
  sum = 0;
  count = 0;

  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.counts = bounds.map(() => 0);
  }

  observe(value: number): void {
    this.sum += value;
    this.count += 1;
    const index = this.bounds.findIndex((bound) => value <= bound);
    if (index >= 0) this.counts[index]! += 1;
  }
}

/** One histogram for each label value (a sink's id). */
export class Histograms {
  readonly bounds: readonly number[];
  readonly byLabel = new Map<string, Histogram>();

  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
  }

  observe(label: string, value: number): void {
    let histogram = this.byLabel.get(label);
    if (!histogram) {
      histogram = new Histogram(this.bounds);
      this.byLabel.set(label, histogram);
    }
    histogram.observe(value);
  }
}
