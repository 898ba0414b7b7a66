/** A token that is replaced in its file while the service refuses the old one, in each way that people and programs replace files. */
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { API_TOKEN, type LocalService, startLocalService } from '../support/local-service.ts';
import { startProgram } from '../support/program.ts';
import { makeTree } from '../support/temp-tree.ts';

const home = mkdtempSync(join(tmpdir(), 'tailrace-test-'));
let service: LocalService;

beforeAll(async () => {
  service = await startLocalService(home, 'logs');
});

afterAll(async () => {
  await service?.program.end();
  rmSync(home, { recursive: true, force: true });
});

const WAYS: Record<string, (volume: string) => void> = {
  'written over': (volume) => writeFileSync(join(volume, '..v1', 'token'), `${API_TOKEN}\n`),
  'renamed into place': (volume) => {
    writeFileSync(join(volume, 'new'), API_TOKEN);
    renameSync(join(volume, 'new'), join(volume, '..v1', 'token'));
  },
  'behind a link that is swapped, as Kubernetes does': (volume) => {
    mkdirSync(join(volume, '..v2'));
    writeFileSync(join(volume, '..v2', 'token'), API_TOKEN);
    symlinkSync('..v2', join(volume, '..data_tmp'));
    renameSync(join(volume, '..data_tmp'), join(volume, '..data'));
  },
};

// Symptom: a token that was put right took effect after half a minute. Cause: a refused one was only read again with the next probe.
// Fix: while it holds up the sink its file is looked at every second. Here the next probe is half an hour away at least.
test.for(Object.entries(WAYS))('token file that is %s resumes delivery before the next probe', async ([, replace]) => {
  const folder = makeTree({ 'logs/app.log': 'one line\n', 'volume/..v1/token': 'xaat-00000000-0000-4000-8000-000000000000' });
  const volume = join(folder, 'volume');
  symlinkSync('..v1', join(volume, '..data'));
  symlinkSync('..data/token', join(volume, 'token'));
  const config = join(folder, 'tailrace.yaml');
  writeFileSync(
    config,
    `data_dir: ${folder}/agent
sources: {app: {type: file, include: ["${folder}/logs/*.log"]}}
sinks: {store: {type: ingest, url: "${service.url}", dataset: logs, token_file: ${volume}/token, retry: {initial_backoff: 1h, max_backoff: 1h}}}
telemetry: {listen: none}
`,
  );
  const agent = startProgram(['run', '--config', config]);
  await agent.says('delivery is paused');
  replace(volume);
  await agent.says('delivery goes on');
  expect(await agent.end('SIGTERM')).toBe(0);
});
