/**
 * The agent: wires sources → batcher → sinks, starts them in the order that keeps every promise (state, sinks, what the
 * last process left, sources), and drains them in the opposite one.
 */
import { systemClock } from '../core/time/clock.ts';
import { openState } from '../state/database/store.ts';
import { ownersOf } from './build/owners.ts';
import type { Agent, AgentOptions } from './agent.ts';
import { RunningAgent } from './running-agent.ts';

/** Starts everything; throws `TailraceError` when that cannot be done, with nothing left open. */
export async function startAgent(options: AgentOptions): Promise<Agent> {
  const { config, log } = options;
  const inForce = { config };
  const state = openState({
    folder: config.dataDir,
    sinksOf: (source) => ownersOf(inForce.config, source),
    log,
    reserves: true,
    clock: options.clock ?? systemClock,
  });
  const running = new RunningAgent(options, state, inForce);
  try {
    await running.start();
    return running;
  } catch (error) {
    await running.abandon();
    throw error;
  }
}
