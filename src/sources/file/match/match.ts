/**
 * What became of a file, told from what a scan saw of it. Pure: every case is a row of the table in test/sources/file/match.test.ts,
 * which docs/tailing.md shows. `Apply` acts on the answer.
 */
import type { Change, CopyChange } from '../known/change.ts';

/** What a scan saw of a file that is known. A fact that costs a look at the disk may be a getter: it is asked for only when it counts. */
export interface Sight {
  /** What its path leads to. */
  readonly path: 'itself' | 'something else' | 'unknown';
  /** What its descriptor says. */
  readonly descriptor: 'closed' | 'open' | 'unlinked' | 'unknown';
  /** Another path leads to its inode. */
  readonly isElsewhere: boolean;
  /** The content under its inode, compared with what was read. */
  readonly content: 'same' | 'different' | 'unknown';
  /** Its file system is not mounted, or does not answer. */
  readonly isMountAway: boolean;
}

export function match(sight: Sight): Change {
  const { path } = sight;
  if (path === 'unknown') return 'undecided';
  if (path === 'itself') {
    if (sight.content !== 'different') return 'continued';
    return sight.descriptor === 'closed' ? 'replaced' : 'truncated';
  }
  const { descriptor } = sight;
  if (descriptor === 'unknown') return 'undecided';
  if (descriptor === 'unlinked') return 'deleted';
  if (!sight.isElsewhere) return sight.isMountAway ? 'away' : 'gone';
  const { content } = sight;
  if (content === 'same') return 'renamed';
  return content === 'different' ? 'replaced' : 'undecided';
}

/** What is known of a new file whose name extends that of a known one. */
export interface CopySight {
  /** The file that it may be a copy of is still under its path, or its content is in no file any more. */
  readonly original: 'there' | 'gone';
  /** Compared with what was read of the original, as far as one scan may. */
  readonly content: 'same' | 'different' | 'unknown';
  /** It did not change for 10 s. */
  readonly isSettled: boolean;
}

export function matchCopy({ original, content, isSettled }: CopySight): CopyChange {
  if (content === 'different') return 'new';
  if (original === 'there') return isSettled ? 'new' : 'undecided';
  return content === 'same' ? 'copied' : 'undecided';
}
