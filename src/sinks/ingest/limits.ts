/** Bounds of the ingest sink. */

export const MAX_ANSWER_BYTES = 4 * 1024 * 1024;
/** Bytes of the head of an answer, of its trailer, and of the line before a chunk of it. */
export const MAX_RESPONSE_HEAD_BYTES = 16 * 1024;
/** Longest life of a connection, so that a changed name, certificate or route takes effect. */
export const MAX_CONNECTION_AGE_MS = 5 * 60_000;
/** An idle connection is closed after this long. */
export const IDLE_CONNECTION_MS = 30_000;
/** The most that a service can ask for an idle connection. */
export const MAX_IDLE_CONNECTION_MS = 60_000;
/** Time between two attempts to create a dataset. */
export const CREATE_DATASET_PAUSE_MS = 10_000;
