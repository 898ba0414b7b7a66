/** Bounds on reading lines and joining them. */

/** Bytes read from a file at a time. */
export const READ_CHUNK_BYTES = 256 * 1024;
/** Lines that the pieces of one container message, or one CSV record, may take. */
export const MAX_JOINED_LINES = 10_000;
/** How long the pieces of one container message wait for the rest. */
export const JOIN_TIMEOUT_MS = 5_000;
