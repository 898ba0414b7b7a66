// Symptom: a kill -9 had everything of the last second sent again; a service without keys stored it twice. Cause: what was settled was
// written once a second. Fix: it is written with the next batch's commit.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { FaultService } from '../support/fault-service.ts';
import { type Program, startProgram } from '../support/program.ts';
import { makeTree } from '../support/temp-tree.ts';
import { until } from '../support/until.ts';

const BATCH_EVENTS = 50;
const ANSWERED = 200;

/**
 * With one request at a time a batch is committed after the one before the last was settled: when its request comes, only the batch that
 * was answered just before may be unsaved, however fast or slow the machine is.
 */
test.each([1, 4])('a kill sends only the batches again that were under way or just settled (%i requests)', async (concurrency) => {
  const service = new FaultService();
  const url = await service.start();
  onTestFinished(() => service.stop());
  const folder = makeTree({});
  mkdirSync(join(folder, 'logs'));
  const lines = BATCH_EVENTS * (ANSWERED + 100);
  writeFileSync(join(folder, 'logs/a.log'), Array.from({ length: lines }, (_, n) => `line ${n}\n`).join(''));
  const config = join(folder, 'tailrace.yaml');
  writeFileSync(
    config,
    `data_dir: ${join(folder, 'data')}
telemetry: {listen: none}
sources: {app: {type: file, include: ["${join(folder, 'logs')}/*.log"]}}
sinks: {store: {type: ingest, url: "${url}", token: t, dataset: logs, concurrency: ${concurrency}, batch: {max_events: ${BATCH_EVENTS}, max_age: 100ms}}}
`,
  );
  const start = (): Program => {
    return startProgram(['run', '--config', config]);
  };
  let asked = 0;
  const held: string[] = [];
  service.respond = ({ key }) => {
    asked += 1;
    if (asked <= ANSWERED) return undefined;
    held.push(key);
    return { never: 'lost' };
  };
  const program = start();
  // Each request that is held has a commit behind it that came after the answers before.
  await until('every request is held', () => held.length === concurrency);
  await program.end('SIGKILL');
  const before = service.requests.map(({ key }) => key);
  expect(new Set(before).size).toBe(ANSWERED + concurrency);
  const answered = new Set(before.filter((key) => !held.includes(key)));

  service.respond = () => undefined;
  const again = start();
  await until('everything is stored', () => new Set(service.stored).size === lines);
  expect(await again.end()).toBe(0);
  const resent = service.requests.slice(before.length).filter(({ key }) => answered.has(key));
  expect(resent.length).toBeLessThanOrEqual(2 * concurrency);
  expect(service.misusedKeys).toEqual([]);
});
