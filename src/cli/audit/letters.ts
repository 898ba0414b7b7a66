/** Dead letters by their origin: those that are there, those whose file others removed, and those that were dropped. */
import { join } from 'node:path';
import { messageOf } from '../../core/errors.ts';
import { sinkOfOwner } from '../../core/checkpoint-owner.ts';
import type { IndexedLetters } from '../../state/database/letter-index.ts';
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

export interface MissingLetters {
  readonly id: string;
  readonly path: string;
  /** 0 where it is not known how many they were. */
  readonly events: number;
}

export interface AuditedLetters {
  readonly count: number;
  readonly named: readonly NamedLetter[];
  /** Of files that are gone, or hold fewer. */
  readonly missing: readonly MissingLetters[];
  /** Events, by `dead-letters drop` and by `dead_letter.when_full`. */
  readonly dropped: Readonly<Partial<Record<'command' | 'when_full', number>>>;
}

type LetterOrigin = Pick<StoredLetter, 'source' | 'file' | 'stream' | 'sink' | 'dataset'>;
type LetterGroup = LetterOrigin & {
  readonly found: {
    count: number;
    named: NamedLetter[];
    missing: MissingLetters[];
    dropped: { [end: string]: number };
  };
};

export const NO_LETTERS: AuditedLetters = { count: 0, named: [], missing: [], dropped: {} };

/** Reads all files, one at a time. `rows`: which should be there, as of before; `again` reads them where some are not. Throws `E_DATA_DIR` where they cannot be listed. */
export function collectLetters(
  folder: string,
  rows: readonly IndexedLetters[],
  again: () => readonly IndexedLetters[],
) {
  const letters = new DeadLetters(folder, Infinity);
  const byPlace = new Map<string, LetterGroup>();
  const problems: string[] = [];
  /** Events by id and stream, and files that cannot be read. */
  const seen = new Map<string, number>();
  const broken = new Set<string>();
  const keyOf = (stream: string, sink: string, dataset: string): string =>
    JSON.stringify([stream, sinkOfOwner(sink), dataset]);
  const entryOf = ({ source, file, stream, sink, dataset }: LetterOrigin): LetterGroup['found'] => {
    const key = keyOf(stream, sink, dataset);
    const entry = byPlace.get(key) ?? {
      source,
      file,
      stream,
      sink: sinkOfOwner(sink),
      dataset,
      found: { count: 0, named: [], missing: [], dropped: {} },
    };
    byPlace.set(key, entry);
    return entry.found;
  };
  for (const { id } of letters.files()) {
    try {
      for (const { about } of letters.read(id) ?? []) {
        const { stream, offset, status, reason } = about;
        const found = entryOf(about);
        found.count += 1;
        seen.set(`${id} ${stream}`, (seen.get(`${id} ${stream}`) ?? 0) + 1).set(id, 1);
        if (found.named.length < MAX_NAMED) found.named.push({ id, offset, status, reason });
      }
    } catch (error) {
      broken.add(id);
      problems.push(messageOf(error));
    }
  }
  // A letter without a known stream may be any of its file.
  const isThere = ({ id, stream, events }: IndexedLetters): boolean =>
    broken.has(id) || (stream === '' ? seen.has(id) : (seen.get(`${id} ${stream}`) ?? 0) >= events);
  const missed = (of: readonly IndexedLetters[]): IndexedLetters[] =>
    of.filter((row) => (row.end === null || row.end === 'missing') && !isThere(row));
  // They may have been sent since.
  const still = missed(rows).length > 0 ? missed(again()) : [];
  for (const row of still) {
    const events = row.events - (seen.get(`${row.id} ${row.stream}`) ?? 0);
    entryOf({ ...row, file: row.path }).missing.push({ id: row.id, path: join(folder, `${row.id}.ndjson`), events });
  }
  for (const row of rows) {
    if (row.end !== 'command' && row.end !== 'when_full') continue;
    const { dropped } = entryOf({ ...row, file: row.path });
    dropped[row.end] = (dropped[row.end] ?? 0) + row.events;
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
