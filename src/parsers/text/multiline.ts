/** Lines joined by a pattern: either it tells the lines that begin an event, or those that go on with the one before. */
import type { Grouping, GroupingLimits } from './grouping.ts';
import type { Pattern } from './pattern.ts';

export interface MultilineRule {
  readonly kind: 'start' | 'continue';
  readonly pattern: Pattern;
}

/** True for the text of a line that begins an event. */
export function beginsEvent({ kind, pattern }: MultilineRule, bytes: Buffer, start: number, end: number): boolean {
  return pattern.test(bytes, start, end) === (kind === 'start');
}

export function createMultiline(rule: MultilineRule, limits: GroupingLimits): Grouping {
  return {
    ...limits,
    begins: (bytes, start, end) => beginsEvent(rule, bytes, start, end),
    mayContinue: (bytes, start, end) => !beginsEvent(rule, bytes, start, end),
    // The next line decides.
    isWhole: () => false,
    reset() {},
  };
}
