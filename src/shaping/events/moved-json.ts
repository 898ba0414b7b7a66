/** JSON text of values that steps moved: the bytes that they had in the event, where it had them. */
import { itemsOf, Members } from '../../json/members.ts';
import { writeJson } from '../../json/numbers.ts';
import type { Moves } from '../rows/moves.ts';
import { splitsOf } from '../rows/values/paths.ts';
import { canonical, isObject, settledValue, type RowValue } from '../rows/values/value.ts';
import { editedJson, type PrintJson } from './edited-json.ts';

/** A value of the event, and where its text is. */
export interface FoundValue {
  readonly from: number;
  readonly to: number;
  readonly value: RowValue;
}

/** The current event. */
export interface MovedFrom {
  readonly bytes: Buffer;
  /** The member of that name that counts; undefined if the event has none. */
  find(name: string): FoundValue | undefined;
}

/** Behind an item that was left out, so many are looked at for the one that a row has. */
const MOST_LEFT_OUT = 64;

export class MovedJson {
  readonly #moves: Moves;
  readonly #event: MovedFrom;
  #row = 0;
  /** The items of one list of the event: the same for all of its rows. */
  #items: { readonly from: number; readonly places: ReturnType<typeof itemsOf> } | undefined;
  readonly #print: PrintJson = (path, value) => this.#exact(path, value);

  constructor(moves: Moves, event: MovedFrom) {
    this.#moves = moves;
    this.#event = event;
  }

  /** Says which of the event's siblings is printed; 0 for the first of another event. */
  begin(row: number): void {
    this.#row = row;
    if (row === 0) this.#items = undefined;
  }

  /** The value's text; `own`: what stood there before. Undefined for a number that no double holds and the event does not have. */
  json(name: string, value: RowValue, own: FoundValue | undefined): string | undefined {
    const { bytes } = this.#event;
    const print = this.#moves.names.has(name) ? this.#print : undefined;
    if (own) return editedJson(bytes, own.from, own.to, own.value, value, name, print);
    const exact = print?.(name, value);
    if (exact !== undefined) return exact;
    if (print && (value === Infinity || value === -Infinity)) return undefined;
    return (print && this.#edited(name, value)) ?? writeJson(value);
  }

  /** The text of an object or list that was changed since it was moved. */
  #edited(path: string, value: RowValue): string | undefined {
    if (typeof value !== 'object') return undefined;
    for (const source of this.#sourcesOf(path)) {
      const isAlike = isObject(value) ? isObject(source.value) : Array.isArray(value) && Array.isArray(source.value);
      if (isAlike) return editedJson(this.#event.bytes, source.from, source.to, source.value, value, path, this.#print);
    }
    return undefined;
  }

  #exact(path: string, value: RowValue): string | undefined {
    for (const source of this.#sourcesOf(path)) if (isSame(source.value, value)) return this.#textOf(source);
    return undefined;
  }

  #textOf({ from, to }: FoundValue): string {
    return this.#event.bytes.toString('utf8', from, to);
  }

  *#sourcesOf(path: string): Generator<FoundValue> {
    for (const name of this.#moves.sourcesOf(path)) yield* this.#locate(name);
  }

  *#locate(name: string): Generator<FoundValue> {
    const bracket = name.endsWith(']') ? name.lastIndexOf('[') : -1;
    if (bracket >= 0) {
      const index = name.slice(bracket + 1, -1);
      for (const list of this.#locate(name.slice(0, bracket)))
        yield* this.#itemsOf(list, index === '' ? undefined : Number(index));
      return;
    }
    const flat = this.#event.find(name);
    if (flat) yield flat;
    for (const [head, rest] of splitsOf(name)) {
      const bases = head.endsWith(']') ? this.#locate(head) : [this.#event.find(head)];
      for (const base of bases) if (base) yield* this.#inside(base, rest);
    }
  }

  *#itemsOf({ from, value }: FoundValue, index: number | undefined): Generator<FoundValue> {
    if (!Array.isArray(value)) return;
    if (this.#items?.from !== from) this.#items = { from, places: itemsOf(this.#event.bytes, from) };
    const { places } = this.#items;
    const first = index ?? this.#row;
    const end = index === undefined ? first + MOST_LEFT_OUT : first + 1;
    for (let n = first; n < Math.min(end, places.length); n++) yield { ...places[n]!, value: value[n] as RowValue };
  }

  *#inside({ from, value }: FoundValue, name: string): Generator<FoundValue> {
    if (!isObject(value)) return;
    const members = new Members();
    members.scan(this.#event.bytes, from);
    const find = (wanted: string): FoundValue | undefined => {
      for (let n = members.count - 1; n >= 0; n--)
        if (members.nameOf(n) === wanted)
          return { from: members.valueFrom[n]!, to: members.valueTo[n]!, value: value[wanted]! };
      return undefined;
    };
    const flat = find(name);
    if (flat) yield flat;
    for (const [head, rest] of splitsOf(name)) {
      const base = find(head);
      if (base) yield* this.#inside(base, rest);
    }
  }
}

/** As an expression gives the value, or as it is. */
function isSame(before: RowValue, now: RowValue): boolean {
  if (before === now) return true;
  const given = settledValue(canonical(before));
  return given !== undefined && given === settledValue(canonical(now));
}
