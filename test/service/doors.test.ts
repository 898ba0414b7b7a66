/** Who gets in: names the service is called by, pages of other origins, the modes of its folder, the tokens of the first start. */
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { hasPty, ptyHint, startOnTerminal } from '../support/pty.ts';
import { BINARY } from '../support/program.ts';
import { makeTree } from '../support/temp-tree.ts';
import { until } from '../support/until.ts';
import { run } from './serve-command.ts';
import { clientOf, serviceForSuite, startForTest } from './support.ts';

interface Raw {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** With exactly these headers: `fetch` sets Host and Origin by itself. */
function ask(url: string, headers: Record<string, string>, method = 'GET'): Promise<Raw> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers, agent: false }, (reply) => {
      let text = '';
      reply.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      reply.on('end', () => resolve({ status: reply.statusCode!, headers: reply.headers, text }));
    });
    sent.on('error', reject).end();
  });
}

describe('Host', () => {
  const { under } = serviceForSuite({ allowHosts: ['logs.example.org', 'Ported.example:8443'] });
  const OPEN = ['/', '/explorer-page.js', '/openapi.json', '/healthz', '/readyz', '/no-such-page'];

  // Symptom: a page whose name an attacker pointed at 127.0.0.1 could read what needs no token.
  test.each(OPEN)('%s is not given to a foreign name on loopback, and the answer names the option', async (path) => {
    for (const host of ['evil.example', 'evil.example:80', 'localhost.evil.example', '127.0.0.1.evil.example']) {
      const { status, text } = await ask(under.client.url + path, { host });
      expect([status, JSON.parse(text)]).toEqual([
        403,
        { code: 403, message: expect.stringContaining(`--allow-host ${host.split(':')[0]}`) },
      ]);
    }
    for (const host of [
      'localhost',
      'LOCALHOST:4100',
      '127.0.0.1',
      '[::1]:4100',
      'logs.example.org',
      'Logs.Example.org:443',
    ])
      expect((await ask(under.client.url + path, { host })).status).not.toBe(403);
  });

  /** The status line of the answer to these bytes. */
  const raw = (text: string): Promise<string> =>
    new Promise((resolve, reject) => {
      let answer = '';
      const socket = connect(Number(new URL(under.client.url).port), '127.0.0.1', () =>
        socket.end(text.replaceAll('\n', '\r\n')),
      );
      socket.on('data', (chunk) => (answer += String(chunk))).on('error', reject);
      socket.on('close', () =>
        resolve(`${answer.slice(9, 12)} ${/"message":"[^"]{5}/.test(answer) ? 'says why' : ''}`.trim()),
      );
    });

  // Symptom: of two Host headers the first counted, and the address in the request's first line not at all, for /metrics, too.
  test.each([
    ['GET /healthz HTTP/1.1\nHost: logs.example.org.\n\n', '200'],
    ['GET /healthz HTTP/1.1\nHost: LOGS.example.org.:99\n\n', '200'],
    ['GET /healthz HTTP/1.1\nHost: [FD00::1]:8443\n\n', '200'],
    ['GET /healthz HTTP/1.1\nHost: fd00::1\n\n', '403 says why'],
    ['GET /healthz HTTP/1.1\nHost: ported.example:9\n\n', '200'],
    ['GET /healthz HTTP/1.1\nHost: a.logs.example.org\n\n', '403 says why'],
    ['GET /healthz HTTP/1.1\nHost: logs.example.org.evil.example\n\n', '403 says why'],
    ['GET /healthz HTTP/1.1\nHost: 127.0.0.1.nip.io\n\n', '403 says why'],
    ['GET /healthz HTTP/1.1\nHost: localhost@evil.example\n\n', '403 says why'],
    ['GET /healthz HTTP/1.1\nHost: evil.example#localhost\n\n', '403 says why'],
    ['GET /healthz HTTP/1.1\nHost: localhost,evil.example\n\n', '403 says why'],
    ['GET /healthz HTTP/1.1\nHost: \n\n', '403 says why'],
    ['GET /healthz HTTP/1.1\nConnection: close\n\n', '400 says why'],
    ['GET /healthz HTTP/1.0\n\n', '200'],
    ['GET /metrics HTTP/1.0\n\n', '403 says why'],
    ['GET /healthz HTTP/1.0\nHost: evil.example\n\n', '403 says why'],
    ['GET /healthz HTTP/1.1\nHost: localhost\nHost: evil.example\n\n', '400 says why'],
    ['GET /healthz HTTP/1.1\nHost: evil.example\nhost: localhost\n\n', '400 says why'],
    ['GET http://evil.example/healthz HTTP/1.1\nHost: localhost\n\n', '403 says why'],
    ['GET HTTP://localhost@evil.example/healthz HTTP/1.1\nHost: localhost\n\n', '403 says why'],
    ['GET http://evil.example/metrics HTTP/1.1\nHost: localhost\n\n', '403 says why'],
    ['GET http://localhost/healthz HTTP/1.1\nHost: evil.example\n\n', '200'],
  ])('%j: %s', async (request, wanted) => expect(await raw(request)).toBe(wanted));

  test.each(['*', '*.example.org', '.example.org', 'http://a.example', 'a b', '', 'a.example/x', 'a@b', '[::1'])(
    '--allow-host %j is refused',
    async (name) => {
      const program = run({ data: makeTree({}), allowHost: [name] });
      expect([await program.exited, program.stderr()]).toEqual([2, expect.stringContaining('is no name of a host')]);
    },
  );

  test('a request with a token is for the token to decide', async () => {
    const headers = { host: 'proxy.example', authorization: `Bearer ${under.client.apiToken}` };
    expect((await ask(`${under.client.url}/v1/datasets`, headers)).status).toBe(200);
  });

  test('what only this machine may see takes a token under a foreign name', async () => {
    expect((await ask(`${under.client.url}/metrics`, { host: 'evil.example' })).status).toBe(403);
    expect((await ask(`${under.client.url}/metrics`, { host: 'localhost' })).status).toBe(200);
  });
});

describe('pages of other origins', () => {
  const preflight = {
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'authorization,content-type',
  };

  test('may ask nothing by default', async () => {
    const { client, stop } = await startForTest();
    const { status, headers } = await ask(
      `${client.url}/v1/datasets`,
      { origin: 'https://app.example', ...preflight },
      'OPTIONS',
    );
    await stop();
    expect(status).toBe(403);
    expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
  });

  test('may ask with a token where their origin is named, never with cookies', async () => {
    const { client, stop } = await startForTest({ corsOrigins: ['https://app.example'] });
    const url = `${client.url}/v1/ingest/logs`;
    const origin = 'https://app.example';
    const first = await ask(url, { origin, ...preflight }, 'OPTIONS');
    expect(first.status).toBe(204);
    expect(first.headers).toMatchObject({
      'access-control-allow-origin': origin,
      'access-control-allow-headers': expect.stringContaining('Authorization, Content-Type'),
      'access-control-allow-methods': expect.stringContaining('POST'),
      vary: 'Origin',
    });
    const asked = await ask(`${client.url}/v1/datasets`, { origin, authorization: `Bearer ${client.apiToken}` });
    expect([asked.status, asked.headers['access-control-allow-origin']]).toEqual([200, origin]);
    // An error must be readable, too.
    expect((await ask(`${client.url}/v1/datasets`, { origin })).headers['access-control-allow-origin']).toBe(origin);
    for (const other of ['https://evil.example', 'https://app.example.evil', 'http://app.example', 'null']) {
      const { headers } = await ask(url, { origin: other, ...preflight }, 'OPTIONS');
      expect(headers['access-control-allow-origin']).toBeUndefined();
    }
    expect(
      first.headers['access-control-allow-credentials'] ?? asked.headers['access-control-allow-credentials'],
    ).toBeUndefined();
    await stop();
  });

  test('of any origin may ask where * is named', async () => {
    const { client, stop } = await startForTest({ corsOrigins: ['*'] });
    const { headers } = await ask(
      `${client.url}/v1/datasets`,
      { origin: 'https://any.example', ...preflight },
      'OPTIONS',
    );
    await stop();
    expect(headers['access-control-allow-origin']).toBe('*');
  });

  test.each(['app.example', 'https://app.example/path', 'javascript:1'])('--cors %s is refused', async (origin) => {
    const program = run({ data: makeTree({}), cors: [origin] });
    expect(await program.exited).toBe(2);
    expect(program.stderr()).toContain('is no origin');
  });
});

describe('the data folder', () => {
  test('of another mode is closed to others at the start, with all its files', async () => {
    const home = makeTree({});
    const data = join(home, 'd');
    mkdirSync(data, { mode: 0o755 });
    chmodSync(data, 0o755);
    const first = run({ data, json: true });
    await first.ready();
    const modes = (names: string[]): number[] => names.map((name) => statSync(join(data, name)).mode & 0o077);
    expect(modes(['', 'service.db', 'service.pid', 'engine'])).toEqual([0, 0, 0, 0]);
    await first.end();
    for (const name of ['', 'engine']) chmodSync(join(data, name), 0o755);
    chmodSync(join(data, 'service.db'), 0o644);
    const second = run({ data, json: true });
    await second.ready();
    expect(modes(['', 'service.db', 'engine'])).toEqual([0, 0, 0]);
    await second.end();
  });

  test('that holds other things keeps its mode, and theirs', async () => {
    const data = makeTree({ 'notes.txt': 'mine' });
    for (const name of ['', 'notes.txt']) chmodSync(join(data, name), 0o755);
    const { ready, end } = run({ data, json: true });
    await ready();
    const modes = ['', 'notes.txt', 'service.db', 'engine'].map((name) => statSync(join(data, name)).mode & 0o777);
    expect(modes).toEqual([0o755, 0o755, 0o600, 0o700]);
    await end();
  });
});

describe('the tokens of the first start', () => {
  test('may do what each is for: agents ingest, programs query, deleting takes a person', async () => {
    const { ready, end } = run({ data: makeTree({}), json: true });
    const {
      url,
      org_id: orgId,
      api_token: apiToken,
      personal_token: personalToken,
      ingest_token: ingestToken,
    } = await ready();
    const client = clientOf(url, { apiToken: apiToken!, personalToken: personalToken!, orgId });
    const statuses = async (token: string): Promise<number[]> => {
      const headers = { 'x-service-org-id': orgId };
      const call = async (method: string, path: string, body?: object) =>
        (await client.call(method, path, { token, headers, ...(body && { body }) })).status;
      return [
        await call('POST', '/v1/datasets', { name: 'logs' }),
        await call('POST', '/v1/ingest/logs', [{ n: 1 }]),
        await call('POST', '/v1/datasets/logs/query', {}),
        await call('PUT', '/v1/datasets/logs', { description: 'x' }),
        await call('POST', '/v1/datasets/logs/trim', { maxDuration: '1h' }),
        await call('POST', '/v2/tokens', { name: 'x', orgCapabilities: { datasets: ['read'] } }),
        await call('DELETE', '/v1/datasets/logs'),
      ];
    };
    expect(await statuses(ingestToken!)).toEqual([200, 200, 403, 403, 403, 403, 403]);
    expect(await statuses(apiToken!)).toEqual([409, 200, 200, 200, 200, 403, 403]);
    expect(await statuses(personalToken!)).toEqual([409, 403, 200, 200, 200, 200, 204]);
    await end();
  });

  test('go to a file that only its owner reads where there is no terminal, and to stdout with --json', async () => {
    const data = makeTree({});
    const { stdout, stderr, end } = run({ data });
    const file = join(data, 'first-tokens.json');
    await until('its words', () => stdout().includes(file));
    const tokens = JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>;
    expect(tokens).toEqual({
      url: expect.stringMatching(/^http:/),
      org_id: expect.any(String),
      personal_token: expect.stringMatching(/^xapt-/),
      api_token: expect.stringMatching(/^xaat-/),
      ingest_token: expect.stringMatching(/^xaat-/),
    });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(stdout() + stderr()).not.toMatch(/xa[ap]t-/);
    await end();
    const json = run({ data: makeTree({}), json: true });
    expect((await json.ready()).ingest_token).toMatch(/^xaat-/);
    await json.end();
  });

  test.runIf(hasPty)(`are printed on a terminal, with the page signed in, and in no file${ptyHint}`, async () => {
    const data = makeTree({});
    const terminal = startOnTerminal([BINARY, 'serve', '--listen', '127.0.0.1:0', '--data', data]);
    await until('its tokens', () => terminal.raw().includes('Keep the tokens'));
    expect(terminal.raw()).toMatch(/^ingest token +xaat-\S+ .*agents/m);
    expect(terminal.raw()).toMatch(/^API token +xaat-/m);
    const [, token] = /^personal token +(xapt-\S+)/m.exec(terminal.raw())!;
    expect(terminal.raw()).toContain(`/#token=${token}`);
    expect(existsSync(join(data, 'first-tokens.json'))).toBe(false);
    terminal.signal(15);
    expect(await terminal.exited).toBe(0);
  });

  // Symptom: a token that was regenerated because it had leaked came back with the next start.
  test('of the environment that have ended stay dead over a start', async () => {
    const data = makeTree({});
    const env = { TAILRACE_API_TOKEN: 'xaat-leaked' };
    const first = run({ data, json: true }, env);
    const { url, org_id: orgId, personal_token: personalToken } = await first.ready();
    const of = (address: string) =>
      clientOf(address, { apiToken: 'xaat-leaked', personalToken: personalToken!, orgId });
    const by = { token: personalToken!, headers: { 'x-service-org-id': orgId } };
    expect((await of(url).call('POST', '/v2/tokens/environment-api/regenerate', { ...by, body: {} })).status).toBe(200);
    await first.end();
    const second = run({ data, json: true }, env);
    const again = of((await second.ready()).url);
    expect((await again.call('GET', '/v1/datasets')).status).toBe(403);
    await second.end();
  });
});
