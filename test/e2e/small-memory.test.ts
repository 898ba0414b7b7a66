/**
 * The agent where memory is short: it ships under load within 128 MiB and is not killed; below 96 MiB `check` and the start warn. With
 * `memory: small` a service that stalls fills no more than docs/operations.md promises.
 */
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { buildAgent, launcher } from '../../bench/agent.ts';
import { describeShortMemory } from '../../src/agent/build/memory-limit.ts';
import { FakeService, replyWith } from '../support/fake-service.ts';
import { makeMemoryCgroup } from '../support/memory-cgroup.ts';
import { BINARY, type Program, startCommand } from '../support/program.ts';
import { addressOf, configure, makeSite, startShipping, sumOf } from '../support/shipping.ts';
import { makeTree } from '../support/temp-tree.ts';
import { until } from '../support/until.ts';
import { watchAccounting } from '../support/watch-accounting.ts';

const MIB = 1024 ** 2;
const FILES = 8;
const LINES = 60_000;

/** Files of 8 MiB each, whose lines say which they are, and a configuration of defaults. */
function writeSite(url: string): string {
  const folder = makeTree({});
  const chunk = Array.from(
    { length: LINES },
    (_, n) => `{"n":${n},"id":"${crypto.randomUUID()}","msg":"request done, nothing else to say, ${n % 977} ms"}\n`,
  );
  writeFileSync(join(folder, '0.log'), chunk.join(''));
  for (let file = 1; file < FILES; file += 1) copyFileSync(join(folder, '0.log'), join(folder, `${file}.log`));
  return configure(
    { folder, url },
    { sources: { app: `{type: file, include: ["${folder}/*.log"]}` }, sink: 'token: t' },
  );
}

/** Bytes, as the kernel counts them. */
function memoryOf({ process }: Program, row: 'VmHWM' | 'RssAnon'): number {
  const status = readFileSync(`/proc/${process.pid}/status`, 'utf8');
  return Number(new RegExp(`^${row}:\\s+(\\d+) kB`, 'm').exec(status)![1]) * 1024;
}

test('the agent ships under load within 128 MiB and is not killed', async () => {
  const program = buildAgent();
  const service = await FakeService.start();
  let events = 0;
  const keys = new Set<string>();
  // Each batch is refused once, so that full memory waits for the service.
  service.respond = (request, response) => {
    service.requests.length = 0;
    if (!keys.has(request.key)) {
      keys.add(request.key);
      replyWith(response, 503, {});
      return;
    }
    events += request.lines.length;
    replyWith(response, 200, {
      ...{ ingested: request.lines.length, failed: 0, failures: [] },
      ...{ processedBytes: request.body.length, blocksCreated: 1, walLength: 1 },
    });
  };
  const config = writeSite(service.url);
  const group = makeMemoryCgroup(128 * MIB);
  const [command, ...args] = [...(group?.launcher ?? []), ...launcher(), program, 'run', '--config', config] as [
    string,
    ...string[],
  ];
  const agent = startCommand(command, args);
  await until('every line is stored', () => events >= FILES * LINES || agent.process.exitCode !== null, {
    withinMs: 240_000,
    everyMs: 50,
  });
  // The shell became the agent, so this is its own.
  const peakBytes = memoryOf(agent, 'VmHWM');
  expect(await agent.end('SIGTERM'), agent.stderr()).toBe(0);
  expect(events).toBe(FILES * LINES);
  expect(peakBytes).toBeLessThan(128 * MIB);
  if (group) expect(group.kills()).toBe(0);
});

test('less than 96 MiB is warned of, a limit that suffices and none are not', () => {
  expect(describeShortMemory(80 * MIB)).toEqual({
    message:
      'the memory limit is 80 MiB: the system may kill the agent under load, which loses nothing and takes a restart',
    fix: 'give it 128 MiB for files, 192 MiB with syslog or standard input, or set buffer.max_memory of each sink lower',
  });
  expect([0, 96 * MIB, 128 * MIB, 2 ** 64].map(describeShortMemory)).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
});

test('check and start warn of less than 96 MiB, and the agent goes on', async () => {
  const group = makeMemoryCgroup(95 * MIB);
  // Without a group of its own there is no limit to warn of.
  const expected = group ? 1 : 0;
  const count = (text: string): number => text.split('the memory limit is 95 MiB').length - 1;
  const service = await FakeService.start();
  const folder = makeTree({ 'app.log': 'one\n' });
  const config = configure(
    { folder, url: service.url },
    { sources: { app: '{type: file, include: [app.log]}' }, sink: 'token: t' },
  );
  const run = (...args: string[]) => {
    const [command, ...rest] = [...(group?.launcher ?? []), BINARY, ...args, '--config', config] as [
      string,
      ...string[],
    ];
    return startCommand(command, rest);
  };
  const check = run('check');
  expect(await check.exited, check.stderr()).toBe(0);
  expect(count(check.stderr() + check.stdout())).toBe(expected);
  const agent = run('run', '--once');
  expect(await agent.exited, agent.stderr()).toBe(0);
  expect(count(agent.stderr())).toBe(expected);
  expect(service.lines).toHaveLength(1);
});

test('memory: small takes little behind a service that stalls, and loses nothing', async () => {
  const [files, linesEach, lineBytes] = [4, 32_768, 512];
  const lines = files * linesEach;
  const lineOf = (seq: number): string => `${`${seq} `.padEnd(lineBytes - 1, 'request done, nothing else to say; ')}\n`;
  const site = await makeSite();
  // Each source has a dataset of its own, which by default take 9.4 MB together for events that wait.
  const sources = Array.from({ length: files }, (_, file): [string, string] => {
    const log = join(site.folder, 'logs', `${file}.log`);
    writeFileSync(log, Array.from({ length: linesEach }, (_line, n) => lineOf(file * linesEach + n)).join(''));
    return [`app${file}`, `{type: file, include: ["${log}"], dataset: logs${file}}`];
  });
  const stall = Promise.withResolvers<undefined>();
  site.service.respond = () => stall.promise;
  const options = { top: 'memory: small', sources: Object.fromEntries(sources), sink: 'token: t' };
  const agent = startShipping(site, options);
  const accounting = watchAccounting();
  accounting.watch(await addressOf(agent));
  let [mostPrivate, mostWaiting] = [0, 0];
  const note = async (): Promise<void> => {
    mostPrivate = Math.max(mostPrivate, memoryOf(agent, 'RssAnon'));
    mostWaiting = Math.max(mostWaiting, await sumOf(agent, 'tailrace_buffer_bytes'));
  };
  await until('each reader waits for the service', async () => {
    await note();
    return (await sumOf(agent, 'tailrace_backpressure_seconds_total')) > files;
  });
  expect(site.service.stored).toEqual([]);
  stall.resolve(undefined);
  await until('every line is stored and settled', async () => {
    await note();
    return site.service.stored.length >= lines && (await sumOf(agent, 'tailrace_events_held')) === 0;
  });
  expect(mostWaiting).toBeGreaterThan(4 * MIB);
  expect(mostWaiting).toBeLessThanOrEqual(8 * MIB);
  const docs = readFileSync(join(import.meta.dirname, '../../docs/operations.md'), 'utf8');
  expect(mostPrivate).toBeLessThan(1e6 * Number(/`memory: small` stays below (\d+) MB/.exec(docs)![1]));
  await accounting.stop();
  expect(accounting.scrapes).toBeGreaterThan(0);
  expect(accounting.problems).toEqual([]);
  expect(await agent.end(), agent.stderr()).toBe(0);
  const seqs = new Set(site.service.stored.map((event) => Number(/"message":"(\d+) /.exec(event)![1])));
  expect([seqs.size, site.service.stored.length, site.service.misusedKeys]).toEqual([lines, lines, []]);
});
