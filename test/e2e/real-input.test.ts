/**
 * What real programs write, from end to end: this machine's own logs, nginx with logrotate, pipes and `logger` go through
 * the real agent into the real service. What a query gives back is compared, as a multiset of lines, with the bytes that
 * those programs wrote.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  accessSync,
  constants,
  copyFileSync,
  globSync,
  mkdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { compareCounts, messagesOf } from '../support/expected-lines.ts';
import { findProgram } from '../support/installed.ts';
import { API_TOKEN, localService } from '../support/local-service.ts';
import { hasNginx, startNginx } from '../support/nginx.ts';
import { BINARY, type Program, startCommand, startProgram } from '../support/program.ts';
import { configure } from '../support/shipping.ts';
import { makeTree } from '../support/temp-tree.ts';
import { until } from '../support/until.ts';

const EQUAL = { missing: [], extra: [] };

const service = localService('machine');

/** Writes a configuration that sends to `dataset`, which is made unless it exists. */
async function configureFor(folder: string, dataset: string, app: string): Promise<string> {
  if (dataset !== 'machine') await service.ask('POST', '/v1/datasets', { name: dataset });
  return configure(
    { folder, url: service.url },
    { sources: { app }, dataset, sink: `token: ${API_TOKEN}, batch: {max_age: 200ms}` },
  );
}

/** Starts the agent, which the test's end kills if it still runs. */
function startAgent(config: string, ...args: string[]): Program {
  return startProgram(['run', '--config', config, ...args]);
}

async function untilStored(dataset: string, events: number, agent: Program): Promise<void> {
  let stored = 0;
  const count = async () => (stored = Number((await service.aggregate(dataset, [{ op: 'count' }]))[0] ?? 0)) >= events;
  await until('all to be stored', count, { withinMs: 300_000, everyMs: 100 }).catch((error: unknown) => {
    throw new Error(`${stored} of ${events} events are stored; the agent said:\n${agent.stderr()}`, { cause: error });
  });
}

/** The messages of a dataset by the name of their file. */
async function messagesByFile(dataset: string): Promise<Map<string, unknown[]>> {
  const events = await service.events(dataset);
  const byFile = Map.groupBy(events, ({ file }) => basename(String(file)));
  return new Map([...byFile].map(([file, of]) => [file, of.map(({ message }) => message)]));
}

function isReadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

const machineLogs = [
  '/var/log/dpkg.log',
  '/var/log/alternatives.log',
  '/var/log/bootstrap.log',
  ...globSync('/var/log/apt/*.log'),
].filter((path) => isReadable(path) && statSync(path).size > 0);

test.skipIf(machineLogs.length === 0)(
  "this machine's own logs arrive line for line (apt-get install --reinstall tzdata)",
  async () => {
    const folder = makeTree({ 'logs/.keep': '' });
    // Copies: a package may be installed meanwhile.
    const copies = machineLogs.map((path) => join(folder, 'logs', basename(path)));
    machineLogs.forEach((path, index) => copyFileSync(path, copies[index]!));
    const agent = startAgent(
      await configureFor(folder, 'machine', `{type: file, include: ["${folder}/logs/*.log"]}`),
      '--once',
    );
    expect(await agent.exited, agent.stderr()).toBe(0);
    const stored = await messagesByFile('machine');
    expect([...stored.keys()].sort()).toEqual(machineLogs.map((path) => basename(path)).sort());
    for (const copy of copies) {
      const lines = messagesOf(readFileSync(copy));
      expect(lines.length).toBeGreaterThan(0);
      expect({ copy, ...compareCounts(lines, stored.get(basename(copy))!) }).toEqual({ copy, ...EQUAL });
    }
  },
);

const ODD_BYTES = [
  'plain',
  '"quotes" and \\backslashes\\',
  'tab\tand \u0001 control \u007F',
  Buffer.from([0xc3, 0x28, 0xff, 0xfe, 0xc0, 0xaf, 0xed, 0xa0, 0x80]),
  Buffer.from([0x61, 0xf0, 0x9f, 0x98]),
  '\uFEFFé 日本 😀 \u2028 end',
];

/** Requests as no browser sends them; nginx logs each, the refused ones too. */
function oddRequests(): Buffer[] {
  const requests: Buffer[] = [];
  for (const odd of ODD_BYTES) {
    const bytes = Buffer.from(odd as string);
    const end = Buffer.from('\r\nHost: x\r\nConnection: close\r\n\r\n');
    requests.push(
      Buffer.concat([Buffer.from('GET /agent HTTP/1.1\r\nUser-Agent: '), bytes, end]),
      Buffer.concat([Buffer.from('GET /url?'), bytes, Buffer.from(' HTTP/1.1'), end]),
      Buffer.concat([bytes, Buffer.from('\r\n\r\n')]),
    );
  }
  requests.push(
    Buffer.from(`GET /%00%ff%0a?${'x'.repeat(6000)} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`),
    // A TLS client on a plain port.
    Buffer.from('160301020001000001fc0303aaff00bb0dcc0add\n', 'latin1'),
    Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0xfc, 0x03, 0x03, 0xaa, 0xff, 0x00, 0xbb, 0x0d, 0x0a, 0x0d, 0x0a]),
  );
  return requests;
}

/** `count` requests on one connection. */
function plainRequests(count: number): Buffer {
  const request = (number: number, more: string) =>
    `GET /page/${number} HTTP/1.1\r\nHost: x\r\nUser-Agent: client/${number % 7} (é)\r\n${more}\r\n`;
  return Buffer.from(
    Array.from({ length: count }, (_, i) => request(i, i === count - 1 ? 'Connection: close\r\n' : '')).join(''),
  );
}

test.skipIf(!hasNginx)(
  "nginx's logs arrive line for line through a rotation by logrotate (apt-get install nginx-light logrotate)",
  async () => {
    const folder = makeTree({ 'logs/.keep': '' });
    const nginx = await startNginx(folder);
    onTestFinished(() => nginx.stop());
    const agent = startAgent(
      await configureFor(folder, 'nginx', `{type: file, include: ["${nginx.logs}/*.log"], scan_interval: 200ms}`),
    );
    await agent.says('tailrace runs');
    await nginx.send(plainRequests(300));
    for (const request of oddRequests()) await nginx.send(request);

    const isReopened = () => ['access', 'raw', 'json'].every((name) => statSync(`${nginx.logs}/${name}.log`).size > 0);
    const rotated = nginx.rotate();
    let isDone = false;
    rotated.finally(() => (isDone = true)).catch(() => {});
    // Requests go on while the files change; nginx opens the new ones some time after the signal.
    await until('nginx to write the new files', async () => {
      await nginx.send(plainRequests(5));
      return isDone && isReopened();
    });
    await rotated;
    await nginx.send(plainRequests(300));
    for (const request of oddRequests()) await nginx.send(request);
    await nginx.stop();

    const linesOf = (name: string) =>
      [`${name}.log.1`, `${name}.log`].flatMap((file) => messagesOf(readFileSync(join(nginx.logs, file))));
    const expected = new Map(['access', 'raw', 'error', 'json'].map((name) => [name, linesOf(name)]));
    expect(expected.get('access')!.length).toBeGreaterThan(600);
    expect(readFileSync(`${nginx.logs}/raw.log`).includes(Buffer.from([0xc3, 0x28, 0xff, 0xfe]))).toBe(true);
    await untilStored('nginx', [...expected.values()].flat().length, agent);
    expect(await agent.end('SIGTERM'), agent.stderr()).toBe(0);

    const stored = await messagesByFile('nginx');
    for (const name of ['access', 'raw', 'error'])
      expect({ name, ...compareCounts(expected.get(name)!, stored.get(`${name}.log`)!) }).toEqual({ name, ...EQUAL });
    const textOf = ({ request, agent, status }: Record<string, unknown>) => JSON.stringify({ request, agent, status });
    const parsed = expected.get('json')!.map((line) => textOf(JSON.parse(line) as Record<string, unknown>));
    const objects = (await service.events('nginx')).filter((event) => 'status' in event).map(textOf);
    expect(compareCounts(parsed, objects)).toEqual(EQUAL);
  },
);

test('printf into a pipe arrives as it was written, and the agent ends with the pipe', async () => {
  const folder = makeTree({});
  const config = await configureFor(folder, 'printf', '{type: stdin}');
  const format = String.raw`first\r\n\n  spaces \nbroken \303\050 \377 bytes\n{"json": true, "n": 1.50}\n{"json": nearly}\n\t"tab" \\ \001\nfirst\nno newline`;
  const agent = startCommand('sh', ['-c', 'printf "$1" | "$0" run --config "$2"', BINARY, format, config]);
  expect(await agent.exited, agent.stderr()).toBe(0);
  const events = await service.events('printf');
  const messages = [
    'first',
    '  spaces ',
    'broken \uFFFD( \uFFFD bytes',
    '{"json": nearly}',
    '\t"tab" \\ \u0001',
    'first',
    'no newline',
  ];
  expect(
    compareCounts(
      [...messages, undefined],
      events.map(({ message }) => message),
    ),
  ).toEqual(EQUAL);
  expect(events.find((event) => !('message' in event))).toEqual({ json: true, n: 1.5 });
});

test('a hundred thousand lines of `yes` arrive, each once', async () => {
  const config = await configureFor(makeTree({}), 'yes', '{type: stdin}');
  const agent = startCommand('sh', [
    '-c',
    'yes "all is well" | head -n 100000 | "$0" run --config "$1"',
    BINARY,
    config,
  ]);
  expect(await agent.exited, agent.stderr()).toBe(0);
  expect(await service.aggregate('yes', [{ op: 'count' }, { op: 'distinct', field: 'message' }])).toEqual([100_000, 1]);
});

const LOGGER_MODES = [
  ['counted-5424', ['--tcp', '--octet-count', '--rfc5424']],
  ['counted-3164', ['--tcp', '--octet-count', '--rfc3164']],
  ['lines-5424', ['--tcp', '--rfc5424']],
  ['lines-3164', ['--tcp', '--rfc3164']],
  ['udp-5424', ['--udp', '--rfc5424']],
  ['udp-3164', ['--udp', '--rfc3164']],
] as const;
const OWN_LINES = [
  ' spaces around ',
  'tag: looks like one',
  '<13>looks like a PRI',
  '17 looks like a count',
  '{"json": true}',
  'é 日本 😀',
  '"\\" \t',
];

test.skipIf(findProgram('logger') === undefined)(
  'logger over UDP and TCP arrives line for line, in each of its formats (apt-get install bsdutils)',
  async () => {
    const folder = makeTree({});
    mkdirSync(join(folder, 'lines'));
    const real = machineLogs.slice(0, 1).flatMap((path) => messagesOf(readFileSync(path)));
    const config = await configureFor(
      folder,
      'logger',
      '{type: syslog, listen: ["udp://127.0.0.1:0", "tcp://127.0.0.1:0"]}',
    );
    const agent = startAgent(config);
    await agent.says('tailrace runs');
    const portOf = (protocol: string) =>
      new RegExp(`listening on ${protocol}://127\\.0\\.0\\.1:(\\d+)`).exec(agent.stderr())![1]!;

    const sent = new Map<string, string[]>();
    for (const [name, flags] of LOGGER_MODES) {
      const protocol = flags[0].slice(2);
      // What one burst of datagrams may be is the kernel's to say: a small one always fits.
      const lines = [...OWN_LINES, ...real.slice(protocol === 'udp' ? -50 : -1000)];
      const file = join(folder, 'lines', name);
      writeFileSync(file, `${lines.join('\n')}\n`);
      const to = [
        '--server',
        '127.0.0.1',
        '--port',
        portOf(protocol),
        ...flags,
        '--tag',
        name,
        '--priority',
        'local3.warning',
      ];
      const logger = spawn('logger', [...to, '--file', file], { stdio: 'ignore' });
      expect(await once(logger, 'close')).toEqual([0, null]);
      sent.set(name, lines);
    }
    await untilStored('logger', [...sent.values()].flat().length, agent);
    expect(await agent.end('SIGTERM'), agent.stderr()).toBe(0);

    const byTag = Map.groupBy(await service.events('logger'), ({ appname }) => String(appname));
    for (const [name, lines] of sent) {
      const events = byTag.get(name) ?? [];
      expect({
        name,
        ...compareCounts(
          lines,
          events.map(({ message }) => message),
        ),
      }).toEqual({ name, ...EQUAL });
      for (const event of events) expect(event).toMatchObject({ facility: 'local3', severity: 'warning' });
      expect(events.filter((event) => 'parse_error' in event)).toEqual([]);
    }
  },
);
