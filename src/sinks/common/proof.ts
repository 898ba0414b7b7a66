/** What a sink's own records prove of the events that it holds, for `tailrace audit`. */

/** A batch that the agent's ledger still has. */
export interface LedgerBatch {
  readonly key: string;
  readonly dataset: string;
  readonly events: number;
  /** The agent counts its events as delivered. */
  readonly isSettled: boolean;
  /** When its first event was read, wall clock in milliseconds, where that is known. */
  readonly readAtMs: number | undefined;
}

interface Counts {
  readonly batches: number;
  readonly events: number;
  readonly bytes: number;
}

/** The sink's configuration had them removed; `until`: the newest hour of theirs. */
export type RemovedBatches = Counts & { readonly hours: number; readonly until: string };

export interface ProofFault {
  readonly path: string;
  /** Of the batch, where it is known. */
  readonly key?: string;
  readonly why: string;
}

export interface Proof {
  readonly path: string;
  /** Files that match their record. */
  readonly held: Counts;
  /** Files without a record, and files that are not whole yet: an agent that runs, or starts, ends both. */
  readonly unlisted: number;
  readonly unfinished: number;
  /** By the key of the configuration. */
  readonly removed: Readonly<Record<string, RemovedBatches>>;
  /** Missing and damaged batches: the first of `fault_count`. */
  readonly faults: readonly ProofFault[];
  readonly fault_count: number;
}
