/** The agent as root, in a folder of which others may write to: what they link there is not shipped, and every view of the agent says so. */
import { chownSync, lchownSync, linkSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { addressOf, command, messagesOf, QUICK, startShipping, sumOf, test } from '../support/shipping.ts';
import { until } from '../support/until.ts';

test('what another user links to is not shipped, nor a token, and log, status, metric, explain and preview say so', async ({
  site,
}) => {
  expect(process.getuid?.(), 'this test runs as root, to make another user’s link').toBe(0);
  const path = (name: string): string => join(site.folder, name);
  mkdirSync(path('etc'));
  writeFileSync(path('etc/secret'), 'a secret of root\n');
  writeFileSync(path('etc/token'), 'xaat-the-token\n');
  writeFileSync(path('etc/theirs'), 'a line of the user\n');
  chownSync(path('etc/theirs'), 1001, 1001);
  for (const [name, to] of [
    ['stolen.log', '../etc/secret'],
    ['own.log', '../etc/theirs'],
  ] as const) {
    symlinkSync(to, path(`logs/${name}`));
    lchownSync(path(`logs/${name}`), 1001, 1001);
  }
  linkSync(path('etc/token'), path('logs/token.log'));
  symlinkSync('../agent', path('logs/data.log.d'));
  const sources = { app: `{type: file, include: ["${site.folder}/logs/**"], scan_interval: 100ms}` };
  const agent = startShipping(site, { sink: `${QUICK}, token_file: "${path('etc/token')}"`, sources });
  const address = await addressOf(agent);
  await until('the user’s own file is stored', () => messagesOf(site).length > 0);
  const { stdout } = await command(site, 'status');
  expect(stdout()).toMatch(/^ {2}3 paths are left out for safety, such as .*\n {2}fix: /m);
  expect(await sumOf(address, 'tailrace_links_refused_total')).toBe(1);
  const explained = await command(site, 'explain', path('logs/stolen.log'));
  expect(explained.stdout()).toContain('user 1001 made the symbolic link, and what it leads to is not');
  expect(explained.stdout()).not.toContain('etc/secret');
  expect((await command(site, 'explain', path('logs/token.log'))).stdout()).toContain(
    'it is the token_file of sink "store"',
  );
  expect((await command(site, 'preview', path('logs/token.log'))).stderr()).toContain('never read as a log');
  expect((await command(site, 'audit')).stdout()).not.toMatch(/token\.log|stolen\.log|data\.log\.d/);
  expect(await agent.end('SIGTERM')).toBe(0);
  const log = agent.stderr().split('\n');
  for (const name of ['stolen.log', 'token.log', 'data.log.d'])
    expect(log.filter((line) => line.includes(`"path":"${path(`logs/${name}`)}"`))).toHaveLength(1);
  expect(messagesOf(site)).toEqual(['a line of the user']);
});
