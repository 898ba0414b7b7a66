/**
 * Stopping: sources first, then what they left is delivered until the deadline, then whatever is left is made durable. What
 * is not delivered by then is read again, or sent from the disk buffer, by the next process.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../core/errors.ts';
import type { SpoolStore } from '../batcher/keep/spool-store.ts';
import { HELD_RETRY_MS } from '../batcher/limits.ts';
import { SOURCE_STOP_GRACE_MS } from './limits.ts';
import type { Log } from '../core/log.ts';
import type { Source } from '../core/source.ts';
import { type Clock, whenAborted } from '../core/time/clock.ts';
import type { State } from '../state/database/store.ts';
import type { Components } from './build/components.ts';
import { drainSink } from './build/sink-pipeline.ts';

export interface StopReport {
  /** Events that were not delivered and cannot be read again after a restart. */
  readonly lostEvents: number;
  /** Bytes that sources lost while the agent stopped: of pipes and connections, or of deleted files. */
  readonly lostBytes: number;
  /** Events that a restart will send: saved by their positions or in the disk buffer, or read again. */
  readonly keptEvents: number;
  /** False when the next start resends the last delivered events. */
  readonly arePositionsSaved: boolean;
  /** Events that were refused and kept as dead letters by this process. */
  readonly deadLetters: number;
  /** Why the agent gave up, where it did (`--once` and a service that refuses). */
  readonly failure: string | undefined;
}

/** Resolves once nothing is in flight any more; sinks are still open. The bytes are those of `StopReport.lostBytes`. */
export async function stopComponents(components: Components, deadline: AbortSignal, log: Log): Promise<number> {
  const sinks = [...components.sinks.values()];
  for (const { budget } of sinks) budget.close('rereadable');
  // Allow going over the limit: sources that stop must hand over the events that they cannot read again.
  for (const { buffer } of sinks) void buffer.stop();
  const lostBefore = components.lostBytes;
  const given = whenAborted(deadline);
  const stopping = new Set(components.sources.keys());
  const stopped = Promise.all(
    [...components.sources].map(([id, { source }]) => stopSource(id, source, log).then(() => stopping.delete(id))),
  );
  await Promise.race([stopped, given]);
  for (const { batcher } of sinks) batcher.open.flush();
  await Promise.all(sinks.map((pipeline) => drainSink(pipeline, deadline)));
  for (const { budget } of sinks) budget.close('all');
  const grace = new AbortController();
  await Promise.race([stopped, sleep(SOURCE_STOP_GRACE_MS, undefined, grace).catch(() => {})]);
  grace.abort();
  for (const source of stopping)
    log.error(
      { source, waitedMs: SOURCE_STOP_GRACE_MS },
      'a source did not stop and is left behind; what it had in hand is read again at the next start, or lost where that cannot be',
    );
  for (const { batcher } of sinks) batcher.open.flush();
  for (const { buffer } of sinks) await buffer.stop();
  for (const { delivery } of sinks) await delivery.stop();
  for (const { buffer } of sinks) await buffer.finish();
  return components.lostBytes - lostBefore;
}

async function stopSource(id: string, source: Source, log: Log): Promise<void> {
  try {
    await source.stop();
  } catch (error) {
    log.error({ source: id, reason: messageOf(error) }, 'a source did not stop cleanly');
  }
}

/** Saves what moved last; while another process holds the database, until the deadline. */
export async function saveAtLast(
  state: Pick<State, 'save' | 'refused'>,
  clock: Clock,
  deadline: AbortSignal,
): Promise<void> {
  while (!state.save() && state.refused.refusal?.isHeld === true && !deadline.aborted)
    await clock.sleep(HELD_RETRY_MS, deadline);
}

/** Saves positions, then waits until the files of the batches that were settled last are gone. True when they are saved. */
export async function closeState(
  state: Pick<State, 'close'>,
  sinks: ReadonlyMap<string, { readonly buffer: { readonly store: Pick<SpoolStore, 'removed'> } }>,
): Promise<boolean> {
  const areSaved = state.close();
  for (const { buffer } of sinks.values()) await buffer.store.removed();
  return areSaved;
}

/** Events that are not settled: those that a restart has again, and those that are gone with the process. */
export function countHeld(components: Components): { lostEvents: number; keptEvents: number } {
  let lostEvents = 0;
  let keptEvents = 0;
  for (const batch of components.batches()) {
    if (batch.isDurable || batch.canBeRebuilt) keptEvents += batch.events;
    else lostEvents += batch.events;
  }
  return { lostEvents, keptEvents };
}
