/** What telemetry sees of the agent, counted at the moment it is asked: held events by walking the batches that hold them. */
import { type Books, countEvents } from '../batcher/books.ts';
import type { SourceLane } from '../batcher/lane.ts';
import { newStats, type SourceStats } from '../core/source.ts';
import type { ObservedSink, ObservedSource } from '../telemetry/observed.ts';
import { heldBatches, type SinkRoom } from './sink-room.ts';

export interface BookedSource {
  readonly stats: SourceStats;
  readonly books: Books;
  readonly lane: SourceLane;
}

/** Every source; also those that only the disk buffer still knows (`former`). */
export function observeSources(
  sources: ReadonlyMap<string, BookedSource>,
  former: ReadonlyMap<string, Books>,
  sinks: Iterable<SinkRoom>,
): ObservedSource[] {
  const ranges = new Map<Books, (readonly [from: number, to: number])[]>();
  for (const { books, lane } of sources.values()) ranges.set(books, [...lane.held()]);
  for (const books of former.values()) ranges.set(books, []);
  for (const room of sinks) {
    for (const batch of [...room.batcher.open(), ...heldBatches(room)]) {
      for (const span of batch.spans) ranges.get(span.books)?.push([span.firstEvent, span.firstEvent + span.events]);
    }
  }
  const observe = (id: string, stats: SourceStats, books: Books, backpressureMs: number): ObservedSource => {
    // What a source had to drop before anything could hold it was accepted, too.
    const dropped = stats.droppedEvents ?? 0;
    return {
      id,
      stats,
      backpressureSeconds: backpressureMs / 1000,
      accepted: books.accepted + dropped,
      settled: { ...books.settled, dropped: books.settled.dropped + dropped },
      held: countEvents(ranges.get(books) ?? []),
    };
  };
  return [
    ...[...sources].map(([id, { stats, books, lane }]) => observe(id, stats, books, lane.backpressureMs)),
    ...[...former].map(([id, books]) => observe(id, newStats(), books, 0)),
  ];
}

export function observeSink({ sink, delivery, spool, room }: SinkRoom): ObservedSink {
  return {
    id: sink.id,
    ...delivery.stats,
    diskBytes: spool.bytes,
    brokenFiles: spool.brokenFiles,
    concurrency: delivery.concurrency,
    memoryBytes: room.usedBytes,
    pauses: delivery.pauses,
  };
}
