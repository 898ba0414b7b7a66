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
