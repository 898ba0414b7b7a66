/** The serve command as a process: what it prints, how it ends, restarts, a taken port, folders it cannot use. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import type { ServeArgs } from '../../src/cli/serve.ts';
import { clientOf, tempDir, totalsOf } from './support.ts';

interface Run {
  readonly child: ChildProcess;
  readonly out: () => string;
  readonly err: () => string;
  /** The exit code. */
  readonly ended: Promise<number | null>;
  /** The first line on stdout, parsed; rejects when the process ends without one. */
  readonly ready: Promise<{ url: string; org_id: string; api_token: string | null; personal_token: string | null }>;
}

const running: ChildProcess[] = [];
const folders: string[] = [];
afterEach(() => {
  for (const child of running.splice(0)) child.kill('SIGKILL');
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function folder(): string {
  const path = tempDir();
  folders.push(path);
  return path;
}

function run(args: ServeArgs, env: Record<string, string> = {}): Run {
  const script = join(import.meta.dirname, 'serve-process.ts');
  const child = spawn(process.execPath, [script, JSON.stringify({ listen: '127.0.0.1:0', ...args })], {
    env: { PATH: process.env['PATH'], ...env },
  });
  running.push(child);
  let [out, err] = ['', ''];
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
  const ready = new Promise<string>((resolve, reject) => {
    child.stdout.on('data', (chunk: Buffer) => {
      out += chunk.toString();
      if (out.includes('\n')) resolve(out.split('\n')[0]!);
    });
    void ended.then(() => reject(new Error(`ended without a line: ${err}`)));
  }).then((line) => JSON.parse(line) as Awaited<Run['ready']>);
  ready.catch(() => undefined);
  return { child, out: () => out, err: () => err, ended, ready };
}

describe('serve', () => {
  test('prints the tokens once, drains on SIGTERM with exit 0, and finds its data again', async () => {
    const data = join(folder(), 'new', 'folder');
    const first = run({ data, json: true });
    const { url, org_id: orgId, api_token: apiToken, personal_token: personalToken } = await first.ready;
    expect(apiToken).toMatch(/^xaat-/);
    expect(personalToken).toMatch(/^xapt-/);
    const client = clientOf(url, { apiToken: apiToken!, personalToken: personalToken!, orgId });
    await client.createDataset('logs');
    const reply = await client.ingest('logs', [{ n: 1 }], { headers: { 'idempotency-key': 'k' } });
    const inFlight = client.ingest(
      'logs',
      Array.from({ length: 10_000 }, (_, n) => ({ n })),
      { headers: { 'idempotency-key': 'last' } },
    );
    first.child.kill('SIGTERM');
    const kept = await inFlight.then(
      () => true,
      () => false,
    );
    expect(await first.ended).toBe(0);
    expect(first.out().trim().split('\n')).toHaveLength(1);

    const second = run({ data, json: true });
    const again = await second.ready;
    expect(again).toMatchObject({ org_id: orgId, api_token: null, personal_token: null });
    const later = clientOf(again.url, { apiToken: apiToken!, personalToken: personalToken!, orgId });
    expect((await later.ingest('logs', [{ n: 1 }], { headers: { 'idempotency-key': 'k' } })).text).toBe(reply.text);
    expect(totalsOf(await later.query('logs', { aggregations: [{ op: 'count' }] }))['COUNT']).toBe(kept ? 10_001 : 1);
    second.child.kill('SIGINT');
    expect(await second.ended).toBe(0);
  });

  test('tells a person on stdout, and takes tokens, organisation and prefix from the environment', async () => {
    const env = {
      TAILRACE_API_TOKEN: 'api-given',
      TAILRACE_PERSONAL_TOKEN: 'personal-given',
      TAILRACE_ORG_ID: 'org-given',
      TAILRACE_HEADER_PREFIX: 'X-Other-',
    };
    const { child, out, ready, ended } = run({ data: folder() }, env);
    await ready.catch(() => undefined); // The first line is text here, not JSON.
    expect(out()).toMatch(/serving on +http:\/\/127\.0\.0\.1:\d+/);
    for (const given of ['api-given', 'personal-given', 'org-given']) expect(out()).toContain(given);
    const client = clientOf(/http:\S+/.exec(out())![0], { apiToken: 'api-given', personalToken: 'personal-given', orgId: 'org-given' });
    const answer = await client.call('GET', '/v1/datasets', { token: 'personal-given', headers: { 'x-other-org-id': 'org-given' } });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('x-other-trace-id')).not.toBeNull();
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
  });

  test('writes an access log, and takes personal tokens for ingest, when told to', async () => {
    const { child, err, ready, ended } = run({ data: folder(), json: true, accessLog: true, acceptPersonalTokensForIngest: true });
    const { url, org_id: orgId, api_token: apiToken, personal_token: personalToken } = await ready;
    const client = clientOf(url, { apiToken: apiToken!, personalToken: personalToken!, orgId });
    await client.createDataset('logs');
    await client.ingest('logs', [{ n: 1 }], { token: personalToken!, headers: { 'x-service-org-id': orgId } });
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
    const lines = err().split('\n').filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as object); // prettier-ignore
    expect(lines).toEqual([
      expect.objectContaining({ method: 'POST', path: '/v1/datasets', status: 200, token: 'api' }),
      expect.objectContaining({ method: 'POST', path: '/v1/ingest/logs', status: 200, token: 'personal' }),
    ]);
  });

  test('a folder in use is refused with the pid of its user', async () => {
    const data = folder();
    const first = run({ data, json: true });
    await first.ready;
    const second = run({ data, json: true });
    expect(await second.ended).toBe(1);
    expect(second.err()).toContain(`in use by the process with pid ${first.child.pid}`);
    expect(second.out()).toBe('');
  });

  test('a taken port is refused by name', async () => {
    const holder = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => holder.once('listening', resolve));
    const { port } = holder.address() as AddressInfo;
    const existing = folder();
    const data = join(existing, 'new', 'folder');
    const { ended, err } = run({ data, listen: `127.0.0.1:${port}` });
    expect(await ended).toBe(1);
    expect(err()).toContain(`cannot listen on 127.0.0.1:${port}: the port is taken`);
    holder.close();
    // Nothing is left of the folders that this start made.
    expect(readdirSync(existing)).toEqual([]);
  });

  test('a start that fails leaves a folder that was there before as it was', async () => {
    const data = folder();
    const first = run({ data, json: true });
    const { api_token: apiToken } = await first.ready;
    first.child.kill('SIGTERM');
    expect(await first.ended).toBe(0);
    expect(await run({ data, engine: 'clickhouse://127.0.0.1:1/db' }).ended).toBe(1);
    const again = run({ data, json: true });
    const { url, org_id: orgId } = await again.ready;
    const client = clientOf(url, { apiToken: apiToken!, personalToken: '', orgId });
    expect((await client.call('GET', '/v1/datasets')).status).toBe(200);
  });

  test('tokens that a failed first start could not tell are told by the next one, once', async () => {
    const holder = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => holder.once('listening', resolve));
    const { port } = holder.address() as AddressInfo;
    const data = folder();
    const failed = run({ data, json: true, listen: `127.0.0.1:${port}` });
    expect(await failed.ended).toBe(1);
    holder.close();
    expect(failed.out()).toBe('');

    const second = run({ data, json: true });
    const { url, org_id: orgId, api_token: apiToken, personal_token: personalToken } = await second.ready;
    const client = clientOf(url, { apiToken: apiToken!, personalToken: personalToken!, orgId });
    expect((await client.call('GET', '/v1/datasets')).status).toBe(200);
    second.child.kill('SIGTERM');
    expect(await second.ended).toBe(0);

    const third = run({ data, json: true });
    expect(await third.ready).toMatchObject({ org_id: orgId, api_token: null, personal_token: null });
  });

  test('folders that cannot be used are refused with the reason', async () => {
    const base = folder();
    writeFileSync(join(base, 'file'), '');
    const notADatabase = join(base, 'other');
    mkdirSync(notADatabase);
    writeFileSync(join(notADatabase, 'service.db'), 'this is no database, it is much longer text than a header, '.repeat(10));
    for (const [data, message] of [
      [join(base, 'file'), 'cannot be used'],
      [join(base, 'file', 'below'), 'cannot be used'],
      ['/proc/nothing', 'cannot be used'],
      [notADatabase, 'cannot be opened'],
      [join(base, 'glob*'), 'has one of'],
    ] as const) {
      const { ended, err } = run({ data });
      expect([data, await ended]).toEqual([data, 1]);
      expect(err()).toContain(message);
      expect(err()).toContain('fix:');
      expect(err()).not.toContain('    at ');
    }
  });

  test.each([
    [{ listen: 'nonsense' }, 'wanted host:port'],
    [{ listen: '127.0.0.1:99999' }, 'wanted host:port'],
    [{ engine: 'clickhouse://user:secret@a:1,b:2/db' }, 'say which with ?cluster=name'],
    [{ engine: 'clickhouse://db/x y' }, 'not a plain name'],
    [{ rateLimit: 'many' }, 'not a whole number'],
    [{ queryTimeout: '10' }, 'has no unit'],
    [{ maxFields: '0' }, 'wanted a value from 1'],
    [{ engine: 'sqlite' }, 'not known'],
  ])('wrong usage %j ends with 2', async (args, message) => {
    const { ended, err, out } = run({ data: folder(), ...args });
    expect(await ended).toBe(2);
    expect(err()).toContain(message);
    expect(err()).not.toContain('secret');
    expect(out()).toBe('');
  });

  test('an engine that cannot be reached is refused with what to see to', async () => {
    const { ended, err } = run({ data: folder(), engine: 'clickhouse://127.0.0.1:1/db' });
    expect(await ended).toBe(1);
    expect(err()).toContain('the ClickHouse engine at http://127.0.0.1:1 cannot be used');
    expect(err()).toContain('fix:');
  });

  test('an impossible header prefix is refused', async () => {
    const { ended, err } = run({ data: folder(), headerPrefix: 'X Y:' });
    expect(await ended).toBe(1);
    expect(err()).toContain('header prefix');
  });
});
