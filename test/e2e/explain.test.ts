/** `tailrace explain` with the real binary: what it says of each kind of path, beside a running agent and without one. */
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeEach, expect, test } from 'vitest';
import { askAgent } from '../../src/agent/control/control.ts';
import type { FaultService } from '../support/fault-service.ts';
import { type Program, startProgram } from '../support/program.ts';
import { canDropPrivileges, startUnprivileged } from '../support/unprivileged.ts';
import { configure as writeConfig, makeSite, type Site } from '../support/shipping.ts';
import { until } from '../support/until.ts';

let folder: string;
let logs: string;
let service: FaultService;

let site: Site;

beforeEach(async () => {
  site = await makeSite();
  ({ folder, service } = site);
  logs = join(folder, 'logs');
});

function configure(more = '', names = '*.log', token = ''): string {
  const app = `{type: file, include: ["${logs}/${names}", "${logs}/deep/**/*.txt"], exclude: ["*.tmp.log", "private"], scan_interval: 100ms${more}}`;
  return writeConfig(site, {
    sources: { app },
    sink: `retry: {initial_backoff: 50ms, max_backoff: 500ms}, batch: {max_age: 50ms}${token}`,
  });
}

async function startAgent(config: string): Promise<Program> {
  const agent = startProgram(['run', '--config', config]);
  await agent.says('tailrace runs');
  return agent;
}

interface Explained extends Record<string, unknown> {
  readonly reason: string;
  readonly fix?: string;
}

async function ask(config: string, path: string): Promise<{ code: unknown; json: Explained }> {
  const program = startProgram(['explain', path, '--config', config, '--json']);
  const code = await program.exited;
  return { code, json: JSON.parse(program.stdout()) as Explained };
}

/** The same for people. */
async function read(config: string, path: string): Promise<{ code: unknown; text: string; stderr: string }> {
  const program = startProgram(['explain', path, '--config', config]);
  return { code: await program.exited, text: program.stdout(), stderr: program.stderr() };
}

test('explain beside an agent shows position, saved and delivered offsets, identity, and rotated files', async () => {
  const config = configure(', partial_timeout: never');
  const log = join(logs, 'a.log');
  writeFileSync(log, 'one\ntwo\n');
  await startAgent(config);
  await until('both are stored', () => service.stored.length === 2);
  renameSync(log, `${log}.1`);
  writeFileSync(`${log}.2.gz`, gzipSync('zero\n'));
  service.respond = () => ({ status: 500 });
  writeFileSync(log, 'three\nfour\nunfi');
  const isRead = async (): Promise<boolean> => (await ask(config, log)).json['savedOffset'] === 11;
  await until('the new file is read', isRead, { everyMs: 200 });
  const { code, json } = await ask(config, log);
  expect(code).toBe(0);
  expect(json).toMatchObject({
    source: 'app',
    path: log,
    isRead: true,
    state: 'active',
    firstPath: log,
    currentPath: log,
    offset: 11,
    savedOffset: 11,
    deliveredOffset: 0,
    size: 15,
    lagBytes: 4,
    related: [
      { path: `${log}.1`, state: 'rotated', offset: 8, size: 8 },
      { path: `${log}.2.gz`, state: 'compressed' },
    ],
  });
  expect(json['headHash']).toMatch(/^[0-9a-f]{64}$/);
  const { text } = await read(config, log);
  expect(text).toContain(`source app reads it: ${logs}/*.log includes it`);
  expect(text).toMatch(/position +11 of 15 bytes, 4 not read yet/);
  expect(text).toMatch(/last change +none: it is new to the agent\n/);
  expect(text).toMatch(/saved +11, where reading goes on after a restart/);
  expect(text).toMatch(/delivered +up to 0/);
  const { text: renamed } = await read(config, `${log}.1`);
  expect(renamed).toMatch(/position +8 of 8 bytes, read to its end\n/);
  expect(renamed).toMatch(/last change +renamed\n/);
  const rotated = { isRead: true, state: 'rotated', lastChange: 'renamed', firstPath: log, currentPath: `${log}.1` };
  expect((await ask(config, `${log}.1`)).json).toMatchObject(rotated);
  // The other way round: it belongs to the one that has its path now.
  expect((await ask(config, `${log}.1`)).json['related']).toMatchObject([{ path: log }, { path: `${log}.2.gz` }]);
});

test('explain without an agent takes the saved positions, and says what an agent would do', async () => {
  const config = configure();
  const log = join(logs, 'a.log');
  writeFileSync(log, 'one\ntwo\n');
  const before = await ask(config, log);
  expect(before).toMatchObject({ code: 0, json: { isRead: true, reason: expect.stringContaining('not known yet') } });
  expect(existsSync(join(folder, 'agent')), 'a data folder that nobody used is not made').toBe(false);
  const agent = await startAgent(config);
  await until('both are stored', () => service.stored.length === 2);
  expect(await agent.end()).toBe(0);
  appendFileSync(log, 'three\n');
  expect((await ask(config, log)).json).toMatchObject({ isRead: true, savedOffset: 8, deliveredOffset: 8, size: 14 });
  // Other content under the same inode is another file.
  writeFileSync(log, 'something else\n');
  const after = await ask(config, log);
  expect(after.json).toMatchObject({ isRead: true, reason: expect.stringContaining('not known yet') });
  expect(after.json['savedOffset']).toBeUndefined();
  const { code, stderr, text } = await read(config, log);
  expect(code).toBe(0);
  expect(stderr).toContain('no agent runs on');
  expect(text).toContain('source app reads it');
});

// Symptom: without an agent, explain called a rotated file unread, with exit code 1, though an agent reads it on. Cause: only its present
// name was held against the patterns.
test('explain without an agent knows what rotation made of a file that is read, before the stop and since', async () => {
  const config = configure();
  const log = join(logs, 'a.log');
  writeFileSync(log, 'one\n');
  const agent = await startAgent(config);
  await until('it is stored', () => service.stored.length === 1);
  expect(await agent.end()).toBe(0);
  appendFileSync(log, 'two\n');
  renameSync(log, `${log}.2`);
  writeFileSync(`${log}.1`, 'three\n');
  writeFileSync(log, 'four\n');
  writeFileSync(join(logs, 'b.log.1'), 'of a file that no agent saw\n');
  expect(await ask(config, `${log}.2`)).toMatchObject({
    code: 0,
    json: {
      isRead: true,
      reason: expect.stringContaining('is read on from the saved position'),
      lastChange: 'renamed',
      savedOffset: 4,
      size: 8,
    },
  });
  expect(await ask(config, `${log}.1`)).toMatchObject({
    code: 0,
    json: {
      isRead: true,
      related: [
        { path: log, state: 'not known' },
        { path: `${log}.2`, state: 'known', offset: 4 },
      ],
    },
  });
  expect(await ask(config, join(logs, 'b.log.1'))).toMatchObject({ code: 1, json: { isRead: false } });
  await startAgent(config);
  await until('what was said is read', () => service.stored.length === 4);
  expect((await ask(config, join(logs, 'b.log.1'))).code).toBe(1);
});

// Symptom: explain showed a file hundreds of bytes behind, or read and not delivered, without a reason.
test('explain gives the reason that delivery waits: a service that is away, or a token that is refused', async () => {
  const config = configure();
  const log = join(logs, 'a.log');
  service.respond = () => ({ status: 500 });
  writeFileSync(log, '');
  await startAgent(config);
  const isWaiting = async (): Promise<boolean> => {
    appendFileSync(log, 'one more line\n');
    return (await ask(config, log)).json['waiting'] !== undefined;
  };
  await until('reading waits', isWaiting, { everyMs: 100 });
  expect((await ask(config, log)).json['waiting']).toMatchObject({
    sink: 'store',
    dataset: 'logs',
    failure: expect.stringContaining('HTTP 500'),
  });
  expect((await read(config, log)).text).toMatch(
    /waits +\d+ s for sink "store", dataset "logs": service_behind; server_error: HTTP 500/,
  );
  expect((await read(config, log)).text).toMatch(/saved +\d+, where .*; what is not delivered before it is sent again/);
  service.respond = () => ({ status: 403 });
  const isPaused = async (): Promise<boolean> => (await ask(config, log)).json['paused'] !== undefined;
  await until('the dataset is paused', isPaused, { everyMs: 100 });
  expect((await read(config, log)).text).toMatch(
    /paused +sink "store", dataset "logs": HTTP 403.*; check that the token/,
  );
});

/** Paths, and the answer for each. */
const PATHS: readonly [
  what: string,
  make: (path: string) => void,
  name: string,
  reason: RegExp,
  fix: RegExp | undefined,
][] = [
  [
    'a path in another folder',
    () => {},
    '../elsewhere/a.log',
    /nearest is ".*\*\.log".*"elsewhere" does not match "logs"/,
    /include the path/,
  ],
  [
    'a name that no pattern has',
    (path) => writeFileSync(path, 'x\n'),
    'a.text',
    /nearest is ".*\/logs\/\*\.log": "a.text" does not match "\*\.log"/,
    /change that/,
  ],
  [
    'a name in capitals',
    (path) => writeFileSync(path, 'x\n'),
    'A.LOG',
    /"A.LOG" and "\*\.log" differ in upper and lower case/,
    /change that/,
  ],
  ['a hidden name', (path) => writeFileSync(path, 'x\n'), '.a.log', /begins with a dot/, /change that/],
  ['a deeper folder', () => {}, 'sub/a.log', /in a folder below; "\*\*" stands for/, /change that/],
  [
    'an excluded file',
    (path) => writeFileSync(path, 'x\n'),
    'a.tmp.log',
    /exclude pattern "\*\.tmp\.log" matches it/,
    /narrower/,
  ],
  [
    'a file in an excluded folder',
    (path) => (mkdirSync(join(path, '..'), { recursive: true }), writeFileSync(path, 'x\n')),
    'deep/private/a.txt',
    /exclude pattern "private" matches the folder ".*private"/,
    /narrower/,
  ],
  ['a folder', (path) => mkdirSync(path), 'folder.log', /is a folder/, /include what is in it/],
  ['a link that leads nowhere', (path) => symlinkSync('nowhere', path), 'link.log', /leads nowhere/, undefined],
  ['a link in a loop', (path) => symlinkSync('loop.log', path), 'loop.log', /leads nowhere/, undefined],
  ['a name that is no text', () => {}, 'bad\ufffd.log', /not valid UTF-8/, /rename/],
  ['a file that is not there', () => {}, 'missing.log', /nothing is there; once there is, it is read whole/, undefined],
];

test('explain gives reason and fix of a file that is not read, with an agent and without', async () => {
  const config = configure();
  for (const [, make, name] of PATHS) make(join(logs, name));
  const judge = async (say: (path: string) => Promise<Explained>): Promise<void> => {
    for (const [what, , name, reason, fix] of PATHS) {
      const said = await say(join(logs, name));
      expect(said, what).toMatchObject({ isRead: false, reason: expect.stringMatching(reason) });
      if (fix) expect(said.fix, what).toMatch(fix);
      expect(said.reason, what).not.toMatch(/\.$/);
    }
  };
  await judge(async (path) => {
    const { code, json } = await ask(config, path);
    expect(code, path).toBe(1);
    return json;
  });
  await startAgent(config);
  await judge(async (path) => {
    const answer = await askAgent(join(folder, 'agent'), { command: 'explain', args: [resolve(path)] });
    return (answer!.result as Explained[])[0]!;
  });
  expect((await read(config, join(logs, 'a.tmp.log'))).text).toMatch(
    /source app does not read it: the exclude pattern .*\n +to do +make/,
  );
});

test('explain follows a link, and tells of a vanished file, compressed ones and old ones', async () => {
  const target = join(folder, 'target');
  writeFileSync(target, 'one\n');
  symlinkSync(target, join(logs, 'link.log'));
  writeFileSync(join(logs, 'gone.log'), 'two\n');
  writeFileSync(join(logs, 'old.log'), 'three\n');
  utimesSync(join(logs, 'old.log'), 1, 1);
  const config = configure(', ignore_older: 1d');
  const before = await ask(config, join(logs, 'old.log'));
  expect(before).toMatchObject({ code: 1, json: { isRead: false, reason: expect.stringContaining('ignore_older') } });
  await startAgent(config);
  await until('both are stored', () => service.stored.length === 2);
  const link = await ask(config, join(logs, 'link.log'));
  expect(link.json).toMatchObject({ isRead: true, linkTo: target, offset: 4 });
  expect((await ask(config, target)).json).toMatchObject({
    isRead: true,
    reason: expect.stringContaining('another name'),
  });
  rmSync(join(logs, 'gone.log'));
  const isGone = async (): Promise<boolean> => (await ask(config, join(logs, 'gone.log'))).json['state'] === 'deleted';
  await until('the deletion is seen', isGone, { everyMs: 200 });
  const old = await ask(config, join(logs, 'old.log'));
  expect(old).toMatchObject({
    code: 1,
    json: { reason: expect.stringContaining('ignore_older'), fix: expect.any(String) },
  });
});

test('explain says whether compressed files are read', async () => {
  const compressed = join(logs, 'a.log.gz');
  writeFileSync(compressed, gzipSync('x\n'));
  const left = await ask(configure('', '*.log*'), compressed);
  expect(left).toMatchObject({
    code: 1,
    json: { reason: 'compressed files are left out', fix: expect.stringContaining('read_compressed') },
  });
  expect(await ask(configure(), compressed)).toMatchObject({
    code: 1,
    json: { fix: expect.stringMatching(/include the path.*read_compressed: true/) },
  });
  const config = configure(', read_compressed: true', '*.log*');
  expect(await ask(config, compressed)).toMatchObject({
    code: 0,
    json: { isRead: true, reason: expect.stringContaining('read_compressed is set') },
  });
  utimesSync(compressed, 1, 1);
  await startAgent(config);
  await until('it is stored', () => service.stored.length === 1);
  expect(await ask(config, compressed)).toMatchObject({ code: 0, json: { isRead: true, offset: 2 } });
});

test.skipIf(!canDropPrivileges)('explain names the error of a file that cannot be opened, and what to do', async () => {
  const config = configure();
  const log = join(logs, 'secret.log');
  writeFileSync(log, 'one\n', { mode: 0 });
  const alone = startUnprivileged(['explain', log, '--config', config]);
  expect(await alone.exited).toBe(1);
  expect(alone.stdout()).toMatch(/does not read it: it cannot be opened\n/);
  expect(alone.stdout()).toMatch(/to do +give the user that runs the agent the right to read it/);
  expect(alone.stdout()).toMatch(/last error +EACCES/);
  const agent = startUnprivileged(['run', '--config', config]);
  await agent.says('tailrace runs');
  const isFailed = async (): Promise<boolean> => (await ask(config, log)).json['state'] === 'failed';
  await until('the agent tried to open it', isFailed, { everyMs: 200 });
  const { code, json } = await ask(config, log);
  expect(code).toBe(1);
  expect(json).toMatchObject({ isRead: false, lastError: expect.stringContaining('EACCES'), fix: expect.any(String) });
});

// Symptom: on a server whose agent has its token from systemd, explain ended with 2 in every other shell: the variable was not set.
test('explain, and looking at dead letters, need no token; only sending does', async () => {
  const log = join(logs, 'a.log');
  writeFileSync(log, 'one\n');
  const config = configure('', '*.log', ', token: "${NO_SUCH_TOKEN}"');
  expect(await read(config, log)).toMatchObject({ code: 0, text: expect.stringContaining('source app reads it') });
  const [list, replay] = [
    startProgram(['dead-letters', 'list', '--config', config]),
    startProgram(['dead-letters', 'replay', '--config', config]),
  ];
  expect([await list.exited, await replay.exited]).toEqual([0, 2]);
  expect(replay.stderr()).toContain('`NO_SUCH_TOKEN` is not set');
});

test('explain needs a source that reads files', async () => {
  const none = await read(writeConfig(site, { sources: { pipe: '{type: stdin}' } }), '/var/log/a.log');
  expect(none.code).toBe(1);
  expect(none.stderr).toMatch(/no source that reads files/);
  expect(none.stderr).toMatch(/type: file/);
});
