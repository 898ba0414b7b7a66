/** Which changes of a configuration an agent cannot take into force while it runs. */
import type { ConfigChanges } from '../../config/compare.ts';
import type { Config, SinkConfig } from '../../config/model.ts';
import { sinkOf } from '../../core/owner.ts';
import type { State } from '../../state/database/store.ts';
import type { Components } from '../build/components.ts';
import { routesEvents } from '../build/owners.ts';
import { needsNewPipeline } from '../build/sink-pipeline.ts';

/** Keys of the top level that take effect while the agent runs. */
const LIVE_KEYS: ReadonlySet<string> = new Set(['shutdown_timeout', 'telemetry', 'dead_letter', 'tests', 'transform']);

/** Why the agent has to start anew; undefined where it need not. */
export function whyRestart(
  before: Config,
  after: Config,
  { sources, sinks, other }: ConfigChanges,
  components: Components,
  state: State,
): string | undefined {
  const keys = other.filter((key) => !LIVE_KEYS.has(key));
  if (keys.length > 0) return `${keys.join(', ')} changed`;
  const configOf = (config: Config, id: string): SinkConfig => config.sinks.find((sink) => sink.id === id)!;
  // One that was removed and still drains is taken up as it is.
  const rebuilt = after.sinks.find((sink) => {
    const pipeline = components.sinks.get(sink.id);
    return pipeline && needsNewPipeline(pipeline.config, sink);
  })?.id;
  if (rebuilt !== undefined) return `sink "${rebuilt}" changed in its memory or the form of what it sends`;
  const known = state.unsettled();
  const left = sinks.added.find((id) => known.some(({ sink }) => sinkOf(sink) === id));
  if (left !== undefined) return `sink "${left}" is back, and batches that it left are built anew`;
  const reroutes = sinks.changed.some((id) => {
    const [old, now] = [configOf(before, id), configOf(after, id)];
    return (
      old.dataset !== now.dataset || old.inputs.some((input) => !now.inputs.includes(input)) || old.inputs.length !== now.inputs.length
    );
  });
  const hasNewWays = sources.added.length + sources.changed.length + sinks.added.length > 0 || reroutes;
  const reshapes = other.includes('transform') || sinks.changed.length > 0;
  if ((routesEvents(before) || routesEvents(after)) && (hasNewWays || reshapes || usesScripts(after)))
    return 'the ways of to_dataset are laid at a start';
  return undefined;
}

/** What a script says may have changed where its path did not. */
function usesScripts({ sources, sinks, transform }: Config): boolean {
  return [...sources, ...sinks, { transform }].some((each) => each.transform?.kind === 'script');
}
