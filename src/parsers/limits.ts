/** Bounds on formats. */

/** Bytes of a CSV file's first record, which names its columns. */
export const MAX_CSV_HEADER_BYTES = 64 * 1024;
