/**
 * What goes wrong around the agent, and what a user then sees: for each a message that says what, where and what to do, the
 * exit code, and every event that can be kept. Bad input of the service: service-bad-input.test.ts.
 */
import { spawnSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { appendFileSync, chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { compareCounts, messagesOf } from '../support/expected-lines.ts';
import { FaultService } from '../support/fault-service.ts';
import { takenPort } from '../support/free-port.ts';
import { findProgram } from '../support/installed.ts';
import { API_TOKEN, localService } from '../support/local-service.ts';
import { type Program, startProgram } from '../support/program.ts';
import { parsePrometheus, valueOf } from '../support/prometheus-text.ts';
import { configure, makeSite, type Site } from '../support/shipping.ts';
import { canDropPrivileges, startUnprivileged } from '../support/unprivileged.ts';
import { until } from '../support/until.ts';

let site: Site;
let folder: string;
let config: string;
let service: FaultService;

beforeEach(async () => {
  site = await makeSite();
  ({ folder, service } = site);
  config = join(folder, 'tailrace.yaml');
});

interface ConfigParts {
  readonly url?: string;
  readonly source?: string;
  /** Members of the sink, each with a comma before it. */
  readonly sink?: string;
  readonly telemetry?: string;
}

function writeConfig({ url = site.url, source, sink = '', telemetry = 'none' }: ConfigParts = {}): void {
  const app = source ?? `{type: file, include: ["${folder}/logs/*.log"], scan_interval: 200ms}`;
  const options = { top: 'shutdown_timeout: 1h', sources: { app }, telemetry: `listen: "${telemetry}"` };
  configure({ folder, url }, { ...options, sink: `batch: {max_age: 50ms}${sink}` });
}

const run = (...args: string[]): Program => startProgram(['run', '--config', config, ...args]);
const runUnprivileged = (...args: string[]): Program => startUnprivileged(['run', '--config', config, ...args]);

/** The messages of stored events; undefined for an event without one. */
function messagesIn(service: FaultService): unknown[] {
  return service.stored.map((event) => (JSON.parse(event) as { message?: unknown }).message);
}

function parseLine(line: string): Record<string, unknown> {
  return JSON.parse(line) as Record<string, unknown>;
}

describe('configuration', () => {
  test('misspelt keys are reported all at once, each with its place and the nearest key, and nothing is started', async () => {
    writeFileSync(
      config,
      `data_dir: ${folder}/agent
sources:
  app:
    type: file
    inlcude: ["/var/log/*.log"]
sinks:
  store: {type: ingest, url: "http://127.0.0.1:1", dataset: logs, compresion: zstd}
`,
    );
    const agent = run();
    expect(await agent.exited).toBe(2);
    expect(agent.stderr()).toBe(
      `${config}:5:5: unknown key \`inlcude\`; did you mean \`include\`?
${config}:7:67: unknown key \`compresion\`; did you mean \`compression\`?
tailrace: the configuration has 2 problems; nothing was started
`,
    );
    expect(existsSync(join(folder, 'agent'))).toBe(false);
    const checked = startProgram(['check', '--config', config]);
    expect(await checked.exited).toBe(2);
    expect(checked.stderr()).toContain(`${config}:5:5: unknown key \`inlcude\``);
    expect(checked.stderr()).toContain('2 problems: the configuration would not run');
  });

  test('a file that does not exist is named, with exit code 2', async () => {
    const agent = run();
    expect(await agent.exited).toBe(2);
    expect(agent.stderr()).toBe(
      `${config}:1:1: there is no such file; check the path, or start from config.example.yaml
tailrace: the configuration has 1 problem; nothing was started
`,
    );
  });

  test('a log file that does not exist yet is a warning of check, no error of run, and is read once it is there', async () => {
    const path = join(folder, 'logs', 'later.log');
    writeConfig({ source: `{type: file, include: ["${path}"], scan_interval: 200ms}`, sink: ', token: x' });
    const checked = startProgram(['check', '--config', config]);
    expect(await checked.exited).toBe(0);
    expect(checked.stderr()).toMatch(new RegExp(`^${config}:4:31: warning: no file matches \`${path}\` now\n`));
    const agent = run();
    expect(parseLine(await agent.says('no file matches yet, looking again at every scan'))).toMatchObject({
      include: [path],
    });
    writeFileSync(path, 'here I am\n');
    await until('the line', () => messagesIn(service).includes('here I am'));
    expect(await agent.end('SIGTERM')).toBe(0);
    expect(agent.stderr()).not.toMatch(/"level":"(warn|error)"/);
  });
});

describe('files', () => {
  test.skipIf(!canDropPrivileges)(
    'an unreadable file is named once, the readable ones arrive, and so does it when it may be read (apt-get install util-linux)',
    async () => {
      writeConfig();
      const secret = join(folder, 'logs', 'secret.log');
      writeFileSync(join(folder, 'logs', 'open.log'), 'open\n');
      writeFileSync(secret, 'secret\n');
      chmodSync(secret, 0o000);
      const agent = runUnprivileged();
      expect(parseLine(await agent.says('cannot read file'))).toMatchObject({
        level: 'warn',
        path: secret,
        code: 'EACCES',
        msg: 'cannot read file, trying again; check its permissions and its disk',
      });
      await until('the readable line', () => service.stored.length > 0);
      appendFileSync(join(folder, 'logs', 'open.log'), 'more\n');
      await until('the next readable line', () => service.stored.length > 1);
      expect(messagesIn(service)).toEqual(['open', 'more']);
      chmodSync(secret, 0o600);
      await until('the file to be read', () => service.stored.length > 2);
      expect(messagesIn(service)).toEqual(['open', 'more', 'secret']);
      expect(await agent.end('SIGTERM')).toBe(0);
      expect(agent.stderr().split('cannot read file').length).toBe(2);
      expect(agent.stderr()).toContain('file can be read again');
    },
  );

  test.skipIf(!canDropPrivileges)(
    'an unreadable file makes a --once run end with 1 after it delivered the others (apt-get install util-linux)',
    async () => {
      writeConfig();
      writeFileSync(join(folder, 'logs', 'open.log'), 'open\n');
      writeFileSync(join(folder, 'logs', 'secret.log'), 'secret\n', { mode: 0o000 });
      const agent = runUnprivileged('--once');
      expect(await agent.exited).toBe(1);
      expect(parseLine(await agent.says('files could not be read'))).toMatchObject({ level: 'error', files: 1 });
      expect(messagesIn(service)).toEqual(['open']);
      chmodSync(join(folder, 'logs', 'secret.log'), 0o600);
      const next = runUnprivileged('--once');
      expect(await next.exited, next.stderr()).toBe(0);
      expect(messagesIn(service)).toEqual(['open', 'secret']);
    },
  );

  // Symptom: its events were counted as lost and never sent. Cause: a restart took "not allowed" for "not there any more".
  test.skipIf(!canDropPrivileges)(
    'a batch whose file may not be read at the restart is kept, and sent by the next one (apt-get install util-linux)',
    async () => {
      writeConfig({ sink: ', retry: {initial_backoff: 10ms, max_backoff: 50ms}' });
      const file = join(folder, 'logs', 'app.log');
      writeFileSync(file, 'sent late\n');
      service.respond = () => ({ status: 503 });
      const first = runUnprivileged();
      await first.says('batch was not stored');
      expect(await first.end('SIGKILL')).toBe('SIGKILL');

      service.respond = () => undefined;
      chmodSync(file, 0o000);
      const second = runUnprivileged();
      expect(parseLine(await second.says('cannot be read again now'))).toMatchObject({
        level: 'error',
        events: 1,
        reason: expect.stringMatching(/^cannot read ".*app\.log": EACCES/) as string,
      });
      await second.says('tailrace runs');
      expect(await second.end('SIGTERM')).toBe(0);
      expect(service.stored).toEqual([]);

      chmodSync(file, 0o600);
      const third = runUnprivileged('--once');
      expect(await third.exited, third.stderr()).toBe(0);
      expect(messagesIn(service)).toEqual(['sent late']);
      expect(new Set(service.requests.map(({ key }) => key)).size).toBe(1);
    },
  );

  test.skipIf(findProgram('mkfifo') === undefined)(
    'binary junk, invalid UTF-8, an empty file and a FIFO: every line is kept, the FIFO is named and not opened (apt-get install coreutils)',
    async () => {
      writeConfig();
      const inLogs = (name: string) => join(folder, 'logs', name);
      // A program: what somebody's careless glob finds first.
      // It ends in a line: NULs at a file's end are no part of it.
      writeFileSync(
        inLogs('junk.log'),
        Buffer.concat([readFileSync(process.execPath).subarray(0, 1_000_000), Buffer.from('end\n')]),
      );
      const broken = ['ff', 'c328', 'c0af', 'eda080', 'f4908080', 'e282', 'f09f98', '80', 'efbbbf', '00', '0d', '0d0d'];
      writeFileSync(
        inLogs('broken.log'),
        Buffer.concat(broken.map((hex) => Buffer.from(`61${hex}620a${hex}0a`, 'hex'))),
      );
      writeFileSync(inLogs('empty.log'), '');
      expect(spawnSync('mkfifo', [inLogs('fifo.log')]).status).toBe(0);
      const agent = run('--once');
      expect(await agent.exited, agent.stderr()).toBe(0);
      expect(parseLine(await agent.says('FIFO'))).toMatchObject({
        level: 'warn',
        path: inLogs('fifo.log'),
        msg: 'skipped: it matches the pattern, but is a FIFO, no regular file',
      });
      const lines = [
        ...messagesOf(readFileSync(inLogs('junk.log'))),
        ...messagesOf(readFileSync(inLogs('broken.log'))),
      ];
      expect(compareCounts(lines, messagesIn(service))).toEqual({ missing: [], extra: [] });
    },
  );

  test('a line of 100 MB without an end is cut, marked and counted, the next lines arrive, and memory stays flat', async () => {
    writeConfig({ telemetry: '127.0.0.1:0' });
    const file = join(folder, 'logs', 'long.log');
    const bytes = 100 * 1024 * 1024;
    writeFileSync(file, Buffer.alloc(bytes, 'x'));
    const agent = run();
    const { telemetry } = parseLine(await agent.says('tailrace runs'));
    // The metrics count events handed on; the kernel knows of bytes read.
    const readBytes = () => Number(/rchar: (\d+)/.exec(readFileSync(`/proc/${agent.process.pid}/io`, 'utf8'))?.[1]);
    await until('all of it to be read', () => readBytes() > bytes);
    expect(service.stored).toEqual([]);
    appendFileSync(file, '\nnext\r\nlast\n');
    await until('the lines', () => service.stored.length === 3);
    const [long, ...others] = service.stored.map((event) => parseLine(event));
    expect(others.map(({ message }) => message)).toEqual(['next', 'last']);
    expect(long).toMatchObject({ truncated: true, original_bytes: bytes, file });
    expect(long!['message'] === 'x'.repeat(1024 * 1024)).toBe(true);
    const metrics = parsePrometheus(await (await fetch(`${String(telemetry)}/metrics`)).text());
    expect(valueOf(metrics, 'tailrace_source_truncated_events_total', { source: 'app' })).toBe(1);
    const peakKiB = Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${agent.process.pid}/status`, 'utf8'))?.[1]);
    expect(peakKiB).toBeGreaterThan(20 * 1024);
    expect(peakKiB).toBeLessThan(250 * 1024);
    expect(await agent.end('SIGTERM')).toBe(0);
  });
});

describe('service', () => {
  const local = localService('logs');
  const countStored = async () => (await local.aggregate('logs', [{ op: 'count' }]))[0];
  // With waits of this length a run that only ends by asking again, or by its shutdown_timeout, does not end in time.
  const NEVER_AGAIN = ', retry: {initial_backoff: 1h, max_backoff: 1h}';

  test('a token that is missing ends a --once run with 1, says what to set, and keeps the lines', async () => {
    writeConfig({ url: local.url, sink: NEVER_AGAIN });
    writeFileSync(join(folder, 'logs', 'app.log'), 'kept until there is a token\n');
    const before = await countStored();
    const agent = run('--once');
    expect(await agent.exited).toBe(1);
    expect(parseLine(await agent.says('delivery is paused'))).toMatchObject({
      level: 'error',
      dataset: 'logs',
      reason: 'unauthorized',
      answer: expect.stringContaining('HTTP 403') as string,
      fix: expect.stringContaining('token') as string,
    });
    expect(parseLine(await agent.says('stopped; positions are saved'))).toMatchObject({ keptEvents: 1 });
    expect(await countStored()).toBe(before);

    writeConfig({ url: local.url, sink: `, token: ${API_TOKEN}` });
    const next = run('--once');
    expect(await next.exited, next.stderr()).toBe(0);
    expect((await local.events('logs')).map(({ message }) => message)).toContain('kept until there is a token');
  });

  test('a missing token_file is reported by check with its place, pauses run, and is read once it exists', async () => {
    const token = join(folder, 'token');
    writeConfig({
      url: local.url,
      sink: `, retry: {max_backoff: 100ms, initial_backoff: 10ms}, token_file: "${token}"`,
    });
    writeFileSync(join(folder, 'logs', 'app.log'), 'kept until there is a token file\n');
    const checked = startProgram(['check', '--config', config]);
    expect(await checked.exited).toBe(2);
    expect(checked.stderr()).toMatch(new RegExp(`^${config}:6:\\d+: cannot read the token file "${token}": ENOENT`));
    const agent = run();
    expect(parseLine(await agent.says('delivery is paused'))).toMatchObject({
      level: 'error',
      answer: expect.stringContaining(`cannot read the token file "${token}": ENOENT`) as string,
      fix: 'check the path, and that the user that runs tailrace may read it',
    });
    writeFileSync(token, `${API_TOKEN}\n`, { mode: 0o600 });
    await agent.says('delivery goes on');
    expect(await agent.end('SIGTERM')).toBe(0);
    expect((await local.events('logs')).map(({ message }) => message)).toContain('kept until there is a token file');
  });

  test('a stop while every dataset is paused does not wait for the next question', async () => {
    writeConfig({ url: local.url, sink: NEVER_AGAIN });
    writeFileSync(join(folder, 'logs', 'app.log'), 'still here\n');
    const agent = run();
    await agent.says('delivery is paused');
    expect(await agent.end('SIGTERM')).toBe(0);
    expect(parseLine(await agent.says('stopped; positions are saved'))).toMatchObject({ keptEvents: 1 });
  });

  test('a service that is down at the start is logged with the reason, and gets everything when it is up', async () => {
    await service.stop();
    writeConfig({ sink: ', retry: {initial_backoff: 10ms, max_backoff: 100ms}' });
    writeFileSync(join(folder, 'logs', 'app.log'), 'one\ntwo\n');
    const agent = run();
    expect(parseLine(await agent.says('batch was not stored'))).toMatchObject({
      level: 'warn',
      reason: 'network',
      answer: expect.stringContaining('ECONNREFUSED') as string,
    });
    appendFileSync(join(folder, 'logs', 'app.log'), 'three\n');
    service = await FaultService.start(Number(new URL(site.url).port));
    await until('all lines', () => service.stored.length === 3);
    expect(new Set(messagesIn(service))).toEqual(new Set(['one', 'two', 'three']));
    expect(await agent.end('SIGTERM')).toBe(0);
  });
});

describe('machine', () => {
  test('a telemetry port that is taken ends with 1 and the key to change', async () => {
    const port = await takenPort();
    writeConfig({ telemetry: `127.0.0.1:${port}` });
    const agent = run();
    expect(await agent.exited).toBe(1);
    expect(agent.stderr()).toBe(
      `tailrace: telemetry cannot listen on 127.0.0.1:${port}: the port is taken
  fix: choose another address as telemetry.listen, or "none" to switch it off
`,
    );
  });

  test.each(['tcp', 'udp'] as const)(
    'a syslog port that is taken over %s ends with 1 and how to find by whom',
    async (protocol) => {
      const port = protocol === 'tcp' ? await takenPort() : await takenUdpPort();
      writeConfig({ source: `{type: syslog, listen: ["${protocol}://127.0.0.1:${port}"]}` });
      const agent = run();
      expect(await agent.exited).toBe(1);
      expect(agent.stderr()).toBe(
        `tailrace: cannot listen on ${protocol}://127.0.0.1:${port}: the port is taken by another program
  fix: find it with "ss -ln${protocol[0]}p sport = :${port}", or listen on another port
`,
      );
    },
  );

  test.skipIf(!canDropPrivileges)(
    'a data folder that cannot be written, or made, ends with 1 and its path (apt-get install util-linux)',
    async () => {
      writeConfig();
      const data = join(folder, 'agent');
      const messageOf = (
        reason: string,
      ) => `tailrace: cannot write to the data folder "${data}": EACCES: permission denied, ${reason} '${data}'
  fix: check the permissions of data_dir, or set data_dir to a folder that this user can write
`;
      mkdirSync(data, { mode: 0o500 });
      const unwritable = runUnprivileged();
      expect(await unwritable.exited).toBe(1);
      expect(unwritable.stderr()).toBe(messageOf('access'));
      rmSync(data, { recursive: true });
      chmodSync(folder, 0o500);
      onTestFinished(() => chmodSync(folder, 0o700));
      const unmade = runUnprivileged();
      expect(await unmade.exited).toBe(1);
      expect(unmade.stderr()).toBe(messageOf('mkdir'));
    },
  );

  test('a data folder in use ends with 1 and names the process that has it, which goes on', async () => {
    writeConfig();
    const first = run();
    await first.says('tailrace runs');
    const second = run();
    expect(await second.exited).toBe(1);
    expect(second.stderr()).toBe(
      `tailrace: the data folder "${folder}/agent" is in use by another agent (process ${first.process.pid})
  fix: stop that agent first, or give this one a data_dir of its own
`,
    );
    writeFileSync(join(folder, 'logs', 'app.log'), 'not disturbed\n');
    await until('the line', () => messagesIn(service).includes('not disturbed'));
    expect(await first.end('SIGTERM')).toBe(0);
  });
});

async function takenUdpPort(): Promise<number> {
  const socket = createSocket('udp4');
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  onTestFinished(() => void socket.close());
  return socket.address().port;
}
