/** One line on the terminal that is written over while something long is under way; nothing where stderr is no terminal. */

const REDRAW_MS = 100;

export interface Progress {
  /** `text` is asked for only when it is time to draw. */
  show(text: () => string): void;
  /** Writes a line above it. */
  say(line: string): void;
  end(): void;
}

export function startProgress(): Progress {
  const { stderr } = process;
  let drawnAt = -REDRAW_MS;
  let isShown = false;
  const clear = (): void => {
    if (isShown) stderr.write('\r\u001B[K');
    isShown = false;
  };
  return {
    show(text) {
      if (!stderr.isTTY || performance.now() - drawnAt < REDRAW_MS) return;
      drawnAt = performance.now();
      clear();
      // A terminal without a size reports 0.
      stderr.write(text().slice(0, (stderr.columns || 80) - 1));
      isShown = true;
    },
    say(line) {
      clear();
      stderr.write(`${line}\n`);
    },
    end: clear,
  };
}
