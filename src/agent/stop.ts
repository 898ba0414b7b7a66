/**
 * Stopping: sources first, then what they left is delivered until the deadline, then whatever is left is made durable. What
 * is not delivered by then is read again, or sent from the disk buffer, by the next process.
 */
import { messageOf } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import type { Rooms } from './rooms.ts';
import { drainSink } from './sink-room.ts';

export interface StopReport {
  /** Events that are neither delivered nor to be had again after a restart. */
  readonly lostEvents: number;
  /** Bytes that sources lost while the agent stopped: of pipes and connections, or of deleted files. */
  readonly lostBytes: number;
  /** Events that a restart will send: saved by their positions or in the disk buffer, or read again. */
  readonly keptEvents: number;
  /** Events that were refused and kept as dead letters by this process. */
  readonly deadLetters: number;
  /** Why the agent gave up, where it did (`--once` and a service that refuses). */
  readonly failure: string | undefined;
}

/** Resolves once nothing is under way any more; sinks are still open. The bytes are those of `StopReport.lostBytes`. */
export async function stopRooms(rooms: Rooms, deadline: AbortSignal, log: Log): Promise<number> {
  const sinks = [...rooms.sinks.values()];
  for (const { room } of sinks) room.close('rereadable');
  // From now on over its limit: what sources have in hand, and cannot read again, finds room while they stop.
  for (const { buffer } of sinks) void buffer.stop();
  const lostBefore = rooms.lostBytes;
  const given = new Promise<void>((resolve) =>
    deadline.aborted ? resolve() : deadline.addEventListener('abort', () => resolve(), { once: true }),
  );
  const stopped = Promise.all([...rooms.sources.values()].map(({ source }) => source.stop()));
  stopped.catch((error: unknown) => log.error({ reason: messageOf(error) }, 'a source did not stop cleanly'));
  await Promise.race([stopped.catch(() => {}), given]);
  for (const { batcher } of sinks) batcher.flush();
  await Promise.all(sinks.map((room) => drainSink(room, deadline)));
  for (const { room } of sinks) room.close('all');
  await stopped.catch(() => {});
  for (const { batcher } of sinks) batcher.flush();
  for (const { buffer } of sinks) await buffer.stop();
  for (const { delivery } of sinks) await delivery.stop();
  for (const { buffer } of sinks) await buffer.finish();
  return rooms.lostBytes - lostBefore;
}

/** Events that are not settled: those that a restart has again, and those that are gone with the process. */
export function countHeld(rooms: Rooms): { lostEvents: number; keptEvents: number } {
  let lostEvents = 0;
  let keptEvents = 0;
  for (const batch of rooms.batches()) {
    if (batch.isDurable || batch.canBeRebuilt) keptEvents += batch.events;
    else lostEvents += batch.events;
  }
  return { lostEvents, keptEvents };
}
