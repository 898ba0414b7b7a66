/** Bounds on reading lines and joining them. */

/** Bytes read from a file at a time. */
export const READ_CHUNK_BYTES = 256 * 1024;
/** Lines that the pieces of one container message, or one CSV record, may take. */
export const MAX_JOINED_LINES = 10_000;
/** How long the pieces of one container message wait for the rest. */
export const JOIN_TIMEOUT_MS = 5_000;
/** Groups of one source that wait for more of their lines (`group`); the oldest is closed first. */
export const MAX_GROUPS = 1000;
/** Bytes from the first byte of the oldest group to the end of the line that is read. */
export const MAX_GROUP_BYTES = 4 * 1024 * 1024;
/** Read times that are kept of lines that wait. */
export const MAX_GROUP_READS = 256;
