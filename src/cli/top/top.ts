/** `tailrace top`: the running agent, live in a terminal. Asks it through the control socket, as `status` does. */
import { messageOf, UsageError } from '../../core/errors.ts';
import { addRecord, ratesOf } from '../../telemetry/rates.ts';
import type { Status } from '../../telemetry/status.ts';
import { askRunning } from '../agent/ask-running.ts';
import { configOf } from '../agent/config-arguments.ts';
import { enterScreen, type ScreenKey } from './screen.ts';
import { renderTop, VIEWS } from './view.ts';
import type { ArgumentsOf } from '../options/command-options.ts';

const ASK_EVERY_MS = 1000;
const ANSWER_WITHIN_MS = 3000;

/** Resolves with 0 once the user, or a signal, ends it. Throws `TailraceError` where no agent runs at its start. */
export async function top(args: ArgumentsOf<'top'>): Promise<number> {
  if (!process.stdin.isTTY || !process.stdout.isTTY)
    throw new UsageError('E_TOP', 'top needs a terminal for its input and its output', {
      fix: 'tailrace status prints the same once, tailrace status --json for scripts',
    });
  const { dataDir } = configOf(args);
  const ask = () => askRunning<Status>(dataDir, { command: 'status', args: [] }, ANSWER_WITHIN_MS);
  await show(await ask(), ask);
  return 0;
}

async function show(first: Status, ask: () => Promise<Status>): Promise<void> {
  const colours = !process.env['NO_COLOR'];
  const ended = Promise.withResolvers<void>();
  const end = (): void => ended.resolve();
  let records = addRecord([], first);
  let gone: string | undefined;
  let [view, scroll] = [0, 0];
  let last = { lastScroll: 0, height: 0 };

  const draw = (): void => {
    const { columns, rows } = screen;
    const status = records.at(-1)!;
    const trouble = gone === undefined ? {} : { gone: { reason: gone, sinceMs: status.nowMs } };
    const { lines, lastScroll } = renderTop({
      ...{ status, rates: ratesOf(records), view: VIEWS[view]!, scroll, columns, rows, colours },
      ...trouble,
    });
    last = { lastScroll, height: rows };
    scroll = Math.min(scroll, lastScroll);
    screen.draw(lines);
  };
  const onKey = (key: ScreenKey): void => {
    if (key === 'quit') return end();
    if (key === 'next' || key === 'previous') {
      view = (view + (key === 'next' ? 1 : VIEWS.length - 1)) % VIEWS.length;
      scroll = 0;
    } else {
      const steps = {
        up: -1,
        down: 1,
        'page-up': 4 - last.height,
        'page-down': last.height - 4,
        home: -Infinity,
        end: Infinity,
      };
      scroll = Math.min(last.lastScroll, Math.max(0, scroll + steps[key]));
    }
    draw();
  };

  const screen = enterScreen(onKey, draw);
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, end);
  let timer: NodeJS.Timeout | undefined;
  const refresh = async (): Promise<void> => {
    try {
      records = addRecord(records, await ask());
      gone = undefined;
    } catch (error) {
      gone = messageOf(error);
    }
    draw();
    timer = setTimeout(() => void refresh(), ASK_EVERY_MS);
  };
  draw();
  timer = setTimeout(() => void refresh(), ASK_EVERY_MS);
  try {
    await ended.promise;
  } finally {
    clearTimeout(timer);
    screen.leave();
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.off(signal, end);
  }
}
