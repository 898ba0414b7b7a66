/**
 * Dead letters on disk: one fsynced file for each refused part of a batch, named by the part's key, so that refusing the
 * same events again after a restart replaces the file instead of adding to it. One JSON object a line.
 */
import { readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isJson } from '../core/block.ts';
import { codeOf, messageOf, TailraceError } from '../core/errors.ts';
import type { DeadLetter, DeadLetterReason } from '../core/sink.ts';
import { writeDurably } from './descriptors.ts';
import { makeFolder, ownerFix } from './keep-owner.ts';
import { listFolder } from './list-folder.ts';

/** A dead letter as it is kept and listed. */
export interface StoredLetter {
  readonly sink: string;
  readonly dataset: string;
  readonly source: string;
  /** The file's path as first matched; empty for sources without files. */
  readonly file: string;
  readonly stream: string;
  /** Bytes from the stream's beginning to the event's first; for a stream that cannot be read again, to its batch's. */
  readonly offset: number;
  /** Its place among the events that a transform made of one, where it made several. */
  readonly sub?: number;
  /** The service's message, or why it was not sent. */
  readonly reason: string;
  readonly kind: DeadLetterReason;
  readonly status: number;
  /** When it was refused, RFC 3339. */
  readonly time: string;
}

/** A letter and its event, as the bytes that were sent. */
export interface Letter {
  readonly about: StoredLetter;
  readonly event: string;
}

export interface LetterFile {
  /** The name to replay or drop it by. */
  readonly id: string;
  readonly bytes: number;
  readonly writtenMs: number;
}

/** What happens when the limit is reached: the batch waits, its refused events are dropped, or the oldest letters are. */
export type WhenFull = 'block' | 'drop_newest' | 'drop_oldest';

/** Remembers which letters there are, so that those whose file others remove are missed. */
export interface LetterIndex {
  /** The files that are there at the start. */
  found(ids: ReadonlySet<string>): void;
  /** Those that it knows and that nobody dropped; their files may be gone. */
  ids(): string[];
  /** The letters are in their file. */
  kept(id: string, letters: readonly Letter[]): void;
  /** Called before the file goes; true where it knew of it. */
  removed(id: string, why: 'replayed' | 'command' | 'when_full'): boolean;
}

const SUFFIX = '.ndjson';

export class DeadLetters {
  readonly #folder: string;
  #maxBytes: number;
  #whenFull: WhenFull;
  #bytes: number;
  readonly #index: LetterIndex | undefined;
  /** Called when letters that found no room may find some now. */
  hasRoom: () => void = () => {};

  /** `folder` is made when the first letter is kept. */
  constructor(folder: string, maxBytes: number, whenFull: WhenFull = 'block', index?: LetterIndex) {
    this.#folder = folder;
    this.#maxBytes = maxBytes;
    this.#whenFull = whenFull;
    const files = this.files();
    this.#bytes = files.reduce((sum, file) => sum + file.bytes, 0);
    this.#index = index;
    index?.found(new Set(files.map(({ id }) => id)));
  }

  /** From now on; letters beyond a lower limit stay. */
  limit(maxBytes: number, whenFull: WhenFull): void {
    this.#maxBytes = maxBytes;
    this.#whenFull = whenFull;
    this.hasRoom();
  }

  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Keeps letters durably, or drops them, as `when_full` says. Throws `E_DEAD_LETTERS_FULL` where it says `block`, or what
   * the disk says: nothing is kept then. Letters that take the place of others (`isReplay`) find room in any case: those go at once.
   */
  put(id: string, letters: readonly Letter[], isReplay = false): 'kept' | 'dropped' {
    const text = Buffer.from(letters.map((letter) => `${formatLetter(id, letter)}\n`).join(''));
    const before = this.#sizeOf(id);
    if (this.#whenFull === 'drop_oldest' && !isReplay) this.#makeRoom(text.length - before, id);
    if (this.#bytes - before + text.length > this.#maxBytes && !isReplay) {
      if (this.#whenFull !== 'block') {
        this.#index?.kept(id, letters);
        this.#index?.removed(id, 'when_full');
        return 'dropped';
      }
      const message = `the dead letters take ${this.#bytes} bytes, and ${text.length} more are over the limit of ${this.#maxBytes}`;
      throw new TailraceError('E_DEAD_LETTERS_FULL', message, {
        fix: 'send some again or remove them (tailrace dead-letters replay|drop), or raise dead_letter.max_bytes',
      });
    }
    makeFolder(this.#folder);
    try {
      writeDurably(this.#folder, id + SUFFIX, text);
    } finally {
      // It is there also when only its folder could not be synced.
      this.#bytes += this.#sizeOf(id) - before;
    }
    this.#index?.kept(id, letters);
    return 'kept';
  }

  #makeRoom(bytes: number, except: string): void {
    if (this.#bytes + bytes <= this.#maxBytes) return;
    for (const { id } of this.files()) {
      if (this.#bytes + bytes <= this.#maxBytes) return;
      if (id !== except) this.remove(id, 'when_full');
    }
  }

  /** Oldest first. Throws `E_DATA_DIR` where they cannot be listed. */
  files(): LetterFile[] {
    return listFolder(this.#folder)
      .filter((name) => name.endsWith(SUFFIX))
      .flatMap((name) => {
        const stat = statSync(join(this.#folder, name), { throwIfNoEntry: false });
        return stat?.isFile() ? [{ id: name.slice(0, -SUFFIX.length), bytes: stat.size, writtenMs: stat.mtimeMs }] : [];
      })
      .sort((a, b) => a.writtenMs - b.writtenMs || (a.id < b.id ? -1 : 1));
  }

  /** The letters of one file, in the order of their events; undefined when it is gone. Throws `E_DEAD_LETTER_BROKEN` for a damaged one. */
  read(id: string): Letter[] | undefined {
    if (!isName(id)) return undefined;
    const file = join(this.#folder, id + SUFFIX);
    let text: string;
    try {
      text = readFileSync(file, 'utf8');
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return undefined;
      throw new TailraceError('E_DATA_DIR', `cannot read the dead letters "${file}": ${messageOf(error)}`, {
        fix: ownerFix(this.#folder, file),
        cause: error,
      });
    }
    try {
      return text
        .split('\n')
        .filter((line) => line !== '')
        .map(parseLetter);
    } catch (error) {
      throw new TailraceError(
        'E_DEAD_LETTER_BROKEN',
        `the dead letters in "${file}" cannot be read: ${messageOf(error)}`,
        {
          fix:
            'repair the file by hand (one JSON object a line, `event` its last key), or drop it: tailrace dead-letters drop ' +
            id,
          cause: error,
        },
      );
    }
  }

  /** Drops these files for good, all where `ids` is empty, and misses those no more that others removed. Returns how many it knew. */
  drop(ids: readonly string[]): number {
    const all = ids.length > 0 ? ids : [...this.files().map(({ id }) => id), ...(this.#index?.ids() ?? [])];
    return [...new Set(all)].filter((id) => this.remove(id)).length;
  }

  /** Removes a file for good; false when nobody knows of one. */
  remove(id: string, why: 'replayed' | 'command' | 'when_full' = 'command'): boolean {
    if (!isName(id)) return false;
    const isKnown = this.#index?.removed(id, why) ?? false;
    const bytes = this.#sizeOf(id);
    try {
      rmSync(join(this.#folder, id + SUFFIX));
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return isKnown;
      throw new TailraceError('E_DATA_DIR', `cannot remove the dead letters "${id}": ${messageOf(error)}`, {
        fix: ownerFix(this.#folder),
        cause: error,
      });
    }
    this.#bytes -= bytes;
    this.hasRoom();
    return true;
  }

  #sizeOf(id: string): number {
    return statSync(join(this.#folder, id + SUFFIX), { throwIfNoEntry: false })?.size ?? 0;
  }
}

/** Makes the letter of a refused event. */
export function toLetter(letter: DeadLetter, file: string, offset: number, nowMs: number): Letter {
  const { sink, dataset, source, stream, sub, detail, reason, status } = letter;
  const place = { file, stream, offset, ...(sub === undefined ? {} : { sub }) };
  const about = {
    sink,
    dataset,
    source,
    ...place,
    reason: detail,
    kind: reason,
    status,
    time: new Date(nowMs).toISOString(),
  };
  return {
    about,
    event: Buffer.from(letter.event.buffer, letter.event.byteOffset, letter.event.byteLength).toString('utf8'),
  };
}

/** One line of a file, and of `dead-letters list --json`: the event is the last key, its bytes unchanged. */
export function formatLetter(id: string, { about, event }: Letter): string {
  return `${JSON.stringify({ id, ...about }).slice(0, -1)}${EVENT_KEY}${isJson(event) ? event : JSON.stringify(event)}}`;
}

/** Ids come from outside: none may lead out of the folder. */
function isName(id: string): boolean {
  return /^[\w-]{1,128}$/.test(id);
}

const EVENT_KEY = ',"event":';

function parseLetter(line: string): Letter {
  // No string before it can hold this text: its quotes would be escaped.
  const at = line.indexOf(EVENT_KEY);
  if (at < 0 || !line.endsWith('}')) throw new SyntaxError('a line without an event');
  const { id: _, ...about } = JSON.parse(`${line.slice(0, at)}}`) as StoredLetter & { id: string };
  return { about, event: line.slice(at + EVENT_KEY.length, -1) };
}
