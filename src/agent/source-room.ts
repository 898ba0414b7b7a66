/** What one source consists of: its books, its lane to the sinks that it feeds, and the source itself, wired together. */
import { hostname } from 'node:os';
import { Books } from '../batcher/books.ts';
import { SourceLane } from '../batcher/lane.ts';
import type { SourceConfig } from '../config/model.ts';
import type { Clock } from '../core/clock.ts';
import type { Log } from '../core/log.ts';
import type { Source } from '../core/source.ts';
import type { Kernel } from '../kernel/kernel.ts';
import type { State } from '../state/store.ts';
import { createSource, isRereadable } from './create-source.ts';
import type { BookedSource } from './observe.ts';
import type { Rooms } from './rooms.ts';
import { createStreamView } from './stream-view.ts';

export interface SourceRoom extends BookedSource {
  readonly config: SourceConfig;
  readonly source: Source;
}

export interface SourceRoomOptions {
  readonly config: SourceConfig;
  /** Its sinks are there already. */
  readonly rooms: Rooms;
  readonly kernel: Kernel;
  readonly state: State;
  readonly clock: Clock;
  readonly log: Log;
  readonly once: boolean;
}

/** Makes the source; nothing is open yet. Throws `TailraceError` when it cannot be made. */
export async function createSourceRoom({ config, rooms, kernel, state, clock, log, once }: SourceRoomOptions): Promise<SourceRoom> {
  const books = new Books(config.id);
  const routes = [...rooms.sinks.values()]
    .filter((sink) => sink.config.inputs.includes(config.id))
    .map((sink) => ({ sink: sink.config.id, dataset: config.dataset ?? sink.config.dataset, batcher: sink.batcher }));
  const lane = new SourceLane({
    books,
    routes,
    rereadable: isRereadable(config),
    committedTo: (sink, stream) => state.committedTo(sink, stream),
  });
  const context = {
    lane,
    streams: createStreamView(state, () => rooms.openSpans()),
    clock,
    log,
    hostname: hostname(),
    reserve: (bytes: number) => kernel.reserve(bytes),
    once,
  };
  const source = await createSource(config, context, kernel);
  return { config, source, stats: source.stats, books, lane };
}
