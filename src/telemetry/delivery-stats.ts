/** What the delivery of a sink counts. A new number is its line here, and its row in stats.ts. */
type Counts = Map<string, number>;

export class DeliveryStats {
  /** By HTTP status, or `none`. */
  readonly requests: Counts = new Map();
  /** By reason. */
  readonly retries: Counts = new Map();
  sentBytes = 0;
  /** Events by dataset. */
  readonly stored: Counts = new Map();
  readonly failed: Counts = new Map();
  /** Other facts in the sink's answers, by metric (core/sink). */
  readonly facts: Counts;
  /** Events by reason, without those that were dead letters before. */
  readonly deadLetters: Counts = new Map();
  /** Events of dead letters that were sent again: `delivered` or `refused`. */
  readonly replayed: Counts = new Map();
  /** Wall clock of the last answer that stored events, milliseconds. */
  lastStoredMs: number | undefined;
  /** Of the last request: its HTTP status, or `none`, and the wall clock in milliseconds. */
  lastAnswer: { readonly status: string; readonly atMs: number } | undefined;

  /** `facts`: the names of the metrics. */
  constructor(facts: readonly string[] = []) {
    this.facts = new Map(facts.map((name) => [name, 0]));
  }
}

export function addTo(map: Counts, name: string, value: number): void {
  map.set(name, (map.get(name) ?? 0) + value);
}
