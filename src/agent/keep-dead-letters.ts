/** Keeps refused events as dead letters, each with its place in the file that it came from. */
import { offsetOfEvent } from '../batcher/events.ts';
import type { LetterStore } from '../batcher/store.ts';
import type { Clock } from '../core/time/clock.ts';
import type { DeadLetter } from '../core/sink.ts';
import { type DeadLetters, type Letter, toLetter } from '../state/dead-letters.ts';
import type { State } from '../state/database/store.ts';
import type { Replay } from './control/replay.ts';
import type { Components } from './build/components.ts';

export interface PlacedLettersOptions {
  readonly deadLetters: DeadLetters;
  readonly replay: Replay;
  readonly components: Components;
  readonly state: State;
  readonly clock: Clock;
}

export class PlacedLetters implements LetterStore {
  readonly #options: PlacedLettersOptions;

  constructor(options: PlacedLettersOptions) {
    this.#options = options;
  }

  /** Rejects when the letters cannot be kept now; none is kept then. */
  async keep(name: string, letters: readonly DeadLetter[]): Promise<'kept' | 'dropped'> {
    const { clock, replay, deadLetters } = this.#options;
    const nowMs = clock.now();
    const isReplay = letters.some(({ stream, spanOffset }) => replay.originalOf(stream, spanOffset) !== undefined);
    return deadLetters.put(name, await Promise.all(letters.map((letter) => this.#place(letter, nowMs))), isReplay);
  }

  async #place(letter: DeadLetter, nowMs: number): Promise<Letter> {
    const { replay, components, state } = this.#options;
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
}
