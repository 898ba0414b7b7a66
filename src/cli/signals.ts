/** What the process is asked by signals while it runs in the foreground. */

export interface Signals {
  /** Resolves with the first SIGTERM or SIGINT. */
  readonly stop: Promise<NodeJS.Signals>;
  /** Aborts at the second one: end at once. */
  readonly atOnce: AbortSignal;
  /** Resolves at the next SIGHUP after the last call that resolved; several before it is asked for are one. */
  reload(): Promise<void>;
}

/** Listens for the rest of the process's life. */
export function listenForSignals(): Signals {
  const stop = Promise.withResolvers<NodeJS.Signals>();
  const atOnce = new AbortController();
  let asked = Promise.withResolvers<void>();
  let stops = 0;
  const onStop = (signal: NodeJS.Signals): void => {
    stops += 1;
    if (stops > 1) atOnce.abort();
    stop.resolve(signal);
  };
  process.on('SIGTERM', onStop);
  process.on('SIGINT', onStop);
  process.on('SIGHUP', () => asked.resolve());
  return {
    stop: stop.promise,
    atOnce: atOnce.signal,
    async reload() {
      const waited = asked;
      await waited.promise;
      if (asked === waited) asked = Promise.withResolvers();
    },
  };
}
