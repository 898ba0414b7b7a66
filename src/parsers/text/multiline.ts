/** Lines joined by a pattern: either it tells the lines that begin an event, or those that go on with the one before. */
import type { Grouping, GroupingLimits } from './grouping.ts';
import type { Pattern } from './pattern.ts';

export interface MultilineRule {
  readonly kind: 'start' | 'continue';
  readonly pattern: Pattern;
  /** Matches a line before the first one that belongs to the same event. */
  readonly before?: Pattern | undefined;
}

/** True for the text of a line that begins an event. */
export function beginsEvent({ kind, pattern }: MultilineRule, bytes: Buffer, start: number, end: number): boolean {
  return pattern.test(bytes, start, end) === (kind === 'start');
}

export function createMultiline(rule: MultilineRule, limits: GroupingLimits): Grouping {
  const { before } = rule;
  let isBehind = false;
  return {
    ...limits,
    begins(bytes, start, end) {
      const wasBehind = isBehind;
      isBehind = before !== undefined && before.test(bytes, start, end);
      return isBehind || (!wasBehind && beginsEvent(rule, bytes, start, end));
    },
    mayContinue: (bytes, start, end) => !beginsEvent(rule, bytes, start, end) && !before?.test(bytes, start, end),
    // The next line decides.
    isWhole: () => false,
    reset() {
      isBehind = false;
    },
  };
}
