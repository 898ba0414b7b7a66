/** What tests of reloads run on: the real agent, senders that stay connected, and a service that may be away. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { appendFileSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test as base } from 'vitest';
import { askAgent } from '../../src/agent/control/control.ts';
import { FakeService } from '../support/fake-service.ts';
import { freePorts } from '../support/free-port.ts';
import { startProgram } from '../support/program.ts';
import { parsePrometheus, type Sample, valueOf } from '../support/prometheus-text.ts';
import { makeTree } from '../support/temp-tree.ts';
import { until } from '../support/until.ts';

export interface Parts {
  readonly sources?: string;
  /** Further keys of the sink `store`. */
  readonly store?: string;
  /** Further keys of its `batch`. */
  readonly batch?: string;
  readonly sinks?: string;
  /** Keys of the top level in place of `telemetry`. */
  readonly top?: string;
  /** Further keys of the top level. */
  readonly more?: string;
}

/** Runs with a file and a listener, unless it is of `filesOnly`. */
export async function startRig({ filesOnly = false, more: always = '', args = [] as readonly string[] } = {}) {
  const service = await FakeService.start();
  const folder = makeTree({ 'a.log': '', 'b.log': '' });
  const config = join(folder, 'tailrace.yaml');
  const [port, telemetry] = (await freePorts(2)) as [number, number];
  const net = `  net: {type: syslog, listen: ["udp://127.0.0.1:${port}", "tcp://127.0.0.1:${port}"]}`;
  const file = (id: string, keys = ''): string =>
    `  ${id}: {type: file, include: ["${folder}/${id}.log"], scan_interval: 100ms${keys}}`;
  const usual = filesOnly ? file('a') : `${net}\n${file('a')}`;
  const configure = ({ sources = usual, store = '', batch = '', sinks = '', top, more = always }: Parts = {}): void =>
    writeFileSync(
      config,
      `data_dir: ${join(folder, 'data')}
${top ?? `telemetry: {listen: "127.0.0.1:${telemetry}"}`}${more && `\n${more}`}
sources:
${sources}
sinks:
  store: {type: ingest, url: "${service.url}", token: secret, dataset: logs, batch: {max_age: 50ms${batch}}, retry: {initial_backoff: 5ms, max_backoff: 50ms}${store}}
${sinks}
`,
    );
  configure();
  const program = startProgram(['run', '--config', config, ...args]);
  await program.says('tailrace runs');
  /** `tailrace reload`, to its end. */
  const command = async (...args: string[]) => {
    const run = startProgram(['reload', '--config', config, ...args]);
    return { code: await run.exited, out: run.stdout(), error: run.stderr() };
  };
  const reload = async () => {
    const { out, ...ended } = await command('--json');
    return {
      ...ended,
      restarted: undefined,
      ...(JSON.parse(out || '{}') as { ok?: boolean; restarted?: string; error?: string }),
    };
  };
  const metrics = async () => parsePrometheus(await (await fetch(`http://127.0.0.1:${telemetry}/metrics`)).text());
  const samples = async (): Promise<readonly Sample[]> =>
    [...(await metrics()).values()].flatMap((family) => family.samples);
  /** Reloads so far with this result. */
  const reloads = async (result: string) => valueOf(await metrics(), 'tailrace_config_reloads_total', { result });
  const hangUp = () => void program.process.kill('SIGHUP');
  const count = (text: string): number => program.stderr().split(text).length - 1;
  const messages = (): string[] => service.lines.map(messageOf);
  return {
    service,
    folder,
    program,
    port,
    net,
    file,
    configure,
    command,
    reload,
    reloads,
    hangUp,
    count,
    samples,
    messages,
    telemetry,
  };
}

/** In whichever form the event was sent; an envelope has it inside. */
function messageOf(event: string): string {
  const { message, data } = JSON.parse(event) as { message?: unknown; data?: { message?: unknown } };
  return String(data ? data.message : message);
}

export type Rig = Awaited<ReturnType<typeof startRig>>;

/** Tests that begin with such a run. */
export const test = base.extend('rig', () => startRig());

export async function openConnection({
  port,
}: Rig): Promise<{ socket: Socket; send: (text: string) => void; isClosed: () => boolean }> {
  const socket = connect(port, '127.0.0.1');
  let isClosed = false;
  socket.on('error', () => {}).on('close', () => (isClosed = true));
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  return { socket, send: (text) => void socket.write(`<13>1 - h a - - - ${text}\n`), isClosed: () => isClosed };
}

/** Reloads under load, the service up and down: nothing may be lost or stored twice, no counter may go back, a stop in the middle is obeyed. */
export async function stormOfReloads(reloads: number): Promise<void> {
  const rig = await startRig();
  const { service, folder, port, net, file, configure, reload, program, samples, messages } = rig;
  let isAway = false;
  service.respond = (request, response) =>
    isAway ? void response.writeHead(503).end() : service.storeAll(request, response);
  const { send, isClosed } = await openConnection(rig);
  const udp = createSocket('udp4');
  udp.connect(port, '127.0.0.1');
  await once(udp, 'connect');
  onTestFinished(() => void udp.close());
  let lines = 0;
  const write = (): void => {
    for (let i = 0; i < 5; i += 1) {
      lines += 1;
      appendFileSync(join(folder, 'a.log'), `file ${lines}\n`);
      send(`tcp ${lines}`);
      udp.send(`<13>1 - h a - - - udp ${lines}`);
    }
  };
  const writing = setInterval(write, 10);
  onTestFinished(() => clearInterval(writing));
  const variants: Parts[] = [
    { sources: `${net}\n${file('a', ', fields: {role: web}')}` },
    { store: ', labels: {n: 1}' },
    { store: ', encoding: csv, concurrency: 1' },
    { sources: `${net}\n${file('a')}\n${file('b')}`, store: ', timeout: 7s' },
    { store: ', encoding: json, buffer: {max_memory: 16MiB}' },
    {},
    { store: ', encoding: json, json: {envelope: true}, concurrency: 8', batch: ', max_bytes: 64KiB' },
  ];
  let before = await samples();
  for (let n = 0; n < reloads; n += 1) {
    isAway = n % 3 === 1;
    configure(variants[n % variants.length]);
    if (n % 5 === 0) for (let i = 0; i < 20; i += 1) program.process.kill('SIGHUP');
    // A command of its own takes longer than the reload; it is asked through the same socket.
    if (n % 20 === 0) expect(await reload()).toMatchObject({ code: 0, ok: true });
    else
      expect(await askAgent(join(folder, 'data'), { command: 'reload', args: [] })).toMatchObject({
        result: { ok: true },
      });
    const after = await samples();
    for (const { name, labels, value } of before) {
      if (!name.endsWith('_total') || labels['source'] === 'b') continue;
      const now = after.find((each) => each.name === name && JSON.stringify(each.labels) === JSON.stringify(labels));
      expect({ name, labels, isLess: (now?.value ?? 0) < value }).toEqual({ name, labels, isLess: false });
    }
    before = after;
  }
  isAway = false;
  clearInterval(writing);
  const expected = ['file', 'tcp', 'udp'].flatMap((kind) =>
    Array.from({ length: lines }, (_, i) => `${kind} ${i + 1}`),
  );
  await until(
    'everything is stored',
    () => new Set(messages()).size >= expected.length || `${new Set(messages()).size} of ${expected.length}`,
  );
  expect(messages().toSorted()).toEqual(expected.toSorted());
  console.log(`${reloads} reloads, ${expected.length} events`);
  expect(isClosed()).toBe(false);
  expect(program.stderr()).not.toContain('by a restart of the agent');
  // A stop is obeyed in the middle of them.
  for (let i = 0; i < 20; i += 1) program.process.kill('SIGHUP');
  expect(await program.end('SIGTERM')).toBe(0);
}
