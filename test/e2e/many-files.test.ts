/** Many files, few descriptors, no watches: the real agent at the limits that a machine sets it. */
import { appendFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { MAX_OPEN_FILES } from '../../src/sources/file/limits.ts';
import { findProgram } from '../support/installed.ts';
import { BINARY, type Program, startCommand } from '../support/program.ts';
import { configure, makeSite, type Site } from '../support/shipping.ts';
import { until } from '../support/until.ts';

/** What Node, the database, sockets and pipes take beside the files that are followed. */
const OWN_DESCRIPTORS = 60;

interface Shipping extends Site {
  readonly agent: Program;
}

/** Starts the agent by a shell that sets limits first: `limits` is a script. It follows `logs/*.log`. */
async function startLimited(
  count: number,
  limits: string,
  scanInterval: string,
  wrapper: readonly string[] = [],
): Promise<Shipping> {
  const site = await makeSite();
  const { folder } = site;
  for (let n = 0; n < count; n += 1) writeFileSync(join(folder, 'logs', `${n}.log`), `{"file":${n},"line":1}\n`);
  const app = `{type: file, include: ["${folder}/logs/*.log"], scan_interval: ${scanInterval}}`;
  const config = configure(site, { sources: { app }, sink: 'token: t, batch: {max_age: 100ms}' });
  const [program, ...given] = [...wrapper, 'sh', '-c', `${limits} && exec "$0" run -c "$1"`, BINARY, config];
  const agent = startCommand(program, given);
  await agent.says('tailrace runs');
  return { ...site, agent };
}

/** Waits for every `line` of these files, once each. */
async function arrives({ service }: Shipping, files: readonly number[], line: number): Promise<void> {
  const wanted = new Set(files.map((file) => `${file} ${line}`));
  const found = (): string[] =>
    service.stored
      .map((text) => JSON.parse(text) as { file: number; line: number })
      .map((event) => `${event.file} ${event.line}`);
  await until(
    `line ${line} of ${files.length} files`,
    () => found().filter((each) => wanted.has(each)).length >= files.length,
    {
      everyMs: 100,
    },
  );
  expect(found().filter((each) => wanted.has(each))).toHaveLength(files.length);
}

const all = (count: number): number[] => Array.from({ length: count }, (_, n) => n);

function linesOf(agent: Program, level: string): { msg: string; code?: string }[] {
  return agent
    .stderr()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as { level: string; msg: string })
    .filter((line) => line.level === level);
}

test('agent on 10,000 files ships them all, keeps a bounded number open, and sees the 100 that grow', async () => {
  const shipping = await startLimited(10_000, 'true', '200ms');
  const { folder, agent } = shipping;
  let most = 0;
  const watching = setInterval(() => (most = Math.max(most, readdirSync(`/proc/${agent.process.pid}/fd`).length)), 10);
  try {
    await arrives(shipping, all(10_000), 1);
    const active = all(100).map((n) => n * 97);
    for (const n of active) appendFileSync(join(folder, 'logs', `${n}.log`), `{"file":${n},"line":2}\n`);
    await arrives(shipping, active, 2);
  } finally {
    clearInterval(watching);
  }
  expect(most).toBeGreaterThan(100);
  expect(most).toBeLessThanOrEqual(MAX_OPEN_FILES + OWN_DESCRIPTORS);
  expect(linesOf(agent, 'warn')).toEqual([]);
  expect(await agent.end()).toBe(0);
});

test('agent that may have 64 descriptors says so once and ships 500 files', async () => {
  const shipping = await startLimited(500, 'ulimit -n 64', '200ms');
  const { folder, agent } = shipping;
  await arrives(shipping, all(500), 1);
  for (const n of all(500)) appendFileSync(join(folder, 'logs', `${n}.log`), `{"file":${n},"line":2}\n`);
  await arrives(shipping, all(500), 2);
  expect(await agent.end()).toBe(0);
  expect(linesOf(agent, 'error')).toEqual([]);
  expect(linesOf(agent, 'warn')).toMatchObject([
    { code: 'EMFILE', msg: expect.stringContaining('no file descriptor is left') as string },
  ]);
});

const unshare = findProgram('unshare');

test.skipIf(unshare === undefined).each([
  ['instances', 'EMFILE'],
  ['watches', 'ENOSPC'],
])(
  `agent without inotify %s says so once and scans${unshare === undefined ? ' (apt-get install util-linux)' : ''}`,
  async (kind, code) => {
    const limits = `echo 0 > /proc/sys/user/max_inotify_${kind}`;
    const shipping = await startLimited(3, limits, '2s', [unshare!, '--user', '--map-root-user']);
    const { folder, agent } = shipping;
    await agent.says('no more folders can be watched');
    await arrives(shipping, all(3), 1);
    appendFileSync(join(folder, 'logs', '1.log'), '{"file":1,"line":2}\n');
    writeFileSync(join(folder, 'logs', '3.log'), '{"file":3,"line":2}\n');
    await arrives(shipping, [1, 3], 2);
    expect(await agent.end()).toBe(0);
    expect(linesOf(agent, 'warn')).toMatchObject([
      { code, msg: expect.stringContaining('no more folders can be watched') },
    ]);
  },
);
