/** Offsets in a text to lines and columns, both counted from 1. */

export interface Position {
  readonly line: number;
  readonly column: number;
}

export class LineIndex {
  readonly #starts: number[] = [0];

  constructor(text: string) {
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) this.#starts.push(at + 1);
  }

  /** `line` counts from 0. */
  startOf(line: number): number {
    return this.#starts[line] ?? 0;
  }

  locate(at: number): Position {
    let low = 0;
    let high = this.#starts.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if ((this.#starts[middle] ?? 0) <= at) low = middle;
      else high = middle;
    }
    return { line: low + 1, column: at - (this.#starts[low] ?? 0) + 1 };
  }
}
