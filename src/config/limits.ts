/** Bounds on a configuration and on the files it names. */

/** Characters of a pipeline. */
export const MAX_TRANSFORM_CHARACTERS = 64 * 1024;
/** `memory: small`: shared by all sinks, minimum per sink, requests at a time per sink. */
export const SMALL_MEMORY_KIB = 8 * 1024;
export const LEAST_SINK_MEMORY_KIB = 1024;
export const SMALL_CONCURRENCY = 2;
export const MAX_CONFIG_BYTES = 1024 * 1024;
/** Files that `include_config` may name, and bytes of all of them. */
export const MAX_INCLUDED_FILES = 1000;
export const MAX_INCLUDED_BYTES = 16 * 1024 * 1024;
/** Levels of nesting in a configuration file, `fields` included. */
export const MAX_CONFIG_DEPTH = 32;
/** Ways to move a line that are tried, and characters read in all, while the line is looked for whose indentation is wrong. */
export const MAX_INDENT_TRIES = 24;
export const MAX_INDENT_WORK = 512 * 1024;
/** Bytes of `fields` as JSON, of the agent and a source together: twice that and a file's path fit a kernel template. */
export const MAX_FIELDS_BYTES = 16 * 1024;
/** Problems of a configuration that are listed; the rest are counted. */
export const MAX_CONFIG_PROBLEMS = 1000;
/** Bytes of a file that holds a token. */
export const MAX_SECRET_BYTES = 64 * 1024;
/** The longest interval of full scans where watches report every change, and `scan_interval` is not written. */
export const MAX_SCAN_INTERVAL_MS = 30_000;
/** Bytes of `labels` as JSON text of ASCII, which is one header. */
export const MAX_LABELS_BYTES = 4 * 1024;
/** Bytes of a certificate or key file. */
export const MAX_TLS_FILE_BYTES = 1024 * 1024;
/** Values of one secret, replaced ones included, that are hidden from output. */
export const MAX_KNOWN_SECRETS = 8;
