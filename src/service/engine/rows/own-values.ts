/** The values of a field's own column in a block: Nullable(T), which is a byte a row that says whether it is null, then all values. */
import { wireType, type OwnColumn } from '../own-columns.ts';
import { Bytes } from './bytes.ts';

export class OwnValues {
  readonly column: OwnColumn;
  readonly #nulls = new Bytes(1024);
  readonly #values = new Bytes(8 * 1024);
  #rows = 0;

  constructor(column: OwnColumn) {
    this.column = column;
  }

  /** Bytes of the values so far. */
  get length(): number {
    return this.#nulls.length + this.#values.length;
  }

  /** The value of row number `row`, which grows from call to call. Rows between have none. */
  put(row: number, value: string | number | bigint | boolean): void {
    this.#skipTo(row);
    this.#nulls.byte(0);
    this.#add(value);
    this.#rows++;
  }

  /** Name, type and values of all rows. */
  write(out: Bytes, rows: number): void {
    this.#skipTo(rows);
    out.string(this.column.name);
    out.string(wireType(this.column));
    out.raw(this.#nulls.done());
    out.raw(this.#values.done());
  }

  #skipTo(row: number): void {
    const empty = EMPTY[this.column.map];
    for (; this.#rows < row; this.#rows++) {
      this.#nulls.byte(1);
      this.#add(empty);
    }
  }

  #add(value: string | number | bigint | boolean): void {
    switch (this.column.map) {
      case 'i':
        return this.#values.int64(value as number | bigint);
      case 'f':
        return this.#values.float64(value as number);
      case 'b':
        return this.#values.byte(value === true ? 1 : 0);
      case 's':
        return this.#values.string(value as string);
    }
  }
}

/** The filler for a null. */
const EMPTY = { s: '', i: 0, f: 0, b: false } as const;
