/** Asks the agent that runs on a data folder. */
import { askAgent, type ControlRequest } from '../../agent/control/control.ts';
import { TailraceError } from '../../core/errors.ts';

/** Throws `E_NO_AGENT` where none runs, else as `askAgent` does. */
export async function askRunning<T>(dataDir: string, request: ControlRequest, withinMs?: number): Promise<T> {
  const answer = await askAgent(dataDir, request, withinMs);
  if (answer) return answer.result as T;
  throw new TailraceError('E_NO_AGENT', `no agent runs on "${dataDir}"`, {
    fix: 'start one: tailrace run, or systemctl start tailrace',
  });
}
