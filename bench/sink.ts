/** Starts the null sink as its own process and asks it for its counts. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { InputKind } from './inputs.ts';
import type { SinkCounts } from './null-sink.ts';

export interface Sink {
  readonly port: number;
  counts(): Promise<SinkCounts>;
  stop(): Promise<void>;
}

/** With `verify` the sink parses and checks every event instead of throwing it away. */
export async function startSink(verify?: InputKind): Promise<Sink> {
  const script = fileURLToPath(new URL('null-sink.ts', import.meta.url));
  const child = fork(script, verify === undefined ? [] : ['--verify', verify], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  const exited = once(child, 'exit');
  return {
    port,
    async counts() {
      const answered = once(child, 'message');
      child.send('counts');
      const [counts] = (await answered) as [SinkCounts];
      return counts;
    },
    async stop() {
      if (child.connected) child.disconnect();
      await exited;
    },
  };
}
