import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { FakeIngest } from '../support/fake-ingest.ts';
import { type Program, startProgram } from '../support/program.ts';
import { parsePrometheus, valueOf } from '../support/prometheus-text.ts';
import { makeTree } from '../support/temp-tree.ts';
import { until } from '../support/until.ts';

interface Rig {
  readonly service: FakeIngest;
  readonly folder: string;
  readonly program: Program;
  /** Writes the configuration anew: lines of YAML for the sources, and for the top level, and keys of the sink. */
  readonly configure: (sources: string, top?: string, sink?: string) => void;
  readonly reload: () => void;
  /** `tailrace reload`, to its end. */
  readonly command: (...args: string[]) => Promise<{ readonly code: unknown; readonly out: string; readonly error: string }>;
  readonly count: (text: string) => number;
  readonly reloads: (result: string) => Promise<number | undefined>;
}

async function startRig(more = ''): Promise<Rig> {
  const service = await FakeIngest.start();
  const folder = makeTree({ 'a.log': '', 'b.log': '' });
  const config = join(folder, 'tailrace.yaml');
  const configure = (sources: string, top = `telemetry: {listen: "127.0.0.1:0"}${more}`, sink = ''): void =>
    writeFileSync(
      config,
      `data_dir: ${join(folder, 'data')}
${top}
sources:
${sources}
sinks:
  store: {type: ingest, url: "${service.url}", token: secret, dataset: logs, batch: {max_age: 50ms}, retry: {initial_backoff: 5ms, max_backoff: 50ms}${sink}}
`,
    );
  configure(`  a: {type: file, include: ["${folder}/a.log"], scan_interval: 100ms}`);
  const program = startProgram(['run', '--config', config]);
  onTestFinished(async () => void (await program.end('SIGKILL')));
  await program.says('tailrace runs');
  const count = (text: string): number => program.stderr().split(text).length - 1;
  return {
    service,
    folder,
    program,
    configure,
    reload: () => void program.process.kill('SIGHUP'),
    async command(...args) {
      const run = startProgram(['reload', '--config', config, ...args]);
      const code = await run.exited;
      return { code, out: run.stdout(), error: run.stderr() };
    },
    count,
    async reloads(result) {
      const addresses = [...program.stderr().matchAll(/"telemetry":"(http[^"]+)"/g)];
      const text = await (await fetch(`${addresses.at(-1)![1]}/metrics`)).text();
      return valueOf(parsePrometheus(text), 'tailrace_config_reloads_total', { result });
    },
  };
}

function linesOf(service: FakeIngest): { n: number; role?: string }[] {
  return service.lines.map((line) => JSON.parse(line) as { n: number; role?: string });
}

test('run takes a changed configuration into force at SIGHUP, and no line is lost or sent twice by it', async () => {
  const { service, folder, program, configure, reload, reloads } = await startRig();
  appendFileSync(join(folder, 'a.log'), '{"n":1}\n{"n":2}\n');
  await until('the first lines are stored', () => service.lines.length === 2);

  configure(`  a: {type: file, include: ["${folder}/a.log"], scan_interval: 100ms, fields: {role: web}}
  b: {type: file, include: ["${folder}/b.log"], scan_interval: 100ms}`);
  appendFileSync(join(folder, 'b.log'), '{"n":3}\n');
  reload();
  await program.says('the changed configuration is in force');
  appendFileSync(join(folder, 'a.log'), '{"n":4}\n');
  await until('lines of both files are stored', () => service.lines.length === 4);
  expect(linesOf(service).toSorted((x, y) => x.n - y.n)).toMatchObject([{ n: 1 }, { n: 2 }, { n: 3 }, { n: 4, role: 'web' }]);
  expect(await reloads('success')).toBe(1);
  expect(await reloads('failure')).toBe(0);
  expect(await program.end('SIGTERM')).toBe(0);
});

test('run sends what was read of a file that a changed configuration leaves out, reads no more of it, and goes on once it is back', async () => {
  const { service, folder, program, configure, reload, count } = await startRig('\nshutdown_timeout: 1s');
  const sources = (exclude: string): string =>
    `  a: {type: file, include: ["${folder}/*.log"], exclude: [${exclude}], scan_interval: 100ms}`;
  const numbers = (): number[] => linesOf(service).map(({ n }) => n);
  const inForce = (times: number): Promise<void> => until('it is in force', () => count('the changed configuration is in force') === times);
  let isAway = true;
  service.respond = (request, response) => (isAway ? void response.writeHead(503).end() : service.storeAll(request, response));
  appendFileSync(join(folder, 'a.log'), '{"n":1}\n');
  await until('it is sent', () => service.requests.length > 0);

  configure(sources('"a.log"'));
  reload();
  await inForce(1);
  isAway = false;
  appendFileSync(join(folder, 'a.log'), '{"n":2}\n');
  appendFileSync(join(folder, 'b.log'), '{"n":3}\n');
  await until('all that may be is stored', () => numbers().length === 2);
  expect(new Set(numbers())).toEqual(new Set([1, 3]));
  expect(program.stderr()).toContain('files that the patterns do not match any more are not read');

  configure(sources(''));
  reload();
  await inForce(2);
  await until('the rest is stored', () => numbers().length === 3);
  expect(numbers().at(-1)).toBe(2);
  expect(await program.end('SIGTERM')).toBe(0);
});

test('run keeps its configuration when the changed one has problems, and names each', async () => {
  const { service, folder, program, configure, reload, reloads } = await startRig();
  configure(`  a: {type: file, incldue: ["${folder}/a.log"]}`);
  reload();
  await program.says('the changed configuration has problems');
  expect(program.stderr()).toMatch(/tailrace\.yaml:4:\d+.*incldue.*include/);
  appendFileSync(join(folder, 'a.log'), '{"n":1}\n');
  await until('the line is stored', () => service.lines.length === 1);
  expect(await reloads('failure')).toBe(1);
  expect(await program.end('SIGTERM')).toBe(0);
});

test('run keeps its configuration when the changed one cannot be taken into force', async () => {
  const { service, folder, program, configure, reload, count, reloads } = await startRig();
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  onTestFinished(() => void taken.close());
  const { port } = taken.address() as AddressInfo;
  const source = `  a: {type: file, include: ["${folder}/a.log"], scan_interval: 100ms}`;
  configure(source, `telemetry: {listen: "127.0.0.1:${port}"}`);
  reload();
  await program.says('the one before stays in force');
  appendFileSync(join(folder, 'a.log'), '{"n":1}\n');
  await until('the line is stored', () => service.lines.length === 1);

  configure(source);
  reload();
  await until('the next one is in force', () => count('the changed configuration is in force') === 1);
  expect(await reloads('failure')).toBe(1);
  expect(await reloads('success')).toBe(1);
  expect(await program.end('SIGTERM')).toBe(0);
});

test('run does not reload while it reads standard input, and says so', async () => {
  const { program, configure, reload } = await startRig();
  configure('  pipe: {type: stdin}');
  reload();
  await program.says('standard input cannot be handed over');
  expect(await program.end('SIGTERM')).toBe(0);
});

test('reload waits for the agent and says what changed by id', async () => {
  const { service, folder, program, configure, command, reloads } = await startRig();
  const a = (more = ''): string => `  a: {type: file, include: ["${folder}/a.log"], scan_interval: 100ms${more}}`;
  const b = `  b: {type: file, include: ["${folder}/b.log"], scan_interval: 100ms}`;
  const telemetry = 'telemetry: {listen: "127.0.0.1:0"}';
  configure(`${a(', fields: {role: web}')}\n${b}`, `${telemetry}\nshutdown_timeout: 20s`);
  const report = await command('--json');
  expect(report).toMatchObject({ code: 0, error: '' });
  expect(JSON.parse(report.out)).toEqual({
    ok: true,
    changes: {
      sources: { added: ['b'], removed: [], changed: ['a'], untouched: [] },
      // It takes every source.
      sinks: { added: [], removed: [], changed: ['store'], untouched: [] },
      other: ['shutdown_timeout'],
    },
  });
  appendFileSync(join(folder, 'b.log'), '{"n":1}\n');
  await until('the added file is read', () => service.lines.length === 1);

  configure(a(', fields: {role: web}'), telemetry);
  expect(await command()).toEqual({
    code: 0,
    out: `the changed configuration is in force
  removed: source b
  changed: sink store
  changed: shutdown_timeout
  1 source and 0 sinks untouched
`,
    error: '',
  });
  expect((await command()).out).toBe('the configuration is in force; nothing changed: 1 source and 1 sink untouched\n');
  expect(await reloads('success')).toBe(3);
  expect(await program.end('SIGTERM')).toBe(0);
});

test('reload takes another log level into force', async () => {
  const { folder, program, configure, command, count } = await startRig();
  const reloadAt = async (level: string, fields: string): Promise<number> => {
    const source = `  a: {type: file, include: ["${folder}/a.log"], fields: {n: ${fields}}}`;
    configure(source, `telemetry: {listen: none, log_level: ${level}}`);
    expect((await command()).code).toBe(0);
    return count('the changed configuration is in force');
  };
  // Each reload is told at the level before it.
  expect(await reloadAt('error', '1')).toBe(1);
  expect(await reloadAt('error', '2')).toBe(1);
  expect(await reloadAt('info', '3')).toBe(1);
  expect(await reloadAt('info', '4')).toBe(2);
  expect(await program.end('SIGTERM')).toBe(0);
});

test('reload ends with 2 and names the problems of a wrong configuration, with 1 where no agent runs', async () => {
  const { folder, program, configure, command, reloads } = await startRig();
  configure(`  a: {type: file, incldue: ["${folder}/a.log"]}`);
  expect(await command()).toMatchObject({ code: 2, out: '', error: expect.stringMatching(/tailrace\.yaml:4:\d+: .*incldue/) });
  expect(await reloads('failure')).toBe(1);
  const { code, out } = await command('--json');
  expect(code).toBe(2);
  expect(JSON.parse(out)).toMatchObject({ ok: false, problems: [{ line: 4, fix: 'did you mean `include`?' }] });
  expect(await program.end('SIGTERM')).toBe(0);

  expect((await command()).code).toBe(2);
  configure(`  a: {type: file, include: ["${folder}/a.log"]}`);
  expect(await command()).toMatchObject({ code: 1, error: expect.stringContaining('no agent runs on') });
});

test('reload ends with 1 when the configuration is right and cannot be taken into force', async () => {
  const { folder, program, configure, command } = await startRig();
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  onTestFinished(() => void taken.close());
  const { port } = taken.address() as AddressInfo;
  configure(`  a: {type: file, include: ["${folder}/a.log"]}`, `telemetry: {listen: "127.0.0.1:${port}"}`);
  expect(await command()).toMatchObject({ code: 1, error: expect.stringMatching(/cannot take the configuration into force: .*telemetry/) });
  expect(await program.end('SIGTERM')).toBe(0);
});

test('run is stopped by a signal that comes during a reload', async () => {
  const { service, folder, program, configure, reload } = await startRig('\nshutdown_timeout: 60s');
  const held: (() => void)[] = [];
  service.respond = (request, response) => void held.push(() => service.storeAll(request, response));
  appendFileSync(join(folder, 'a.log'), '{"n":1}\n');
  await until('a request is under way', () => held.length > 0);
  // This takes a restart of the agent, which waits for the request.
  configure(
    `  b: {type: file, include: ["${folder}/b.log"]}`,
    `telemetry: {listen: "127.0.0.1:0"}\nshutdown_timeout: 60s\ntransform: 'to_dataset("other")'`,
  );
  reload();
  await program.says('reloading the configuration');
  program.process.kill('SIGTERM');
  // Twice: nothing is waited for.
  program.process.kill('SIGINT');
  expect(await program.exited).toBe(0);
  expect(program.stderr()).not.toContain('the changed configuration is in force');
});

test('reload takes transforms of the top, the source and the sink into force without a restart', async () => {
  const { service, folder, program, configure, command, reloads } = await startRig();
  const source = (more = ''): string => `  a: {type: file, include: ["${folder}/a.log"], scan_interval: 100ms${more}}`;
  const top = (transform: string): string => `telemetry: {listen: "127.0.0.1:0"}\n${transform}`;
  let stored = 0;
  const write = async (line: string): Promise<string> => {
    appendFileSync(join(folder, 'a.log'), `{"n":0}\n${line}\n`);
    await until('they are stored', () => linesOf(service).some(({ n }, at) => at >= stored && n !== 0));
    const [first, ...rest] = service.lines.slice(stored).map((each) => JSON.parse(each) as object);
    stored = service.lines.length;
    return JSON.stringify([first, ...rest], (key, value: unknown) =>
      key === '_time' || key === 'host' || key === 'file' ? undefined : value,
    );
  };
  expect(await write('{"n":1}')).toBe('[{"n":0},{"n":1}]');
  configure(source(), top('transform: where n != 0 | extend a = 1'));
  expect(await command()).toMatchObject({ code: 0 });
  expect(await write('{"n":2}')).toBe('[{"n":2,"a":1}]');
  configure(source(), top('transform: extend a = 2'), ', transform: "extend b = a + 1"');
  expect(await command()).toMatchObject({ code: 0 });
  expect(await write('{"n":3}')).toBe('[{"n":0,"a":2,"b":3},{"n":3,"a":2,"b":3}]');
  configure(source(', transform: "extend c = n"'), undefined, ', transform: "where c > 0"');
  expect(await command()).toMatchObject({ code: 0 });
  expect(await write('{"n":4}')).toBe('[{"n":4,"c":4}]');
  configure(source());
  expect(await command()).toMatchObject({ code: 0 });
  expect(await write('{"n":5}')).toBe('[{"n":0},{"n":5}]');
  // Counters begin anew with a restart.
  expect(await reloads('success')).toBe(4);
  expect(program.stderr()).not.toContain('by a restart of the agent');
  expect(await program.end('SIGTERM')).toBe(0);
});

test('reload takes a script into force whose content changed, and ends the process of the one before', async () => {
  const { service, folder, program, configure, command } = await startRig();
  const script = join(folder, 'shape.ts');
  const say = (value: number): void =>
    writeFileSync(
      script,
      `import { defineTransform } from 'tailrace/transform';\nexport default defineTransform((event) => ({ ...event, a: ${value} }), { deterministic: true });\n`,
      { mode: 0o600 },
    );
  const children = (): number =>
    readFileSync(`/proc/${program.process.pid}/task/${program.process.pid}/children`, 'utf8').split(' ').length - 1;
  const write = async (n: number): Promise<unknown> => {
    appendFileSync(join(folder, 'a.log'), `{"n":${n}}\n`);
    await until('it is stored', () => linesOf(service).some((each) => each.n === n));
    return linesOf(service).find((each) => each.n === n);
  };
  say(1);
  configure(`  a: {type: file, include: ["${folder}/a.log"], scan_interval: 100ms, transform: {script: ./shape.ts}}`);
  expect(await command()).toMatchObject({ code: 0 });
  expect(await write(1)).toMatchObject({ a: 1 });
  const before = children();
  say(2);
  expect(await command()).toMatchObject({ code: 0 });
  expect(await write(2)).toMatchObject({ a: 2 });
  await until('the process before has ended', () => children() === before);
  expect(await command()).toMatchObject({ code: 0 });
  expect(await write(3)).toMatchObject({ a: 2 });
  expect(children()).toBe(before);
  expect(program.stderr()).not.toContain('by a restart of the agent');
  expect(await program.end('SIGTERM')).toBe(0);
});

test('a batch that is under way keeps its events and its key when a reload changes the transform', async () => {
  const { service, folder, program, configure, command } = await startRig();
  const source = `  a: {type: file, include: ["${folder}/a.log"], scan_interval: 100ms}`;
  const top = (value: number): string => `telemetry: {listen: "127.0.0.1:0"}\ntransform: extend a = ${value}`;
  configure(source, top(1));
  expect(await command()).toMatchObject({ code: 0 });
  let isAway = true;
  service.respond = (request, response) => (isAway ? void response.writeHead(503).end() : service.storeAll(request, response));
  appendFileSync(join(folder, 'a.log'), '{"n":1}\n');
  await until('it is sent', () => service.requests.length > 0);
  configure(source, top(2));
  expect(await command()).toMatchObject({ code: 0 });
  appendFileSync(join(folder, 'a.log'), '{"n":2}\n');
  isAway = false;
  await until('both are stored', () => service.lines.length === 2);
  expect(linesOf(service).toSorted((x, y) => x.n - y.n)).toMatchObject([
    { n: 1, a: 1 },
    { n: 2, a: 2 },
  ]);
  const first = service.requests.filter(({ body }) => body.includes('"n":1'));
  expect(first.length).toBeGreaterThan(1);
  expect(new Set(first.map(({ headers }) => headers['idempotency-key'])).size).toBe(1);
  expect(await program.end('SIGTERM')).toBe(0);
});
