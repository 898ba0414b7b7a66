/** The service's name leads elsewhere while the agent runs: resolved by the system, in a mount namespace with hosts of its own. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { FakeService } from '../support/fake-service.ts';
import { BINARY, startCommand } from '../support/program.ts';
import { configure, QUICK } from '../support/shipping.ts';
import { makeTree } from '../support/temp-tree.ts';
import { until } from '../support/until.ts';

test('run follows the name of its service to another address once the old one takes no more, and loses nothing', async () => {
  const first = await FakeService.start(0, undefined, '127.0.0.1');
  const second = await FakeService.start(first.port, undefined, '127.0.0.2');
  const folder = makeTree({ 'app.log': '' });
  const hosts = join(folder, 'hosts');
  writeFileSync(hosts, '127.0.0.1 store.test\n');
  const app = `{type: file, include: ["${folder}/app.log"], scan_interval: 100ms}`;
  const url = `http://store.test:${first.port}`;
  const config = configure({ folder, url }, { sources: { app }, sink: `token: t, batch: {max_age: 20ms}, ${QUICK}` });
  const script = 'mount --bind "$1" /etc/hosts && exec "$2" run --config "$3"';
  const wrapper = ['--mount', '--propagation', 'private', 'sh', '-c', script, 'sh'];
  const agent = startCommand('unshare', [...wrapper, hosts, BINARY, config], { no_proxy: '*' });
  await agent.says('tailrace runs');
  writeFileSync(join(folder, 'app.log'), '{"n":1}\n', { flag: 'a' });
  await until('the first address stores', () => first.lines.length === 1);
  // In place: a bind mount stays with its file.
  writeFileSync(hosts, '127.0.0.2 store.test\n');
  await first.stop();
  writeFileSync(join(folder, 'app.log'), '{"n":2}\n', { flag: 'a' });
  await until('the second address stores', () => second.lines.length === 1);
  expect([first.lines[0], second.lines[0]]).toEqual([
    expect.stringContaining('"n":1'),
    expect.stringContaining('"n":2'),
  ]);
  expect(await agent.end('SIGTERM')).toBe(0);
});
