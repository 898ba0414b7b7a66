import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { FakeService } from '../support/fake-service.ts';
import { Journal, lacksJournal } from '../support/journal.ts';
import { startProgram } from '../support/program.ts';
import { valueOf } from '../support/prometheus-text.ts';
import { makeTree } from '../support/temp-tree.ts';
import { fillDisk, mountTmpfs } from '../support/tmpfs.ts';
import { until } from '../support/until.ts';
import { startRun } from './run-child.ts';
import { addressOf, metricsOf, range, startShipping } from '../support/shipping.ts';

const COUNT = 300;

/** What a source reads: each event `{"n": …}` of them takes a row of its own in the database. */
type Write = (folder: string) => void;
const writeFiles: Write = (folder) => {
  for (const n of range(COUNT)) writeFileSync(join(folder, 'logs', `${n}.log`), `{"n":${n}}\n`);
};
const writeJournal: Write = (folder) =>
  new Journal(join(folder, 'journal')).add(...range(COUNT).map((n) => ({ MESSAGE: `{"n":${n}}` })));
const INPUTS: readonly [what: string, write: Write][] = [
  ['files', writeFiles],
  ...(lacksJournal === undefined ? [['a journal', writeJournal] as [string, Write]] : []),
];
if (lacksJournal !== undefined) test.skip(`full disk and a journal (${lacksJournal})`, () => {});

/** An agent that reads them, with its `data_dir` on a disk of so many KiB. */
async function runOn(kibibytes: number, write: Write) {
  const service = await FakeService.start();
  const data = mountTmpfs(kibibytes);
  const folder = makeTree({ 'logs/.keep': '', 'journal/.keep': '' });
  const journal = { journal: `{type: journald, directory: ${folder}/journal, since: all, parse_json: true}` };
  const ofJournal = { sources: journal, sink: 'token: t, batch: {max_age: 50ms, max_events: 1}' };
  const options = { data, sink: 'token: t, batch: {max_age: 50ms}', ...(write === writeJournal && ofJournal) };
  const run = startShipping({ folder, url: service.url }, options);
  const config = join(folder, 'tailrace.yaml');
  return { service, data, folder, config, run };
}

// Symptom: `run`, stopped on a full disk, reported the events of a file as lost and ended with 1. Cause: a batch whose positions were not
// saved counted as lost, whatever its source. Fix: events that can be reread count as kept.
test.each(INPUTS)(
  'run that is stopped while it cannot save the positions of %s calls its events kept, and the next one sends them',
  async (_, write) => {
    const { service, data, folder, config, run } = await runOn(8192, write);
    const telemetry = await addressOf(run);
    const free = fillDisk(data);
    // More spans than fit into the pages that the database holds already.
    write(folder);
    await run.says('cannot save the positions of a batch');
    const ready = await (await fetch(`${telemetry}/readyz`)).json();
    expect(ready).toMatchObject({ status: 'ready', unsaved: { reason: expect.stringContaining('full') as string } });
    const metrics = await metricsOf(telemetry);
    expect(valueOf(metrics, 'tailrace_checkpoint_refusals_total', {})).toBeGreaterThan(0);
    run.process.kill('SIGTERM');
    await run.says('stopping');

    expect(await run.end('SIGTERM')).toBe(0);

    expect(run.stderr()).not.toContain('are lost with this process');
    const { keptEvents } = JSON.parse(await run.says('stopped; positions could not be saved')) as {
      keptEvents: number;
    };
    expect(keptEvents).toBeGreaterThan(0);
    free();
    expect(await startProgram(['run', '--once', '-c', config]).exited).toBe(0);
    const numbers = new Set(service.lines.map((line) => (JSON.parse(line) as { n: number }).n));
    expect(numbers.size).toBe(COUNT);
  },
);

test.each(INPUTS)('run delivers %s on a full disk: it has taken room for positions at its start', async (_, write) => {
  const { service, data, folder, config, run } = await runOn(64 * 1024, write);
  await run.says('tailrace runs');
  fillDisk(data);
  write(folder);
  await until('all is stored', () => service.lines.length >= COUNT);
  expect(await run.end('SIGTERM')).toBe(0);
  await run.says('stopped; positions are saved');
  expect(run.stderr()).not.toContain('cannot save');
  expect(await startProgram(['run', '--once', '-c', config]).exited).toBe(0);
  expect(service.lines).toHaveLength(COUNT);
});

test('run that can neither deliver nor write what it read from a pipe ends with 1 at its deadline, and names every event and byte', async () => {
  const service = await FakeService.start();
  service.respond = () => {};
  const folder = makeTree({});
  const data = mountTmpfs(1024);
  const run = startRun(folder, {
    url: service.url,
    data,
    sink: 'buffer: {max_memory: 2MiB}, compression: none, concurrency: 1',
    top: 'shutdown_timeout: 2s',
  });
  await run.says('tailrace runs');
  fillDisk(data);
  const lines = Array.from({ length: 8192 }, (_, n) => `{"n":${n},"text":"${'x'.repeat(1000)}"}`);
  run.write(lines).catch(() => {});
  await run.says('takes no more');
  await until('the source waits', async () => {
    const families = await run.scrape();
    return (valueOf(families, 'tailrace_backpressure_seconds_total', { source: 'pipe' }) ?? 0) > 1;
  });
  run.process.kill('SIGTERM');
  expect(await run.exited).toBe(1);
  const [totals] = (await run.fieldsOf('stopped; positions could not be saved'))['sources'] as [
    { readBytes: number; accepted: number; delivered: number },
  ];
  const { events } = await run.fieldsOf('were not delivered and are lost with this process');
  const { bytes } = await run.fieldsOf('found no memory or disk before the deadline');
  expect([totals.delivered, events]).toEqual([0, totals.accepted]);
  expect(totals.accepted).toBeGreaterThan(100);
  const acceptedBytes = lines.slice(0, totals.accepted).reduce((sum, line) => sum + line.length + 1, 0);
  expect(acceptedBytes + Number(bytes)).toBe(totals.readBytes);
});
