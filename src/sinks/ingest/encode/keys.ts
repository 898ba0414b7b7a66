/**
 * Which column a key belongs to, for the events of one body. Most events have the same keys in the same order, so that
 * comparing with the event before is enough as a rule, and a key becomes text only when it is new.
 */
import { readString } from '../../../json/members.ts';

/** Longest key, in bytes, that is compared with the one before. */
const MAX_COMPARED = 64;

export class ColumnKeys {
  readonly #bytes: Buffer;
  /** Called once for each spelling of a key. */
  readonly #columnOf: (name: string) => number;
  /** Columns by the key's bytes. */
  readonly #known = new Map<string, number>();
  /** The places of the previous event's keys, and their columns. */
  readonly #from: number[] = [];
  readonly #length: number[] = [];
  readonly #column: number[] = [];
  #place = 0;

  constructor(bytes: Buffer, columnOf: (name: string) => number) {
    this.#bytes = bytes;
    this.#columnOf = columnOf;
  }

  /** A new event begins. */
  start(): void {
    this.#place = 0;
  }

  /** The column of the event's next key. */
  next(from: number, to: number): number {
    const place = this.#place++;
    const length = to - from;
    if (this.#length[place] === length && length <= MAX_COMPARED && this.#isSame(from, this.#from[place]!, length)) {
      return this.#column[place]!;
    }
    const raw = this.#bytes.toString('latin1', from, to);
    let column = this.#known.get(raw);
    if (column === undefined) this.#known.set(raw, (column = this.#columnOf(readString(this.#bytes, from, to))));
    this.#from[place] = from;
    this.#length[place] = length;
    this.#column[place] = column;
    return column;
  }

  #isSame(a: number, b: number, length: number): boolean {
    const bytes = this.#bytes;
    for (let at = 0; at < length; at++) if (bytes[a + at] !== bytes[b + at]) return false;
    return true;
  }
}
