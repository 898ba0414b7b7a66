/** The last hour in numbers, for the status page's charts: one sample each 10 s in rings of a fixed size, 1.4 kB a series. */
import type { Observed } from './observed.ts';

export const SAMPLE_EVERY_MS = 10_000;
const SAMPLES = 360;
/** Further sources and sinks have no charts. */
const MAX_SOURCES = 64;
const MAX_SINKS = 16;

/** Values oldest first; null where there was nothing to measure. */
export interface SeriesView {
  readonly kind: 'source' | 'sink';
  readonly id: string;
  readonly name: 'eventsPerSecond' | 'lagBytes' | 'requestMs' | 'queueBytes';
  readonly values: readonly (number | null)[];
}

export interface HistoryView {
  readonly everyMs: number;
  /** Wall clock of the last sample; 0 before the first. */
  readonly endMs: number;
  readonly series: readonly SeriesView[];
}

interface MetricSeries extends Omit<SeriesView, 'values'> {
  readonly ring: Float32Array;
}

export class History {
  readonly #series = new Map<string, MetricSeries>();
  /** Totals at the last sample, from which rates are computed. */
  #totals = new Map<string, number>();
  #count = 0;
  #endMs = 0;

  /** Times in milliseconds of the wall clock. */
  sample(observed: Observed, nowMs: number): void {
    const seconds = this.#endMs === 0 ? 0 : (nowMs - this.#endMs) / 1000;
    const totals = new Map<string, number>();
    const rise = (key: string, total: number): number => {
      totals.set(key, total);
      return total - (this.#totals.get(key) ?? total);
    };
    const perSecond = (key: string, total: number): number => {
      const change = rise(key, total);
      return seconds > 0 ? Math.max(0, change / seconds) : Number.NaN;
    };
    for (const { id, accepted, stats } of observed.sources.slice(0, MAX_SOURCES)) {
      this.#put('source', id, 'eventsPerSecond', perSecond(`source ${id}`, accepted));
      this.#put('source', id, 'lagBytes', stats.lagBytes);
    }
    for (const { id, stored, queuedBytes, diskBytes, requestSeconds } of observed.sinks.slice(0, MAX_SINKS)) {
      this.#put(
        'sink',
        id,
        'eventsPerSecond',
        perSecond(
          `sink ${id}`,
          [...stored.values()].reduce((sum, each) => sum + each, 0),
        ),
      );
      const requests = rise(`requests ${id}`, requestSeconds.count);
      const took = rise(`took ${id}`, requestSeconds.sum);
      this.#put('sink', id, 'requestMs', requests > 0 ? (took / requests) * 1000 : Number.NaN);
      this.#put('sink', id, 'queueBytes', queuedBytes + diskBytes);
    }
    this.#totals = totals;
    this.#endMs = nowMs;
    this.#count += 1;
  }

  view(): HistoryView {
    const length = Math.min(this.#count, SAMPLES);
    const valueAt = (ring: Float32Array, index: number): number | null => {
      const value = ring[(this.#count - length + index) % SAMPLES]!;
      return Number.isNaN(value) ? null : value;
    };
    const series = [...this.#series.values()].map(({ ring, ...about }) => ({
      ...about,
      values: Array.from({ length }, (_, index) => valueAt(ring, index)),
    }));
    return { everyMs: SAMPLE_EVERY_MS, endMs: this.#endMs, series };
  }

  #put(kind: MetricSeries['kind'], id: string, name: MetricSeries['name'], value: number): void {
    const key = `${kind} ${id} ${name}`;
    let series = this.#series.get(key);
    if (!series) this.#series.set(key, (series = { kind, id, name, ring: new Float32Array(SAMPLES).fill(Number.NaN) }));
    series.ring[this.#count % SAMPLES] = value;
  }
}
