/** The structured query that a legacy reply to a query by text echoes. */
import { beforeAll, describe, expect, test } from 'vitest';
import { ALWAYS } from './ask.ts';
import { client, dataset } from './under.ts';

let name: string;
async function echo(text: string, body: object = {}): Promise<Record<string, unknown>> {
  const { json } = await client.call('POST', '/v1/query/_apl?format=legacy', {
    body: { apl: `['${name}'] ${text}`, ...ALWAYS, ...body },
  });
  return json['request'] as Record<string, unknown>;
}

describe('the echo of a query by text', () => {
  beforeAll(async () => {
    name = await dataset();
    await client.ingest(name, [{ a: 1, b: 'x' }]);
  });

  test.each([
    ['', {}, 1000],
    ['| limit 5', {}, 5],
    ['| take 5 | where a == 1 | limit 3', {}, 3],
    ['| top 4 by a', {}, 4],
    ['| limit 5000', {}, 5000],
    ['| limit 60000', {}, 50_000],
    ['| limit 5', { limit: 7 }, 5],
    ['| limit 7', { limit: 5 }, 5],
    ['', { limit: 7 }, 7],
  ])('of %j with %j has the lowest limit, %i', async (text, body, limit) => {
    expect((await echo(text, body))['limit']).toBe(limit);
  });

  test.each(['', '| where a == 1', '| where a == 1 and b == "x"', '| where not(a == 1)'])(
    'of %j has no filter',
    async (text) => {
      expect(await echo(text)).toMatchObject({ filter: null });
    },
  );
});
