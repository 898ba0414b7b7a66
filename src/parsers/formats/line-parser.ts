/** A format's own parser of an event's text. Parsers are pure: the same text and read time give the same events. */
import type { EventFields } from '../values/fields.ts';

export interface FormatParser {
  /**
   * The events of one text: a line without its ending, or the lines that the format's grouping joins, by newlines. Most texts are one
   * event; a line without meaning of its own is no event. Unparsable text is whole in `message`, with `parse_error`. A string is the text of a
   * JSON object that keeps its bytes.
   */
  parse(text: string): readonly (EventFields | string)[];
  /** Begins with another stream. */
  restart?(): void;
  /** Goes on in the middle of another stream, which begins with `head`. */
  learn?(head: string): void;
  /** The header in force, as `learn` takes it; empty where none was read. Absent: none comes later than a stream's first. */
  header?(): string;
}

/** All that is made of a source's texts in JavaScript. */
export interface LineParser {
  /**
   * As `FormatParser` says. A string is the text as it is, or the JSON of an object: the kernel takes it as it takes a line.
   * `readAtMs`: when the text was read.
   */
  parse(text: string, readAtMs: number): readonly (EventFields | string)[];
  restart?(): void;
  learn?(head: string): void;
  header?(): string;
}
