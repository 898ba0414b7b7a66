/** When the agent ends by itself because a sink delivers nothing more. Pure. */
import type { Pause } from '../batcher/queue.ts';

interface PausedSink {
  readonly sink: { readonly id: string };
  readonly queue: { readonly paused: ReadonlyMap<string, Pause> };
}

export interface GivingUp {
  /** What went wrong; undefined where the reader of the output has what it wanted. */
  readonly failure: string | undefined;
}

/**
 * Undefined while the agent goes on. A run with `--once` does not wait for a token or a dataset. When the reader of standard output went
 * away, as `head` does, the agent ends like any program in a pipeline; events not written are sent at the next start.
 */
export function givesUp(pipeline: PausedSink | undefined, dataset: string, once: boolean): GivingUp | undefined {
  const pause = pipeline?.queue.paused.get(dataset);
  if (once)
    return {
      failure: `sink "${pipeline?.sink.id ?? ''}" cannot deliver to dataset "${dataset}": ${pause?.detail ?? 'refused'}; ${pause?.fix ?? ''}`,
    };
  return pause?.isFinal === true ? { failure: undefined } : undefined;
}
