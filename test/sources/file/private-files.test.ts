/** Secrets of the configuration, and the files of the data folder, are no logs, whatever path leads to them. */
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { secretFilesOf } from '../../../src/config/connect/secret-files.ts';
import type { Config } from '../../../src/config/model.ts';
import { ListedPrivateFiles } from '../../../src/sources/file/scan/private-files.ts';
import { MAX_FORMER_SECRETS } from '../../../src/sources/file/limits.ts';
import { nodeFileSystem } from '../../../src/sources/file/scan/file-system.ts';
import { readFormerSecrets } from '../../../src/state/former-secrets.ts';
import { configOf } from '../../config/reading.ts';
import { test, type TailRig } from './tail-rig.ts';

/** A folder with every kind of private file, and the configuration that names them. */
function configIn(rig: TailRig): Config {
  const files = [
    'conf/token',
    'conf/client.key',
    'conf/server.key',
    'conf/hash.key',
    'data/state.db',
    'data/spool/1.spool',
    'credentials/token',
    'archive/logs/2026-11-27/03/manifest.ndjson',
  ];
  for (const name of files) {
    mkdirSync(rig.path(join(name, '..')), { recursive: true });
    writeFileSync(rig.path(name), `${name}\n`);
  }
  mkdirSync(rig.path('logs'));
  const tls = (key: string): string => `tls: {cert: ${rig.path('cert')}, key: ${rig.path(key)}}`;
  return configOf(`data_dir: ${rig.path('data')}
sources:
  app: {type: file, include: ['/x'], transform: 'extend user = hash(user, secret_file("${rig.path('conf/hash.key')}"))'}
  net: {type: syslog, listen: ['tls://127.0.0.1:6514'], ${tls('conf/server.key')}}
sinks:
  store: {type: ingest, url: 'https://127.0.0.1:4100', dataset: logs, token_file: ${rig.path('conf/token')}, ${tls('conf/client.key')}}
  keep: {type: archive, path: '${rig.path('archive')}', dataset: logs}
`);
}

async function start(rig: TailRig, glob: string, config = configIn(rig)): Promise<ListedPrivateFiles> {
  const privateFiles = new ListedPrivateFiles(() => config, rig.clock);
  await rig.start({ glob, privateFiles });
  return privateFiles;
}

function mount(from: string, to: string): void {
  execFileSync('mount', ['--bind', from, to]);
  onTestFinished(() => void execFileSync('umount', [to]));
}

const ways: readonly [string, string, (rig: TailRig) => void][] = [
  ['their own paths', '**', () => {}],
  ['a literal path', 'conf/token', () => {}],
  ['a pattern in the data folder', 'data/spool/*.spool', () => {}],
  ['a literal path in an archive', 'archive/logs/2026-11-27/03/manifest.ndjson', () => {}],
  ['a pattern in an archive', 'archive/logs/2026-11-27/*/*.ndjson', () => {}],
  [
    'a link to an archive’s file',
    'logs/*.log',
    (rig) => symlinkSync('../archive/logs/2026-11-27/03/manifest.ndjson', rig.path('logs/a.log')),
  ],
  ['a link to a folder of an archive', 'logs/**/*.ndjson', (rig) => symlinkSync('../archive/logs', rig.path('logs/a'))],
  ['a link in the fixed part, to an archive', 'logs/a/**', (rig) => symlinkSync('../archive/logs', rig.path('logs/a'))],
  [
    'another mount of an archive',
    'logs/**',
    (rig) => (mkdirSync(rig.path('logs/a')), mount(rig.path('archive'), rig.path('logs/a'))),
  ],
  ['root’s links', 'logs/*.log', (rig) => symlinkSync('../conf/token', rig.path('logs/a.log'))],
  ['a link to a folder', 'logs/*/*.spool', (rig) => symlinkSync('../data/spool', rig.path('logs/a'))],
  ['a link in the fixed part', 'logs/a/*.spool', (rig) => symlinkSync('../data/spool', rig.path('logs/a'))],
  [
    'hard links',
    'logs/*.log',
    (rig) =>
      ['token', 'client.key', 'server.key', 'hash.key'].forEach((name) =>
        linkSync(rig.path(`conf/${name}`), rig.path(`logs/${name}.log`)),
      ),
  ],
  [
    'a hard link to a file of the data folder',
    'logs/*.log',
    (rig) => linkSync(rig.path('data/spool/1.spool'), rig.path('logs/a.log')),
  ],
  [
    'another mount of the file',
    'logs/*.log',
    (rig) => (writeFileSync(rig.path('logs/a.log'), ''), mount(rig.path('conf/token'), rig.path('logs/a.log'))),
  ],
  [
    'another mount of a file of the data folder',
    'logs/*.log',
    (rig) => (writeFileSync(rig.path('logs/a.log'), ''), mount(rig.path('data/state.db'), rig.path('logs/a.log'))),
  ],
  [
    'another mount of a folder in the data folder',
    'logs/**',
    (rig) => (mkdirSync(rig.path('logs/a')), mount(rig.path('data/spool'), rig.path('logs/a'))),
  ],
];

test.for(ways)('private files are not read by %s, which is logged once', async ([, glob, prepare], { rig }) => {
  const config = configIn(rig);
  prepare(rig);
  process.env['CREDENTIALS_DIRECTORY'] = rig.path('credentials');
  onTestFinished(() => void delete process.env['CREDENTIALS_DIRECTORY']);
  await start(rig, glob, config);
  await rig.pass(10);
  expect(rig.texts).toEqual([]);
  const logged = rig.said(/left out/);
  expect(logged.length).toBeGreaterThan(0);
  expect(new Set(logged.map(({ fields }) => fields['path'])).size).toBe(logged.length);
  expect(rig.source.refused!.size).toBe(logged.length);
  expect(rig.said(/cannot/)).toEqual([]);
  expect(rig.source.stats.refused?.links).toBe(0);
});

test('explain and the log say which secret a file is', async ({ rig }) => {
  const config = configIn(rig);
  linkSync(rig.path('conf/token'), rig.path('logs/a.log'));
  await start(rig, 'logs/*.log', config);
  await rig.drain();
  const reason = 'it is the token_file of sink "store", which is never read as a log';
  expect(rig.source.explain(rig.path('logs/a.log'))).toMatchObject({ isRead: false, reason, fix: 'exclude it' });
  expect(rig.said(/left out/)).toMatchObject([{ fields: { reason } }]);
  expect(rig.source.explain(rig.path('logs/b.log'))).toMatchObject({
    reason: 'nothing is there; once there is, it is read whole',
  });
});

test('an archive that is made while the source reads is not read, and logs beside it are', async ({ rig }) => {
  const config = configIn(rig);
  renameSync(rig.path('archive'), rig.path('later'));
  writeFileSync(rig.path('archive.log'), 'one\n');
  await start(rig, '{archive,logs}*/**', config);
  await rig.drain();
  renameSync(rig.path('later'), rig.path('archive'));
  writeFileSync(rig.path('logs/a.log'), 'two\n');
  await rig.pass(5);
  expect(rig.texts).toEqual(['two']);
});

test('a token file that is replaced, and a new file of the data folder, are known to be private', async ({ rig }) => {
  const config = configIn(rig);
  writeFileSync(rig.path('logs/plain.log'), 'plain\n');
  await start(rig, 'logs/*.log', config);
  await rig.drain();
  writeFileSync(rig.path('conf/next'), 'secret\n');
  renameSync(rig.path('conf/next'), rig.path('conf/token'));
  writeFileSync(rig.path('data/spool/2.spool'), 'secret\n');
  linkSync(rig.path('conf/token'), rig.path('logs/a.log'));
  linkSync(rig.path('data/spool/2.spool'), rig.path('logs/b.log'));
  await rig.pass(5);
  expect(rig.texts).toEqual(['plain']);
});

test('a private file that takes a log’s place before that is opened is not read', async ({ rig }) => {
  const config = configIn(rig);
  linkSync(rig.path('conf/token'), rig.path('later'));
  writeFileSync(rig.path('logs/a.log'), 'log\n');
  const privateFiles = new ListedPrivateFiles(() => config, rig.clock);
  let isHidden = true;
  // The search does not know it yet: it was made since the folder was listed.
  const late = {
    refresh: (isOpening?: boolean) => privateFiles.refresh(isOpening),
    whatIs: (...file: Parameters<typeof privateFiles.whatIs>) => (isHidden ? undefined : privateFiles.whatIs(...file)),
  };
  rmSync(rig.path('logs/a.log'));
  renameSync(rig.path('later'), rig.path('logs/a.log'));
  const started = rig.start({ glob: 'logs/*.log', privateFiles: late });
  rig.once('before', 'logs/a.log', () => (isHidden = false));
  await started;
  await rig.pass(5);
  expect(rig.texts).toEqual([]);
});

test('a log that has the inode of a private file that was deleted is read', async ({ rig }) => {
  const config = configIn(rig);
  linkSync(rig.path('data/spool/1.spool'), rig.path('kept'));
  await start(rig, 'logs/*.log', config);
  await rig.drain();
  rmSync(rig.path('data/spool/1.spool'));
  renameSync(rig.path('kept'), rig.path('logs/a.log'));
  appendFileSync(rig.path('logs/a.log'), 'more\n');
  await rig.drain();
  expect(rig.texts).toEqual(['data/spool/1.spool', 'more']);
});

/** As programs replace a secret: another file takes its path. */
function replaceToken(rig: TailRig, text = 'next\n'): void {
  writeFileSync(rig.path('conf/next'), text);
  renameSync(rig.path('conf/next'), rig.path('conf/token'));
}

test('a hard link to a token file is not read once another file took that one’s place, also after restarts', async ({
  rig,
}) => {
  const config = configIn(rig);
  const privateFiles = (): ListedPrivateFiles => new ListedPrivateFiles(() => config, rig.clock, config.dataDir);
  await rig.start({ glob: 'logs/*.log', privateFiles: privateFiles() });
  linkSync(rig.path('conf/token'), rig.path('kept'));
  replaceToken(rig);
  linkSync(rig.path('kept'), rig.path('logs/a.log'));
  await rig.pass(5);
  await rig.start({ glob: 'logs/*.log', privateFiles: privateFiles() });
  await rig.pass(5);
  replaceToken(rig, 'last\n');
  appendFileSync(rig.path('logs/b.log'), 'log\n');
  await rig.start({ glob: 'logs/*.log', privateFiles: privateFiles() });
  await rig.pass(5);
  expect(rig.texts).toEqual(['log']);
  expect(rig.source.explain(rig.path('logs/a.log'))).toMatchObject({
    isRead: false,
    reason: expect.stringContaining('a former file of a secret'),
  });
});

test('a token file that took the place of another a moment ago is known before a file is opened', ({ rig }) => {
  const config = configIn(rig);
  const privateFiles = new ListedPrivateFiles(() => config, rig.clock);
  privateFiles.refresh();
  replaceToken(rig);
  privateFiles.refresh(true);
  expect(privateFiles.whatIs(nodeFileSystem.stat(rig.path('conf/token'))!, rig.path('conf/token'))).toBe(
    'the token_file of sink "store"',
  );
});

/** A folder as Kubernetes mounts it: `token` leads through `..data` to the version in force. */
function volumeIn(rig: TailRig): Config {
  for (const name of ['volume/..v1/token', 'volume/..v1/more/ca.crt', 'volume/app.log']) {
    mkdirSync(rig.path(join(name, '..')), { recursive: true });
    writeFileSync(rig.path(name), `${name}\n`);
  }
  symlinkSync('..v1', rig.path('volume/..data'));
  symlinkSync('..data/token', rig.path('volume/token'));
  return tokenAt(rig, 'volume/token');
}

const tokenAt = (rig: TailRig, path: string): Config =>
  configOf(`data_dir: ${rig.path('data')}
sources: {app: {type: file, include: ['/x']}}
sinks: {store: {type: ingest, url: 'https://127.0.0.1:4100', dataset: logs, token_file: ${rig.path(path)}}}
`);

test.for(['volume/**', 'volume/{.,}*/{.,}*', 'volume/..v*/**', 'volume/*'])(
  'versions of a token in a volume of Kubernetes are not read by %s, before and after they are in force',
  async (glob, { rig }) => {
    await start(rig, glob, volumeIn(rig));
    await rig.pass(5);
    mkdirSync(rig.path('volume/..v2'));
    for (const name of ['ca.crt', 'token']) writeFileSync(rig.path(`volume/..v2/${name}`), 'secret\n');
    linkSync(rig.path('volume/..v2/token'), rig.path('volume/a.log'));
    await rig.pass(5);
    symlinkSync('..v2', rig.path('volume/..data_tmp'));
    renameSync(rig.path('volume/..data_tmp'), rig.path('volume/..data'));
    await rig.pass(5);
    renameSync(rig.path('volume/..v1'), rig.path('volume/left'));
    await rig.pass(5);
    expect(rig.texts).toEqual(glob.endsWith('}*') || glob.includes('..v') ? [] : ['volume/app.log']);
  },
);

test('a token below a folder that a link leads to is not read in the folders beside that one; logs there are', async ({
  rig,
}) => {
  for (const n of [1, 2]) {
    mkdirSync(rig.path(`releases/${n}/conf`), { recursive: true });
    writeFileSync(rig.path(`releases/${n}/conf/token`), 'secret\n');
    writeFileSync(rig.path(`releases/${n}/app.log`), `log ${n}\n`);
  }
  symlinkSync('releases/1', rig.path('current'));
  await start(rig, 'releases/**', tokenAt(rig, 'current/conf/token'));
  await rig.pass(5);
  expect(rig.texts).toEqual(['log 1', 'log 2']);
});

test('a file with the inode of a former secret is a log where it was made at another time', ({ rig }) => {
  const config = configIn(rig);
  const privateFiles = new ListedPrivateFiles(() => config, rig.clock);
  privateFiles.refresh();
  const path = rig.path('conf/token');
  const stat = nodeFileSystem.stat(path)!;
  replaceToken(rig);
  expect(privateFiles.whatIs(stat, path)).toBe('a former file of a secret');
  expect(privateFiles.whatIs({ ...stat, bornMs: stat.bornMs + 1 }, path)).toBeUndefined();
});

test(`${MAX_FORMER_SECRETS} former secrets are remembered, the oldest forgotten; a broken list of them is empty`, ({
  rig,
}) => {
  const config = configIn(rig);
  const file = rig.path('data/former-secrets');
  writeFileSync(
    file,
    JSON.stringify(
      Array.from({ length: MAX_FORMER_SECRETS }, (_, n) => ({ device: '1', inode: String(n), bornMs: n })),
    ),
  );
  const privateFiles = new ListedPrivateFiles(() => config, rig.clock, config.dataDir);
  privateFiles.refresh();
  const kept = readFormerSecrets(config.dataDir);
  expect(kept).toHaveLength(MAX_FORMER_SECRETS);
  expect(kept[0]).toEqual({ device: '1', inode: '4', bornMs: 4 });
  expect(privateFiles.whatIs({ device: 1, inode: 3, bornMs: 3, kind: 'file' }, file)).toBeUndefined();
  expect(readFileSync(file, 'utf8')).not.toContain('token');
  writeFileSync(file, '{');
  expect(readFormerSecrets(config.dataDir)).toEqual([]);
});

test('every file that a configuration names as secret is listed', ({ rig }) => {
  const names = secretFilesOf(configIn(rig), { CREDENTIALS_DIRECTORY: rig.path('credentials') }).map(({ path }) =>
    path.slice(rig.folder.length + 1),
  );
  expect(names).toEqual(['conf/token', 'conf/client.key', 'conf/server.key', 'conf/hash.key', 'credentials']);
});
