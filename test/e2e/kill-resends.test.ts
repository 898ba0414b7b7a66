// Symptom: a kill -9 had everything of the last second sent again; a service without keys stored it twice. Cause: settlements were written
// once a second. Fix: they are written with the next batch's commit.
import { expect } from 'vitest';
import { startShipping, test, writeLines } from '../support/shipping.ts';
import { until } from '../support/until.ts';

const BATCH_EVENTS = 50;
const ANSWERED = 200;

/**
 * With one request at a time a batch is committed after the one before the last was settled: when its request comes, only the batch that
 * was answered just before may be unsaved, however fast or slow the machine is.
 */
test.for([1, 4])(
  'a kill resends only the batches that were in flight or just settled (%i requests)',
  async (concurrency, { site }) => {
    const lines = BATCH_EVENTS * (ANSWERED + 100);
    writeLines(site, lines);
    const { service } = site;
    const sink = `concurrency: ${concurrency}, batch: {max_events: ${BATCH_EVENTS}, max_age: 100ms}`;
    let asked = 0;
    const held: string[] = [];
    service.respond = ({ key }) => {
      asked += 1;
      if (asked <= ANSWERED) return undefined;
      held.push(key);
      return { never: 'lost' };
    };
    const program = startShipping(site, { sink });
    // Each request that is held has a commit behind it that came after the answers before.
    await until('every request is held', () => held.length === concurrency);
    await program.end('SIGKILL');
    const before = service.requests.map(({ key }) => key);
    expect(new Set(before).size).toBe(ANSWERED + concurrency);
    const answered = new Set(before.filter((key) => !held.includes(key)));

    service.respond = () => undefined;
    const again = startShipping(site, { sink });
    await until('everything is stored', () => new Set(service.stored).size === lines);
    expect(await again.end()).toBe(0);
    const resent = service.requests.slice(before.length).filter(({ key }) => answered.has(key));
    expect(resent.length).toBeLessThanOrEqual(2 * concurrency);
    expect(service.misusedKeys).toEqual([]);
  },
);
