/** What feeds the watchdog: a scan that is due and does not come counts; waiting, silence and a long scan that goes on do not. */
import { setImmediate } from 'node:timers/promises';
import { appendFileSync, writeFileSync } from 'node:fs';
import { afterEach, expect, onTestFinished, vi } from 'vitest';
import { NO_SERVICE_MANAGER } from '../../../src/agent/service-manager/notify.ts';
import { startReporting } from '../../../src/agent/service-manager/report.ts';
import { SCAN_GRACE_MS } from '../../../src/sources/file/limits.ts';
import { Finder } from '../../../src/sources/file/scan/finder.ts';
import { settleTurns, until } from '../../support/until.ts';
import { TailRig, test } from './tail-rig.ts';

afterEach(() => vi.restoreAllMocks());

/** A running source with one file. */
async function run(rig = new TailRig()): Promise<TailRig> {
  writeFileSync(rig.path('app.log'), 'one\n');
  await rig.start();
  const ended = rig.source.run();
  onTestFinished(async () => {
    await rig.source.stop();
    await ended;
  });
  await settleTurns();
  return rig;
}

test('source whose scan hangs is overdue after its deadline, and no more once the scan goes on', async () => {
  const rig = await run();
  const hung = Promise.withResolvers<Awaited<ReturnType<Finder['find']>>>();
  vi.spyOn(Finder.prototype, 'find').mockImplementationOnce(() => hung.promise);
  rig.clock.advance(SCAN_GRACE_MS / 2);
  await settleTurns();
  rig.clock.advance(SCAN_GRACE_MS);
  expect(rig.source.overdue!()).toBeUndefined();
  rig.clock.advance(1000);
  expect(rig.source.overdue!()).toBe('a scan is 61 s late');
  hung.resolve(new Map());
  await until('it goes on', () => rig.source.overdue!() === undefined);
});

test('source whose timer never fires is overdue once the scan is', async ({ rig }) => {
  rig.clock.sleep = (_ms, signal) => new Promise((resolve) => signal?.addEventListener('abort', () => resolve()));
  await run(rig);
  rig.clock.advance(SCAN_GRACE_MS);
  expect(rig.source.overdue!()).toBeUndefined();
  rig.clock.advance(SCAN_GRACE_MS);
  expect(rig.source.overdue!()).toMatch(/^a scan is \d+ s late$/);
});

test('source is not overdue in silence, nor while its sink takes nothing, nor after it has stopped', async () => {
  const rig = await run();
  rig.lane.hold();
  appendFileSync(rig.path('app.log'), 'two\n');
  for (let minutes = 0; minutes < 10; minutes += 1) {
    for (let step = 0; step < 12; step += 1) {
      rig.clock.advance(5000);
      await settleTurns();
      expect(rig.source.overdue!()).toBeUndefined();
    }
  }
  rig.lane.release();
  await rig.source.stop();
  rig.clock.advance(10 * SCAN_GRACE_MS);
  expect(rig.source.overdue!()).toBeUndefined();
});

test('source is not overdue during a scan that takes long and goes on', async () => {
  let isSlow = false;
  // Each look takes a tenth of a second: 200 s for all files, 50 s for each slice of them.
  const rig = new TailRig();
  rig.beforeCalls.add((call) => {
    if (isSlow && call === 'stat') rig.clock.advance(100);
  });
  for (let file = 0; file < 2000; file += 1) writeFileSync(rig.path(`${file}.log`), '');
  await run(rig);
  const find = vi.spyOn(Finder.prototype, 'find');
  isSlow = true;
  rig.clock.advance(SCAN_GRACE_MS / 2);
  const answers = new Set<string | undefined>();
  await until('a slow scan has begun', () => find.mock.results.length > 0);
  const scan = { isDone: false };
  void (find.mock.results[0]!.value as Promise<unknown>).then(() => (scan.isDone = true));
  while (!scan.isDone) {
    answers.add(rig.source.overdue!());
    await setImmediate();
  }
  isSlow = false;
  expect([...answers]).toEqual([undefined]);
});

test('without a service manager no status line is computed', () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const observe = vi.fn<() => never>();
  const end = startReporting({ manager: NO_SERVICE_MANAGER, observe, overdue: () => undefined });
  vi.advanceTimersByTime(60_000);
  expect(observe).not.toHaveBeenCalled();
  end();
});

test('systemd hears that the agent works only while nothing is overdue', () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  let overdue: string | undefined;
  const alive = vi.fn<() => void>();
  const nothing = (): void => {};
  const manager = { ready: nothing, status: nothing, reloading: nothing, stopping: nothing, alive, watchdogMs: 3000 };
  const end = startReporting({ manager, observe: () => ({ sources: [], sinks: [] }) as never, overdue: () => overdue });
  vi.advanceTimersByTime(3000);
  expect(alive).toHaveBeenCalledTimes(4);
  overdue = 'a scan is 61 s late';
  vi.advanceTimersByTime(9000);
  expect(alive).toHaveBeenCalledTimes(4);
  overdue = undefined;
  vi.advanceTimersByTime(1000);
  expect(alive).toHaveBeenCalledTimes(5);
  end();
});
