/** Fates of events as runs: what is added and appended comes out again, neighbours of one fate as one run. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { Fates } from '../../src/batcher/fates.ts';
import { UNSENT } from '../../src/core/shaping.ts';

const run = fc.tuple(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 0, max: 2 }), fc.integer({ min: 0, max: 3 }));
type Run = readonly [number, number, number];

/** The same, event by event. */
const eventsOf = (fates: Fates): string[] => {
  const events: string[] = [];
  fates.walk((count, sent, unsent) => events.push(...Array.from({ length: count }, () => `${sent} ${unsent}`)));
  return events;
};

const addAll = (fates: Fates, runs: readonly Run[]): Fates => {
  for (const [events, sent, kind] of runs) fates.add(events, sent, UNSENT[kind]!);
  return fates;
};

test('appended fates are those added one by one, and what they came from stays as it was', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.array(run, { maxLength: 20 }), fc.boolean())), (parts) => {
      const [appended, added] = [new Fates(), new Fates()];
      for (const [runs, isTyped] of parts) {
        const stored = addAll(new Fates(), runs).toStored();
        const given = isTyped ? Uint32Array.from(stored) : stored;
        appended.append(new Fates(given));
        addAll(new Fates(given), [[3, 1, 0]]);
        expect([...given]).toEqual([...stored]);
        addAll(added, runs);
      }
      expect(appended.toStored()).toEqual(added.toStored());
      expect(eventsOf(appended)).toEqual(
        parts.flatMap(([runs]) =>
          runs.flatMap(([events, sent, kind]) => Array.from({ length: events }, () => `${sent} ${UNSENT[kind]!}`)),
        ),
      );
    }),
  );
});
