/** Tokens of both kinds, and the error that each caller gets. */
import { describe, expect, test } from 'vitest';
import { client } from './under.ts';

const TOKEN = /^xa[ap]t-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

describe('authentication', () => {
  test('a first start makes one token of each kind and an organisation', () => {
    expect(client.apiToken).toMatch(TOKEN);
    expect(client.apiToken).toMatch(/^xaat-/);
    expect(client.personalToken).toMatch(TOKEN);
    expect(client.personalToken).toMatch(/^xapt-/);
    expect(client.orgId).not.toBe('');
  });

  test.each([
    ['no token', { token: '' }],
    ['an unknown token', { token: 'xaat-00000000-0000-0000-0000-000000000000' }],
    ['another scheme', { token: '', headers: { authorization: 'Basic eDp5' } }],
    ['an empty bearer', { token: '', headers: { authorization: 'Bearer ' } }],
  ])('%s is 403 with the error body', async (_name, options) => {
    for (const path of ['/v1/datasets', '/v1/user', '/v1/nothing-here']) {
      const answer = await client.call('GET', path, options);
      expect(answer.status).toBe(403);
      expect(answer.json).toEqual({ code: 403, message: expect.stringMatching(/./) });
    }
  });

  test.each([
    '/%761/datasets',
    '/v1/./datasets',
    '//v1/datasets',
    '/v1/datasets/',
    '/V1/datasets',
    '/%2e/v1/datasets',
    '/v1/datasets?x=/openapi.json',
  ])('no way of writing the path goes round it: %s', async (path) => {
    const answer = await client.call('GET', path, { token: '' });
    expect([403, 404]).toContain(answer.status);
    expect(answer.text).not.toContain('integrationConfigs');
  });

  test.each(['/v1/ingest/any', '/v1/datasets/any/ingest'])('%s takes API tokens only', async (path) => {
    const answer = await client.call('POST', path, {
      token: client.personalToken,
      headers: { 'x-service-org-id': client.orgId, 'content-type': 'application/json' },
      body: '[]',
    });
    expect(answer.json).toEqual({
      code: 403,
      message: expect.stringMatching(/takes API tokens only \(xaat-…\), .* --ingest DATASET/),
    });
  });

  test('the refusal of the wrong kind says why there are two and which to take', async () => {
    const { json } = await client.call('GET', '/v1/user');
    expect(json).toEqual({
      code: 403,
      message: expect.stringMatching(
        /takes personal tokens only \(xapt-…\), .* belongs to the organisation; .* --personal/,
      ),
    });
  });
});
