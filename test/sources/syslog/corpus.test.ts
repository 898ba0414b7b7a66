/** The corpus of messages: each becomes the event beside it, alone and in a stream that is cut at any byte. */
import { describe, expect, test } from 'vitest';
import { corpus } from './corpus/corpus.ts';
import { createRig } from './rig.ts';

const rig = createRig();
const named = corpus.map((sample) => [sample.input.toString().slice(0, 120), sample] as const);

test('the corpus has at least 200 messages, each once', () => {
  expect(new Set(corpus.map(({ input }) => input.toString('latin1'))).size).toBe(corpus.length);
  expect(corpus.length).toBeGreaterThanOrEqual(200);
});

describe('a datagram becomes its event', () => {
  test.each(named)('%j', async (_name, { input, event, isCommon }) => {
    const before = rig.stats.slowPathEvents;
    const events = await rig.take([input], 'datagram');
    expect(events.map((text) => JSON.parse(text) as unknown)).toEqual([event]);
    if (isCommon) expect(rig.stats.slowPathEvents - before, 'messages that JavaScript read').toBe(0);
  });
});

/** Where a stream of this message between two others may be cut: all places, thinned out for the few long ones. */
function cutsOf(wire: Buffer): number[] {
  const step = Math.max(1, Math.floor(wire.length / 600));
  return Array.from({ length: Math.floor(wire.length / step) }, (_, n) => n * step);
}

describe.each([
  ['octet counting', (input: Buffer) => [Buffer.from(`${input.length} `), input]],
  ['newlines', (input: Buffer) => [input, Buffer.from('\n')]],
])('a message framed by %s becomes its event, wherever its stream is cut', (_framing, frame) => {
  const isCounted = frame(Buffer.alloc(3)).length === 2 && frame(Buffer.alloc(3))[0]!.length === 2;
  const fitting = named.filter(([, { input }]) => isCounted || !/[\n\0]/.test(input.toString('latin1')));

  test.each(fitting)('%j', async (_name, { input, event }) => {
    const [first, last] = [Buffer.from('<13>first'), Buffer.from('<13>last')];
    const wire = Buffer.concat([first, input, last].flatMap(frame));
    for (const cut of cutsOf(wire)) {
      const events = await rig.stream([wire.subarray(0, cut), wire.subarray(cut)].filter(({ length }) => length > 0));
      const [before, between, after, ...more] = events.map((text) => JSON.parse(text) as Record<string, unknown>);
      expect([before?.['message'], after?.['message'], more.length], `cut at ${cut}`).toEqual(['first', 'last', 0]);
      expect(between, `cut at ${cut}`).toEqual(event);
    }
  });
});
