/** What the commands of the control socket ask of the running agent. */
import { TailraceError } from '../../core/errors.ts';
import type { State } from '../../state/database/store.ts';
import type { Observed } from '../../telemetry/observed.ts';
import { statusOf } from '../../telemetry/status.ts';
import type { Components } from '../build/components.ts';
import type { Shapers } from '../build/shapers.ts';
import type { ControlRequest } from './control.ts';
import { explainPath } from './page-source.ts';
import type { ReplayResult } from './replay.ts';
import { answerTap } from './tap.ts';

export interface CommandOptions {
  readonly components: Components;
  readonly shapers: Shapers | undefined;
  readonly state: Pick<State, 'save' | 'losses' | 'acknowledgeLosses'>;
  /** Absent where the agent was not started to be reloaded. */
  readonly reload: (() => Promise<unknown>) | undefined;
  readonly agent: {
    observe(): Observed;
    replay(ids: readonly string[], through?: string): Promise<ReplayResult>;
    drop(ids: readonly string[]): number;
  };
}

export async function answerCommand(
  { agent, components, shapers, state, reload }: CommandOptions,
  { command, args }: ControlRequest,
): Promise<unknown> {
  switch (command) {
    case 'replay':
      return agent.replay(args);
    // A name of its own: an agent that does not know it must not send them through their first sink.
    case 'replay-through':
      return agent.replay(args.slice(1), args[0]);
    case 'drop':
      return { removed: agent.drop(args) };
    case 'reload':
      if (!reload) throw new TailraceError('E_CONTROL', 'this agent was not started to be reloaded');
      return reload();
    case 'acknowledge-losses':
      return state.acknowledgeLosses(Number(args[0]));
    case 'status':
      // An audit reads them from the disk.
      if (state.losses.hasChanges) state.save();
      return statusOf(agent.observe());
    case 'tap':
      return answerTap(components, shapers, args);
    case 'explain':
      return explainPath(components, args[0] ?? '');
    default:
      throw new TailraceError('E_CONTROL', `the agent does not know the command "${command}"`);
  }
}
