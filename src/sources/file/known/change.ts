/** What `match` says of a file: every case is a row of the tables in docs/tailing.md. */

/**
 * Of a file that is known:
 * - `continued`: the same file under the same path: read on.
 * - `renamed`: the same file under another path: read on there.
 * - `truncated`: the same file with other content: read from its beginning; a copy of the old content is looked for.
 * - `replaced`: another file has its inode: a copy of the old content is looked for.
 * - `deleted`: the last name is gone: read to its end through the descriptor.
 * - `gone`: neither path, name nor link: looked for until it is forgotten.
 * - `away`: gone with its file system: waited for.
 * - `undecided`: not known yet: nothing is given up.
 */
export type KnownChange = 'continued' | 'renamed' | 'truncated' | 'replaced' | 'deleted' | 'gone' | 'away' | 'undecided';

/** Of the file of a saved stream. `left out`: no pattern leads to it any more: it is not read on, but its batches are still rebuilt from it. */
export type SavedChange = KnownChange | 'left out';

/**
 * Of a file that is not known:
 * - `new`: a file of its own.
 * - `copied`: a copy, in which its original is read on.
 * - `ignored`: left out by `ignore_older`.
 * - `undecided`: it may be a copy.
 */
export type NewChange = 'new' | 'copied' | 'ignored' | 'undecided';
