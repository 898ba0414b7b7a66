/** Bounds of reading an archive, which others may have changed. */
import { MAX_BATCH_BYTES } from '../../../core/limits.ts';

/** Of a file, and of what it unpacks to: more than any batch has. */
export const MAX_ARCHIVED_BYTES = 2 * MAX_BATCH_BYTES;
/** Of a line of a manifest; the longest that the sink writes has some 400. */
export const MAX_ENTRY_CHARACTERS = 4096;
/** Unfinished files of an hour that are looked for again at its end; more are named at once. */
export const MAX_TEMPORARY_FILES = 100;
/** Hours further ahead of the clock are of one that was wrong. */
export const MAX_AHEAD_MS = 86_400_000;
/** Missing or damaged files that are named; others are only counted. */
export const MAX_NAMED_FAULTS = 100;
