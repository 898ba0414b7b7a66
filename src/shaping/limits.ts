/** Bounds on transforms and scripts. */

export const MAX_SCRIPT_BYTES = 1024 * 1024;
/** How long a script may take for one event; noticed after at most twice as long. */
export const MAX_SCRIPT_EVENT_MS = 2000;
/** How long a script may take to be evaluated. */
export const MAX_SCRIPT_START_MS = 20_000;
/** Memory of a script's process: heap, buffers outside of it, and resident in all. */
export const MAX_SCRIPT_HEAP_MIB = 128;
export const MAX_SCRIPT_EXTERNAL_BYTES = 128 * 1024 * 1024;
export const MAX_SCRIPT_RSS_BYTES = 256 * 1024 * 1024;
/** Bytes of one reply of a script's process. */
export const MAX_SCRIPT_REPLY_BYTES = 64 * 1024 * 1024;
/** Bytes of one event after its transform, or of all events made of one. */
export const MAX_SHAPED_BYTES = 10 * 1024 * 1024;
/** Events that mv-expand makes of one in a transform. */
export const TRANSFORM_EXPANDED_ROWS = 10_000;
/** Characters of a text that a transform makes: far more than an event may have. */
export const TRANSFORM_TEXT_CHARS = 16 * 1024 * 1024;
/** Characters of a regular expression that a field holds; a longer one never matches, as each of them may cost as much as the text. */
export const MAX_FIELD_PATTERN_CHARS = 256;
