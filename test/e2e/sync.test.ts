/** `buffer.sync: always`: what came by syslog survives a kill before its batch was due; with `batch` it does not. */
import { createSocket } from 'node:dgram';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { decodeSpoolFile } from '../../src/state/spool/spool-file.ts';
import { FaultService } from '../support/fault-service.ts';
import { freePort } from '../support/free-port.ts';
import { startProgram, type Program } from '../support/program.ts';
import { makeTree } from '../support/temp-tree.ts';
import { valueOf } from '../support/prometheus-text.ts';
import { until } from '../support/until.ts';
import { metricsOf } from '../support/shipping.ts';

/** Events of the files that are whole. */
function spooledEvents(folder: string): number {
  if (!existsSync(folder)) return 0;
  const files = readdirSync(folder).filter((name) => name.endsWith('.batch'));
  const contents = files.map((name) => decodeSpoolFile(readFileSync(join(folder, name))));
  return contents.reduce((sum, content) => sum + (content.ok ? content.header.events : 0), 0);
}

const MESSAGES = 500;

test.for([
  ['always', MESSAGES],
  ['batch', 0],
] as const)('a killed agent with sync: %s has %i of the events that it had accepted', async ([sync, kept]) => {
  const port = await freePort();
  const service = new FaultService();
  const url = await service.start();
  onTestFinished(() => service.stop());
  service.respond = () => ({ status: 503, body: '{}' });
  const folder = makeTree({});
  const config = join(
    makeTree({
      'tailrace.yaml': `data_dir: ${folder}/data
sources: {net: {type: syslog, listen: ["udp://127.0.0.1:${port}"]}}
sinks:
  store: {type: ingest, url: "${url}", dataset: logs, batch: {max_age: 1h}, buffer: {sync: ${sync}}, retry: {initial_backoff: 10ms, max_backoff: 50ms}}
telemetry: {listen: "127.0.0.1:0"}
`,
    }),
    'tailrace.yaml',
  );
  const start = async (): Promise<{ agent: Program; telemetry: string }> => {
    const agent = startProgram(['run', '--config', config], {});
    return { agent, ...(JSON.parse(await agent.says('tailrace runs')) as { telemetry: string }) };
  };
  const first = await start();
  const socket = createSocket('udp4');
  for (let n = 0; n < MESSAGES; n += 1)
    await new Promise((resolve) => socket.send(`<13>1 - h a - - - message ${n}`, port, '127.0.0.1', resolve));
  socket.close();
  await until(
    'all are accepted, and those on disk that are to be',
    async () => {
      const metrics = await metricsOf(first.telemetry);
      const accepted = valueOf(metrics, 'tailrace_events_total', { source: 'net', outcome: 'accepted' });
      return accepted === MESSAGES && spooledEvents(join(folder, 'data', 'spool', 'store')) === kept;
    },
    120_000,
    50,
  );
  await first.agent.end('SIGKILL');

  service.respond = () => undefined;
  const second = await start();
  if (kept > 0) await until('what was kept is delivered', () => service.stored.length === kept, 300_000, 50);
  expect(await second.agent.end('SIGTERM')).toBe(0);
  expect(service.stored.map((event) => (JSON.parse(event) as { message: string }).message).toSorted()).toEqual(
    Array.from({ length: kept }, (_, n) => `message ${n}`).toSorted(),
  );
});
