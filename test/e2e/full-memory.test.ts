/** Files deleted while the service is away and `buffer.max_memory` is full; `npm run test:long` goes through every combination. */
import { test } from 'vitest';
import { checkDeletedWhileAway, type Plan } from './full-memory.ts';

const MiB = 2 ** 20;

const PLANS: readonly Plan[] = [
  { sink: 'buffer: {max_memory: 4MiB}', bytes: 10 * MiB, end: 'SIGKILL' },
  { sink: 'buffer: {max_memory: 4MiB}', bytes: 10 * MiB, end: 'SIGTERM' },
  { sink: 'concurrency: 32', bytes: 50 * MiB, end: 'SIGKILL' },
  { sink: 'concurrency: 32', bytes: 50 * MiB, end: 'SIGTERM' },
  { sink: 'buffer: {max_memory: 1MiB}', bytes: 4 * MiB, end: 'SIGKILL' },
];

for (const plan of PLANS)
  test(`nothing of deleted files is lost by ${plan.end} with ${plan.sink}`, () => checkDeletedWhileAway(plan), 120_000);
