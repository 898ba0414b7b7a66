/** Bounds that several modules share; each module has its own beside its code. Units are in the names. */

/** The kernel writes whole vectors and may overwrite this many bytes past the end of its output. */
export const KERNEL_SLACK_BYTES = 64;
/** Fields that may be added to an event (`fields` of the agent and of the source together). */
export const MAX_FIELDS = 60;
/** Files that one file source follows; further ones are logged and wait. */
export const MAX_FILES = 100_000;
/** Bytes at the beginning of a file that are its fingerprint. */
export const HEAD_BYTES = 1024;
/** Bytes before a position that are hashed, to recognise the file. */
export const TAIL_BYTES = 64;
/** Sources, and sinks, of one agent. */
export const MAX_COMPONENTS = 200;
/** Bytes of one event as the service takes it, at most; also the largest batch. */
export const MAX_BATCH_BYTES = 10 * 1024 * 1024;
/** Events of one request as the service takes it. */
export const MAX_BATCH_EVENTS = 10_000;
/** Concurrent requests of one sink. */
export const MAX_CONCURRENCY = 64;
/** UTF-8 bytes of one string value; over it the event fails. */
export const SERVICE_STRING_BYTES = 1024 * 1024;
/** Columns of one CSV body, as many as a dataset has fields; keys beyond them go into the column for the rest. */
export const MAX_CSV_COLUMNS = 1024;
/** Longest wait for a connection. */
export const MAX_CONNECT_MS = 10_000;
/** Requests beyond the first that finding the events at fault in one batch may cost. */
export const MAX_EXTRA_REQUESTS = 64;
/** How long it is remembered in which encoding an address stores bodies. */
export const ENCODINGS_KNOWN_MS = 86_400_000;
