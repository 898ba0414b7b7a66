/** The decisions about a file; the rows of decide/table.ts and docs/tailing.md give the cases of each. */

/** Of a file that is known. `undecided`: nothing is given up. */
export type KnownChange =
  | 'continued'
  | 'renamed'
  | 'truncated'
  | 'replaced'
  | 'deleted'
  | 'gone'
  | 'away'
  | 'undecided';

/** Of the file of a saved stream. `unmatched`: no pattern leads to it any more; it is not read on, but its batches are still rebuilt from it. */
export type SavedChange = KnownChange | 'unmatched';

/** Of a file that is not known, and may be a copy. */
export type CopyChange =
  | 'new'
  | 'copied'
  | 'short copy'
  | 'read copy'
  | 'original truncated'
  | 'original changed'
  | 'undecided';
