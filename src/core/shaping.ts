/** Shaping as the batcher sees it: events go in as NDJSON, and come out as they are to be sent. The module `shaping` decides how. */

/** Events of one block, in order. */
export interface EventsIn {
  /** NDJSON. Others may overwrite it as soon as `shape` has returned, be it with a promise. */
  readonly bytes: Buffer;
  readonly count: number;
  readonly source: string;
  readonly stream: string;
  /** When the block was read, wall clock in milliseconds: what `now()` gives. */
  readonly readAtMs: number;
  /** The offset in the stream of an event's first byte. */
  offsetOf(event: number): number;
  /** Numbers of the events that hold the text of a JSON object which was not read as one; known where the shaper hides fields. */
  readonly cutObjects?: ReadonlySet<number>;
}

/** What becomes of an event, the worst last; of one that became several, the worst among them. */
export const DISPOSITIONS = ['sent', 'filtered', 'dropped', 'dead_lettered'] as const;
export type Disposition = (typeof DISPOSITIONS)[number];

/** An event, or one of the siblings that an event became, that goes to the dead letters because its transform failed. */
export interface Withheld {
  /** Number of the event. */
  readonly event: number;
  /** Its place among the siblings. */
  readonly sub: number;
  readonly reason: string;
  /** As it was before the transform that failed, without a newline. */
  readonly text: string;
}

/** The result of shaping events: tables by event, and the events to send as NDJSON. */
export interface Shaped {
  /** Valid until the next call. */
  readonly bytes: Buffer;
  /** Where in `bytes` the event's own ones end. The tables are valid as long as the bytes. */
  readonly ends: Uint32Array;
  /** How many events are sent of it. */
  readonly sent: Uint32Array;
  /** Places in DISPOSITIONS. */
  readonly dispositions: Uint8Array;
  /** Totals over all events, where they are known without a walk. */
  readonly all?: AllSent;
  /** In the order of their events. */
  readonly withheld: readonly Withheld[];
  /** Times that a transform failed. */
  readonly errors: number;
  /** False where the same bytes may fare otherwise the next time, though the shaper is deterministic: a limit of time was exceeded. */
  readonly isRepeatable: boolean;
  /**
   * For each event to send: the dataset that `to_dataset` names, where it ends in `bytes`, and the number of the event that it comes from.
   */
  readonly routes?: Routes;
}

/** What became of all events of a call; valid until the next. */
export interface AllSent {
  readonly sent: number;
  /** Three numbers for each run of events of one fate: its length, how many are sent of each, and the place in DISPOSITIONS. */
  readonly runs: Uint32Array;
}

/** By event that is sent; valid until the next call. */
interface Routes {
  readonly datasets: readonly (string | undefined)[];
  readonly ends: Uint32Array;
  readonly origins: Uint32Array;
}

/** Shapes the events of one source on their way to one sink. One call at a time. */
export interface Shaper {
  /** Names everything that shapes events. */
  readonly digest: string;
  /** The same bytes always become the same events: their batches can be rebuilt from files. */
  readonly isDeterministic: boolean;
  /** It hides fields by their names. */
  readonly hidesFields: boolean;
  /** Never fails: what goes wrong with an event becomes its fate. */
  shape(events: EventsIn): Shaped | Promise<Shaped>;
}
