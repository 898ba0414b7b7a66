/** Fetching the embedded engine from a double of the npm registry: right, wrong, cut off and hostile archives. */
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { installEngine } from '../../src/cli/engine/engine-install.ts';
import { TailraceError } from '../../src/core/errors.ts';
import { loadInstalled, versionFolder } from '../../src/service/engine/installed.ts';
import { FakeService } from '../support/fake-service.ts';
import { makeTree } from '../support/temp-tree.ts';

interface Entry {
  readonly path: string;
  readonly text?: string;
  readonly type?: string;
  /** Of the header, where it is not the text's. */
  readonly size?: string;
  readonly prefix?: string;
}

/** A tar file by hand: what a real archiver would not write can be in it. */
function tar(entries: readonly Entry[]): Buffer {
  const blocks = entries.flatMap(
    ({ path, text = '', type = '0', size = text.length.toString(8).padStart(11, '0'), prefix = '' }) => {
      const header = Buffer.alloc(512);
      header.write(path, 0);
      header.write('0000644\0', 100);
      header.write(`${size}\0`, 124);
      header.write('        ', 148);
      header.write(type, 156);
      header.write('ustar\u000000', 257, 'latin1');
      header.write(prefix, 345);
      const sum = header.reduce((total, byte) => total + byte, 0);
      header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
      return [header, Buffer.from(text), Buffer.alloc((512 - (text.length % 512)) % 512)];
    },
  );
  return Buffer.concat([...blocks, Buffer.alloc(1024)]);
}

const integrityOf = (bytes: Buffer): string => `sha512-${createHash('sha512').update(bytes).digest('base64')}`;

const ENGINE = [
  { path: 'package/package.json', text: '{"name":"chdb"}' },
  { path: 'package/dist/index.js', text: 'x'.repeat(100_000) },
  { path: 'index.js', prefix: 'package/very/long/names', text: '' },
];

/** A registry with these archives, and the folder to install into. */
async function setUp(archive: Buffer, served: Buffer | number = archive, integrity = integrityOf(archive)) {
  const asked: string[] = [];
  const service = await FakeService.start();
  service.respond = ({ url }, response) => {
    asked.push(url);
    if (typeof served === 'number') response.writeHead(served).end();
    else if (served.length < archive.length) {
      // The connection ends in the middle.
      response.writeHead(200, { 'content-length': archive.length });
      response.write(served, () => response.destroy());
    } else response.end(served);
  };
  const folder = makeTree({});
  const target = join(folder, 'engine', 'chdb-1.0.0');
  const install = (signal = new AbortController().signal): Promise<boolean> =>
    installEngine({
      packages: [{ name: '@chdb/lib', version: '1.0.0', integrity }],
      target,
      registry: `${service.url}/npm/`,
      signal,
      progress: () => {},
    });
  const left = (): string[] => (existsSync(join(folder, 'engine')) ? readdirSync(join(folder, 'engine')) : []);
  return { install, target, left, asked, folder };
}

async function refusal(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(TailraceError);
  const { code, message } = error as TailraceError;
  return `${code} ${message}`;
}

test('engine install fetches the archive once and puts it in place whole', async () => {
  const { install, target, left, asked } = await setUp(gzipSync(tar(ENGINE)));
  expect(await install()).toBe(true);
  expect(asked).toEqual(['/npm/@chdb/lib/-/lib-1.0.0.tgz']);
  const installed = (path: string): string => readFileSync(join(target, 'node_modules/@chdb/lib', path), 'utf8');
  expect(installed('package.json')).toBe('{"name":"chdb"}');
  expect(installed('dist/index.js')).toBe('x'.repeat(100_000));
  expect(installed('very/long/names/index.js')).toBe('');
  expect(readdirSync(target)).toEqual(['node_modules']);
  expect(left()).toEqual(['chdb-1.0.0']);
  expect(await install()).toBe(false);
  expect(asked).toHaveLength(1);
});

test('engine install refuses another file than it was built with, and leaves nothing', async () => {
  const archive = gzipSync(tar(ENGINE));
  const other = gzipSync(tar([{ path: 'package/index.js', text: 'evil'.repeat(1000) }]), { level: 0 });
  const { install, left } = await setUp(archive, Buffer.concat([other, archive]));
  expect(await refusal(install())).toMatch(
    /^E_ENGINE_CHECKSUM .*lib-1\.0\.0\.tgz is not what this program was built with/,
  );
  expect(left()).toEqual([]);
});

test('engine install says that a file was cut off or is not there, leaves nothing, and works the next time', async () => {
  const archive = gzipSync(tar(ENGINE));
  const cut = await setUp(archive, archive.subarray(0, archive.length - 100));
  expect(await refusal(cut.install())).toMatch(/^E_ENGINE_FETCH cannot fetch http.*lib-1\.0\.0\.tgz: /);
  expect(cut.left()).toEqual([]);
  const missing = await setUp(archive, 404);
  expect(await refusal(missing.install())).toContain('the registry answered 404');
  expect(missing.left()).toEqual([]);
});

const hostile: readonly (readonly [what: string, archive: Buffer, reason: RegExp])[] = [
  ['a path that climbs', tar([{ path: 'package/../../../../evil' }]), /leads out of the package/],
  ['an absolute path', tar([{ path: '/etc/evil' }]), /leads out of the package/],
  ['a path that climbs in its prefix', tar([{ path: 'evil', prefix: 'package/..' }]), /leads out of the package/],
  ['a path without a folder', tar([{ path: 'evil' }]), /leads out of the package/],
  ['a path with a control character', tar([{ path: 'package/e\nvil' }]), /leads out of the package/],
  ['a symbolic link', tar([{ path: 'package/link', type: '2' }]), /no regular file/],
  ['a hard link', tar([{ path: 'package/link', type: '1' }]), /no regular file/],
  ['a device', tar([{ path: 'package/null', type: '3' }]), /no regular file/],
  [
    'a file twice',
    tar([
      { path: 'package/a', text: '1' },
      { path: 'package/a', text: '2' },
    ]),
    /comes twice/,
  ],
  ['a size that is no number', tar([{ path: 'package/a', size: '-0000000001' }]), /where a number belongs/],
  ['more bytes than a disk has', tar([{ path: 'package/a', size: '77777777777' }]), /more than \d+ bytes/],
  ['a file that ends too soon', tar([{ path: 'package/a', text: 'abc', size: '00000100000' }]), /cut off/],
  ['a header that was changed', tar([{ path: 'package/a' }]).fill('b', 8, 9), /checksum/],
  ['no end', tar([{ path: 'package/a' }]).subarray(0, 512), /cut off/],
];

test.each(hostile)('engine install refuses an archive with %s, and leaves nothing', async (_, archive, reason) => {
  const { install, left, folder } = await setUp(gzipSync(archive));
  expect(await refusal(install())).toMatch(reason);
  expect(left()).toEqual([]);
  expect(readdirSync(folder)).toEqual(['engine']);
});

test('engine install that is stopped leaves nothing', async () => {
  const { install, left } = await setUp(gzipSync(tar(ENGINE)));
  const reason = new TailraceError('E_STOPPED', 'stopped; nothing was installed');
  expect(await refusal(install(AbortSignal.abort(reason)))).toBe('E_STOPPED stopped; nothing was installed');
  expect(left()).toEqual([]);
});

test('engine install removes what a killed one left, and nothing of one that runs', async () => {
  const { install, left, folder } = await setUp(gzipSync(tar(ENGINE)));
  const engine = join(folder, 'engine');
  // No process has these: above the largest id, and the first process.
  for (const pid of [2 ** 30, 1]) {
    mkdirSync(join(engine, `.partial-${pid}`), { recursive: true });
    writeFileSync(join(engine, `.partial-${pid}`, 'package.tgz'), 'half');
  }
  expect(await install()).toBe(true);
  expect(left().sort()).toEqual(['.partial-1', 'chdb-1.0.0']);
});

test('engine install into a folder that cannot be written says so', async () => {
  const { install } = await setUp(gzipSync(tar(ENGINE)));
  const { folder, ...rest } = await setUp(gzipSync(tar(ENGINE)));
  writeFileSync(join(folder, 'engine'), 'a file');
  expect(await refusal(rest.install())).toMatch(/^E_ENGINE_INSTALL cannot install the engine into .*chdb-1\.0\.0: /);
  expect(await install()).toBe(true);
});

test('an engine that another user may change is not loaded', () => {
  const folder = makeTree({});
  const env = { TAILRACE_ENGINE_FOLDER: folder };
  expect(loadInstalled(env)).toBeUndefined();
  const engine = join(versionFolder(folder), 'node_modules/chdb');
  mkdirSync(engine, { recursive: true });
  writeFileSync(join(engine, 'package.json'), '{"main":"index.js"}');
  writeFileSync(join(engine, 'index.js'), 'exports.isLoaded = true;');
  chmodSync(versionFolder(folder), 0o755);
  expect(loadInstalled(env)).toEqual({ isLoaded: true });
  chmodSync(versionFolder(folder), 0o777);
  expect(() => loadInstalled(env)).toThrow('another user than root and this one may change it');
});
