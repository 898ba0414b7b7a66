/** The sample application of the demo: writes JSON and plain lines to a log file and rotates it by renaming. */
import { appendFileSync, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';

const TICK_MS = 200;
const LINES_PER_ROTATION = 400;
const KEPT_ROTATIONS = 3;
const ROUTES = ['/checkout', '/cart', '/search?q=lamp', '/login', '/api/orders'];
const STEPS = [
  'payment accepted',
  'cache refreshed after 3 misses',
  'worker picked up the next job',
  'customer came back from the bank page',
];

/** Starts writing a few lines a second to `file`; each ends in a number of its own, so that none can be missing unseen. */
export function startDemoApp(file: string): { stop(): void } {
  mkdirSync(dirname(file), { recursive: true });
  let lines = 0;
  const timer = setInterval(() => {
    const batch: string[] = [];
    for (let i = 0; i < 1 + (lines % 5); i++) {
      lines += 1;
      batch.push(lines % 3 === 0 ? textLine(lines) : jsonLine(lines));
    }
    appendFileSync(file, batch.join(''));
    if (lines % LINES_PER_ROTATION < batch.length) rotate(file);
  }, TICK_MS);
  return { stop: () => clearInterval(timer) };
}

function jsonLine(number: number): string {
  const level = number % 17 === 0 ? 'error' : number % 7 === 0 ? 'warn' : 'info';
  return `${JSON.stringify({ _time: new Date().toISOString(), level, route: ROUTES[number % ROUTES.length], status: level === 'error' ? 500 : 200, ms: (number * 37) % 290, seq: number })}\n`;
}

function textLine(number: number): string {
  return `${new Date().toISOString()} INFO ${STEPS[number % STEPS.length]}, seq ${number}\n`;
}

/** app.log → app.log.1 → app.log.2 … */
function rotate(file: string): void {
  rmSync(`${file}.${KEPT_ROTATIONS}`, { force: true });
  for (let i = KEPT_ROTATIONS - 1; i >= 1; i--)
    if (existsSync(`${file}.${i}`)) renameSync(`${file}.${i}`, `${file}.${i + 1}`);
  renameSync(file, `${file}.1`);
}
