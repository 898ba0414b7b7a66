/** The OpenAPI document: every endpoint of the specification is in it, and it is what it says. */
import { describe, expect, test } from 'vitest';
import type { OpenApiDocument } from '../openapi-check.ts';
import { client } from './under.ts';

/** The endpoints of the specification, query apart, and those that newer clients call. */
const ENDPOINTS = [
  'get /v1/datasets',
  'post /v1/datasets',
  'get /v1/datasets/{dataset}',
  'put /v1/datasets/{dataset}',
  'delete /v1/datasets/{dataset}',
  'post /v1/datasets/{dataset}/trim',
  'post /v1/ingest/{dataset}',
  'post /v1/datasets/{dataset}/ingest',
  'get /v1/users',
  'get /v1/user',
  'get /v1/orgs',
  'get /v1/datasets/{dataset}/info',
  'get /v1/queries',
  'delete /v1/queries/{id}',
  'get /healthz',
  'get /readyz',
  'get /metrics',
  'get /v2/datasets',
  'post /v2/datasets',
  'get /v2/datasets/{dataset}',
  'put /v2/datasets/{dataset}',
  'delete /v2/datasets/{dataset}',
  'post /v2/datasets/{dataset}/trim',
  'get /v2/datasets/{dataset}/fields',
  'get /v2/datasets/{dataset}/fields/{field}',
  'put /v2/datasets/{dataset}/fields/{field}',
  'get /v2/user',
  'get /v2/users',
  'get /v2/orgs',
  'get /v2/tokens',
  'post /v2/tokens',
  'get /v2/tokens/{token}',
  'delete /v2/tokens/{token}',
  'post /v2/tokens/{token}/regenerate',
  'post /v2/tokens/identify',
  'put /v2/orgs/{org}',
  'post /v2/datasets/_apl/delete',
  'post /v2/datasets/{dataset}/vacuum',
  'get /api/internal/integrations/dashboards',
  'get /api/internal/edge-deployments/axiom',
  'get /v1/datasets/_fields',
];

const read = async (): Promise<OpenApiDocument> =>
  (await client.call('GET', '/openapi.json', { token: '' })).json as unknown as OpenApiDocument;

describe('the OpenAPI document', () => {
  test('is served without a token, as 3.1', async () => {
    expect((await read()).openapi).toBe('3.1.0');
  });

  test('describes every endpoint', async () => {
    const { paths } = await read();
    const described = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method} ${path}`),
    );
    expect(described).toEqual(expect.arrayContaining(ENDPOINTS));
  });

  test('names every parameter of a path, and a body where one is read', async () => {
    for (const [path, methods] of Object.entries((await read()).paths))
      for (const [method, { parameters, requestBody, responses }] of Object.entries(methods)) {
        const wanted = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
        expect(parameters.filter((each) => each.in === 'path').map(({ name }) => name)).toEqual(wanted);
        // Vacuum reads none.
        if ((method === 'post' || method === 'put') && !path.endsWith('/vacuum'))
          expect([path, Object.keys(requestBody!.content).length > 0]).toEqual([path, true]);
        expect(Object.keys(responses)).toEqual(expect.arrayContaining(['default']));
      }
  });
});
