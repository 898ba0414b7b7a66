/** Which changes of a configuration an agent cannot take into force while it runs. */
import { isDeepStrictEqual } from 'node:util';
import type { ConfigChanges } from '../../config/compare.ts';
import type { Config, SinkConfig } from '../../config/model.ts';
import { sinkOfOwner } from '../../core/checkpoint-owner.ts';
import type { Clock } from '../../core/time/clock.ts';
import type { State } from '../../state/database/store.ts';
import { RESTORE_PATIENCE_MS } from '../limits.ts';
import type { Components } from '../build/components.ts';
import { routesEvents } from '../build/owners.ts';

export interface RestartOptions {
  readonly before: Config;
  readonly after: Config;
  readonly changes: ConfigChanges;
  readonly components: Pick<Components, 'sinks'>;
  readonly state: Pick<State, 'ledger'>;
  readonly clock: Clock;
  /** Resolves when what the last process left is with its sinks. */
  readonly restored: Promise<void>;
  /** Aborts when the agent is to stop: nothing is waited for then. */
  readonly stopping: AbortSignal;
}

/** Why the agent has to start anew; undefined where it need not. Waits a moment for what the last process left. */
export async function whyRestart(options: RestartOptions): Promise<string | undefined> {
  const { before, after, changes, components, state } = options;
  if (!(await isRestored(options))) return 'what the last process left is still being sent';
  const { sources, sinks, other } = changes;
  const known = state.ledger.unsettled();
  // A removed sink that still drains is reused as it is.
  const left = sinks.added.find(
    (id) => !components.sinks.has(id) && known.some(({ owner }) => sinkOfOwner(owner) === id),
  );
  if (left !== undefined) return `sink "${left}" is back, and batches that it left are built anew`;
  const hasNewWays =
    sources.added.length + sources.changed.length + sinks.added.length > 0 || other.includes('transform');
  const reroutes = [...sinks.changed, ...sinks.untouched].some(
    (id) => !isDeepStrictEqual(waysOf(before, id), waysOf(after, id)),
  );
  if ((routesEvents(before) || routesEvents(after)) && (hasNewWays || reroutes || usesScripts(after)))
    return 'the routes of to_dataset can only change at a start';
  return undefined;
}

async function isRestored({ restored, clock, stopping }: RestartOptions): Promise<boolean> {
  const done = new AbortController();
  const patience = clock.sleep(RESTORE_PATIENCE_MS, AbortSignal.any([stopping, done.signal])).then(() => false);
  return Promise.race([restored.then(() => true), patience]).finally(() => done.abort());
}

/** The settings that decide where a sink's events go. */
function waysOf({ sinks }: Config, id: string): Partial<SinkConfig> {
  const { dataset, inputs, transform, timestampField } = sinks.find((sink) => sink.id === id)!;
  return { dataset, inputs, transform, timestampField };
}

/** Scripts may change while their paths stay the same. */
function usesScripts({ sources, sinks, transform }: Config): boolean {
  return [...sources, ...sinks, { transform }].some((each) => each.transform?.kind === 'script');
}
