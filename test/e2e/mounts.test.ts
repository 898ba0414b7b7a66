/** A file system that is mounted after the agent has started: its files are read on, and batches in flight are kept. */
import { spawnSync } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { command, range, startShipping, storedSeqs, test, writeLines } from '../support/shipping.ts';
import { mountTmpfs } from '../support/tmpfs.ts';
import { until } from '../support/until.ts';

function run(program: string, ...args: string[]): void {
  const { status, stderr } = spawnSync(program, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${stderr}`);
}

test('files that are on a file system which is mounted late are not sent again, nor are batches of them lost', async ({
  site,
}) => {
  const { service, log } = site;
  const logs = join(site.folder, 'logs');
  const disk = mountTmpfs(4096);
  const mount = (): void => run('mount', '--bind', disk, logs);
  const unmount = (): void => run('umount', logs);
  onTestFinished(() => void spawnSync('umount', ['-l', logs]));
  mount();
  writeLines(site, 1000);
  const first = startShipping(site);
  await until('all is stored', () => service.stored.length === 1000);
  expect(await first.end()).toBe(0);
  // Taken, committed, and not delivered when it is killed.
  service.respond = () => ({ status: 503 });
  appendFileSync(log, '{"seq":1000}\n');
  const second = startShipping(site);
  await second.says('batch was not stored');
  expect(await second.end('SIGKILL')).toBe('SIGKILL');
  service.respond = () => undefined;
  unmount();

  const third = startShipping(site);
  await third.says('known files are on a file system that is not there');
  await third.says('cannot be read again now');
  await third.says('tailrace runs');
  expect((await command(site, 'explain', log)).stdout()).toContain('the file system that it is on is not there');
  mount();
  appendFileSync(log, '{"seq":1001}\n');
  await until('what was added is stored', () => service.stored.length > 1000);
  expect(await third.end()).toBe(0);

  const last = startShipping(site);
  await until('the batch is stored', () => service.stored.length === 1002);
  expect(await last.end()).toBe(0);
  expect(storedSeqs(site)).toEqual(range(1002));
  expect(service.misusedKeys).toEqual([]);
  expect(`${third.stderr()}${last.stderr()}`).not.toContain('are gone');
});
