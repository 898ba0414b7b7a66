/** `tailrace init` as a user runs it: on trees of logs, on a terminal, and on files that are no logs. */
import { execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  lchownSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, onTestFinished, test } from 'vitest';
import { findOpenFiles } from '../../src/cli/init/open-files.ts';
import { loadConfig } from '../../src/config/load/load.ts';
import type { FileConfig } from '../../src/sources/file/file-type.ts';
import { BINARY } from '../support/program.ts';
import { hasPty, ptyHint, startOnTerminal } from '../support/pty.ts';
import { makeTree } from '../support/temp-tree.ts';
import { canDropPrivileges, startUnprivileged } from '../support/unprivileged.ts';
import { until } from '../support/until.ts';
import { tailraceFor } from './tailrace.ts';

const tailrace = tailraceFor({ TAILRACE_TOKEN: 'secret' });
const isRoot = process.getuid?.() === 0;

interface Report {
  readonly file: string;
  readonly sources: readonly {
    readonly id: string;
    readonly include: readonly string[];
    readonly exclude: readonly string[];
    readonly files: number;
    readonly recognised: string;
    readonly choices: readonly { readonly entry: string; readonly reason: string }[];
    readonly hidden?: readonly string[];
    readonly examples: readonly Record<string, unknown>[];
  }[];
  readonly skipped: readonly { readonly path: string; readonly reason: string; readonly fix?: string }[];
  readonly rotated: number;
}

/** Runs `init --yes --json` on `logs` of the folder; `check` accepts what it wrote. */
async function initIn(
  folder: string,
  ...args: string[]
): Promise<{ readonly report: Report; readonly config: string; readonly text: string }> {
  const config = join(folder, 'tailrace.yaml');
  const { code, stdout, stderr } = await tailrace([
    'init',
    join(folder, 'logs'),
    '--yes',
    '--json',
    '--out',
    config,
    ...args,
  ]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: 'looking for logs …\n' });
  const checked = await tailrace(['check', '--config', config]);
  expect({ code: checked.code, error: checked.stderr }).toEqual({ code: 0, error: '' });
  return { report: JSON.parse(stdout) as Report, config, text: readFileSync(config, 'utf8') };
}

const JAVA = `2025-11-22 16:08:49,123 [main] INFO  com.example.App - started
2025-11-22 16:08:50,456 [worker-1] ERROR com.example.App - it broke for ann@example.com
java.lang.IllegalStateException: no
	at com.example.App.main(App.java:7)
`;
const ACCESS = '192.0.2.1 - - [22/Nov/2025:16:10:05 +0100] "GET /a?token=abc HTTP/1.1" 200 12 "-" "curl/8"\n';

test('init writes a commented configuration with preset, time, joined lines and hidden secrets, and check accepts it', async () => {
  const folder = makeTree({
    'logs/nginx/access.log': ACCESS,
    'logs/nginx/access.log.1': ACCESS,
    'logs/nginx/error.log':
      '2025/11/22 16:10:05 [error] 12#13: *1 open() failed, client: 192.0.2.1, server: x, request: "GET / HTTP/1.1", host: "x"\n',
    'logs/httpd/access_log': ACCESS,
    'logs/postgresql.log':
      '2025-11-22 16:10:05.123 CET [12] shop@shop ERROR:  no such column\n2025-11-22 16:10:05.123 CET [12] shop@shop STATEMENT:  select\n\t  x\n',
    'logs/auth.log': 'Nov 22 16:10:05 host sshd[12]: Accepted password for root\n',
    'logs/java.log': JAVA,
    'logs/pino.log':
      '{"level":30,"time":1763827200000,"msg":"x","req":{"headers":{"authorization":"Bearer abcdefgh","set-cookie":"q"}}}\n',
    'logs/app.log':
      '2025-11-22T16:10:05Z begins\n  goes on\n2025-11-22T16:10:06Z password=hunter2 token eyJhbGciOi.eyJzdWIiOi.abc\n',
    'logs/odd.json': '{"created":"2025-11-22T16:10:05Z","text":"x"}\n',
    'logs/plain.log': 'one\ntwo\n',
  });
  const { report, config, text } = await initIn(folder);
  const found = Object.fromEntries(report.sources.map(({ id, choices }) => [id, choices.map(({ entry }) => entry)]));
  expect(found).toMatchObject({
    'nginx-access': ['preset: nginx-access'],
    'apache-access': ['preset: apache-access'],
    'nginx-error': ['preset: nginx-error', expect.stringMatching(/^time: \{timezone: /)],
    postgresql: ['preset: postgresql'],
    auth: ['preset: auth', expect.stringMatching(/^time: \{timezone: /)],
    java: ['preset: log4j', expect.stringMatching(/^time: \{timezone: /)],
    pino: ['preset: pino'],
    app: ['format: auto', expect.stringMatching(/^multiline: \{start: /)],
    odd: ['format: auto', "time: {field: 'created'}"],
    plain: ['format: auto'],
  });
  expect(report.rotated).toBe(1);
  for (const { choices, examples } of report.sources) {
    expect(examples.length).toBeGreaterThan(0);
    for (const { entry, reason } of choices) expect(text).toMatch(new RegExp(`${escape(entry)} +# ${escape(reason)}`));
  }
  const own = report.sources
    .filter(({ id }) => id !== 'plain')
    .flatMap(({ examples }) => examples.map((event) => String(event['_time'])));
  expect(own.filter((time) => !/^202[56]-11-22T/.test(time))).toEqual([]);
  expect(JSON.stringify(report.sources)).not.toMatch(/hunter2|ann@example\.com|Bearer abc|eyJzdWI|token=abc/);
  expect(text).toContain("      project-away req.headers.authorization, req.headers['set-cookie']\n");
  expect(text).toContain('    # - message holds jwt, secret\n');
  expect(loadConfig(config, { TAILRACE_TOKEN: 'secret' }).sinks[0]).toMatchObject({
    url: 'http://127.0.0.1:4100',
    dataset: 'logs',
  });
});

test('init never overwrites a file, and explains wrong arguments', async () => {
  const folder = makeTree({ 'logs/a.log': 'one\n', 'tailrace.yaml': 'mine', none: '' });
  const run = (...args: string[]) => tailrace(['init', ...args], { cwd: folder });
  expect(await run('logs', '--yes')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('"tailrace.yaml" is there already'),
  });
  expect(readFileSync(join(folder, 'tailrace.yaml'), 'utf8')).toBe('mine');
  const refused: readonly (readonly [number, string, ...string[]])[] = [
    [2, 'there is no terminal to ask on', 'logs'],
    [2, 'there is no terminal to ask on', 'logs', '--json'],
    [2, 'cannot look into', 'nowhere', '--yes'],
    [2, 'is not a dataset name', 'logs', '--yes', '--dataset', 'a b'],
    [2, '`url`', 'logs', '--yes', '--url', 'nonsense'],
    [1, 'cannot write', 'logs', '--yes', '--out', 'no/folder/t.yaml'],
    [1, 'found no logs', 'none', '--yes'],
  ];
  for (const [code, message, ...args] of refused) {
    const out = args.includes('--out') ? [] : ['--out', 'new.yaml'];
    expect(await run(...args, ...out)).toMatchObject({ code, stderr: expect.stringContaining(message) });
    expect(existsSync(join(folder, 'new.yaml'))).toBe(false);
  }
});

test('init takes address, dataset and token file from its options', async () => {
  const folder = makeTree({ 'logs/a.log': 'one\n', tok: 'secret\n' });
  const { config } = await initIn(
    folder,
    '--url',
    'https://example.com',
    '--dataset',
    'web',
    '--token-file',
    join(folder, 'tok'),
  );
  expect(loadConfig(config, {}).sinks[0]).toMatchObject({
    url: 'https://example.com',
    dataset: 'web',
    token: { kind: 'file', path: join(folder, 'tok') },
  });
});

test('init groups thousands of files, leaves rotated ones to the agent, and ships none twice', async () => {
  const logs: Record<string, string> = {
    'logs/mixed/odd.log': '{"log":"x","stream":"stdout","time":"2025-11-22T16:10:05Z"}\n',
  };
  for (let n = 0; n < 1000; n++) logs[`logs/jobs/job-${n}.log`] = `2025-11-22T16:10:05Z job ${n}\n`;
  for (let n = 0; n < 1000; n++)
    logs[`logs/apps/${String.fromCodePoint(97 + (n % 26))}${n}x/logs/app.log`] = `2025-11-22T16:10:05Z app ${n}\n`;
  for (const name of ['anna', 'bert', 'carl', 'dora', 'emil'])
    logs[`logs/mixed/${name}.log`] = '2025-11-22T16:10:05Z text\n';
  for (const day of ['2025-11-20', '2025-11-21']) logs[`logs/daily/server.${day}.log`] = 'x\n';
  for (const suffix of ['.1', '.2', '-20251121']) logs[`logs/jobs/job-1.log${suffix}`] = 'old\n';
  const folder = makeTree(logs);
  const { report, config } = await initIn(folder);
  expect(
    report.sources.flatMap(({ include }) => include.map((glob) => glob.replace(`${folder}/logs/`, ''))).toSorted(),
  ).toEqual(['apps/*/logs/app.log', 'daily/server.*.log', 'jobs/job-*.log', 'mixed/*.log', 'mixed/odd.log']);
  expect(report.sources.reduce((sum, { files }) => sum + files, 0)).toBe(2008);
  expect(report.rotated).toBe(3);
  const mixed = loadConfig(config, { TAILRACE_TOKEN: 'x' }).sources.find((each) =>
    (each as FileConfig).include.includes(`${folder}/logs/mixed/*.log`),
  );
  expect((mixed as FileConfig).exclude).toEqual([
    `${folder}/logs/mixed/odd.log`,
    `${folder}/logs/mixed/odd[-._][0-9]*`,
  ]);
});

test('init takes containers and pods by their folders, as others will come', async () => {
  const [id, uid] = ['3fa9'.repeat(16), '3f2504e0-4f89-11d3-9a0c-0305e82c3301'];
  const folder = makeTree({
    [`logs/containers/${id}/${id}-json.log`]: '{"log":"x\\n","stream":"stdout","time":"2025-11-22T16:10:05Z"}\n',
    [`logs/pods/shop_web-1_${uid}/nginx/0.log`]: '2025-11-22T16:10:05.1Z stdout F x\n',
  });
  const { report } = await initIn(folder);
  expect(
    report.sources.map(({ id: source, include }) => [
      source,
      ...include.map((glob) => glob.replace(`${folder}/logs/`, '')),
    ]),
  ).toEqual([
    ['docker', 'containers/*/*-json.log'],
    ['kubernetes', 'pods/*/*/*.log'],
  ]);
});

test('init leaves out files that are not text, and takes names as they are', async () => {
  const names = ['[brackets].log', 'a b.log', '${HOME}.log', 'star*.log', '#hash: x.log', 'quote\'".log', 'é.log'];
  const folder = makeTree({
    ...Object.fromEntries(names.map((name) => [`logs/names/${name}`, '2025-11-22T16:10:05Z x\n'])),
    'logs/empty.log': '',
    'logs/line\nbreak.log': 'x\n',
    'logs/endless.log': 'x'.repeat(200_000),
    'logs/huge.log': '2025-11-22T16:10:05Z begins\n',
  });
  const logs = join(folder, 'logs');
  writeFileSync(join(logs, 'binary.log'), Buffer.from([1, 2, 0, 3, 10]));
  writeFileSync(join(logs, 'packed.log'), gzipSync('x\n'));
  writeFileSync(join(logs, 'alone.log.gz'), gzipSync('x\n'));
  writeFileSync(join(logs, 'wide.log'), Buffer.from('\uFEFFone\n', 'utf16le'));
  truncateSync(join(logs, 'huge.log'), 200 * 1024 ** 3);
  execFileSync('mkfifo', [join(logs, 'pipe.log')]);
  symlinkSync('.', join(logs, 'loop'));
  symlinkSync('a b.log', join(logs, 'names', 'link.log'));
  const { report, text } = await initIn(folder);
  const reasons = Object.fromEntries(report.skipped.map(({ path, reason }) => [path.replace(`${logs}/`, ''), reason]));
  expect(reasons).toEqual({
    'empty.log': 'empty',
    'line\nbreak.log': 'a name that cannot stand in a configuration',
    'endless.log': expect.stringContaining('no line ends'),
    'binary.log': 'not text',
    'packed.log': 'compressed',
    'alone.log.gz': 'compressed',
    'huge.log': expect.any(String),
  });
  expect(report.sources.reduce((sum, { files }) => sum + files, 0)).toBe(names.length + 1);
  expect(text).not.toContain('line\nbreak');
});

test('init of a large file says how much is there already', async () => {
  const folder = makeTree({ 'logs/large.log': '' });
  const large = join(folder, 'logs/large.log');
  writeFileSync(large, '2025-11-22T16:10:05Z a line of text\n'.repeat(3000));
  truncateSync(large, 3 * 1024 ** 3);
  const { text } = await initIn(folder);
  expect(text).toMatch(/# start_at: end +# would leave out the 3 GiB that are there already/);
});

test('init finds the zone in which the last line is as old as the file', async () => {
  const folder = makeTree({
    'logs/utc/error.log': '2025/11/22 10:00:00 [error] 1#1: broken\n',
    'logs/here/error.log': '2025/11/22 12:00:00 [error] 1#1: broken\n',
    'logs/unknown/error.log': '2025/11/22 05:00:00 [error] 1#1: broken\n',
  });
  const at = new Date('2025-11-22T10:00:01Z');
  for (const name of ['utc', 'here', 'unknown']) utimesSync(join(folder, `logs/${name}/error.log`), at, at);
  const config = join(folder, 'tailrace.yaml');
  const { stdout } = await tailrace(['init', join(folder, 'logs'), '--yes', '--json', '--out', config], {
    env: { TZ: 'Europe/Athens' },
  });
  const zones = (JSON.parse(stdout) as Report).sources.map(({ include, choices }) => [
    include.map((path) => path.split('/').at(-2)).join(),
    choices[1]?.entry,
  ]);
  // They were named, so their age is no reason to leave them out.
  expect(readFileSync(config, 'utf8')).not.toContain('ignore_older');
  expect(Object.fromEntries(zones)).toEqual({
    'here,unknown': 'time: {timezone: Europe/Athens}',
    utc: 'time: {timezone: UTC}',
  });
});

test.skipIf(!canDropPrivileges)('init names the group that may read a file or folder', async () => {
  const folder = makeTree({
    'logs/ours.log': '2025-11-22T16:10:05Z x\n',
    'logs/theirs.log': 'x\n',
    'logs/closed.log': 'x\n',
    'logs/private/a.log': 'x\n',
  });
  chmodSync(folder, 0o755);
  chmodSync(join(folder, 'logs/theirs.log'), 0o640);
  if (isRoot) {
    chownSync(join(folder, 'logs/theirs.log'), 65_534, 4);
    chownSync(join(folder, 'logs/private'), 65_534, 0);
    chownSync(join(folder, 'logs/closed.log'), 65_534, 0);
  }
  chmodSync(join(folder, 'logs/closed.log'), 0o600);
  chmodSync(join(folder, 'logs/private'), 0o700);
  if (!isRoot) return;
  const program = startUnprivileged(['init', join(folder, 'logs'), '--yes', '--json', '--out', join(folder, 't.yaml')]);
  expect(await program.exited).toBe(0);
  const { skipped } = JSON.parse(program.stdout()) as Report;
  expect(skipped.toSorted((a, b) => (a.path < b.path ? -1 : 1))).toMatchObject([
    {
      path: join(folder, 'logs/closed.log'),
      reason: 'permission denied',
      fix: expect.stringContaining('only its owner'),
    },
    { path: join(folder, 'logs/private'), reason: 'permission denied', fix: expect.stringContaining('only its owner') },
    {
      path: join(folder, 'logs/theirs.log'),
      reason: 'permission denied',
      fix: expect.stringContaining('usermod -aG adm '),
    },
  ]);
});

test('open files of running processes are those that are written to', async () => {
  const folder = makeTree({ 'read.log': 'x\n', 'gone.log': '' });
  const [written, read, gone] = ['written.log', 'read.log', 'gone.log'].map((name) => join(folder, name));
  const child = spawn(
    'sh',
    ['-c', 'exec 4>>"$1" 5<"$2" 6>>"$3"; rm "$3"; echo ready; read line', 'sh', written!, read!, gone!],
    {
      stdio: ['pipe', 'pipe', 'ignore'],
    },
  );
  onTestFinished(() => void child.kill('SIGKILL'));
  await new Promise((resolve) => child.stdout.once('data', resolve));
  const found = findOpenFiles().filter(({ path }) => path.startsWith(folder));
  expect(found).toEqual([{ path: written, by: `sh (${child.pid})` }]);
});

describe.skipIf(!hasPty)(`init on a terminal${ptyHint}`, () => {
  const start = (folder: string) =>
    startOnTerminal([BINARY, 'init', join(folder, 'logs'), '--out', join(folder, 't.yaml')], { TAILRACE_TOKEN: 'x' });

  test('shows examples, asks for each source and for the service, and writes the answers', async () => {
    const folder = makeTree({ 'logs/java.log': JAVA, 'logs/nginx/access.log': ACCESS });
    const terminal = start(folder);
    const asked = (what: string, times = 1) => until(what, () => terminal.raw().split(what).length > times);
    await asked('Ship it?');
    expect(terminal.raw()).toContain('"message":"started"');
    terminal.type('n\r');
    await asked('Ship it?', 2);
    terminal.type('\r');
    await asked('Address of the service [http://127.0.0.1:4100]');
    terminal.type('http://127.0.0.1:4999\r');
    await asked('Dataset [logs]');
    terminal.type('web\r');
    expect(await terminal.exited).toBe(0);
    const config = loadConfig(join(folder, 't.yaml'), { TAILRACE_TOKEN: 'x' });
    expect(config.sources.map(({ id }) => id)).toEqual(['nginx-access']);
    expect(config.sinks).toMatchObject([{ url: 'http://127.0.0.1:4999', dataset: 'web' }]);
  });

  // Symptom: `quit`, `x` and `?` shipped the source, since every answer but `n…` counted as yes.
  test.each(['x', '?', 'nope', 'yess'])('takes %j for no answer, says so and asks again', async (typed) => {
    const folder = makeTree({ 'logs/java.log': JAVA, 'logs/nginx/access.log': ACCESS });
    const terminal = start(folder);
    const asked = (times: number) => until(`question ${times}`, () => terminal.raw().split('Ship it?').length > times);
    await asked(1);
    terminal.type(`${typed}\r`);
    await asked(2);
    expect(terminal.raw()).toContain('answer y, n or a; q ends without writing anything');
    terminal.type('no\r');
    await asked(3);
    terminal.type('Y\r');
    await until('the address', () => terminal.raw().includes('Address of the service'));
    terminal.type('\r');
    await until('the dataset', () => terminal.raw().includes('Dataset [logs]'));
    terminal.type('\r');
    expect(await terminal.exited).toBe(0);
    expect(loadConfig(join(folder, 't.yaml'), { TAILRACE_TOKEN: 'x' }).sources.map(({ id }) => id)).toEqual([
      'nginx-access',
    ]);
  });

  test.each(['q', 'QUIT'])('%s writes nothing, whatever was chosen before', async (typed) => {
    const folder = makeTree({ 'logs/java.log': JAVA, 'logs/nginx/access.log': ACCESS });
    const terminal = start(folder);
    await until('the question', () => terminal.raw().includes('Ship it?'));
    terminal.type('y\r');
    await until('the next question', () => terminal.raw().split('Ship it?').length > 2);
    terminal.type(`${typed}\r`);
    expect(await terminal.exited).toBe(1);
    expect(terminal.raw()).toContain('nothing was written');
    expect(existsSync(join(folder, 't.yaml'))).toBe(false);
  });

  test.each([
    ['Ctrl-C', '\u0003'],
    ['Ctrl-D', '\u0004'],
  ])('%s writes nothing', async (_name, key) => {
    const folder = makeTree({ 'logs/java.log': JAVA });
    mkdirSync(join(folder, 'empty'));
    const terminal = start(folder);
    await until('the question', () => terminal.raw().includes('Ship it?'));
    terminal.type(key);
    expect(await terminal.exited).toBe(1);
    expect(terminal.raw()).toContain('nothing was written');
    expect(existsSync(join(folder, 't.yaml'))).toBe(false);
  });
});

function escape(text: string): string {
  return text.replaceAll(/[\\^$.|?*+()[\]{}]/g, String.raw`\$&`);
}

test('init reads nothing through another user’s link, and says so', async () => {
  expect(isRoot, 'this test runs as root, to make another user’s link').toBe(true);
  const folder = makeTree({
    'logs/app.log': '2025-11-22T16:10:05Z x\n',
    'etc/secret.log': '2025-11-22T16:10:05Z geheim\n',
  });
  symlinkSync('../etc/secret.log', join(folder, 'logs/theirs.log'));
  lchownSync(join(folder, 'logs/theirs.log'), 1001, 0);
  const { code, stdout, stderr } = await tailrace([
    'init',
    join(folder, 'logs'),
    '--yes',
    '--out',
    join(folder, 't.yaml'),
  ]);
  expect([code, stderr]).toEqual([0, expect.any(String)]);
  expect(stdout).toContain('theirs.log');
  expect(stdout).toContain('user 1001 made the symbolic link');
  expect(stdout + readFileSync(join(folder, 't.yaml'), 'utf8')).not.toContain('geheim');
  // A link that the user names is the user's own.
  const named = await tailrace(['init', join(folder, 'logs/theirs.log'), '--yes', '--out', join(folder, 'u.yaml')]);
  expect(named.stdout).toContain('geheim');
});
