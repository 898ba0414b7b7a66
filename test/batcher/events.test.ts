import { gzipSync, zstdCompressSync } from 'node:zlib';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { decode, locateFailures, offsetOfEvent, sliceEvents, splitEvents } from '../../src/batcher/events.ts';
import type { EventShape } from '../../src/core/block.ts';
import type { NamedFailure } from '../../src/core/sink.ts';
import { READ_AT_MS, kernel } from './blocks.ts';

const bodyOf = (events: readonly string[]): Buffer => Buffer.from(events.map((event) => `${event}\n`).join(''));
const failure = (changes: Partial<NamedFailure>): NamedFailure => ({
  index: undefined,
  timestamp: '',
  error: 'no',
  ...changes,
});
const event = fc.string({ unit: 'binary', minLength: 1, maxLength: 20 }).map((text) => JSON.stringify({ text }));

test('body is decoded from every encoding', () => {
  const body = Buffer.from('{"a":1}\n{"b":"ü"}\n');
  expect(decode(body, 'identity').equals(body)).toBe(true);
  expect(decode(gzipSync(body), 'gzip').equals(body)).toBe(true);
  expect(decode(zstdCompressSync(body), 'zstd').equals(body)).toBe(true);
  // A view into a larger buffer is decoded alone.
  const larger = Buffer.concat([Buffer.from('xx'), body, Buffer.from('yy')]);
  expect(decode(new Uint8Array(larger.buffer, larger.byteOffset + 2, body.length), 'identity').equals(body)).toBe(true);
});

test('slices of a body are the events that were asked for, and together the body', () => {
  fc.assert(
    fc.property(fc.array(event, { minLength: 1, maxLength: 20 }), fc.nat(), fc.nat(), (events, a, b) => {
      const body = bodyOf(events);
      const first = a % events.length;
      const count = b % (events.length - first + 1);
      expect(sliceEvents(body, first, count).toString()).toBe(bodyOf(events.slice(first, first + count)).toString());
      const rest = [
        sliceEvents(body, 0, first),
        sliceEvents(body, first, count),
        sliceEvents(body, first + count, events.length - first - count),
      ];
      expect(Buffer.concat(rest).equals(body)).toBe(true);
      expect(splitEvents(body).map(String)).toEqual(events);
    }),
  );
});

const text: EventShape = { format: 'text', wrapFields: {}, fields: {} };
const template = kernel.compile(text, undefined);
const input = kernel.reserve(4096);
const output = kernel.reserve(64 * 1024);

/** Where each event of these lines begins, found by asking the kernel about every beginning of them. */
function offsetsByKernel(bytes: Buffer): number[] {
  input.bytes.set(bytes);
  const offsets: number[] = [];
  for (let from = 0; from < bytes.length;) {
    const to = bytes.indexOf(10, from) + 1;
    const { events } = kernel.wrap(template, READ_AT_MS, input, from, to, output, 0, output.bytes.length, 10);
    if (events > 0) offsets.push(from);
    from = to;
  }
  return offsets;
}

test('offset of an event counts what the kernel counts, with empty lines and carriage returns anywhere', () => {
  const line = fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom('', '\r', '\r\r', '\rx', 'x\r', ' ', '\t\r', '\0', '{}', '"') },
    fc.string({ unit: 'binary', maxLength: 12 }).map((each) => each.replaceAll('\n', '')),
    fc.uint8Array({ maxLength: 40 }).map((each) => Buffer.from(each).toString('latin1').replaceAll('\n', '')),
  );
  fc.assert(
    fc.property(fc.array(line, { maxLength: 30 }), (lines) => {
      const bytes = Buffer.from(lines.map((each) => `${each}\n`).join(''), 'latin1');
      const offsets = offsetsByKernel(bytes);
      expect(offsets.map((_, index) => offsetOfEvent(bytes, index))).toEqual(offsets);
    }),
    { numRuns: 1000 },
  );
});

test('offset of an event is found in an unfinished last line, and is the beginning where there is no such event', () => {
  expect(offsetOfEvent(Buffer.from('\n\r\na\nrest'), 1)).toBe(5);
  expect(offsetOfEvent(Buffer.from('a\nb\n'), 2)).toBe(0);
  expect(offsetOfEvent(Buffer.alloc(0), 0)).toBe(0);
});

const times = ['2026-11-21T10:00:00.1Z', '2026-11-21T10:00:00.2Z', '2026-11-21T10:00:00.2Z', '2026-11-21T10:00:01Z'];
const timed = bodyOf([...times.map((_time, n) => JSON.stringify({ _time, n })), '{"n":4}', 'not json']);

test('failures are located by index, whatever time they name', () => {
  expect(
    locateFailures(
      timed,
      [failure({ index: 2, error: 'a' }), failure({ index: 5, timestamp: times[0]!, error: 'b' })],
      2,
    ),
  ).toEqual(
    new Map([
      [2, 'a'],
      [5, 'b'],
    ]),
  );
});

test.for([
  ['2026-11-21T10:00:00.1Z', 0],
  ['2026-11-21T10:00:00.100000000Z', 0],
  ['2026-11-21T12:00:00.1+02:00', 0],
  ['2026-11-21T05:30:01-0430', 3],
  ['2026-11-21 10:00:01.0z', 3],
] as const)('failure named by the time %s is located, however it is spelled', ([timestamp, place]) => {
  expect(locateFailures(timed, [failure({ timestamp })], 1)).toEqual(new Map([[place, 'no']]));
});

test.for([
  ['a time that two events have', [failure({ timestamp: times[1]! })], 1],
  ['a time that no event has', [failure({ timestamp: '2026-11-21T10:00:00.3Z' })], 1],
  ['no time', [failure({})], 1],
  ['a time that is none', [failure({ timestamp: 'yesterday' })], 1],
  ['an instant a nanosecond off', [failure({ timestamp: '2026-11-21T10:00:00.100000001Z' })], 1],
  ['the same event twice', [failure({ index: 1 }), failure({ index: 1 })], 2],
  ['the same event by index and by time', [failure({ index: 0 }), failure({ timestamp: times[0]! })], 2],
  ['as many as it says, one of them twice', [failure({ index: 1 }), failure({ index: 1 }), failure({ index: 2 })], 2],
  ['fewer than it says', [failure({ index: 1 })], 2],
  ['more than it says', [failure({ index: 1 }), failure({ index: 2 })], 1],
  ['nobody', [], 1],
  ['an event behind the last', [failure({ index: 6 })], 1],
  ['an event before the first', [failure({ index: -1 })], 1],
  ['half an event', [failure({ index: 0.5 })], 1],
  ['no number', [failure({ index: NaN })], 1],
] as const)('failures that name %s are located nowhere', ([, failures, failed]) => {
  expect(locateFailures(timed, failures, failed)).toBeUndefined();
});

test('failures are located as exactly the failed events, or not at all, whatever a service says', () => {
  const named = fc.record({
    index: fc.option(fc.oneof(fc.integer({ min: -2, max: 8 }), fc.double()), { nil: undefined }),
    timestamp: fc.oneof(fc.constantFrom(...times), fc.string()),
    error: fc.string(),
  });
  fc.assert(
    fc.property(fc.array(named, { maxLength: 8 }), fc.nat({ max: 8 }), (failures, failed) => {
      const found = locateFailures(timed, failures, failed);
      if (!found) return;
      expect(found.size).toBe(failed);
      for (const place of found.keys()) expect(Number.isInteger(place) && place >= 0 && place < 6).toBe(true);
    }),
    { numRuns: 1000 },
  );
});
