/**
 * The streams of a journal: one for each sequence (`s=` of a cursor) and filter, because held entries are reread with the filter that chose
 * them. A position is an entry's number (`i=`) plus one. Each cursor is noted before its entry is offered, so that a later start misses nothing.
 */
import { JOURNAL_PATH, type StreamStore } from '../../core/stream.ts';
import { type JournalCursor, parseCursor } from './entry.ts';
import { MAX_JOURNAL_CURSORS, MAX_JOURNAL_SEQUENCES } from './limits.ts';

export interface Sequence {
  /** The stream's id. */
  readonly stream: string;
  /** 32 hex digits. */
  readonly name: string;
  /** Everything before it was offered. */
  behind: number;
}

interface Noted {
  /** All notes of the source are counted: this is the order in which its sequences were read. */
  readonly turn: number;
  readonly at: number;
  readonly cursor: JournalCursor;
}

interface KnownSequence extends Sequence {
  notes: readonly Noted[];
  /** The arguments by which its entries were chosen, as JSON. */
  readonly filter: string;
}

export class Sequences {
  readonly #streams: StreamStore;
  readonly #source: string;
  /** Of what the configuration leaves out. */
  readonly #filter: string;
  /** By stream. */
  readonly #known = new Map<string, KnownSequence>();
  /** By name: those that entries are read into. */
  readonly #current = new Map<string, KnownSequence>();
  #turn = 0;

  constructor(streams: StreamStore, source: string, filter: string) {
    this.#streams = streams;
    this.#source = source;
    this.#filter = filter;
  }

  /** Takes up the streams of former runs. */
  load(): void {
    for (const { id: stream, path, resumeAt, identity } of this.#streams.list(this.#source)) {
      const notes = (identity?.headers ?? []).flatMap(({ at, text }) => {
        const [turn, written = ''] = text.split(' ');
        const cursor = parseCursor(written);
        return cursor ? [{ turn: Number(turn), at, cursor }] : [];
      });
      if (!path.startsWith(JOURNAL_PATH) || notes.length === 0) continue;
      const name = path.slice(JOURNAL_PATH.length);
      this.#known.set(stream, { stream, name, behind: resumeAt, notes, filter: identity!.headHash });
      this.#turn = Math.max(this.#turn, notes.at(-1)!.turn);
    }
  }

  /** From which entry on to read: the last note, or the first one of entries that were read and not committed. Undefined at the first start. */
  resume(): { readonly cursor: JournalCursor; readonly isSameFilter: boolean } | undefined {
    const candidates = [...this.#known.values()].map(({ notes, behind, filter }) => {
      const isOpen = notes.at(-1)!.at > behind;
      return { ...(isOpen ? noteBefore(notes, behind) : notes.at(-1)!), isOpen, isSameFilter: filter === this.#filter };
    });
    candidates.sort((a, b) => a.turn - b.turn);
    return candidates.find(({ isOpen }) => isOpen) ?? candidates.at(-1);
  }

  /** The sequence of the entry that comes next. `isRead`: the entry was read in another one. */
  of(next: JournalCursor, isRead: boolean): Sequence {
    const name = next.sequence;
    const current = this.#current.get(name);
    if (current) return current;
    const all = [...this.#known.values()].filter((each) => each.name === name);
    const latest = all.toSorted((a, b) => a.notes.at(-1)!.turn - b.notes.at(-1)!.turn).at(-1);
    const known = latest?.filter === this.#filter ? latest : undefined;
    const others = all.filter((each) => each !== known);
    for (const each of others) {
      // Their uncommitted entries are read again into this one.
      each.notes = each.notes.filter(({ at }) => at <= each.behind);
      this.#streams.identify(each.stream, identityOf(each.notes, each.filter));
    }
    const from = Math.max(isRead ? next.number + 1 : next.number, ...others.map(({ behind }) => behind));
    const made = known ?? this.#mint(name, next, from, others);
    this.#current.set(name, made);
    if (this.#known.size > MAX_JOURNAL_SEQUENCES) this.#forgetOne(made);
    return made;
  }

  #mint(name: string, next: JournalCursor, from: number, others: readonly Sequence[]): KnownSequence {
    const notes = [this.#noted(from, next)];
    const former = others.map(({ stream }) => stream);
    const { id: stream } = this.#streams.mint(
      this.#source,
      `${JOURNAL_PATH}${name}`,
      identityOf(notes, this.#filter),
      from,
      former,
    );
    const made = { stream, name, behind: from, notes, filter: this.#filter };
    this.#known.set(stream, made);
    return made;
  }

  byStream(stream: string): KnownSequence | undefined {
    return this.#known.get(stream);
  }

  /** Notes that entries up to this one are offered now. */
  note({ stream }: Sequence, cursor: JournalCursor): void {
    const known = this.#known.get(stream)!;
    known.notes = [...known.notes, this.#noted(cursor.number + 1, cursor)];
    if (known.notes.length > MAX_JOURNAL_CURSORS) {
      // Without those that no start goes back to, and then with ever fewer: any one before a position will do.
      const { settledTo, resumeAt = 0 } = this.#streams.list(this.#source).find(({ id }) => id === stream) ?? {};
      const first = known.notes.indexOf(noteBefore(known.notes, Math.min(settledTo ?? resumeAt, resumeAt)));
      known.notes = known.notes.slice(first).filter((_, n, { length }) => n % 2 === 0 || n === length - 1);
    }
    this.#streams.identify(stream, identityOf(known.notes, known.filter));
  }

  /** The cursor to read a sequence from this position on: its own number says where it begins; the rest, where others do. */
  cursorAt({ name, notes }: KnownSequence, position: number): string {
    return `s=${name};i=${position.toString(16)};${noteBefore(notes, position).cursor.content}`;
  }

  #noted(at: number, cursor: JournalCursor): Noted {
    this.#turn += 1;
    return { turn: this.#turn, at, cursor };
  }

  /** The one that was made first, of those that are delivered. */
  #forgetOne(but: Sequence): void {
    const found = [...this.#known.values()].find((each) => each !== but && this.#streams.isSettled(each.stream));
    if (!found) return;
    this.#streams.forget(found.stream);
    this.#known.delete(found.stream);
    if (this.#current.get(found.name) === found) this.#current.delete(found.name);
  }
}

function identityOf(notes: readonly Noted[], filter: string) {
  const headers = notes.map(({ turn, at, cursor }) => ({ at, text: `${turn} ${cursor.text}` }));
  return { device: '', inode: '', headLength: 0, headHash: filter, headers };
}

/** The last one before a position, else the first of all. */
function noteBefore(notes: readonly Noted[], position: number): Noted {
  return notes.findLast(({ at }) => at <= position) ?? notes[0]!;
}
