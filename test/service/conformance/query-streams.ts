/** `streaming-duration`: a query that waits for events. */
import { describe, expect } from 'vitest';
import type { Answer } from '../support.ts';
import { ALWAYS } from './ask.ts';
import { asOwner, client, dataset, test } from './under.ts';

const structured = (name: string, duration: string): Promise<Answer> =>
  client.call('POST', `/v1/datasets/${name}/query?streaming-duration=${duration}`, { body: { startTime: 'now-1h' } });
/** Of no event that is there. */
const nothing = (name: string, duration: string): Promise<Answer> =>
  client.call('POST', `/v1/datasets/${name}/query?streaming-duration=${duration}`, {
    body: { startTime: 'now+1h', endTime: 'now+2h' },
  });
const byText = (name: string, duration: string): Promise<Answer> =>
  client.call('POST', `/v1/query/_apl?format=legacy&streaming-duration=${duration}`, {
    body: { apl: `['${name}']`, startTime: 'now-1h' },
  });

describe('a query with streaming-duration', () => {
  test.each([
    ['a structured query', structured, '1m'],
    ['a query by text', byText, '1m'],
    ['nanoseconds, as Go clients send them,', structured, '60000000000'],
  ])('%s waits for events, and answers with them', async (_name, ask, duration) => {
    const name = await dataset();
    const held = new Set([1]);
    const answer = ask(name, duration).finally(() => held.clear());
    while (held.size > 0) await client.ingest(name, [{ a: 1 }]);
    const { status, json } = await answer;
    expect([status, (json['matches'] as object[]).length > 0]).toEqual([200, true]);
  });

  test.each([
    ['a structured query', structured],
    ['a query by text', byText],
  ])('%s that has a row answers at once', async (_name, ask) => {
    const name = await dataset();
    await client.ingest(name, [{ a: 1 }]);
    const began = performance.now();
    expect((await ask(name, '1m')).json['matches']).toHaveLength(1);
    expect(performance.now() - began).toBeLessThan(50_000);
  });

  test('answers once events are stored, though it matches none of them', async ({ made: name }) => {
    const held = new Set([1]);
    const answer = nothing(name, '1m').finally(() => held.clear());
    while (held.size > 0) await client.ingest(name, [{ a: 1 }]);
    expect((await answer).json['matches']).toEqual([]);
  });

  test('answers without events when its time is over', async ({ made: name }) => {
    const other = await dataset();
    await client.ingest(name, [{ a: 1 }]);
    const began = performance.now();
    const answer = nothing(name, '500ms');
    await client.ingest(other, [{ a: 1 }]);
    expect((await answer).json['matches']).toEqual([]);
    expect(performance.now() - began).toBeGreaterThanOrEqual(490);
  });

  test('of auto, 0 or nothing answers at once', async ({ made: name }) => {
    for (const duration of ['auto', '', '0', '0s']) expect((await structured(name, duration)).status).toBe(200);
  });

  test('that cannot be run is refused before it waits', async ({ made: name }) => {
    const path = '/v1/query/_apl?format=tabular&streaming-duration=1m';
    const refuse = async (apl: string, body: object = {}) =>
      (await client.call('POST', path, { body: { apl, ...ALWAYS, ...body } })).status;
    expect(await refuse(`['${name}'] | nonsense`)).toBe(400);
    expect(await refuse(`['${name}'] | where nonsense(1)`)).toBe(400);
    expect(await refuse(`['${name}']`, { startTime: 'yesterday' })).toBe(400);
    expect(await refuse("['none']")).toBe(404);
    const body = { filter: { op: 'nonsense', field: 'a' } };
    expect((await client.call('POST', `/v1/datasets/${name}/query?streaming-duration=1m`, { body })).status).toBe(400);
    expect((await structured('none', '1m')).status).toBe(404);
    expect((await structured(name, 'long')).status).toBe(400);
  });

  test('does not keep its dataset from being removed, and ends with it', async ({ made: name }) => {
    const answer = structured(name, '1m');
    await client.call('DELETE', `/v1/datasets/${name}`, asOwner());
    expect((await answer).status).toBe(404);
  });
});
