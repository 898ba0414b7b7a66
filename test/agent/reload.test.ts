import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { FakeService } from '../support/fake-service.ts';
import { takenPort } from '../support/free-port.ts';
import { until } from '../support/until.ts';
import { startRig } from './reload-rig.ts';
import { beginning } from '../support/begin.ts';

const startFiles = (more = '') => startRig({ filesOnly: true, more });

const test = beginning(
  () => startFiles(),
  'command',
  'configure',
  'count',
  'file',
  'folder',
  'hangUp',
  'program',
  'reloads',
  'service',
);

function linesOf(service: FakeService): { n: number; role?: string }[] {
  return service.lines.map((line) => JSON.parse(line) as { n: number; role?: string });
}

test('run takes a changed configuration into force at SIGHUP, and no line is lost or sent twice by it', async () => {
  const { service, folder, program, file, configure, hangUp, reloads } = await startFiles();
  appendFileSync(join(folder, 'a.log'), '{"n":1}\n{"n":2}\n');
  await until('the first lines are stored', () => service.lines.length === 2);

  configure({ sources: `${file('a', ', fields: {role: web}')}\n${file('b')}` });
  appendFileSync(join(folder, 'b.log'), '{"n":3}\n');
  hangUp();
  await program.says('the changed configuration is in force');
  appendFileSync(join(folder, 'a.log'), '{"n":4}\n');
  await until('lines of both files are stored', () => service.lines.length === 4);
  expect(linesOf(service).toSorted((x, y) => x.n - y.n)).toMatchObject([
    { n: 1 },
    { n: 2 },
    { n: 3 },
    { n: 4, role: 'web' },
  ]);
  expect(await reloads('success')).toBe(1);
  expect(await reloads('failure')).toBe(0);
  expect(await program.end('SIGTERM')).toBe(0);
});

test('run sends the events read of a file that a changed configuration leaves out, reads no more of it, and goes on once it is back', async () => {
  const { service, folder, program, configure, hangUp, count } = await startFiles('shutdown_timeout: 1s');
  const excluding = (exclude: string) => ({
    sources: `  a: {type: file, include: ["${folder}/*.log"], exclude: [${exclude}], scan_interval: 100ms}`,
  });
  const numbers = (): number[] => linesOf(service).map(({ n }) => n);
  const inForce = (times: number): Promise<void> =>
    until('it is in force', () => count('the changed configuration is in force') === times);
  let isAway = true;
  service.respond = (request, response) =>
    isAway ? void response.writeHead(503).end() : service.storeAll(request, response);
  appendFileSync(join(folder, 'a.log'), '{"n":1}\n');
  await until('it is sent', () => service.requests.length > 0);

  configure(excluding('"a.log"'));
  hangUp();
  await inForce(1);
  isAway = false;
  appendFileSync(join(folder, 'a.log'), '{"n":2}\n');
  appendFileSync(join(folder, 'b.log'), '{"n":3}\n');
  await until('all that may be is stored', () => numbers().length === 2);
  expect(new Set(numbers())).toEqual(new Set([1, 3]));
  expect(program.stderr()).toContain('files that the patterns do not match any more are not read');

  configure(excluding(''));
  hangUp();
  await inForce(2);
  await until('the rest is stored', () => numbers().length === 3);
  expect(numbers().at(-1)).toBe(2);
  expect(await program.end('SIGTERM')).toBe(0);
});

test('run keeps its configuration when the changed one has problems, and names each', async () => {
  const { service, folder, program, configure, hangUp, reloads } = await startFiles();
  configure({ sources: `  a: {type: file, incldue: ["${folder}/a.log"]}` });
  hangUp();
  await program.says('the changed configuration has problems');
  expect(program.stderr()).toMatch(/tailrace\.yaml:4:\d+.*incldue.*include/);
  appendFileSync(join(folder, 'a.log'), '{"n":1}\n');
  await until('the line is stored', () => service.lines.length === 1);
  expect(await reloads('failure')).toBe(1);
  expect(await program.end('SIGTERM')).toBe(0);
});

test('run keeps its configuration when the changed one cannot be taken into force', async () => {
  const { service, folder, program, configure, hangUp, count, reloads } = await startFiles();
  configure({ top: `telemetry: {listen: "127.0.0.1:${await takenPort()}"}` });
  hangUp();
  await program.says('the one before stays in force');
  appendFileSync(join(folder, 'a.log'), '{"n":1}\n');
  await until('the line is stored', () => service.lines.length === 1);

  configure();
  hangUp();
  await until('the next one is in force', () => count('the changed configuration is in force') === 1);
  expect(await reloads('failure')).toBe(1);
  expect(await reloads('success')).toBe(1);
  expect(await program.end('SIGTERM')).toBe(0);
});

test('run does not reload while it reads standard input, and says so', async ({ program, configure, hangUp }) => {
  configure({ sources: '  pipe: {type: stdin}' });
  hangUp();
  await program.says('standard input cannot be handed over');
  expect(await program.end('SIGTERM')).toBe(0);
});

test('reload waits for the agent and says what changed by id', async ({
  service,
  folder,
  program,
  file,
  configure,
  command,
  reloads,
}) => {
  const changed = file('a', ', fields: {role: web}');
  configure({ sources: `${changed}\n${file('b')}`, more: 'shutdown_timeout: 20s' });
  const report = await command('--json');
  expect(report).toMatchObject({ code: 0, error: '' });
  expect(JSON.parse(report.out)).toEqual({
    ok: true,
    changes: {
      sources: { added: ['b'], removed: [], changed: ['a'], untouched: [] },
      // It takes every source, and nothing of it is written anew.
      sinks: { added: [], removed: [], changed: [], untouched: ['store'] },
      other: ['shutdown_timeout'],
    },
  });
  appendFileSync(join(folder, 'b.log'), '{"n":1}\n');
  await until('the added file is read', () => service.lines.length === 1);

  configure({ sources: changed });
  expect(await command()).toEqual({
    code: 0,
    out: `the changed configuration is in force
  removed: source b
  changed: shutdown_timeout
  1 source and 1 sink untouched
`,
    error: '',
  });
  expect((await command()).out).toBe('the configuration is in force; nothing changed: 1 source and 1 sink untouched\n');
  // Symptom: "changed: sink store" where the file left the sink alone.
  configure({ sources: `${changed}\n${file('c')}` });
  expect((await command()).out).toBe(
    'the changed configuration is in force\n  added: source c\n  1 source and 1 sink untouched\n',
  );
  expect(await reloads('success')).toBe(4);
  expect(await program.end('SIGTERM')).toBe(0);
});

test('reload takes another log level into force', async ({ program, file, configure, command, count }) => {
  const reloadAt = async (level: string, n: string): Promise<number> => {
    configure({ sources: file('a', `, fields: {n: ${n}}`), top: `telemetry: {listen: none, log_level: ${level}}` });
    expect((await command()).code).toBe(0);
    return count('the changed configuration is in force');
  };
  // Each reload is logged at the level before it.
  expect(await reloadAt('error', '1')).toBe(1);
  expect(await reloadAt('error', '2')).toBe(1);
  expect(await reloadAt('info', '3')).toBe(1);
  expect(await reloadAt('info', '4')).toBe(2);
  expect(await program.end('SIGTERM')).toBe(0);
});

test('reload ends with 2 and names the problems of a wrong configuration, with 1 where no agent runs', async () => {
  const { folder, program, configure, command, reloads } = await startFiles();
  configure({ sources: `  a: {type: file, incldue: ["${folder}/a.log"]}` });
  expect(await command()).toMatchObject({
    code: 2,
    out: '',
    error: expect.stringMatching(/tailrace\.yaml:4:\d+: .*incldue/),
  });
  expect(await reloads('failure')).toBe(1);
  const { code, out } = await command('--json');
  expect(code).toBe(2);
  expect(JSON.parse(out)).toMatchObject({ ok: false, problems: [{ line: 4, fix: 'did you mean `include`?' }] });
  expect(await program.end('SIGTERM')).toBe(0);

  expect((await command()).code).toBe(2);
  configure();
  expect(await command()).toMatchObject({ code: 1, error: expect.stringContaining('no agent runs on') });
});

test('reload ends with 1 when the configuration is right and cannot be taken into force', async ({
  program,
  configure,
  command,
}) => {
  configure({ top: `telemetry: {listen: "127.0.0.1:${await takenPort()}"}` });
  expect(await command()).toMatchObject({
    code: 1,
    error: expect.stringMatching(/cannot take the configuration into force: .*telemetry/),
  });
  expect(await program.end('SIGTERM')).toBe(0);
});

test('run is stopped by a signal that comes during a reload', async () => {
  const { service, folder, program, file, configure, hangUp } = await startFiles('shutdown_timeout: 60s');
  const held: (() => void)[] = [];
  service.respond = (request, response) => void held.push(() => service.storeAll(request, response));
  appendFileSync(join(folder, 'a.log'), '{"n":1}\n');
  await until('a request is under way', () => held.length > 0);
  // This takes a restart of the agent, which waits for the request.
  configure({ sources: file('b'), more: 'shutdown_timeout: 60s\ntransform: \'to_dataset("other")\'' });
  hangUp();
  await program.says('reloading the configuration');
  program.process.kill('SIGTERM');
  // Twice: nothing is waited for.
  program.process.kill('SIGINT');
  expect(await program.exited).toBe(0);
  expect(program.stderr()).not.toContain('the changed configuration is in force');
});

test('reload takes transforms of the top, the source and the sink into force without a restart', async () => {
  const { service, folder, program, file, configure, command, reloads } = await startFiles();
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
  configure({ more: 'transform: where n != 0 | extend a = 1' });
  expect(await command()).toMatchObject({ code: 0 });
  expect(await write('{"n":2}')).toBe('[{"n":2,"a":1}]');
  configure({ more: 'transform: extend a = 2', store: ', transform: "extend b = a + 1"' });
  expect(await command()).toMatchObject({ code: 0 });
  expect(await write('{"n":3}')).toBe('[{"n":0,"a":2,"b":3},{"n":3,"a":2,"b":3}]');
  configure({ sources: file('a', ', transform: "extend c = n"'), store: ', transform: "where c > 0"' });
  expect(await command()).toMatchObject({ code: 0 });
  expect(await write('{"n":4}')).toBe('[{"n":4,"c":4}]');
  configure();
  expect(await command()).toMatchObject({ code: 0 });
  expect(await write('{"n":5}')).toBe('[{"n":0},{"n":5}]');
  // Counters begin anew with a restart.
  expect(await reloads('success')).toBe(4);
  expect(program.stderr()).not.toContain('by a restart of the agent');
  expect(await program.end('SIGTERM')).toBe(0);
});

test('reload takes a script into force whose content changed, and ends the process of the one before', async () => {
  const { service, folder, program, file, configure, command } = await startFiles();
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
  configure({ sources: file('a', ', transform: {script: ./shape.ts}') });
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

test('a batch in flight keeps its events and its key when a reload changes the transform', async () => {
  const { service, folder, program, configure, command } = await startFiles();
  configure({ more: 'transform: extend a = 1' });
  expect(await command()).toMatchObject({ code: 0 });
  let isAway = true;
  service.respond = (request, response) =>
    isAway ? void response.writeHead(503).end() : service.storeAll(request, response);
  appendFileSync(join(folder, 'a.log'), '{"n":1}\n');
  await until('it is sent', () => service.requests.length > 0);
  configure({ more: 'transform: extend a = 2' });
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
