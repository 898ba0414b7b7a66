/**
 * Finds a kind of secret: the part of a text to hide. Each detector is linear in the text: a pattern begins only after a character of
 * another kind, or reads at most a fixed number of characters ahead.
 */

export interface DetectedSpan {
  readonly start: number;
  readonly end: number;
}

export type Detector = (text: string) => Iterable<DetectedSpan>;

/** Every match of the pattern, or of its group `secret`. The flags need g and, with the group, d. */
export const matching = (pattern: RegExp, accept: (match: string) => boolean = () => true): Detector =>
  function* matches(text) {
    for (const match of text.matchAll(pattern)) {
      const [start, end] = match.indices?.groups?.['secret'] ?? [match.index, match.index + match[0].length];
      if (accept(match[0])) yield { start, end };
    }
  };

export const either = (...detectors: readonly Detector[]): Detector =>
  function* all(text) {
    for (const detector of detectors) yield* detector(text);
  };

/** The text with each span replaced; of overlapping ones the first. */
export function replaceSpans(text: string, spans: Iterable<DetectedSpan>, by: string): string {
  let result = '';
  let done = 0;
  for (const { start, end } of [...spans].sort((a, b) => a.start - b.start || b.end - a.end)) {
    if (start < done) continue;
    result += text.slice(done, start) + by;
    done = end;
  }
  return done === 0 ? text : result + text.slice(done);
}
