/** Groups dead letters by their origin. */
import { messageOf } from '../../core/errors.ts';
import { DeadLetters, type StoredLetter } from '../../state/dead-letters.ts';

/** Letters named for each stream, sink and dataset; the rest are only counted. */
const MAX_NAMED = 100;

export interface NamedLetter {
  readonly id: string;
  /** The place of its event's first byte in the stream. */
  readonly offset: number;
  readonly status: number;
  readonly reason: string;
}

export interface AuditedLetters {
  readonly count: number;
  readonly named: readonly NamedLetter[];
}

type Place = Pick<StoredLetter, 'source' | 'file' | 'stream' | 'sink' | 'dataset'>;

export const NO_LETTERS: AuditedLetters = { count: 0, named: [] };

/** Reads all of them, a file at a time. Throws `E_DATA_DIR` where they cannot be listed. */
export function collectLetters(folder: string) {
  const letters = new DeadLetters(folder, Infinity);
  const byPlace = new Map<string, Place & { found: { count: number; named: NamedLetter[] } }>();
  const problems: string[] = [];
  const keyOf = (stream: string, sink: string, dataset: string): string => JSON.stringify([stream, sink, dataset]);
  for (const { id } of letters.files()) {
    try {
      for (const { about } of letters.read(id) ?? []) {
        const { source, file, stream, sink, dataset, offset, status, reason } = about;
        const key = keyOf(stream, sink, dataset);
        const entry = byPlace.get(key) ?? { source, file, stream, sink, dataset, found: { count: 0, named: [] } };
        byPlace.set(key, entry);
        entry.found.count += 1;
        if (entry.found.named.length < MAX_NAMED) entry.found.named.push({ id, offset, status, reason });
      }
    } catch (error) {
      problems.push(messageOf(error));
    }
  }
  return {
    problems,
    /** Removes and returns the letters of a stream at a sink and dataset. */
    take(stream: string, sink: string, dataset: string): AuditedLetters {
      const key = keyOf(stream, sink, dataset);
      const { found = NO_LETTERS } = byPlace.get(key) ?? {};
      byPlace.delete(key);
      return found;
    },
    rest: () => [...byPlace.values()],
  };
}
