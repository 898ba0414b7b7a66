/** The serve command as a process: what it prints, how it ends, restarts, a taken port, folders it cannot use. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { takenPort } from '../support/free-port.ts';
import { makeTree } from '../support/temp-tree.ts';
import { run } from './serve-command.ts';
import { clientOf, totalsOf } from './support.ts';

describe('serve', () => {
  test('prints the tokens once, drains on SIGTERM with exit 0, and finds its data again', async () => {
    const data = join(makeTree({}), 'new', 'folder');
    const first = run({ data, json: true });
    const { url, org_id: orgId, api_token: apiToken, personal_token: personalToken } = await first.ready();
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
    first.process.kill('SIGTERM');
    const kept = await inFlight.then(
      () => true,
      () => false,
    );
    expect(await first.exited).toBe(0);
    expect(first.stdout().trim().split('\n')).toHaveLength(1);

    const second = run({ data, json: true });
    const again = await second.ready();
    expect(again).toMatchObject({ org_id: orgId, api_token: null, personal_token: null });
    const later = clientOf(again.url, { apiToken: apiToken!, personalToken: personalToken!, orgId });
    expect((await later.ingest('logs', [{ n: 1 }], { headers: { 'idempotency-key': 'k' } })).text).toBe(reply.text);
    expect(totalsOf(await later.query('logs', { aggregations: [{ op: 'count' }] }))['COUNT']).toBe(kept ? 10_001 : 1);
    second.process.kill('SIGINT');
    expect(await second.exited).toBe(0);
  });

  test('tells a person on stdout, and takes tokens, organisation and prefix from the environment', async () => {
    const env = {
      TAILRACE_API_TOKEN: 'api-given',
      TAILRACE_PERSONAL_TOKEN: 'personal-given',
      TAILRACE_ORG_ID: 'org-given',
      TAILRACE_HEADER_PREFIX: 'X-Other-',
    };
    const { end, stdout, ready } = run({ data: makeTree({}) }, env);
    await ready().catch(() => undefined); // The first line is text here, not JSON.
    expect(stdout()).toMatch(/serving on +http:\/\/127\.0\.0\.1:\d+/);
    expect(stdout()).toContain('org-given');
    // Who gave the tokens knows them.
    expect(stdout()).not.toMatch(/(?:api|personal)-given/);
    const client = clientOf(/http:\S+/.exec(stdout())![0], {
      apiToken: 'api-given',
      personalToken: 'personal-given',
      orgId: 'org-given',
    });
    const answer = await client.call('GET', '/v1/datasets', {
      token: 'personal-given',
      headers: { 'x-other-org-id': 'org-given' },
    });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('x-other-trace-id')).not.toBeNull();
    expect(await end()).toBe(0);
  });

  test('writes an access log, and takes personal tokens for ingest, where configured', async () => {
    const { end, stderr, ready } = run({
      data: makeTree({}),
      json: true,
      accessLog: true,
      acceptPersonalTokensForIngest: true,
    });
    const { url, org_id: orgId, api_token: apiToken, personal_token: personalToken } = await ready();
    const client = clientOf(url, { apiToken: apiToken!, personalToken: personalToken!, orgId });
    await client.createDataset('logs');
    await client.ingest('logs', [{ n: 1 }], { token: personalToken!, headers: { 'x-service-org-id': orgId } });
    expect(await end()).toBe(0);
    const lines = stderr()
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as object);
    expect(lines).toEqual([
      expect.objectContaining({ method: 'POST', path: '/v1/datasets', status: 200, token: 'api' }),
      expect.objectContaining({ method: 'POST', path: '/v1/ingest/logs', status: 200, token: 'personal' }),
    ]);
  });

  test('a folder in use is refused with the pid of its user', async () => {
    const data = makeTree({});
    const first = run({ data, json: true });
    await first.ready();
    const second = run({ data, json: true });
    expect(await second.exited).toBe(1);
    expect(second.stderr()).toContain(`in use by the process with pid ${first.process.pid}`);
    expect(second.stdout()).toBe('');
  });

  test('a taken port is refused by name', async () => {
    const port = await takenPort();
    const existing = makeTree({});
    const data = join(existing, 'new', 'folder');
    const { exited, stderr } = run({ data, listen: `127.0.0.1:${port}` });
    expect(await exited).toBe(1);
    expect(stderr()).toContain(`cannot listen on 127.0.0.1:${port}: the port is taken`);
    // Nothing is left of the folders that this start made.
    expect(readdirSync(existing)).toEqual([]);
  });

  test('a start that fails leaves a folder that was there before as it was', async () => {
    const data = makeTree({});
    const first = run({ data, json: true });
    const { api_token: apiToken } = await first.ready();
    first.process.kill('SIGTERM');
    expect(await first.exited).toBe(0);
    expect(await run({ data, engine: 'clickhouse://127.0.0.1:1/db' }).exited).toBe(1);
    const again = run({ data, json: true });
    const { url, org_id: orgId } = await again.ready();
    const client = clientOf(url, { apiToken: apiToken!, personalToken: '', orgId });
    expect((await client.call('GET', '/v1/datasets')).status).toBe(200);
  });

  test('tokens that a failed first start could not print are printed by the next one, once', async () => {
    const data = makeTree({});
    const failed = run({ data, json: true, listen: `127.0.0.1:${await takenPort()}` });
    expect(await failed.exited).toBe(1);
    expect(failed.stdout()).toBe('');

    const second = run({ data, json: true });
    const { url, org_id: orgId, api_token: apiToken, personal_token: personalToken } = await second.ready();
    const client = clientOf(url, { apiToken: apiToken!, personalToken: personalToken!, orgId });
    expect((await client.call('GET', '/v1/datasets')).status).toBe(200);
    second.process.kill('SIGTERM');
    expect(await second.exited).toBe(0);

    const third = run({ data, json: true });
    expect(await third.ready()).toMatchObject({ org_id: orgId, api_token: null, personal_token: null });
  });

  test('folders that cannot be used are refused with the reason', async () => {
    const base = makeTree({
      file: '',
      'other/service.db': 'this is no database, it is much longer text than a header, '.repeat(10),
    });
    for (const [data, message] of [
      [join(base, 'file'), 'cannot be used'],
      [join(base, 'file', 'below'), 'cannot be used'],
      ['/proc/nothing', 'cannot be used'],
      [join(base, 'other'), 'cannot be opened'],
      [join(base, 'glob*'), 'has one of'],
    ] as const) {
      const { exited, stderr } = run({ data });
      expect([data, await exited]).toEqual([data, 1]);
      expect(stderr()).toContain(message);
      expect(stderr()).toContain('fix:');
      expect(stderr()).not.toContain('    at ');
    }
  });

  test.each([
    [{ listen: 'nonsense' }, 2, 'wanted host:port'],
    [{ listen: '127.0.0.1:99999' }, 2, 'wanted host:port'],
    [{ engine: 'clickhouse://user:secret@a:1,b:2/db' }, 2, 'say which with ?cluster=name'],
    [{ engine: 'clickhouse://db/x y' }, 2, 'not a plain name'],
    [{ rateLimit: 'many' }, 2, 'not a whole number'],
    [{ queryTimeout: '10' }, 2, 'has no unit'],
    [{ maxFields: '0' }, 2, 'wanted a value from 1'],
    [{ engine: 'sqlite' }, 2, 'not known'],
    [{ headerPrefix: 'X Y:' }, 1, 'header prefix'],
  ])('%j is refused and ends with %i', async (args, code, message) => {
    const { exited, stderr, stdout } = run({ data: makeTree({}), ...args });
    expect(await exited).toBe(code);
    expect(stderr()).toContain(message);
    expect(stderr()).not.toContain('secret');
    expect(stdout()).toBe('');
  });

  test('an engine that cannot be reached is refused with what to see to', async () => {
    const { exited, stderr } = run({ data: makeTree({}), engine: 'clickhouse://127.0.0.1:1/db' });
    expect(await exited).toBe(1);
    expect(stderr()).toContain('the ClickHouse engine at http://127.0.0.1:1 cannot be used');
    expect(stderr()).toContain('fix:');
  });
});
