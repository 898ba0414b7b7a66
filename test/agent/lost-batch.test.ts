import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { startAgent } from '../../src/agent/start-agent.ts';
import { BatchQueue } from '../../src/batcher/queue.ts';
import { loadConfig } from '../../src/config/load/load.ts';
import { FakeService } from '../support/fake-service.ts';
import { MemoryLog } from '../support/memory-log.ts';
import { configure } from '../support/shipping.ts';
import { makeTree } from '../support/temp-tree.ts';
import { until } from '../support/until.ts';

afterEach(() => vi.restoreAllMocks());

/** An agent in this process that reads one file of 100 lines, in batches of ten. */
async function start() {
  const service = await FakeService.start();
  const folder = makeTree({ 'app.log': Array.from({ length: 100 }, (_, i) => `line ${i}\n`).join('') });
  const options = {
    sources: { app: '{type: file, include: [app.log]}' },
    sink: 'token: t, batch: {max_events: 10, max_age: 20ms}',
  };
  const config = loadConfig(configure({ folder, url: service.url }, options), {});
  const log = new MemoryLog();
  const agent = await startAgent({ config, once: false, log });
  onTestFinished(async () => void (await agent.stop(AbortSignal.abort())));
  const health = async (): Promise<{ status: number; text: string }> => {
    const reply = await fetch(`${agent.telemetry!.address}/healthz`);
    return { status: reply.status, text: await reply.text() };
  };
  return { service, agent, health, log };
}

test('agent is healthy while every batch is accounted for', async () => {
  const { service, agent, health } = await start();
  await until('all lines are there', () => service.lines.length === 100);
  await until('all is settled', () => agent.observe().sources[0]?.held === 0);
  expect((await health()).status).toBe(200);
  expect(await agent.stop(AbortSignal.timeout(10_000))).toMatchObject({
    lostEvents: 0,
    keptEvents: 0,
    failure: undefined,
  });
});

test('agent that loses one batch on its way turns unhealthy and says how many events are missing', async () => {
  vi.spyOn(BatchQueue.prototype, 'close').mockImplementationOnce(() => {});
  const { service, health } = await start();
  await until('the other lines are there', () => service.lines.length === 90);
  await until('it is unhealthy', async () => (await health()).status === 503);
  expect(JSON.parse((await health()).text)).toMatchObject({
    status: 'failing',
    problems: [expect.stringContaining('source "app": 100 events were accepted, 90 are accounted for')],
  });
});
