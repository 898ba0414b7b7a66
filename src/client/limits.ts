/** Bounds of the client. */

/** Bytes of an answer that the client reads: a whole page of a query. */
export const CLIENT_ANSWER_BYTES = 256 * 1024 * 1024;
/** How long a whole request may take, first byte sent to last byte of the answer. */
export const CLIENT_TIMEOUT_MS = 60_000;
/** Requests of one client in flight at a time. */
export const CLIENT_CONNECTIONS = 8;
/** Tries of a repeatable request, and of one that stores events: these outlast a restart of the service. */
export const CLIENT_TRIES = 6;
export const CLIENT_INGEST_TRIES = 10;
/** The ceiling of the first wait between two tries; it doubles up to the last one. */
export const CLIENT_FIRST_WAIT_MS = 250;
export const CLIENT_LAST_WAIT_MS = 30_000;
/** A longer wait that the service asks for is an error. */
export const CLIENT_MAX_ASKED_WAIT_MS = 5 * 60_000;
/** Bytes of the events of one ingest request, before compression; an event that is larger goes alone. */
export const CLIENT_CHUNK_BYTES = 4 * 1024 * 1024;
/** Ingest requests in flight at a time. */
export const CLIENT_CHUNKS_IN_FLIGHT = 3;
/** Buffered events are sent after this long. */
export const CLIENT_FLUSH_MS = 1000;
/** Failed events that are named; the rest are counted. */
export const CLIENT_NAMED_FAILURES = 1000;
/** Rows of a page when all are wanted. */
export const CLIENT_PAGE_ROWS = 10_000;
