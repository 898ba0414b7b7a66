/** Every bound that is not configurable, in one place. Units are in the names. */

/** Bytes read from a file at a time. */
export const READ_CHUNK_BYTES = 256 * 1024;
/** The kernel writes whole vectors and may overwrite this many bytes past the end of its output. */
export const KERNEL_SLACK_BYTES = 64;
/** Fields that may be added to an event (`fields` of the agent and of the source together). */
export const MAX_FIELDS = 60;
/** Depth of nested JSON up to which a line passes through; deeper ones are wrapped as text. */
export const MAX_JSON_DEPTH = 10_000;
/** Files held open at a time by one file source. */
export const MAX_OPEN_FILES = 256;
/** Files that one file source follows; more are said in the log and left for later. */
export const MAX_FILES = 100_000;
/** Bytes of a file's head that identify it. */
export const HEAD_BYTES = 1024;
/** Bytes before a position that are hashed, to recognise the file. */
export const TAIL_BYTES = 64;
/** Retry-After is obeyed up to this long. */
export const MAX_RETRY_AFTER_MS = 3_600_000;
/** Bytes of an answer that are read. */
export const MAX_ANSWER_BYTES = 4 * 1024 * 1024;
