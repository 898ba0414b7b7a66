/** Numbers that telemetry reads at a scrape: the modules keep them; nothing is computed per event. */
import type { DeliveryStats } from './delivery-stats.ts';
import type { FactTable } from '../core/sink.ts';
import type { RefusedPath, SourceStats } from '../core/source.ts';

/** Why a source reads no more for the moment. */
export interface SourceWait {
  readonly sink: string;
  readonly dataset: string;
  /** `service_behind`: half as many batches of files wait as there may be requests, more would only fill memory. */
  readonly reason: 'memory_full' | 'disk_buffer_full' | 'service_behind' | 'dead_letters_full';
  readonly seconds: number;
  /** Why the service's last answer stored nothing, `reason: detail`; absent while it stores. */
  readonly failure?: string;
}

export interface ObservedSource {
  readonly id: string;
  readonly stats: SourceStats;
  readonly backpressureSeconds: number;
  readonly accepted: number;
  /** Characters that were U+FFFD in the end, because they were invalid. */
  readonly invalidCharacters: number;
  readonly unknownZones: number;
  /** Times that a transform failed, each on its way to one sink. */
  readonly transformErrors: number;
  /** Events whose `to_dataset` named a dataset that they could not go to. */
  readonly misrouted: number;
  readonly settled: Readonly<Record<'delivered' | 'dead_lettered' | 'dropped' | 'filtered', number>>;
  /** Counted by walking the batches that hold them. */
  readonly held: number;
  /** When the oldest batch that holds any was begun, wall clock in milliseconds; absent where nothing is held. */
  readonly oldestHeldMs?: number | undefined;
  /** Bytes that a kill would lose: they cannot be read again, and are neither delivered nor in the disk buffer. */
  readonly unsavedBytes: number;
  /** Set while reading waits for a sink. */
  readonly waiting?: SourceWait | undefined;
  /** A step of its own work that is past its deadline. */
  readonly overdue?: string | undefined;
  /** Paths that it refuses for safety now. */
  readonly refused?: RefusedPaths | undefined;
}

/** How many paths a source leaves out for safety, and one of them. */
export interface RefusedPaths extends Omit<RefusedPath, 'isLink'> {
  readonly count: number;
}

export interface ObservedSink extends Readonly<DeliveryStats> {
  readonly id: string;
  /** Of the requests that were answered. */
  readonly requestSeconds: { readonly sum: number; readonly count: number };
  readonly memoryBytes: number;
  /** Bytes, as read, of the events in that memory. */
  readonly queuedBytes: number;
  readonly diskBytes: number;
  /** The most that both may be. */
  readonly maxMemoryBytes: number;
  readonly maxDiskBytes: number;
  /** Files of the disk buffer that were set aside. */
  readonly brokenFiles: number;
  /** Limit of concurrent requests. */
  readonly concurrency: number;
  /** Why the last answer stored nothing, `reason: detail`; undefined while the service stores. */
  readonly lastFailure: string | undefined;
  /** The remedy, where one is known. */
  readonly lastFailureFix?: string | undefined;
  /** A missing precondition of sending, such as a token, and the fix; undefined where none is missing. */
  readonly missing: { readonly detail: string; readonly fix: string } | undefined;
  readonly pauses: ReadonlyMap<string, { readonly reason: string; readonly detail: string; readonly fix: string }>;
  /** The batches that wait because their refused events cannot be kept as dead letters; undefined where none does. */
  readonly blocked: ObservedBlock | undefined;
}

export interface ObservedBlock {
  readonly batches: number;
  /** The refused events in them. */
  readonly events: number;
  /** `dead_letter.max_bytes` is reached; else the disk refuses. */
  readonly isFull: boolean;
  readonly reason: string;
  readonly fix: string;
}

/** How often a changed configuration was asked for in this process, by what became of it. */
export interface ConfigReloads {
  success: number;
  failure: number;
}

export interface Observed {
  /** Of the sinks' types. */
  readonly facts: FactTable;
  /** The configuration in force. */
  readonly config: {
    readonly file: string;
    readonly hash: string;
    /** Transform scripts in force. */
    readonly scripts: readonly { readonly file: string; readonly sha256: string }[];
  };
  readonly sources: readonly ObservedSource[];
  readonly sinks: readonly ObservedSink[];
  readonly checkpointSaves: number;
  /** Times that the disk did not take positions. */
  readonly checkpointRefusals: number;
  /** Why it does not take them now; undefined while it does. */
  readonly checkpointRefusal: { readonly reason: string; readonly fix: string } | undefined;
  /** Disk buffers of sinks that are not configured any more. */
  readonly abandoned: readonly { readonly sink: string; readonly bytes: number }[];
  readonly deadLetterBytes: number;
  readonly configReloads: Readonly<ConfigReloads>;
  /** True once configuration is in force and sources are open. */
  readonly started: boolean;
}

/** Sources whose accounting does not balance, each with its numbers; empty while all is well. */
export function findImbalance(observed: Observed): string[] {
  return observed.sources.flatMap(({ id, accepted, settled, held }) => {
    const accountedFor = settled.delivered + settled.dead_lettered + settled.dropped + settled.filtered + held;
    if (accountedFor === accepted) return [];
    return [
      `source "${id}": ${accepted} events were accepted, ${accountedFor} are accounted for (${JSON.stringify({ ...settled, held })})`,
    ];
  });
}
