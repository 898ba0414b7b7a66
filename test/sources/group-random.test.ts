import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { createGroupRig, type GroupedPlace, type GroupRig, joinSpans, read, replay, START } from './group-rig.ts';

const SOURCE = "max_event_bytes: 1KiB\ngroup: {by: 'k=(\\w)', within: 1s}";

/** Lines of a few keys, with times that go on by up to 900 ms, and now and then back; some without a key, a time, or any text. */
const line = fc.record({
  key: fc.constantFrom('a', 'b', 'c', 'd', 'e', '', ''),
  stepMs: fc.constantFrom(0, 0, 1, 90, 300, 900, -200, 1200),
  kind: fc.constantFrom('timed', 'timed', 'timed', 'timed', 'timed', 'untimed', 'empty', 'long'),
});
const log = fc.tuple(fc.array(line, { maxLength: 60 }), fc.boolean()).map(([lines, isWhole]) => {
  let atMs = Date.parse('2026-11-22T17:00:00Z');
  const texts = lines.map(({ key, stepMs, kind }, n) => {
    atMs += stepMs;
    if (kind === 'empty') return '';
    const text = `${kind === 'untimed' ? '' : `${new Date(atMs).toISOString()} `}${key === '' ? 'plain' : `k=${key}`} n${n}`;
    return kind === 'long' && n % 7 === 0 ? `${text} ${'x'.repeat(2000)}` : text;
  });
  return Buffer.from(['first', ...texts].join('\n') + (isWhole ? '\n' : ''));
});
const pieces = fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 1, maxLength: 5 });
const limits = { maxGroups: 3, maxBytes: 400 };
let rig: GroupRig;
const begin = async (): Promise<void> => void (rig = await createGroupRig(SOURCE, limits));

/** Reads the log with restarts: each goes on from the place after one of the next events, drawn by `skips`, as the state has it. */
function readWithRestarts(
  bytes: Buffer,
  sizes: readonly number[],
  skips: readonly number[],
  saved: (place: GroupedPlace) => GroupedPlace,
): string[] {
  const found: string[] = [];
  let place = START;
  for (const skip of skips) {
    const { events, places } = read(rig, bytes, place, sizes);
    const next = places[skip];
    if (!next) break;
    found.push(...events.filter(({ end }) => end <= next.at).map(({ message }) => message));
    place = saved(next);
  }
  return [...found, ...read(rig, bytes, place, sizes).events.map(({ message }) => message)];
}

const restarts = (saved: (place: GroupedPlace) => GroupedPlace) =>
  fc.property(log, pieces, fc.array(fc.nat(12), { maxLength: 6 }), (bytes, sizes, skips) => {
    const once = read(rig, bytes, START, [bytes.length]);
    expect(readWithRestarts(bytes, sizes, skips, saved)).toEqual(once.events.map(({ message }) => message));
  });

test('groups are the same events for any sizes of the reads and any restarts', async () => {
  await begin();
  fc.assert(
    restarts((place) => place),
    { numRuns: 1500 },
  );
});

test.each<[name: string, saved: (place: GroupedPlace) => GroupedPlace]>([
  ['no saved state', ({ at }) => ({ at, behind: undefined })],
  ['no gate', ({ at, behind }) => ({ at, behind: behind && { ...behind, gate: at } })],
  ['no earlier groups', ({ at, behind }) => ({ at, behind: behind && { ...behind, earlier: [] } })],
  [
    'earlier groups that take lines for ever',
    ({ at, behind }) => ({
      at,
      behind: behind && { ...behind, earlier: behind.earlier.map(([key]) => [key, Infinity]) },
    }),
  ],
])('groups after a restart with %s are other events', async (_, saved) => {
  await begin();
  expect(fc.check(restarts(saved), { numRuns: 20_000, seed: 1, endOnFailure: true }).failed).toBe(true);
});

test('groups of any span are made again as they were, whatever closed them', async () => {
  await begin();
  const from = fc.nat(100);
  fc.assert(
    fc.property(
      log,
      pieces,
      fc.array(fc.nat(30), { maxLength: 4 }),
      pieces,
      from,
      from,
      (bytes, sizes, flushes, again, one, other) => {
        const { spans } = read(rig, bytes, START, sizes, flushes);
        const [first, last] = [one % spans.length, other % spans.length].sort((a, b) => a - b) as [number, number];
        const chosen = spans.slice(first, last + 1);
        const end = chosen.findIndex(({ groups }) => !groups);
        if (end === 0) return;
        const span = joinSpans(end === -1 ? chosen : chosen.slice(0, end));
        expect(replay(rig, bytes, span, again)).toEqual({ events: span.events, to: span.to });
      },
    ),
    { numRuns: 3000 },
  );
});

test('groups lose and repeat no line, whenever all that waits is sent, and wherever another sink resumes', async () => {
  await begin();
  fc.assert(
    fc.property(
      log,
      pieces,
      fc.array(fc.nat(30), { maxLength: 4 }),
      fc.nat(20),
      fc.nat(20),
      (bytes, sizes, flushes, one, other) => {
        const before = read(rig, bytes, START, sizes, flushes);
        const [first, second] = [one % before.places.length, other % before.places.length].sort((a, b) => a - b) as [
          number,
          number,
        ];
        const [place, cut] = [before.places[first]!, before.places[second]!.at];
        const after = read(rig, bytes, place, sizes, [], [cut]);
        const lines = (events: readonly { message: string }[]): string[] =>
          events.flatMap(({ message }) => message.split('\n')).map((text) => text.slice(0, 60));
        const whole = bytes
          .toString()
          .split('\n')
          .filter((text) => text !== '')
          .map((text) => text.slice(0, 60));
        const own = before.events.filter(({ end }) => end <= place.at);
        expect([...lines(own), ...lines(after.events)].sort()).toEqual(whole.sort());
        // No event has lines on both sides of the place where the other sink goes on: that one gets all behind it.
        for (const { message } of after.events) {
          const places = message.split('\n').map((text) => bytes.indexOf(text) >= cut);
          expect(new Set(places).size).toBe(1);
        }
      },
    ),
    { numRuns: 1500 },
  );
});

test('groups that wait are bounded in number and bytes', async () => {
  await begin();
  fc.assert(
    fc.property(log, pieces, (bytes, sizes) => {
      const { mostBytes } = read(rig, bytes, START, sizes);
      // A line over the limit is not kept; the current line is no group yet.
      expect(mostBytes).toBeLessThanOrEqual(limits.maxBytes + 2 * 1024 + 300);
    }),
    { numRuns: 300 },
  );
});
