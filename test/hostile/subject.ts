/** A piece of work that meets a text from outside. */
export interface Subject {
  readonly name: string;
  readonly run: (text: string) => unknown;
}

/** The text as JSON, also where its characters are no pairs. */
export const quotedJson = (text: string): string => JSON.stringify(text);
