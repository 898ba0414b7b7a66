/** What shaping did to events, as runs: what is added and appended comes out again, equal neighbours as one run. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { ShapingOutcomes } from '../../src/batcher/shaping-outcomes.ts';
import { DISPOSITIONS } from '../../src/core/shaping.ts';

const run = fc.tuple(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 0, max: 2 }), fc.integer({ min: 0, max: 3 }));
type Run = readonly [number, number, number];

/** The same, event by event. */
const eventsOf = (outcomes: ShapingOutcomes): string[] => {
  const events: string[] = [];
  outcomes.walk((count, sent, disposition) =>
    events.push(...Array.from({ length: count }, () => `${sent} ${disposition}`)),
  );
  return events;
};

const addAll = (outcomes: ShapingOutcomes, runs: readonly Run[]): ShapingOutcomes => {
  for (const [events, sent, kind] of runs) outcomes.add(events, sent, DISPOSITIONS[kind]!);
  return outcomes;
};

test('appended outcomes are those added one by one, and what they came from stays as it was', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.array(run, { maxLength: 20 }), fc.boolean())), (parts) => {
      const [appended, added] = [new ShapingOutcomes(), new ShapingOutcomes()];
      for (const [runs, isTyped] of parts) {
        const stored = addAll(new ShapingOutcomes(), runs).toStored();
        const given = isTyped ? Uint32Array.from(stored) : stored;
        appended.append(new ShapingOutcomes(given));
        addAll(new ShapingOutcomes(given), [[3, 1, 0]]);
        expect([...given]).toEqual([...stored]);
        addAll(added, runs);
      }
      expect(appended.toStored()).toEqual(added.toStored());
      expect(eventsOf(appended)).toEqual(
        parts.flatMap(([runs]) =>
          runs.flatMap(([events, sent, kind]) =>
            Array.from({ length: events }, () => `${sent} ${DISPOSITIONS[kind]!}`),
          ),
        ),
      );
    }),
  );
});
