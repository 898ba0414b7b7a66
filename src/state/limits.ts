/** Bounds on the data folder. */

/** Former places of a mark that are kept with it, to tell a copy of the file that was made before the last of it was read. */
export const MAX_MARK_POINTS = 8;
/** Bytes of disk that are taken at the start for positions and the spans of batches, which a full disk must not stop. */
export const STATE_RESERVE_BYTES = 16 * 1024 * 1024;
