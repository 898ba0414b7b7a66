/** Keeps refused events as dead letters, each with its place in the file that it came from. */
import { offsetOfEvent } from '../batcher/events.ts';
import type { Clock } from '../core/time/clock.ts';
import type { DeadLetter } from '../core/sink.ts';
import { type DeadLetters, type Letter, toLetter } from '../state/dead-letters.ts';
import type { State } from '../state/database/store.ts';
import type { Replay } from './control/replay.ts';
import type { Components } from './build/components.ts';

export interface DeadLetterOptions {
  readonly deadLetters: DeadLetters;
  readonly replay: Replay;
  readonly components: Components;
  readonly state: State;
  readonly clock: Clock;
}

/** Rejects when the letters cannot be kept now; none is kept then. */
export async function keepDeadLetters(
  options: DeadLetterOptions,
  name: string,
  letters: readonly DeadLetter[],
): Promise<'kept' | 'dropped'> {
  const nowMs = options.clock.now();
  const isReplay = letters.some(
    ({ stream, spanOffset }) => options.replay.originalOf(stream, spanOffset) !== undefined,
  );
  return options.deadLetters.put(
    name,
    await Promise.all(letters.map((letter) => place(options, letter, nowMs))),
    isReplay,
  );
}

async function place(
  { replay, components, state }: DeadLetterOptions,
  letter: DeadLetter,
  nowMs: number,
): Promise<Letter> {
  // In a replay, span offsets are indexes of letters.
  const original = replay.originalOf(letter.stream, letter.spanOffset);
  if (original) {
    const { about } = toLetter(letter, original.about.file, original.about.offset, nowMs);
    return { about: { ...about, stream: original.about.stream }, event: original.event };
  }
  const span = { source: letter.source, stream: letter.stream, from: letter.spanOffset, to: letter.spanEnd };
  const bytes = await components.sources.get(letter.source)?.source.readSpan?.(span);
  const offset = bytes ? letter.spanOffset + offsetOfEvent(bytes, letter.eventInSpan) : letter.spanOffset;
  return toLetter(letter, state.streams.pathOf(letter.stream), offset, nowMs);
}
