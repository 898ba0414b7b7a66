/** Bounds on batches and their delivery. */

/** Retry-After is obeyed up to this long. */
export const MAX_RETRY_AFTER_MS = 3_600_000;
/** Runs of events with the same fate in one batch, where a transform filters some. */
export const MAX_OUTCOME_RUNS = 50_000;
/** A batch of more parts is cut no further, but for the smallest part, while the service answers 403 and stores nothing: its token may be refused. */
export const MAX_BLIND_PARTS = 16;
/** An event that the service forbids alone is a dead letter where it does so again after this long. */
export const FORBIDDEN_APART_MS = 60_000;
/** What a batch counts for beside its bytes while it waits outside of a slot. */
export const PARKED_BYTES = 4096;
/** At a stop without possible loss, do not wait for a service that refuses and stored nothing for this long. */
export const HOPELESS_AFTER_MS = 5000;
/** Batches that a sink's disk buffer writes at a time: half of the thread pool, since each may wait for a slow disk. */
export const MAX_SPOOL_WRITES = 2;
/** The log says this often at most that a disk buffer is full. */
export const FULL_NOTICE_MS = 60_000;
/** How often a database that another process holds is asked again, where the retries of the disk are further apart. */
export const HELD_RETRY_MS = 500;
/** Part of the digest that identifies how events are shaped: raised when the same configuration makes other events of the same bytes. */
export const SHAPING_VERSION = 7;
/** Reads whose times one span keeps. */
export const MAX_SPAN_READS = 256;
/** Events of which one span keeps where they take no more lines (`group`); it may exceed this by those of one block. */
export const MAX_SPAN_GROUPS = 10_000;
