/** Events that a test expects beside those that were found. */
import { isDeepStrictEqual } from 'node:util';
import type { JsonValue } from '../core/block.ts';

export type Event = Readonly<Record<string, JsonValue>>;

/** An event that differs in one field, or as a whole where its counterpart is missing. `event` counts from 0. */
interface Difference {
  readonly event: number;
  readonly field?: string;
}

export interface Comparison {
  readonly ok: boolean;
  /** The events without the fields that were ignored. */
  readonly found: readonly Event[];
  readonly differences: readonly Difference[];
}

/** `ignored` fields count only where they are expected. */
export function compareEvents(expected: readonly Event[], events: readonly Event[], ignored: ReadonlySet<string>): Comparison {
  const found = events.map((event, index) =>
    Object.fromEntries(Object.entries(event).filter(([name]) => !ignored.has(name) || Object.hasOwn(expected[index] ?? {}, name))),
  );
  const differences: Difference[] = [];
  for (let event = 0; event < Math.max(expected.length, found.length); event++) {
    const [wanted, got] = [expected[event], found[event]];
    if (!wanted || !got) {
      differences.push({ event });
      continue;
    }
    const names = new Set([...Object.keys(wanted), ...Object.keys(got)]);
    for (const field of names) {
      const isSame = Object.hasOwn(wanted, field) === Object.hasOwn(got, field) && isDeepStrictEqual(wanted[field], got[field]);
      if (!isSame) differences.push({ event, field });
    }
  }
  return { ok: differences.length === 0, found, differences };
}
