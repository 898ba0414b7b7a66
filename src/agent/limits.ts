/** Bounds of the agent as a whole. */

/** Datasets that `to_dataset` sends the events of one sink to, beside the sink's own. */
export const MAX_ROUTED_DATASETS = 16;
/** Below it the agent warns: an agent of files takes about 100 MB under load. */
export const LEAST_MEMORY_BYTES = 96 * 1024 ** 2;
/** How long a stop waits, once everything is delivered or `shutdown_timeout` is over, for a source that does not end. */
export const SOURCE_STOP_GRACE_MS = 5_000;
/** What is settled waits for so long for a commit that takes it along; twice as long at most until it is saved. */
export const SAVE_SETTLED_MS = 20;
/** Where no settlement was written for so long, the next one waits for no commit: there are few, and a waking costs as much as saving. */
export const CALM_SETTLEMENTS_MS = 100;
