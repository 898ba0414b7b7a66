/** Joining lines to events: what decides which lines belong together. Where that is in a window is sources/framing/line-groups' matter. */

export interface GroupingLimits {
  readonly maxLines: number;
  /** From the beginning of an event's first line to the end of its last, newlines included. */
  readonly maxBytes: number;
}

export interface Grouping extends GroupingLimits {
  /**
   * True when the line whose text is `bytes[start, end)` begins an event, false when it belongs to the one before. The text is
   * UTF-8, if it is valid, without the line's ending. Asked once for each line in order since `reset`, the first one included,
   * and the answers depend on nothing but those lines.
   */
  begins(bytes: Buffer, start: number, end: number): boolean;
  /**
   * False when the line always begins an event. Absent where no event of a file goes on in the next one.
   */
  mayContinue?(bytes: Buffer, start: number, end: number): boolean;
  /** True when nothing that follows can belong to the event of the line that was asked about last. */
  isWhole(): boolean;
  /** Forgets the lines before. */
  reset(): void;
}
