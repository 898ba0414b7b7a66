/** Bounds on the data folder. */

/** Former positions kept with a checkpoint, to recognise a copy made before the file was read to its end. */
export const MAX_MARK_POINTS = 8;
/** Bytes of disk reserved at the start for checkpoints and the spans of batches, which a full disk must not stop. */
export const STATE_RESERVE_BYTES = 16 * 1024 * 1024;
/** Ranges of lost bytes that are remembered; of older ones only the sums, for each source, sink and reason. */
export const MAX_LOSSES = 10_000;
/** SQLite waits this long for another process that holds the database: on the event loop, so no longer than one that commits takes. */
export const HELD_WAIT_MS = 5;
/** After that it is not asked for this long. */
export const HELD_PAUSE_MS = 100;
/** Opening the database waits this long: nothing runs yet that it would hold up. */
export const HELD_OPENING_MS = 5000;
/** A settlement waits this long for another commit to include it; without one it is saved after at most twice this time. */
export const SAVE_SETTLED_MS = 20;
/** After this long without one, a settlement is saved at once: they are rare, and waking up costs as much as saving. */
export const CALM_SETTLEMENTS_MS = 100;
