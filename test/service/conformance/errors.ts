/** Refusals, and the headers of every reply. */
import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { client } from './under.ts';

describe('errors', () => {
  test.each([
    ['an unknown route', 'GET', '/v1/nothing', undefined, {}, 404],
    ['a route outside /v1', 'GET', '/nothing', undefined, {}, 404],
    ['a path that cannot be decoded', 'GET', '/v1/datasets/%E0%A4%A', undefined, {}, 400],
    ['broken JSON', 'POST', '/v1/datasets', '{"name"', { 'content-type': 'application/json' }, 400],
    ['an empty JSON body', 'POST', '/v1/datasets', '', { 'content-type': 'application/json' }, 400],
    ['a body of another type', 'POST', '/v1/datasets', '<a/>', { 'content-type': 'application/xml' }, 415],
    [
      'a body over the limit',
      'POST',
      '/v1/datasets',
      `"${'x'.repeat(1 << 20)}"`,
      { 'content-type': 'application/json' },
      413,
    ],
    [
      'a prototype in the body',
      'POST',
      '/v1/datasets',
      '{"__proto__":{"name":"x"}}',
      { 'content-type': 'application/json' },
      400,
    ],
  ])('%s has a status, code and message', async (_name, method, path, body, headers, status) => {
    const answer = await client.call(method, path, { headers, ...(body !== undefined && { body }) });
    expect(answer.status).toBe(status);
    expect(answer.json).toEqual({ code: status, message: expect.stringMatching(/./) });
  });

  test('an unknown address tells where the routes are described', async () => {
    expect((await client.call('GET', '/nothing')).json).toEqual({
      code: 404,
      message: 'route GET /nothing not found; GET /openapi.json tells all that are there',
    });
    expect((await client.call('GET', '/openapi.json')).status).toBe(200);
  });

  test('every reply has a trace id, nosniff and no-cache', async () => {
    for (const path of ['/v1/datasets', '/v1/datasets/none', '/x', '/v1/datasets/%E0%A4%A']) {
      const { headers } = await client.call('GET', path);
      expect(headers.get('x-service-trace-id')).toMatch(/^[0-9a-f-]{36}$/);
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('cache-control')).toBe('no-cache');
      expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
    }
  });

  test('bytes that are not HTTP get the error body', async () => {
    const { port } = new URL(client.url);
    const reply = await new Promise<string>((resolve, reject) => {
      const socket = connect(Number(port), '127.0.0.1', () => socket.end('NONSENSE\r\n\r\n'));
      let text = '';
      socket.on('data', (chunk) => (text += chunk.toString()));
      socket.on('end', () => resolve(text)).on('error', reject);
    });
    expect(reply).toMatch(/^HTTP\/1\.1 400 /);
    expect(JSON.parse(reply.split('\r\n\r\n')[1]!)).toMatchObject({ code: 400 });
  });
});
