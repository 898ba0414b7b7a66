/** Input of operators and machines beside bad configurations: the agent takes it, or reports a fix; nothing is lost. */
import { spawnSync } from 'node:child_process';
import { appendFileSync, copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Agent, fetch } from 'undici';
import { expect, onTestFinished, test } from 'vitest';
import { findProgram } from '../support/installed.ts';
import { BINARY, startCommand, startProgram } from '../support/program.ts';
import { addressOf, configure, makeSite, messagesOf } from '../support/shipping.ts';
import { makeTree } from '../support/temp-tree.ts';
import { mountTmpfs } from '../support/tmpfs.ts';
import { until } from '../support/until.ts';

const fixtures = join(import.meta.dirname, '..', 'fixtures');
const faketime = findProgram('faketime');
const neededTime = faketime ? '' : ' (needs: apt-get install -y faketime)';

/** A site with two lines to read, and its configuration. */
async function begin(token = 'token: t') {
  const site = await makeSite();
  writeFileSync(site.log, 'one\ntwo\n');
  const app = '{type: file, include: [logs/app.log], ignore_older: 7d}';
  const config = configure(site, { sources: { app }, sink: `${token}, concurrency: 1, batch: {max_age: 20ms}` });
  return { ...site, config, messages: () => messagesOf(site) };
}

test('a configuration that an earlier version took is taken', async () => {
  const folder = makeTree({});
  copyFileSync(join(fixtures, 'configurations', '0.1.0.yaml'), join(folder, 'tailrace.yaml'));
  const check = startProgram(['check', '--config', join(folder, 'tailrace.yaml')], { TAILRACE_TOKEN: 'secret' });
  expect(await check.exited, check.stdout() + check.stderr()).toBe(0);
});

test.skipIf(!faketime)(
  `a clock in 1970, and its step to the present, lose nothing and send nothing twice${neededTime}`,
  async () => {
    const { log, config, messages } = await begin();
    const early = startCommand(faketime!, ['-f', '@1970-01-02 00:00:00', BINARY, 'run', '--once', '--config', config]);
    expect(await early.exited, early.stderr()).toBe(0);
    expect(messages()).toEqual(['one', 'two']);
    appendFileSync(log, 'three\n');
    const late = startProgram(['run', '--once', '--config', config]);
    expect(await late.exited, late.stderr()).toBe(0);
    expect(messages()).toEqual(['one', 'two', 'three']);
  },
);

test('a token with a line break at its end is sent without it, one with a line break inside is refused without its value', async () => {
  const good = await begin('token_file: token');
  writeFileSync(join(good.folder, 'token'), 'secret-1\r\n', { mode: 0o600 });
  const agent = startProgram(['run', '--once', '--config', good.config]);
  expect(await agent.exited, agent.stderr()).toBe(0);
  expect(good.service.requests[0]!.headers.authorization).toBe('Bearer secret-1');

  const bad = await begin('token_file: token');
  writeFileSync(join(bad.folder, 'token'), 'secret-1\nsecret-2\n', { mode: 0o600 });
  const check = startProgram(['check', '--config', bad.config]);
  expect(await check.exited).toBe(2);
  const said = check.stdout() + check.stderr();
  expect(said).toMatch(/tailrace\.yaml:\d+:\d+: .*token/);
  expect(said).not.toContain('secret-');
});

test('a storm of SIGHUPs and a page that is asked a thousand times a second lose nothing, and the agent stays healthy', async () => {
  const { log, config, service, messages } = await begin();
  const agent = startProgram(['run', '--config', config]);
  const telemetry = await addressOf(agent);
  const lines = Array.from({ length: 1000 }, (_, n) => `line ${n}`);
  // It takes 64 connections at a time.
  const dispatcher = new Agent({ connections: 20 });
  onTestFinished(() => dispatcher.destroy());
  const ask = async (path: string): Promise<number> => {
    const reply = await fetch(`${telemetry}${path}`, { dispatcher });
    await reply.arrayBuffer();
    return reply.status;
  };
  const paths = ['/', '/history.json', '/files.json', '/metrics'];
  const statuses: number[] = [];
  for (let round = 0; round < 20; round += 1) {
    appendFileSync(log, `${lines.slice(round * 50, round * 50 + 50).join('\n')}\n`);
    agent.process.kill('SIGHUP');
    statuses.push(...(await Promise.all(Array.from({ length: 50 }, (_, n) => ask(paths[n % paths.length]!)))));
  }
  expect(statuses).toHaveLength(1000);
  expect(new Set(statuses)).toEqual(new Set([200]));
  await until('every line is stored', () => service.stored.length >= 1002);
  expect(await ask('/healthz')).toBe(200);
  expect(await agent.end('SIGTERM'), agent.stderr()).toBe(0);
  expect(messages()).toEqual(['one', 'two', ...lines]);
});

test('a container without a writable folder reports which one and the fix, and ships everything once it has one', async () => {
  const { config, messages } = await begin();
  const root = mountTmpfs(32 * 1024);
  writeFileSync(config, readFileSync(config, 'utf8').replace(/^data_dir: .*/, `data_dir: ${root}/state`));
  const remount = (how: 'ro' | 'rw') => expect(spawnSync('mount', ['-o', `remount,${how}`, root]).status).toBe(0);
  remount('ro');
  const refused = startProgram(['run', '--once', '--config', config]);
  expect(await refused.exited).toBe(1);
  expect(refused.stderr()).toMatch(/cannot write to the data folder ".*\/state": EROFS: read-only file system/);
  expect(refused.stderr()).toContain('set data_dir to a folder that this user can write');
  expect(messages()).toEqual([]);
  remount('rw');
  const taken = startProgram(['run', '--once', '--config', config]);
  expect(await taken.exited, taken.stderr()).toBe(0);
  expect(messages()).toEqual(['one', 'two']);
});
