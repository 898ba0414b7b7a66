/** Values of an event's members, those that a pipeline asks for and no others. */
import type { ByteWriter } from '../../core/bytes/byte-writer.ts';
import { type FoundValue, MovedJson } from '../events/moved-json.ts';
import { type Members, readString } from '../../json/members.ts';
import { NameIndex } from '../events/name-index.ts';
import { type Edit, writeSplicedLine } from '../../json/splice.ts';
import type { RowProgram } from '../rows/program.ts';
import { parseJson, type EventRow, type RowValue } from '../rows/values/value.ts';

const QUOTE = 0x22;
const ZERO = 0x30;
const NINE = 0x39;
/** Digits that any number keeps exactly. */
const SHORT_DIGITS = 15;
/** The field that every event keeps (events/write-event). */
const TIME = '_time';

/** The fields of an event that a pipeline reads or writes, where they are known: all others are only copied. */
export class FewFields {
  readonly #members: Members;
  readonly #index: NameIndex;
  /** By slot: it may be changed. */
  readonly #isWritten: readonly boolean[];
  /** By slot: the value before, undefined where the event has none. */
  readonly #before: (RowValue | undefined)[];
  /** By slot: the member that counts, undefined where the event has none. */
  readonly #lastOf: (number | undefined)[];
  /** By member: its slot. */
  readonly #slots: number[] = [];
  /** By slot: the JSON text that it gets, null where it goes, undefined where it stays. */
  readonly #changes: (string | null | undefined)[];
  /** By member. */
  readonly #edits: Edit[] = [];
  readonly #moved: MovedJson;

  constructor(members: Members, { moves }: RowProgram, reads: ReadonlySet<string>, writes: ReadonlySet<string>) {
    this.#members = members;
    this.#moved = createMovedJson(moves, members, (name) => this.#found(this.#index.names.indexOf(name)));
    this.#index = new NameIndex(new Set([...reads, ...writes]));
    this.#isWritten = this.#index.names.map((name) => writes.has(name));
    this.#before = this.#index.names.map(() => undefined);
    this.#changes = this.#index.names.map(() => undefined);
    this.#lastOf = this.#index.names.map(() => undefined);
  }

  read(): EventRow {
    const row: EventRow = new Map();
    const members = this.#members;
    const { names } = this.#index;
    this.#before.fill(undefined);
    this.#lastOf.fill(undefined);
    this.#slots.length = members.count;
    for (let n = 0; n < members.count; n++) {
      const slot = this.#index.slotOf(members, n);
      this.#slots[n] = slot;
      if (slot < 0) continue;
      this.#lastOf[slot] = n;
      row.set(names[slot]!, (this.#before[slot] = valueOf(members, n)));
    }
    return row;
  }

  #found(slot: number): FoundValue | undefined {
    return foundIn(this.#members, this.#lastOf[slot], this.#before[slot]);
  }

  /** Writes the event as the row says, the `n`th of its siblings; false where nothing of it changed. */
  write(row: EventRow, n: number, out: ByteWriter): boolean {
    const { names } = this.#index;
    this.#moved.begin(n);
    const changes = this.#changes.fill(undefined);
    let isChanged = false;
    let hasAdded = false;
    for (let slot = 0; slot < names.length; slot++) {
      if (!this.#isWritten[slot]) continue;
      const value = row.get(names[slot]!);
      const before = this.#before[slot];
      if (value === before) continue;
      isChanged = true;
      if (value !== undefined && before === undefined) hasAdded = true;
      else if (value !== undefined) changes[slot] = this.#moved.json(names[slot]!, value, this.#found(slot)) ?? null;
      else if (names[slot] !== TIME) changes[slot] = null;
    }
    if (!isChanged) return false;
    writeSplicedLine(out, this.#members, this.#editsOf(changes), hasAdded ? this.#addedOf(row) : []);
    return true;
  }

  /** Of a repeated name the first member gets the new value, and the others go. */
  #editsOf(changes: (string | null | undefined)[]): readonly Edit[] {
    const edits = this.#edits;
    edits.length = this.#slots.length;
    for (const [n, slot] of this.#slots.entries()) {
      const change = slot < 0 ? undefined : changes[slot];
      edits[n] = change === undefined ? 'keep' : change === null ? 'remove' : { json: change };
      if (typeof change === 'string') changes[slot] = null;
    }
    return edits;
  }

  /** Members that the event did not have, in the order of the row. */
  #addedOf(row: EventRow): (readonly [name: string, json: string])[] {
    const added: [string, string][] = [];
    for (const [name, value] of row) {
      const slot = this.#index.names.indexOf(name);
      if (!(slot >= 0 && this.#isWritten[slot] === true && this.#before[slot] === undefined)) continue;
      const json = this.#moved.json(name, value, undefined);
      if (json !== undefined) added.push([name, json]);
    }
    return added;
  }
}

export function createMovedJson(
  moves: RowProgram['moves'],
  members: Members,
  find: (name: string) => FoundValue | undefined,
): MovedJson {
  const event = {
    get bytes() {
      return members.bytes;
    },
    find,
  };
  return new MovedJson(moves, event);
}

/** A value of the event; undefined where it has none of that name. */
export function foundIn(
  { valueFrom, valueTo }: Members,
  member: number | undefined,
  value: RowValue | undefined,
): FoundValue | undefined {
  return member === undefined || value === undefined
    ? undefined
    : { from: valueFrom[member]!, to: valueTo[member]!, value };
}

export function valueOf(members: Members, member: number): RowValue {
  const { bytes, valueFrom, valueTo } = members;
  const [from, to] = [valueFrom[member]!, valueTo[member]!];
  if (bytes[from] === QUOTE) return readString(bytes, from, to);
  if (to - from <= SHORT_DIGITS) {
    let number = 0;
    let at = from;
    for (; at < to && bytes[at]! >= ZERO && bytes[at]! <= NINE; at++) number = 10 * number + bytes[at]! - ZERO;
    if (at === to) return number;
  }
  return parseJson(bytes.toString('utf8', from, to)) ?? null;
}
