/**
 * Symptom: full dead letters stopped every source of the sink, and only the log showed it. Cause: a batch with refused events kept its
 * worker until there was room. Fix: it waits without one, outside of its slot, and telemetry shows it.
 */
import { beforeEach, expect, test } from 'vitest';
import { TailraceError } from '../../src/core/errors.ts';
import { settleTurns, until } from '../support/until.ts';
import { DeliveryRig } from './delivery-rig.ts';
import { delivered } from './sink-rig.ts';

const FULL = new TailraceError('E_DEAD_LETTERS_FULL', 'the dead letters take 9 bytes', {
  fix: 'raise dead_letter.max_bytes',
});

let rig: DeliveryRig;

beforeEach(() => {
  rig = new DeliveryRig({ concurrency: 2 });
  rig.buryFails = FULL;
  rig.respond = ({ events, sent }) => {
    const bad = events.flatMap((event, index) =>
      event.includes('bad') ? [{ index, timestamp: '', error: 'a field too many' }] : [],
    );
    if (bad.length === 0) return { outcome: delivered(sent.events) };
    const counts = { stored: sent.events - bad.length, failed: bad.length };
    return { outcome: { kind: 'partial', ...counts, failures: bad, detail: 'some' } };
  };
});

const seal = (name: string, ...events: string[]) => rig.seal(name, events.length, { events });

test('delivery sends all other batches while more than it has workers wait for the dead letters', async () => {
  for (let n = 0; n < 5; n += 1) seal(`bad${n}`, '"good"', `"bad${n}"`);
  for (let n = 0; n < 5; n += 1) seal(`good${n}`, '"good"');
  await until('the good ones are settled', () => rig.accounting.settled.delivered === 5);
  expect(rig.requests).toHaveLength(10);
  expect(rig.delivery.parked.blocked).toEqual({
    isFull: true,
    batches: 5,
    events: 5,
    reason: FULL.message,
    fix: FULL.fix,
  });
  expect([rig.accountedFor, rig.delivery.queue.sending.length]).toEqual([15, 5]);
  expect(rig.log.find('error', 'dead letters are full')).toHaveLength(1);
  // Asked again now and then, without a request.
  await rig.clock.advance(5000);
  expect([rig.requests.length, rig.delivery.parked.blocked?.batches]).toEqual([10, 5]);
  rig.buryFails = false;
  rig.delivery.parked.retryLetters();
  await until('all are settled', () => rig.delivery.queue.sending.length === 0);
  expect(rig.requests).toHaveLength(10);
  expect([...rig.letters.values()].flat().map(({ event }) => Buffer.from(event).toString())).toEqual([
    '"bad0"',
    '"bad1"',
    '"bad2"',
    '"bad3"',
    '"bad4"',
  ]);
  expect(rig.accounting.settled).toMatchObject({ delivered: 10, dead_lettered: 5 });
  expect([rig.delivery.parked.blocked, rig.budget.usedBytes]).toEqual([undefined, 0]);
  expect(rig.log.find('info', 'dead letters are kept again')).toHaveLength(1);
});

test('delivery goes on by itself where a disk that took no dead letters takes them again', async () => {
  rig.buryFails = new Error('no space left on device');
  seal('bad', '"bad"', '"good"');
  seal('good', '"good"');
  await until('the good one is settled', () => rig.accounting.settled.delivered === 1);
  expect(rig.delivery.parked.blocked).toMatchObject({ isFull: false, fix: expect.stringContaining('free space') });
  rig.buryFails = false;
  await rig.clock.advance(1000);
  expect(rig.accounting.settled).toMatchObject({ delivered: 2, dead_lettered: 1 });
});

test('delivery goes on looking for the events at fault where it was when the dead letters were full', async () => {
  rig.respond = ({ events, sent }) =>
    events.some((event) => event.includes('bad'))
      ? { outcome: { kind: 'bisect', detail: 'HTTP 400' }, status: 400 }
      : { outcome: delivered(sent.events) };
  seal('mixed', '"bad0"', '"good"', '"good"', '"bad1"');
  await until('it waits', () => rig.delivery.parked.blocked !== undefined);
  rig.buryFails = false;
  rig.delivery.parked.retryLetters();
  await until('it is settled', () => rig.delivery.queue.sending.length === 0);
  expect(rig.accounting.settled).toMatchObject({ delivered: 2, dead_lettered: 2 });
  expect(new Set(rig.requests.map(({ sent }) => sent.key)).size).toBe(rig.requests.length);
});

test('delivery wants no more for a dataset whose waiting batches take half of the memory, and more for others', async () => {
  const body = `"bad${'x'.repeat(4 * 1024 * 1024)}"`;
  for (let n = 0; n < 7; n += 1) seal(`bad${n}`, body);
  await until('all wait', () => rig.delivery.parked.blocked?.batches === 7);
  expect(rig.queue.wantsMore('logs', true)).toBe(true);
  seal('bad7', body);
  await until('it waits, too', () => rig.delivery.parked.blocked?.batches === 8);
  expect([rig.queue.wantsMore('logs', true), rig.queue.wantsMore('other', true)]).toEqual([false, true]);
});

test('delivery that drains leaves batches that wait for the dead letters to the next process, and drops the oldest where it must', async () => {
  seal('bad', '"bad"');
  await until('it waits', () => rig.delivery.parked.blocked !== undefined);
  await rig.delivery.drain(AbortSignal.timeout(10_000));
  expect(rig.delivery.queue.sending).toHaveLength(1);
  const [batch] = rig.delivery.queue.sending;
  Object.assign(batch!, { origin: 'live', spoolName: 'b' });
  expect(rig.delivery.dropOldest()).toBe(true);
  await settleTurns();
  expect([rig.delivery.queue.sending, rig.accounting.settled.dropped, rig.delivery.parked.blocked]).toEqual([
    [],
    1,
    undefined,
  ]);
});
