/**
 * The streams of a journal: one for each sequence of entries, in which each has a number (`s=` and `i=` of its cursor). A position is the number
 * behind an entry. Cursors are noted before their entries are offered, so that a later start finds one from which nothing is missed.
 */
import type { SavedHeader, StreamRecord, StreamStore } from '../../core/stream.ts';
import { type Cursor, parseCursor } from './entry.ts';
import { MAX_JOURNAL_CURSORS, MAX_JOURNAL_SEQUENCES } from './limits.ts';

const PATH = 'journal:';

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
  readonly cursor: Cursor;
}

export class Sequences {
  readonly #streams: StreamStore;
  readonly #source: string;
  /** Of what the configuration leaves out. */
  readonly #filter: string;
  readonly #known = new Map<string, Sequence & { notes: readonly SavedHeader[] }>();
  #turn = 0;

  constructor(streams: StreamStore, source: string, filter: string) {
    this.#streams = streams;
    this.#source = source;
    this.#filter = filter;
  }

  /** Takes up the streams of former runs. */
  load(): void {
    for (const record of this.#records()) {
      const name = record.path.slice(PATH.length);
      const notes = record.identity?.headers ?? [];
      this.#known.set(name, { stream: record.id, name, behind: record.resumeAt, notes });
      for (const { turn } of notes.flatMap((note) => readNote(note) ?? [])) this.#turn = Math.max(this.#turn, turn);
    }
  }

  #records(): StreamRecord[] {
    return this.#streams.list(this.#source).filter(({ path }) => path.startsWith(PATH));
  }

  /** From which entry on to read: what was noted last, or first of what was read and not committed. Undefined at the first start. */
  resume(): { readonly cursor: Cursor; readonly isSameFilter: boolean } | undefined {
    const candidates = this.#records().flatMap(({ resumeAt, identity }) => {
      const notes = (identity?.headers ?? []).flatMap((note) => readNote(note) ?? []);
      const last = notes.at(-1);
      if (!last) return [];
      const isOpen = last.at > resumeAt;
      const note = isOpen ? (notes.findLast(({ at }) => at <= resumeAt) ?? notes[0]!) : last;
      return [{ ...note, isOpen, isSameFilter: identity?.headHash === this.#filter }];
    });
    const open = candidates.filter(({ isOpen }) => isOpen);
    const inTurn = (open.length > 0 ? open : candidates).toSorted((a, b) => a.turn - b.turn);
    return open.length > 0 ? inTurn[0] : inTurn.at(-1);
  }

  /** The sequence of the entry that comes next. `isRead`: the entry was read in another one. */
  of({ sequence: name, number, text }: Cursor, isRead: boolean): Sequence {
    const known = this.#known.get(name);
    if (known) return known;
    const from = isRead ? number + 1 : number;
    const notes = [this.#note(from, text)];
    const { id } = this.#streams.mint(this.#source, `${PATH}${name}`, this.#identity(notes), from);
    const made = { stream: id, name, behind: from, notes };
    this.#known.set(name, made);
    if (this.#known.size > MAX_JOURNAL_SEQUENCES) this.#forgetOne(name);
    return made;
  }

  byStream(stream: string): (Sequence & { readonly notes: readonly SavedHeader[] }) | undefined {
    return [...this.#known.values()].find((each) => each.stream === stream);
  }

  /** Notes that entries up to this one are offered now. */
  note({ name, stream }: Sequence, { number, text }: Cursor): void {
    const known = this.#known.get(name)!;
    known.notes = [...known.notes, this.#note(number + 1, text)];
    if (known.notes.length > MAX_JOURNAL_CURSORS) known.notes = this.#thin(known);
    this.#streams.identify(stream, this.#identity(known.notes));
  }

  /** The cursor to read a stream from this position on. */
  cursorAt(stream: string, position: number): string | undefined {
    const known = this.byStream(stream);
    const notes = known?.notes.flatMap((note) => readNote(note) ?? []) ?? [];
    const note = notes.findLast(({ at }) => at <= position) ?? notes[0];
    // The sequence's own number says where it begins; the rest of the cursor, where others do.
    return note && `s=${known!.name};i=${position.toString(16)};${note.cursor.content}`;
  }

  #note(at: number, cursor: string): SavedHeader {
    this.#turn += 1;
    return { at, text: `${this.#turn} ${cursor}` };
  }

  #identity(headers: readonly SavedHeader[]) {
    return { device: '', inode: '', headLength: 0, headHash: this.#filter, headers };
  }

  /** Without those that no start goes back to, and then with ever fewer: any one before a position will do. */
  #thin({ stream, notes }: { readonly stream: string; readonly notes: readonly SavedHeader[] }): readonly SavedHeader[] {
    const { settledTo, resumeAt = 0 } = this.#records().find(({ id }) => id === stream) ?? {};
    const first = Math.max(
      0,
      notes.findLastIndex(({ at }) => at <= Math.min(settledTo ?? resumeAt, resumeAt)),
    );
    const kept = notes.slice(first);
    return kept.length <= MAX_JOURNAL_CURSORS / 2 ? kept : kept.filter((_, n) => n % 2 === 0 || n === kept.length - 1);
  }

  /** The one that was made first, of those that are delivered. */
  #forgetOne(but: string): void {
    for (const { name, stream } of this.#known.values()) {
      if (name === but || !this.#streams.isSettled(stream)) continue;
      this.#streams.forget(stream);
      this.#known.delete(name);
      return;
    }
  }
}

function readNote({ at, text }: SavedHeader): Noted | undefined {
  const [turn, written = ''] = text.split(' ');
  const cursor = parseCursor(written);
  return cursor && { turn: Number(turn), at, cursor };
}
