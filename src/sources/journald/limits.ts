/** Bounds of a journald source. */

/** A child that prints nothing for so long is replaced by one that goes on behind the last entry: a hung one is noticed so, too. */
export const JOURNAL_SILENCE_MS = 60_000;
/** A child that dies or prints garbage is started again after a wait that grows from the first to the second. */
export const JOURNAL_BACKOFF_MS = 250;
export const JOURNAL_MAX_BACKOFF_MS = 30_000;
/** An entry without a message is read again once, this often at most: each costs a child. */
export const JOURNAL_DOUBT_MS = 1000;
/** journald writes an entry of this machine within this time of the entry's own; those of others may come at any time. */
export const JOURNAL_WRITING_MS = 10_000;
/** Trouble is logged this often at most. */
export const JOURNAL_NOTICE_MS = 60_000;
/** With `--once` a journal that cannot be read is tried so often. */
export const JOURNAL_ONCE_TRIES = 3;
/** Bytes of a child's messages that a log line quotes. */
export const JOURNAL_STDERR_BYTES = 512;
/** Bytes that an entry may have beside a message of `max_event_bytes`; of a larger one the values that are too long are cut or left out. */
export const JOURNAL_ENTRY_BYTES = 512 * 1024;
/** Bytes of JSON that an event may have beside its message. */
export const JOURNAL_FIELDS_BYTES = 256 * 1024;
/** Cursors that are kept of a sequence, from the last one on before which everything is delivered. */
export const MAX_JOURNAL_CURSORS = 32;
/** Sequences of a source that are remembered: each machine has one, and a new one when its journal is made anew. */
export const MAX_JOURNAL_SEQUENCES = 1_000;
/** A value beside the message is cut there; one of an entry that does not fit is left out. assembly/journal/journal.ts has the same bound for all values together. */
export const JOURNAL_VALUE_BYTES = 4096;
/** Bytes of a value that journald takes (DATA_SIZE_MAX): what claims more is no entry. */
export const JOURNAL_MAX_VALUE_BYTES = 768 * 1024 * 1024;
