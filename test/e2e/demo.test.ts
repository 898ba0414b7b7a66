/** What a newcomer sees first: `tailrace demo` (`npm start`), here not on a terminal, from its first line to Ctrl-C. */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, realpathSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Journal, lacksJournal } from '../support/journal.ts';
import { findProgram } from '../support/installed.ts';
import { BINARY, type Program, startCommand, startProgram } from '../support/program.ts';
import { hasPty, ptyHint, startOnTerminal } from '../support/pty.ts';
import { until } from '../support/until.ts';
import { makeTree, suiteFolder } from '../support/temp-tree.ts';

const folder = suiteFolder();
let demo: Program;

/** One run for all tests, which follow it in their order. Its temporary folder is the only thing in `folder`. */
beforeAll(async () => {
  demo = startProgram(['demo'], { TMPDIR: folder });
  await until('its introduction', () => demo.stdout().includes('Ctrl-C ends it.') || demo.process.exitCode !== null);
});
afterAll(async () => {
  await demo?.end('SIGKILL');
});

/** The tokens of the run whose output this is: not on a terminal, they are in a file. */
function tokensOf(stdout: string): { personal_token: string; api_token: string; ingest_token: string } {
  const [, file] = /^ {2}tokens {3}(\S+)$/m.exec(stdout)!;
  expect(statSync(file!).mode & 0o777).toBe(0o600);
  expect(stdout).not.toMatch(/xa[ap]t-[0-9a-f]/);
  return JSON.parse(readFileSync(file!, 'utf8')) as ReturnType<typeof tokensOf>;
}

interface Counts {
  readonly read: number;
  readonly stored: number;
  readonly failed: number;
}

function countsSoFar(): Counts[] {
  const lines = demo.stdout().matchAll(/^files \d+ {2}read (\d+) {2}stored (\d+) {2}failed (\d+) {2}lag \d+ bytes$/gm);
  return [...lines].map(([, read, stored, failed]) => ({
    read: Number(read),
    stored: Number(stored),
    failed: Number(failed),
  }));
}

test('demo prints counts that grow, one plain line each', async () => {
  await until(
    'counts',
    () => new Set(countsSoFar().map(({ stored }) => stored)).size >= 3 || demo.process.exitCode !== null,
  );
  const stored = countsSoFar().map((counts) => counts.stored);
  expect(stored, demo.stderr()).toEqual(stored.toSorted((a, b) => a - b));
  expect(stored.at(-1)).toBeGreaterThan(stored[0]!);
  // oxlint-disable-next-line no-control-regex
  expect(demo.stdout()).not.toMatch(/[\r\u001B]/);
  expect(readdirSync(folder)).toEqual([expect.stringMatching(/^tailrace-demo-/)]);
});

test.skipIf(findProgram('curl') === undefined)(
  'the curl line that demo prints works as printed, and gives the latest events (apt-get install curl)',
  () => {
    const command = /^ {2}curl [\s\S]*?(?=\n\n)/m.exec(demo.stdout())![0];
    const { status, stdout, stderr } = spawnSync('sh', ['-c', command], { encoding: 'utf8' });
    expect(status, stderr).toBe(0);
    const { matches } = JSON.parse(stdout) as { matches: { _time: string; data: Record<string, unknown> }[] };
    expect(matches).toHaveLength(5);
    const times = matches.map(({ _time }) => Date.parse(_time));
    expect(times).toEqual(times.toSorted((a, b) => b - a));
    for (const { data } of matches)
      expect(Object.keys(data).some((key) => key === 'message' || key === 'seq')).toBe(true);
  },
);

/** Asks the service of a demo that said this. */
function asking(stdout: string): (rest: string) => Promise<{ _time: string; data: { message: string } }[]> {
  const [, service] = /^ {2}service {2}(http:\S+)$/m.exec(stdout)!;
  const { api_token: token } = tokensOf(stdout);
  return async (rest) => {
    const reply = await fetch(`${service}/v1/datasets/_apl?format=legacy`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        apl: `['demo-logs'] | ${rest}`,
        startTime: '2000-01-01T00:00:00Z',
        endTime: '2100-01-01T00:00:00Z',
      }),
    });
    expect(reply.status).toBe(200);
    return ((await reply.json()) as { matches?: { _time: string; data: { message: string } }[] }).matches ?? [];
  };
}

const MACHINE_LOG = '/var/log/dpkg.log';

test('sample lines and old logs have their own times', async () => {
  const query = asking(demo.stdout());
  const samples = await query('where message contains ", seq " | take 20');
  expect(samples.length).toBeGreaterThan(0);
  for (const { _time, data } of samples) expect(Date.parse(_time)).toBe(Date.parse(data.message.split(' ')[0]!));

  const [run] = readdirSync(folder);
  writeFileSync(join(folder, run!, 'sample-app', 'old.log'), '2020-05-01T10:00:00.250Z INFO an old line\n');
  await until('the old line', async () => (await query('where message contains "an old line"')).length > 0, {
    withinMs: 300_000,
  });
  expect(Date.parse((await query('where message contains "an old line"'))[0]!._time)).toBe(
    Date.parse('2020-05-01T10:00:00.250Z'),
  );
  if (!existsSync(MACHINE_LOG)) return;
  // The machine's zone is that of this process.
  const first = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d) .*/m.exec(readFileSync(MACHINE_LOG, 'utf8'));
  if (!first) return;
  const [line, day, time] = first;
  await until('its line', async () => (await query(`where message == ${JSON.stringify(line)}`)).length > 0, {
    withinMs: 300_000,
  });
  for (const { _time } of await query(`where message == ${JSON.stringify(line)}`))
    expect(Date.parse(_time)).toBe(Date.parse(`${day}T${time}`));
});

test('the query line that demo prints works as printed', () => {
  const command = /^ {2}TAILRACE_URL=.* query .*$/m.exec(demo.stdout())![0];
  const { status, stdout, stderr } = spawnSync('sh', ['-c', `${command} -o ndjson`], {
    encoding: 'utf8',
    cwd: join(import.meta.dirname, '../..'),
  });
  expect(status, stderr).toBe(0);
  expect(stdout.trimEnd().split('\n')).toHaveLength(5);
});

test('demo prints the addresses of both pages', async () => {
  const [, explorer] = /^ {2}explorer (http:\S+)$/m.exec(demo.stdout())!;
  const [, status] = /^ {2}status {3}(http:\S+)$/m.exec(demo.stdout())!;
  for (const address of [explorer!, status!]) expect(await (await fetch(address)).text()).toContain('<div id="page">');
  const { personal_token: token } = tokensOf(demo.stdout());
  const headers = { authorization: `Bearer ${token}`, 'x-service-org-id': 'demo' };
  expect((await fetch(new URL('/v2/datasets', explorer), { headers })).status).toBe(200);
});

test.runIf(hasPty)(`on a terminal the explorer's address is signed in${ptyHint}`, async () => {
  const terminal = startOnTerminal([BINARY, 'demo']);
  await until('its introduction', () => terminal.raw().includes('Ctrl-C ends it.'));
  expect(terminal.raw()).toMatch(/^ {2}explorer http:\S+\/#token=xapt-[0-9a-f-]{36}\r$/m);
  terminal.signal(2);
  expect(await terminal.exited).toBe(0);
});

test('demo --keep keeps data and configuration, and says how to go on with them', async () => {
  const home = makeTree({});
  const kept = startCommand('sh', ['-c', `cd ${home} && exec ${BINARY} demo --keep`]);
  await until('counts', () => /stored [1-9]/.test(kept.stdout()) || kept.process.exitCode !== null);
  expect(await kept.end('SIGINT'), kept.stderr()).toBe(0);
  const folder = join(realpathSync(home), 'tailrace-demo');
  expect(readdirSync(folder).sort()).toEqual(['agent', 'sample-app', 'service', 'tailrace.yaml']);
  expect(kept.stdout()).toContain(`stay in ${folder}.`);
  expect(kept.stdout()).not.toContain('removed');
  // Symptom: the demo's tokens, the same in each, went on as those of a later service.
  expect(kept.stdout()).not.toMatch(/xa[ap]t-[0-9a-f]/);
  const listed = startProgram(['tokens', 'list', '--data', join(folder, 'service'), '--json']);
  expect(await listed.exited).toBe(0);
  expect(listed.stdout()).not.toContain('environment-');
  const made = startProgram([
    'tokens',
    'create',
    'agent',
    '--ingest',
    '*',
    '--manage-datasets',
    '--data',
    join(folder, 'service'),
  ]);
  expect(await made.exited, made.stderr()).toBe(0);
  const checked = startProgram(['check', '--config', join(folder, 'tailrace.yaml')], {
    TAILRACE_TOKEN: made.stdout().trim(),
  });
  expect(await checked.exited, checked.stderr()).toBe(0);
});

test.skipIf(lacksJournal !== undefined)(
  `demo shows the journal of a machine where its user may read it (${lacksJournal ?? 'real'})`,
  async () => {
    const home = makeTree({});
    const journal = new Journal(join(home, 'journal'));
    const add = (MESSAGE: string): void =>
      journal.add({
        MESSAGE,
        _MACHINE_ID: readFileSync('/etc/machine-id', 'utf8').trim(),
        __REALTIME_TIMESTAMP: String(Date.now() * 1000),
      });
    add('before its start');
    // As if it were the machine's own.
    const real = findProgram('journalctl')!;
    writeFileSync(join(home, 'journalctl'), `#!/bin/sh\nexec ${real} --directory=${home}/journal "$@"\n`, {
      mode: 0o755,
    });
    const shown = startProgram(['demo', '--data', join(home, 'data')], { PATH: `${home}:${process.env['PATH']}` });
    await until(
      'its introduction',
      () => shown.stdout().includes('Ctrl-C ends it.') || shown.process.exitCode !== null,
    );
    add('while it runs');
    const query = asking(shown.stdout());
    for (const text of ['before its start', 'while it runs'])
      await until(text, async () => (await query(`where message == "${text}"`)).length === 1);
    expect(await shown.end('SIGINT'), shown.stderr()).toBe(0);
  },
);

test('demo on SIGINT delivers what it read, says so in numbers that agree, and leaves nothing behind', async () => {
  // Ctrl-C under npm comes twice: from the terminal, and handed on by npm.
  demo.process.kill('SIGINT');
  expect(await demo.end('SIGINT'), demo.stderr()).toBe(0);
  const last = countsSoFar().at(-1)!;
  expect(last).toEqual({ read: last.read, stored: last.read, failed: 0 });
  expect(demo.stdout()).toContain('\nStopping: delivering what was read …\n');
  expect(demo.stdout().split('\n').slice(-3)).toEqual([
    `Done: stored ${last.read} events, as the service counts them; 0 failed, 0 lost.`,
    expect.stringMatching(
      /^The demo's data and configuration are removed; `(?:bin\/)?tailrace demo --keep` keeps them\.$/,
    ),
    '',
  ]);
  expect(demo.stderr()).toMatch(/^Starting the local service …\n/);
  expect(demo.stderr()).not.toContain('"level":"error"');
  expect(readdirSync(folder)).toEqual([]);
});

// Symptom: the service's database was left as a kill leaves it. Cause: the service was closed only after the events were counted.
test('demo closes its service when it cannot count the events', async () => {
  const home = makeTree({});
  const failing = startProgram(['demo', '--data', home]);
  await until(
    'its introduction',
    () => failing.stdout().includes('Ctrl-C ends it.') || failing.process.exitCode !== null,
  );
  const [, service] = /^ {2}service {2}(http:\S+)$/m.exec(failing.stdout())!;
  const headers = { authorization: `Bearer ${tokensOf(failing.stdout()).personal_token}`, 'X-Service-Org-ID': 'demo' };
  expect((await fetch(`${service}/v2/datasets/demo-logs`, { method: 'DELETE', headers })).status).toBe(204);
  // The dataset is missing, so the agent delivers until a second signal.
  await until('its end', () => !failing.process.kill('SIGINT') || failing.process.exitCode !== null);
  expect(await failing.exited).toBe(1);
  expect(failing.stderr()).toContain('dataset "demo-logs" not found');
  expect(readdirSync(join(home, 'service')).filter((name) => name.endsWith('-wal'))).toEqual([]);
});

// Symptom: a temporary folder that could not be written was called a fault of Tailrace, with a stack trace.
test.each([
  ['--data below a file', ['--data', join(import.meta.filename, 'data')], {}],
  ['no temporary folder', [], { TMPDIR: join(import.meta.filename, 'tmp') }],
])('demo with %s says where it cannot write, and what to do', async (_name, args, env) => {
  const failed = startProgram(['demo', ...args], env);
  expect(await failed.exited).toBe(1);
  expect(failed.stdout()).toBe('');
  expect(failed.stderr()).toMatch(
    /^tailrace: cannot make the demo's data folder: ENOTDIR: .*demo\.test\.ts.*\n  fix: .*--data.*TMPDIR\n$/,
  );
});
