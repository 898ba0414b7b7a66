/** Idempotency keys over HTTP. */
import { describe, expect } from 'vitest';
import { client, dataset, JSON_TYPE, NDJSON, test } from './under.ts';
import { totalsOf, type Answer } from '../support.ts';

describe('Idempotency-Key', () => {
  const send = (name: string, key: string, body: string): Promise<Answer> =>
    client.call('POST', `/v1/ingest/${name}`, { headers: { 'content-type': NDJSON, 'idempotency-key': key }, body });
  const count = async (name: string): Promise<unknown> =>
    totalsOf(await client.query(name, { aggregations: [{ op: 'count' }] }))['COUNT'];

  test('the first reply answers every later request, whatever its body', async ({ made: name }) => {
    const first = await send(name, 'k', '{"a":1}\n{bad\n');
    expect((await send(name, 'k', '{"a":1}\n{bad\n')).text).toBe(first.text);
    expect((await send(name, 'k', '')).text).toBe(first.text);
    expect(await count(name)).toBe(1);
  });

  test('it holds per dataset', async () => {
    const [one, two] = [await dataset(), await dataset()];
    await send(one, 'same', '{"a":1}');
    await send(two, 'same', '{"a":1}');
    expect([await count(one), await count(two)]).toEqual([1, 1]);
  });

  test('requests at the same time store once and get the same reply', async ({ made: name }) => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) => send(name, 'k', `{"n":${n}}\n`.repeat(n + 1))),
    );
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(await count(name)).toBe(answers[0]!.json['ingested']);
  });

  test('a refusal is not kept', async ({ made: name }) => {
    const type = { 'content-type': JSON_TYPE, 'idempotency-key': 'k' };
    expect((await client.call('POST', `/v1/ingest/${name}`, { headers: type, body: '{' })).status).toBe(400);
    expect((await client.call('POST', `/v1/ingest/${name}`, { headers: type, body: '{"a":1}' })).json['ingested']).toBe(
      1,
    );
  });

  test('the token is checked before the key', async ({ made: name }) => {
    await send(name, 'k', '{"a":1}');
    const answer = await client.call('POST', `/v1/ingest/${name}`, {
      token: 'xaat-wrong',
      headers: { 'content-type': NDJSON, 'idempotency-key': 'k' },
      body: '',
    });
    expect(answer.status).toBe(403);
  });

  test('a key of more than 256 characters is 400', async () => {
    expect((await send(await dataset(), 'k'.repeat(257), '{}')).status).toBe(400);
  });
});
