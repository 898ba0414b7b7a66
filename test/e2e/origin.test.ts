/** The real agent: events of every type of source say which host they are from. */
import { appendFileSync, mkdirSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { expect } from 'vitest';
import { command, configure, range, startShipping, test } from '../support/shipping.ts';
import { until } from '../support/until.ts';

test('origin at the top names the host in text, JSON, syslog and standard input, and check warns without it', async ({
  site,
}) => {
  const { folder, service } = site;
  mkdirSync(join(folder, 'logs'), { recursive: true });
  const file = join(folder, 'logs/app.log');
  const lines = [...range(12).map((n) => `{"n":${n}}`), '{"n":12,"host":"own"}', 'text'];
  appendFileSync(file, `${lines.slice(0, 12).join('\n')}\n`);
  const sources = {
    app: `{type: file, include: ["${folder}/logs/*.log"], scan_interval: 100ms}`,
    pipe: '{type: stdin}',
    net: `{type: syslog, listen: ["unix://${folder}/log.sock"]}`,
  };
  const options = { sources, top: 'host_name: box\norigin: [host, file]', stdin: 'pipe' } as const;
  configure(site, { sources });
  expect((await command(site, 'check')).stderr()).toContain('none of 12 JSON lines of `app` names its host');
  configure(site, options);
  expect((await command(site, 'check')).stderr()).not.toContain('names its host');
  const agent = startShipping(site, options);
  await agent.says('tailrace runs');
  appendFileSync(file, `${lines.slice(12).join('\n')}\n`);
  agent.process.stdin!.end('{"n":90}\n');
  connect(join(folder, 'log.sock')).end('<13>shop: hello\n<13>1 2026-11-27T08:00:00Z other shop - - - hi\n');
  await until('everything is stored', () => service.stored.length === 17);
  const events = service.stored.map((text) => JSON.parse(text) as Record<string, unknown>);
  const fromOf = (key: string, value: unknown) =>
    events.filter((event) => event[key] === value).map(({ host, file: path }) => [host, path]);
  expect([fromOf('n', 1), fromOf('n', 12), fromOf('message', 'text')]).toEqual([
    [['box', file]],
    [['own', file]],
    [['box', file]],
  ]);
  expect([fromOf('n', 90), fromOf('message', 'hello'), fromOf('message', 'hi')]).toEqual([
    [['box', undefined]],
    [['box', undefined]],
    [['other', undefined]],
  ]);
  expect(await agent.end()).toBe(0);
});
