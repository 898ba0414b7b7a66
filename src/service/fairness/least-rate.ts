/**
 * Bodies and replies that do not go on hold what they take (a place among requests, the bytes of the reply): they are ended where they took
 * longer than some seconds and went on at less than a least rate in the last of these.
 */
import type { ServerResponse } from 'node:http';
import { SERVICE_LEAST_RATE, type ServiceLimits } from '../limits.ts';

/** `rate` is in bytes a second, over the last `afterMs`. */
export interface LeastRate {
  readonly rate: number;
  readonly afterMs: number;
}

export const leastRateOf = ({ slowMs }: Pick<ServiceLimits, 'slowMs'>): LeastRate => ({
  rate: SERVICE_LEAST_RATE,
  afterMs: slowMs,
});

/** Looks so many times in each `afterMs`. */
const LOOKS = 5;

/** Calls `end` once, when `bytes` grew too little in the last `afterMs`; stop it with the returned function. */
export function watch(bytes: () => number, { rate, afterMs }: LeastRate, end: () => void): () => void {
  const before = [bytes()];
  let wasSlow = false;
  const timer = setInterval(() => {
    before.push(bytes());
    if (before.length <= LOOKS) return;
    const isSlow = (before.at(-1)! - before.shift()!) * 1000 < rate * afterMs;
    // Where this process itself was busy, what came meanwhile is read before the next look.
    if (isSlow && wasSlow) {
      clearInterval(timer);
      end();
    }
    wasSlow = isSlow;
  }, afterMs / LOOKS);
  timer.unref();
  return () => clearInterval(timer);
}

/** Closes the connection of a client that reads a reply too slowly. */
export function watchReply(response: ServerResponse, least: LeastRate): void {
  const { socket } = response;
  if (!socket) return;
  const read = (): number => socket.bytesWritten - socket.writableLength;
  const stop = watch(read, least, () => socket.destroy());
  for (const event of ['finish', 'close'] as const) response.once(event, stop);
}
