/** Trim and retention: older events go, counted exactly, and nothing else. */
import { describe, expect } from 'vitest';
import { asOwner, client, dataset, test } from './under.ts';

const HOUR = 3_600_000;
const ago = (hours: number): string => new Date(Date.now() - hours * HOUR).toISOString();
const trim = (name: string, maxDuration: unknown) =>
  client.call('POST', `/v1/datasets/${name}/trim`, { body: { maxDuration } });
const left = async (name: string): Promise<unknown[]> => {
  const { matches } = await client.query(name, { endTime: '2200-01-01T00:00:00Z', order: [{ field: '_time' }] });
  return matches.map(({ data }) => data['hours']);
};
/** Events of these ages. */
async function aged(...hours: number[]): Promise<string> {
  const name = await dataset();
  await client.ingest(
    name,
    hours.map((each) => ({ _time: ago(each), hours: each })),
  );
  return name;
}

describe('trim', () => {
  test('deletes the events whose time is older than maxDuration, and says how many', async () => {
    const name = await aged(0.5, 1.5, 30, 24 * 400, 24 * 365 * 60);
    expect((await trim(name, '24h')).json).toEqual({ numDeleted: 3 });
    expect(await left(name)).toEqual([1.5, 0.5]);
    expect((await trim(name, '24h')).json).toEqual({ numDeleted: 0 });
    expect((await trim(name, '1h0m0s')).json).toEqual({ numDeleted: 1 });
    expect(await left(name)).toEqual([0.5]);
  });

  test('goes by the time of an event, not of its storage', async () => {
    const name = await aged(-2, 2);
    expect((await trim(name, '0s')).json).toEqual({ numDeleted: 1 });
    expect(await left(name)).toEqual([-2]);
  });

  test.each(['1h', '1h0m0s', '30m', '7d', '1.5h', '90000ms', '876000h'])('takes the duration %s', async (duration) => {
    expect((await trim(await aged(), duration)).json).toEqual({ numDeleted: 0 });
  });

  test.each(['', 'soon', '-1h', '1', '1y', '5 minutes', 7, null, undefined, '9'.repeat(60) + 'h'])(
    'refuses the duration %j',
    async (duration) => {
      const name = await aged(1000);
      expect((await trim(name, duration)).json).toEqual({ code: 400, message: expect.stringContaining('maxDuration') });
      expect(await left(name)).toEqual([1000]);
    },
  );

  test('counts exactly while events come in', async ({ made: name }) => {
    let [sent, deleted] = [0, 0];
    const send = async (): Promise<void> => {
      for (let n = 0; n < 10; n++) {
        const answer = await client.ingest(
          name,
          Array.from({ length: 50 }, () => ({ _time: ago(48) })),
        );
        sent += answer.json['ingested'] as number;
      }
    };
    const cut = async (): Promise<void> => {
      for (let n = 0; n < 5; n++) deleted += (await trim(name, '24h')).json['numDeleted'] as number;
    };
    await Promise.all([send(), send(), cut()]);
    expect(deleted + (await left(name)).length).toBe(sent);
    deleted += (await trim(name, '24h')).json['numDeleted'] as number;
    expect([deleted, await left(name)]).toEqual([sent, []]);
  });

  test('an unknown dataset is 404', async () => {
    expect((await trim('none', '1h')).status).toBe(404);
  });

  test('takes personal tokens, too, and the newer path', async () => {
    const name = await aged(5);
    const answer = await client.call('POST', `/v2/datasets/${name}/trim`, {
      ...asOwner(),
      body: { maxDuration: '1h' },
    });
    expect(answer.json).toEqual({ numDeleted: 1 });
  });
});
