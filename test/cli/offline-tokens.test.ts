/** `tailrace tokens --data`: tokens of a local service that is stopped, for whoever has lost every one of them. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Program, startProgram } from '../support/program.ts';
import { until } from '../support/until.ts';
import { tailraceFor } from './tailrace.ts';

const tailrace = tailraceFor({});
const folders: string[] = [];
const programs: Program[] = [];
let data: string;

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tailrace-offline-'));
  folders.push(folder);
  return folder;
}

async function serve(): Promise<{ url: string; org: string; program: Program }> {
  const program = startProgram(['serve', '--listen', '127.0.0.1:0', '--data', data]);
  programs.push(program);
  await until(
    'the service’s address',
    () => /organisation/.test(program.stdout()) || program.process.exitCode !== null,
  );
  const [, url = ''] = /serving on +(\S+)/.exec(program.stdout()) ?? [];
  const [, org = ''] = /organisation +(\S+)/.exec(program.stdout()) ?? [];
  return { url, org, program };
}

beforeAll(async () => {
  data = join(makeFolder(), "it's here");
  const { program } = await serve();
  expect(program.stdout()).toContain(join(data, 'first-tokens.json'));
  expect(await program.end()).toBe(0);
});
afterAll(async () => {
  for (const program of programs) await program.end('SIGKILL');
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

test('a token made offline works at the next start, which says how to make one', async () => {
  const made = await tailrace(['tokens', 'create', 'found again', '--personal', '--data', data]);
  expect(made).toMatchObject({ code: 0, stdout: expect.stringMatching(/^xapt-[0-9a-f-]{36}\n$/) });
  const shipper = await tailrace([
    'tokens',
    'create',
    'shipper',
    '--ingest',
    '*',
    '--query',
    '*',
    '--data',
    data,
    '--json',
  ]);
  expect(shipper.json()).toMatchObject([
    { name: 'shipper', datasetCapabilities: { '*': { ingest: ['create'], query: ['read'] } } },
  ]);

  const { url, org, program } = await serve();
  expect(program.stdout()).not.toMatch(/xa[ap]t-/);
  const folder = `--data '${data.replace("'", "'\\''")}'`;
  expect(program.stdout()).toContain('stop the service, then make others\n');
  expect(program.stdout()).toContain(`  administration    tailrace tokens create NAME --personal ${folder}\n`);
  expect(program.stdout()).toContain(
    `  agents            tailrace tokens create NAME --ingest '*' ${folder}  (with --manage-datasets for create_dataset)\n`,
  );
  const env = { TAILRACE_URL: url, TAILRACE_ORG_ID: org, TAILRACE_TOKEN: made.stdout.trim() };
  expect((await tailrace(['whoami', '--json'], { env })).json()).toMatchObject([{ name: 'owner' }]);
  expect(await tailrace(['datasets', 'create', 'logs'], { env })).toMatchObject({ code: 0 });
  const asShipper = { ...env, TAILRACE_TOKEN: (shipper.json()[0] as { token: string }).token };
  expect(await tailrace(['ingest', 'logs'], { env: asShipper, input: '{"a":1}' })).toMatchObject({ code: 0 });

  const busy = await tailrace(['tokens', 'list', '--data', data]);
  expect(busy).toMatchObject({ code: 1, stdout: '' });
  expect(busy.stderr).toContain(`in use by the process with pid ${program.process.pid}`);
  expect(busy.stderr).toContain('ask the service with --url and --token');
  expect(await program.end()).toBe(0);
});

test('tokens are listed and revoked offline', async () => {
  await tailrace(['tokens', 'create', 'short-lived', '--query', '*', '--data', data]);
  expect((await tailrace(['tokens', 'list', '--data', data])).stdout).toMatch(/ short-lived +never +query: \*$/m);
  expect(await tailrace(['tokens', 'revoke', 'short-lived', '--data', data])).toMatchObject({ code: 0, stdout: '' });
  expect((await tailrace(['tokens', 'list', '--data', data])).stdout).not.toContain('short-lived');
  expect((await tailrace(['tokens', 'revoke', 'short-lived', '--data', data])).stderr).toContain(
    'token "short-lived" not found',
  );
});

test.each([
  ['a folder without a service', ['list', '--data', '/nowhere/at/all'], 1, 'is no data folder of the service'],
  ['a service beside it', ['list', '--data', '/tmp', '--url', 'http://127.0.0.1:1'], 2, 'give one or the other'],
])('%s is refused', async (_name, args, code, wanted) => {
  const ended = await tailrace(['tokens', ...args]);
  expect(ended).toMatchObject({ code, stdout: '' });
  expect(ended.stderr).toContain(wanted);
});
