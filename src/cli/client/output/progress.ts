/** One line on the terminal that is overwritten during long work; nothing where stderr is no terminal. */

import { printable } from '../../../config/quote.ts';

const REDRAW_MS = 100;

export type Progress = ReturnType<typeof startProgress>;

export function startProgress() {
  const { stderr } = process;
  let drawnAt = -REDRAW_MS;
  let isShown = false;
  const clear = (): void => {
    if (isShown) stderr.write('\r\u001B[K');
    isShown = false;
  };
  return {
    /** `text` is asked for only when it is time to draw. */
    show(text: () => string): void {
      if (!stderr.isTTY || performance.now() - drawnAt < REDRAW_MS) return;
      drawnAt = performance.now();
      clear();
      // A terminal without a size reports 0.
      stderr.write(printable(text()).slice(0, (stderr.columns || 80) - 1));
      isShown = true;
    },
    /** Writes a line above it. */
    say(line: string): void {
      clear();
      stderr.write(`${printable(line)}\n`);
    },
    end: clear,
  };
}

/** Shows progress meanwhile; SIGINT and SIGTERM abort `stop`, with the reason. */
export async function untilStopped<T>(
  work: (progress: Progress, stop: AbortSignal) => Promise<T>,
  reason?: Error,
): Promise<T> {
  const progress = startProgress();
  const stop = new AbortController();
  const onSignal = () => stop.abort(reason);
  process.once('SIGINT', onSignal).once('SIGTERM', onSignal);
  try {
    return await work(progress, stop.signal);
  } finally {
    progress.end();
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
  }
}
