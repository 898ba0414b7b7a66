import { readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { startAgent } from '../../src/agent/start-agent.ts';
import { type DeletedFilesSink, streamStoreFor } from '../../src/batcher/keep/deleted-files.ts';
import { loadConfig } from '../../src/config/load/load.ts';
import { DeadLetters } from '../../src/state/dead-letters.ts';
import { openState } from '../../src/state/database/store.ts';
import { batch, span } from '../state/batches.ts';
import { FakeService, replyWith, test } from '../support/fake-service.ts';
import { MemoryLog } from '../support/memory-log.ts';
import { SteppedClock } from '../support/stepped-clock.ts';
import { configure } from '../support/shipping.ts';
import { makeTree } from '../support/temp-tree.ts';
import { until } from '../support/until.ts';

test('stream is settled for its source once nothing of it is open, nor committed and not settled', () => {
  const state = openState({ folder: makeTree({}), sinksOf: () => ['store'], log: new MemoryLog() });
  const open: { stream: string }[] = [];
  const held = [{ isTracked: true, isCommitted: false, spans: open }];
  const sink = { batcher: { open: { list: () => held } }, queue: { all: [] } } as unknown as DeletedFilesSink;
  const view = streamStoreFor(state, new Map([['store', sink]]), new Set());
  const { id } = view.mint('app', '/a');
  const other = view.mint('app', '/b').id;
  expect(view.isSettled(id)).toBe(true);
  open.push({ stream: id });
  expect([view.isSettled(id), view.isSettled(other)]).toEqual([false, true]);
  view.forget(id);
  expect(view.list('app')).toHaveLength(2);
  const closed = batch(state.ledger.nextId(), [span(id, 0, 5)]);
  state.commit([closed]);
  open.length = 0;
  expect(view.isSettled(id)).toBe(false);
  state.ledger.settle(closed);
  expect(view.isSettled(id)).toBe(true);
  view.forget(id);
  expect(view.list('app').map((stream) => stream.id)).toEqual([other]);
  state.close();
});

/** Follows `app.log` with batches that stay open for an hour, on a clock that the test moves. */
async function follow(service: FakeService) {
  const folder = makeTree({ 'app.log': 'one\n' });
  const options = {
    sources: { app: '{type: file, include: [app.log]}' },
    sink: 'token: t, compression: none, batch: {max_age: 1h}',
  };
  const config = loadConfig(configure({ folder, url: service.url }, options), {});
  const clock = new SteppedClock();
  const agent = await startAgent({ config, once: false, log: new MemoryLog(), clock });
  onTestFinished(async () => void (await agent.stop(AbortSignal.abort())));
  const pass = async (seconds: number): Promise<void> => {
    for (let i = 0; i < seconds; i++) await clock.advance(1000);
  };
  await until('the line is read', async () => {
    await pass(1);
    return agent.observe().sources[0]!.accepted === 1;
  });
  return { folder, agent, pass, file: join(folder, 'app.log') };
}

// Symptom: a dead letter named no file, and a file that came back was read twice, when its last lines were in a batch that was
// open for longer than a minute. Cause: the database knew nothing of them, so the stream was taken for settled and forgotten.
// Fix: what sources see of the state also looks into the batches.
test('stream of a removed file is not forgotten while its lines are not settled, which are in the disk buffer at once', async () => {
  const service = await FakeService.start();
  service.respond = (_, response) => replyWith(response, 503, 'later');
  const { folder, agent, pass, file } = await follow(service);
  rmSync(file);
  await pass(200);
  expect(readdirSync(join(folder, 'agent/spool/store'))).toHaveLength(1);
  service.respond = (_, response) => replyWith(response, 400, 'no');
  await pass(60);
  const stopping = agent.stop(AbortSignal.timeout(600_000));
  await until('it is refused', () => agent.observe().sources[0]!.settled.dead_lettered === 1);
  await stopping;
  const letters = new DeadLetters(join(folder, 'agent/dead-letters'), Infinity);
  expect(
    letters
      .files()
      .flatMap(({ id }) => letters.read(id)!)
      .map(({ about }) => about.file),
  ).toEqual([file]);
  expect(readdirSync(join(folder, 'agent/spool/store'))).toEqual([]);
});

test('file that comes back while its lines are in an open batch goes on where it was', async ({ service }) => {
  const { agent, pass, file } = await follow(service);
  renameSync(file, `${file}.away`);
  await pass(200);
  renameSync(`${file}.away`, file);
  writeFileSync(file, 'two\n', { flag: 'a' });
  await until('the second line is read', async () => {
    await pass(1);
    return agent.observe().sources[0]!.accepted >= 2;
  });
  await pass(30);
  await agent.stop(AbortSignal.timeout(600_000));
  expect(service.lines.map((line) => (JSON.parse(line) as { message: string }).message)).toEqual(['one', 'two']);
  expect(readFileSync(file, 'utf8')).toBe('one\ntwo\n');
});
