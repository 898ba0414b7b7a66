/** Signals that reach the process while it runs in the foreground. */

export interface Signals {
  /** Resolves with the first SIGTERM or SIGINT. */
  readonly stop: Promise<NodeJS.Signals>;
  /** Aborts with it. */
  readonly stopping: AbortSignal;
  /** Aborts at the second one: end at once. */
  readonly atOnce: AbortSignal;
}

/** Listens for the rest of the process's life. `reload` is called at each SIGHUP. */
export function listenForSignals(reload: () => void): Signals {
  const stop = Promise.withResolvers<NodeJS.Signals>();
  const stopping = new AbortController();
  const atOnce = new AbortController();
  const onStop = (signal: NodeJS.Signals): void => {
    if (stopping.signal.aborted) atOnce.abort();
    stopping.abort();
    stop.resolve(signal);
  };
  process.on('SIGTERM', onStop);
  process.on('SIGINT', onStop);
  process.on('SIGHUP', reload);
  return { stop: stop.promise, stopping: stopping.signal, atOnce: atOnce.signal };
}
