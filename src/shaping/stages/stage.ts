/** A stage of shaping: one transform, of a source, of the configuration's top, or of a sink. */
import type { AllSent, Shaped } from '../../core/shaping.ts';

/** Events as NDJSON, each with the number of the accepted event that it comes from and its place among the siblings. */
export interface EventList {
  readonly bytes: Buffer;
  readonly count: number;
  /** Where each ends, its newline included. */
  readonly ends: Uint32Array;
  readonly origins: Uint32Array;
  readonly subs: Uint32Array;
  /** Where each goes by `to_dataset`, undefined for the sink's own dataset; absent where no pipeline says. */
  readonly datasets?: readonly (string | undefined)[];
  /** These are the events as they were accepted. */
  readonly areAccepted?: boolean;
  /** Where accepted events became these at once: the tables by accepted event, and their sum. */
  readonly byEvent?: EventTables;
  readonly all?: AllSent;
}

/** As in `Shaped`. */
export type EventTables = Pick<Shaped, 'ends' | 'sent' | 'dispositions'>;

export interface StageContext {
  readonly source: string;
  readonly stream: string;
  readonly readAtMs: number;
  /** Offset in the stream of an accepted event. */
  offsetOf(origin: number): number;
  /** Accepted events that hold the text of a JSON object which was not read as one. */
  readonly cutObjects?: ReadonlySet<number>;
}

/** The fate of an event that a transform fails on: it stays as it was, is kept as a dead letter, or goes. */
export type OnError = 'keep' | 'dead_letter' | 'drop';

/** An event that is left out because the transform failed on it. */
export interface StageFailure {
  readonly origin: number;
  readonly sub: number;
  readonly fate: 'withheld' | 'dropped';
  /** Quotes nothing of the event. */
  readonly reason: string;
  /** The event as it was before. */
  readonly text: string;
}

export interface StageResult {
  /** Valid until the stage runs again. */
  readonly list: EventList;
  /** In the order of their events. */
  readonly failures: readonly StageFailure[];
  /** Times that the transform failed, whatever became of the event. */
  readonly errors: number;
  /** False where the same events may fare otherwise the next time, though the stage is deterministic. */
  readonly isRepeatable: boolean;
}

export interface ShapingStage {
  /** Names everything that shapes events here. */
  readonly digest: string;
  readonly isDeterministic: boolean;
  /** It hides fields by their names. */
  readonly hidesFields: boolean;
  /** A list whose bytes others may overwrite once `run` has returned, be it with a promise. */
  run(list: EventList, context: StageContext): StageResult | Promise<StageResult>;
}
