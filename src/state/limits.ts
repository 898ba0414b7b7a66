/** Bounds on the data folder. */

/** Former positions kept with a checkpoint, to recognise a copy made before the file was read to its end. */
export const MAX_MARK_POINTS = 8;
/** Bytes of disk reserved at the start for checkpoints and the spans of batches, which a full disk must not stop. */
export const STATE_RESERVE_BYTES = 16 * 1024 * 1024;
