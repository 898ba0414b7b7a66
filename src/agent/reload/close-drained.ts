/** Closes what a reload removed once nothing of it is held any more. */
import type { Config } from '../../config/model.ts';
import { messageOf } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import type { Rooms } from '../build/components.ts';
import { heldBatches, type SinkRoom } from '../build/sink-pipeline.ts';

export function closeDrained(rooms: Rooms, { sinks }: Config, log: Log): void {
  for (const [id, room] of rooms.sinks) {
    if (sinks.some((sink) => sink.id === id) || heldBatches(room).length + room.batcher.open().length > 0) continue;
    rooms.sinks.delete(id);
    closeSink(room).then(
      () => log.info({ sink: id }, 'a sink that is not configured any more has delivered everything and is closed'),
      (error: unknown) => log.error({ sink: id, reason: messageOf(error) }, 'a sink did not close cleanly'),
    );
  }
  if (rooms.removed.size === 0) return;
  const held = new Set([...rooms.batches()].flatMap(({ spans }) => spans.map(({ books }) => books)));
  for (const [id, { books, rescue, replayed }] of rooms.removed)
    if (![books, rescue.books, replayed].some((each) => held.has(each))) rooms.removed.delete(id);
}

async function closeSink({ buffer, delivery, sink, release }: SinkRoom): Promise<void> {
  await buffer.stop();
  await delivery.stop();
  await buffer.finish();
  await sink.close();
  release();
}
