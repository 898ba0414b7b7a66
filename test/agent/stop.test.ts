import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { Components } from '../../src/agent/build/components.ts';
import type { SourcePipeline } from '../../src/agent/build/components.ts';
import { closeState, stopComponents } from '../../src/agent/stop.ts';
import { test } from '../support/fake-service.ts';
import { MemoryLog } from '../support/memory-log.ts';
import { valueOf } from '../support/prometheus-text.ts';
import { makeTree } from '../support/temp-tree.ts';
import { until } from '../support/until.ts';
import { startRun } from './run-child.ts';

const ALL = 8 * 1024 * 1024;

// Symptom: a spool file was left at an orderly stop. Cause: files of deleted files' batches go once their settlement is on disk, which closing
// the state brings, and nobody waited for that. Fix: the stop waits.
test('stop waits for the files of the batches that were settled last', async () => {
  const course: string[] = [];
  const removed = (): Promise<void> => Promise.resolve().then(() => void course.push('removed'));
  const closing = closeState(
    { close: () => course.push('closed') > 0 },
    new Map([['store', { buffer: { store: { removed } } }]]),
  );
  expect([await closing, course]).toEqual([true, ['closed', 'removed']]);
});

// Symptom: a source whose end never came kept the process alive after shutdown_timeout. Fix: it is left behind, by name.
test('stop leaves a source behind that never ends, and says which; one that fails does not hold up the others', async () => {
  const components = new Components();
  let isStopped = false;
  const add = (id: string, stop: () => Promise<void>) =>
    components.sources.set(id, { source: { stop }, stats: { lostBytes: 0 } } as unknown as SourcePipeline);
  add('stuck', () => new Promise(() => {}));
  add('broken', () => Promise.reject(new Error('no')));
  add('well', () => Promise.resolve().then(() => void (isStopped = true)));
  const log = new MemoryLog();
  expect(await stopComponents(components, AbortSignal.abort(), log)).toBe(0);
  expect(isStopped).toBe(true);
  expect(log.lines.map(({ fields }) => fields['source'])).toEqual(['broken', 'stuck']);
  expect(log.find('error', 'is left behind')).toHaveLength(1);
});

// Symptom: lines that had been read from a pipe were turned away at the deadline of a stop and lost. Cause: the disk buffer was
// full, and nothing else could take them. Fix: from the beginning of a stop it goes over its limit.
test('run that is stopped with lines of a pipe in hand keeps them over the limit of the disk buffer', async ({
  service,
}) => {
  service.respond = () => {};
  const folder = makeTree({});
  const run = startRun(folder, {
    url: service.url,
    sink: 'buffer: {max_memory: 2MiB, disk: {max_bytes: 1MiB}, when_full: block}, compression: none, concurrency: 1',
    top: 'shutdown_timeout: 4s',
  });
  // Much more than memory and pipe hold; it is written as far as it is read.
  const lines = Array.from({ length: ALL / 1024 }, (_, n) => `{"n":${n},"text":"${'x'.repeat(1000)}"}`);
  run.write(lines).catch(() => {});
  // It reads no more only once disk and memory are full.
  await run.says('takes no more');
  await until('the source waits', async () => {
    const families = await run.scrape();
    return (valueOf(families, 'tailrace_backpressure_seconds_total', { source: 'pipe' }) ?? 0) > 1;
  });
  await until('a request is under way', () => service.requests.length > 0);
  run.process.kill('SIGTERM');
  expect(await run.exited).toBe(0);
  expect(run.stderr()).not.toContain('bytes were read from sources that cannot be read again');
  // Every accepted event is on disk, over the limit, down to the last.
  const { sources, keptEvents } = await run.fieldsOf('stopped; positions are saved');
  const [totals] = sources as [{ accepted: number; delivered: number; held: number }];
  expect(keptEvents).toBe(totals.accepted);
  expect(totals.held).toBe(totals.accepted - totals.delivered);
  expect(readdirSync(join(folder, 'agent/spool/store')).length).toBeGreaterThan(1);
  expect(run.stderr()).not.toContain('are lost with this process"}');

  const again = startRun(folder, { url: service.url, sink: 'compression: none' });
  service.respond = (request, response) => service.storeAll(request, response);
  again.close();
  expect(await again.exited).toBe(0);
  const events = service.lines.map((line) => JSON.parse(line) as { n?: number; message?: string });
  expect(events).toHaveLength(totals.accepted);
  // The line that the stop cut is kept as it is.
  const [whole, cut] = [events.filter(({ n }) => n !== undefined), events.filter(({ n }) => n === undefined)];
  expect(whole.map(({ n }) => n).toSorted((one, other) => one! - other!)).toEqual(
    Array.from({ length: whole.length }, (_, n) => n),
  );
  expect(cut.map(({ message }) => message?.slice(0, 10))).toEqual(
    cut.length === 0 ? [] : [`{"n":${whole.length},"text"`.slice(0, 10)],
  );
});

// Symptom: with a filter and a service that is away, the counts of the last line did not add up. Cause: filtered events are held with the
// others of their batch, and no count of the line had those.
test('stop accounts for filtered events whose batch is not delivered', async ({ service }) => {
  service.respond = () => {};
  const run = startRun(makeTree({}), {
    url: service.url,
    sink: 'compression: none, transform: where n > 3',
    top: 'shutdown_timeout: 1s',
  });
  await run.write(Array.from({ length: 10 }, (_, n) => `{"n":${n}}`));
  await until('a request is under way', () => service.requests.length > 0);
  run.process.kill('SIGTERM');
  expect(await run.exited).toBe(0);
  const line = await run.fieldsOf('stopped; positions are saved');
  expect(line['keptEvents']).toBe(6);
  expect(line['sources']).toMatchObject([{ accepted: 10, delivered: 0, dropped: 0, filtered: 0, held: 10 }]);
});
