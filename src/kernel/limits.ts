/** Bounds of the byte loops. */

/** Depth of nested JSON up to which a line passes through; deeper ones are wrapped as text. */
export const MAX_JSON_DEPTH = 10_000;
/** Bytes of the fields that are added to each event, encoded, with their tables. */
export const MAX_TEMPLATE_BYTES = 64 * 1024;
