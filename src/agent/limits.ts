/** Bounds of the agent as a whole. */

/** Datasets that `to_dataset` sends the events of one sink to, beside the sink's own. */
export const MAX_ROUTED_DATASETS = 16;
/** Below this memory limit the agent warns: reading files takes about 100 MB under load. */
export const LEAST_MEMORY_BYTES = 96 * 1024 ** 2;
/** How long a stop waits for a source that does not end, after delivery or `shutdown_timeout`. */
export const SOURCE_STOP_GRACE_MS = 5_000;
/** A reload waits this long until what the last process left is restored; then it restarts the agent instead. */
export const RESTORE_PATIENCE_MS = 5_000;
/** How often positions are saved that nothing else saved, and the process is watched. */
export const SAVE_EVERY_MS = 1000;
/** Tokens and passwords of earlier configurations, for each sink, that are hidden in output. */
export const MAX_FORMER_SECRETS = 32;
