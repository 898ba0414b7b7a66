/** A token that is replaced in its file while the service refuses the old one, in each way that people and programs replace files. */
import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { API_TOKEN, localService } from '../support/local-service.ts';
import { startShipping } from '../support/shipping.ts';
import { makeTree } from '../support/temp-tree.ts';

const service = localService('logs');

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
  const folder = makeTree({
    'logs/app.log': 'one line\n',
    'volume/..v1/token': 'xaat-00000000-0000-4000-8000-000000000000',
  });
  const volume = join(folder, 'volume');
  symlinkSync('..v1', join(volume, '..data'));
  symlinkSync('..data/token', join(volume, 'token'));
  const agent = startShipping(
    { folder, url: service.url },
    { sink: `token_file: ${volume}/token, retry: {initial_backoff: 1h, max_backoff: 1h}` },
  );
  await agent.says('delivery is paused');
  replace(volume);
  await agent.says('delivery goes on');
  expect(await agent.end('SIGTERM')).toBe(0);
});
