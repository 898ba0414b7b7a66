/**
 * Differential fuzz: kernel and reference must agree byte for byte, under any chunking and output room.
 * TAILRACE_FUZZ_LINES sets how many lines (200,000), TAILRACE_FUZZ_SEED repeats a run.
 */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { drive } from './drive.ts';
import { lines, shape, timestampField } from './lines.ts';

const wanted = Number(process.env['TAILRACE_FUZZ_LINES'] ?? 200_000);
const firstSeed = Number(process.env['TAILRACE_FUZZ_SEED'] ?? Date.now() % 1_000_000_000);
const RUNS = 200;

const step = fc.record({
  lines: fc.oneof(fc.integer({ min: 1, max: 8 }), fc.constant(1_000_000)),
  at: fc.oneof(fc.constant(0), fc.nat(300)),
  limit: fc.oneof(fc.nat(600), fc.integer({ min: 600, max: 20_000 })),
  maxEvents: fc.oneof(fc.nat(5), fc.constant(1_000_000)),
});
const plan = fc
  .record({
    shape,
    timestampField,
    readAtMs: fc.constantFrom(0, 1_795_256_100_000, 1_795_256_100_123),
    marks: fc.constantFrom(
      undefined,
      undefined,
      undefined,
      undefined,
      { truncated: true, original_bytes: 5_000_000 },
      { part: 2 },
    ),
    isJoined: fc.constantFrom(false, false, false, true),
    start: fc.nat(40),
    behind: fc.uint8Array({ minLength: 40, maxLength: 40 }),
    steps: fc.array(step, { minLength: 1, maxLength: 6 }),
  })
  .map((one) => ({ ...one, steps: one.steps.map((each) => ({ ...each, limit: Math.max(each.limit, each.at) })) }));

const seen = { lines: 0, objects: 0 };

/** Lines one by one, or joined to events by the given sizes. */
function eventsOf(lines: readonly Buffer[], sizes: readonly number[]): Buffer[] {
  const events: Buffer[] = [];
  for (let at = 0, n = 0; at < lines.length; n++) {
    const group = lines.slice(at, (at += sizes[n % sizes.length]!));
    events.push(Buffer.concat(group.flatMap((each, i) => (i === 0 ? [each] : [Buffer.from('\n'), each]))));
  }
  return events;
}

const sizes = fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 5 });
const agrees = fc.property(lines, sizes, plan, (batch, groups, how) => {
  const given = how.isJoined ? eventsOf(batch, groups) : batch;
  const events = drive(given, how).toString('latin1').split('\n');
  seen.lines += given.length;
  seen.objects += events.filter(
    (event) => event !== '' && !/^\{"_time":"(1970|2026-11-21T..:..:...(000|123)Z","message")/.test(event),
  ).length;
});

test(`kernel agrees with the reference on ${wanted} hostile lines (seed ${firstSeed})`, { timeout: 3_600_000 }, () => {
  for (let seed = firstSeed; seen.lines < wanted; seed++) fc.assert(agrees, { seed, numRuns: RUNS });
  process.stdout.write(
    `kernel fuzz: ${seen.lines} lines, about ${seen.objects} passed through as JSON, first seed ${firstSeed}\n`,
  );
  expect(seen.objects / seen.lines, 'share of lines that pass through as JSON').toBeGreaterThan(0.15);
});
