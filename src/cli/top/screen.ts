/** A terminal that a program draws on: the other screen, raw keys, and the way back, whatever ends the program. */

export type ScreenKey = 'quit' | 'next' | 'previous' | 'up' | 'down' | 'page-up' | 'page-down' | 'home' | 'end';

export type TerminalScreen = ReturnType<typeof enterScreen>;

const ENTER = '\u001B[?1049h\u001B[?25l';
const LEAVE = '\u001B[?25h\u001B[?1049l';
const TO_LINE_END = '\u001B[K';
const TO_SCREEN_END = '\u001B[J';

const KEYS: Readonly<Record<string, ScreenKey>> = {
  q: 'quit',
  Q: 'quit',
  '\u0003': 'quit',
  '\u0004': 'quit',
  '\t': 'next',
  '\u001B[C': 'next',
  '\u001BOC': 'next',
  '\u001B[Z': 'previous',
  '\u001B[D': 'previous',
  '\u001BOD': 'previous',
  '\u001B[A': 'up',
  '\u001BOA': 'up',
  k: 'up',
  '\u001B[B': 'down',
  '\u001BOB': 'down',
  j: 'down',
  '\u001B[5~': 'page-up',
  '\u001B[6~': 'page-down',
  ' ': 'page-down',
  '\u001B[H': 'home',
  '\u001B[F': 'end',
};

/** An escape sequence, or one character. */
/* oxlint-disable-next-line no-control-regex */
const KEY = /\u001B(?:\[[\d;]*[A-Za-z~]|O[A-Z])|[^]/gu;

/** Needs terminals as stdin and stdout. */
export function enterScreen(onKey: (key: ScreenKey) => void, onResize: () => void) {
  const { stdin, stdout } = process;
  const onData = (text: string): void => {
    for (const [sequence] of text.matchAll(KEY)) {
      const key = KEYS[sequence];
      if (key !== undefined) onKey(key);
    }
  };
  let hasLeft = false;
  /** Gives the terminal back as it was. Idempotent. */
  const leave = (): void => {
    if (hasLeft) return;
    hasLeft = true;
    process.off('exit', leave);
    stdout.off('resize', onResize);
    stdin.off('data', onData).pause();
    stdin.setRawMode(false);
    stdout.write(LEAVE);
  };
  process.on('exit', leave);
  stdout.on('resize', onResize);
  stdin.setEncoding('utf8').on('data', onData).setRawMode(true);
  stdout.write(ENTER);
  return {
    // A terminal that does not know its size says 0.
    get columns() {
      return stdout.columns || 80;
    },
    get rows() {
      return stdout.rows || 24;
    },
    /** Skips the frame while the terminal has not taken the one before. */
    draw(lines: readonly string[]): void {
      if (hasLeft || stdout.writableNeedDrain) return;
      stdout.write(`\u001B[H${lines.map((line) => `${line}${TO_LINE_END}`).join('\r\n')}${TO_SCREEN_END}`);
    },
    leave,
  };
}
