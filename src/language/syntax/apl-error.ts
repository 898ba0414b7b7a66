/** An error in a query's text, and the offset of its place. `compile` turns it into the reply's line and column. */

/** As the replies number them: 1 the text cannot be read, 2 it can be read but makes no sense, 3 a dataset, 4 running it. */
export const ERROR_TYPES = { syntax: 1, meaning: 2, dataset: 3, running: 4 } as const;
export type ErrorType = keyof typeof ERROR_TYPES;

export class AplError extends Error {
  override readonly name = 'AplError';
  readonly type: ErrorType;
  readonly at: number;
  /** The message without the fix. */
  readonly what: string;
  /** What to write instead. */
  readonly fix: string | undefined;

  constructor(type: ErrorType, at: number, what: string, fix?: string) {
    super(fix === undefined ? what : `${what}; ${fix}`);
    this.type = type;
    this.at = at;
    this.what = what;
    this.fix = fix;
  }
}

export const syntaxError = (at: number, what: string, fix?: string): AplError => new AplError('syntax', at, what, fix);
export const meaningError = (at: number, what: string, fix?: string): AplError =>
  new AplError('meaning', at, what, fix);

/** Returns the result of `read`, or the `AplError` that it throws. */
export function attempt<T>(read: () => T): T | AplError {
  try {
    return read();
  } catch (error) {
    if (error instanceof AplError) return error;
    throw error;
  }
}

/** 1-based line and column of an offset; columns count characters, not UTF-16 units. */
export function positionIn(text: string, at: number): { readonly line: number; readonly column: number } {
  const before = text.slice(0, at);
  const start = before.lastIndexOf('\n') + 1;
  return { line: before.split('\n').length, column: Array.from(before.slice(start)).length + 1 };
}
