/**
 * How the CPU of a piece of work grows with its text: the slope of a straight line through the best of three runs at each of five sizes, on
 * logarithmic scales. 1 is linear, 2 quadratic. This is the one place that may measure time.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const [LEAST_BYTES, START_BYTES, MOST_BYTES] = [1024, 64 * 1024, 1024 * 1024];
/** From here on a run is long enough to be measured. */
const MEASURABLE_MS = 5;
const DOUBLINGS = 4;
const RUNS = 3;
/** A run that takes longer ends the series: two doublings before it tell enough. */
const LONG_MS = 1000;
/** Where even this is not enough, another process was at work: it is measured again. */
const MOST_MEASUREMENTS = 4;
export const MOST_SLOPE = 1.3;

export type Work = (text: string) => unknown;

/** CPU, not time: other processes of a busy machine do not count. */
function costMs(work: Work, text: string): number {
  const before = process.cpuUsage();
  work(text);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** Each run begins with an empty heap: what others left behind is not its cost. */
function bestMs(work: Work, text: string): number {
  const run = (): number => {
    collect();
    return costMs(work, text);
  };
  return Math.min(...Array.from({ length: RUNS }, run));
}

function slopeOf(points: readonly (readonly [bytes: number, ms: number])[]): number {
  const logs = points.map(([bytes, ms]) => [Math.log2(bytes), Math.log2(Math.max(ms, 0.001))] as const);
  const mean = (at: 0 | 1): number => logs.reduce((sum, point) => sum + point[at], 0) / logs.length;
  const [x, y] = [mean(0), mean(1)];
  return logs.reduce((sum, [a, b]) => sum + (a - x) * (b - y), 0) / logs.reduce((sum, [a]) => sum + (a - x) ** 2, 0);
}

function medianDoubling(points: readonly (readonly [bytes: number, ms: number])[]): number {
  const steps = points
    .slice(1)
    .map((point, n) => slopeOf([points[n]!, point]))
    .toSorted((a, b) => a - b);
  return (steps[Math.floor((steps.length - 1) / 2)]! + steps[Math.floor(steps.length / 2)]!) / 2;
}

/** Undefined where the work is linear, or too fast for 1 MiB to be measured; else a line with what it took. */
export function excessOf(work: Work, textOf: (bytes: number) => string): string | undefined {
  let start = LEAST_BYTES;
  // Small texts first: what doubles its time with each byte never comes back from a large one.
  for (; start < START_BYTES; start *= 2) if (costMs(work, textOf(start)) >= MEASURABLE_MS) break;
  if (start === START_BYTES && isCheap(work, textOf)) return undefined;
  let said = '';
  for (let n = 0; n < MOST_MEASUREMENTS; n++) {
    const points: (readonly [bytes: number, ms: number])[] = [];
    for (let bytes = start; bytes <= Math.min(MOST_BYTES, start * 2 ** DOUBLINGS); bytes *= 2) {
      points.push([bytes, bestMs(work, textOf(bytes))]);
      if (points.length > 2 && points.at(-1)![1] > LONG_MS) break;
    }
    // Caches and the collector bend a line here and there: growth beyond linear shows at the upper end and in most doublings, too.
    const slope = Math.min(slopeOf(points), slopeOf(points.slice(-3)), medianDoubling(points));
    if (slope <= MOST_SLOPE || points.at(-1)![1] < MEASURABLE_MS) return undefined;
    said = `slope ${slope.toFixed(2)}: ${points.map(([bytes, ms]) => `${bytes / 1024} KiB ${ms.toFixed(1)} ms`).join(', ')}`;
  }
  return said;
}

/** At 1 MiB too fast to be measured. The sizes before show that it is no use to wait for it. */
function isCheap(work: Work, textOf: (bytes: number) => string): boolean {
  for (let bytes = START_BYTES; bytes <= MOST_BYTES; bytes *= 4)
    if (costMs(work, textOf(bytes)) >= MEASURABLE_MS) return false;
  return true;
}

/**
 * The same as far as few milliseconds tell: true where 64 KiB cost so much more than 8 KiB that `excessOf` has to look closer. Costs below
 * a millisecond are left to the long run.
 */
export function isSuspect(work: Work, textOf: (bytes: number) => string): boolean {
  for (let bytes = LEAST_BYTES; bytes < START_BYTES; bytes *= 2)
    if (costMs(work, textOf(bytes)) >= 8 * MEASURABLE_MS) return true;
  const [large, small] = [textOf(START_BYTES), textOf(START_BYTES / 8)];
  const isSteep = (): boolean => {
    const ms = costMs(work, large);
    return ms >= 1 && ms > 8 ** MOST_SLOPE * costMs(work, small);
  };
  // A run that was compiled or collected in looks steep: the best of three tell.
  return isSteep() && isSteep() && bestMs(work, large) > 8 ** MOST_SLOPE * bestMs(work, small);
}
