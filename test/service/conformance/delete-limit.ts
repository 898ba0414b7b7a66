/** How many events a delete by query takes. */
import { expect } from 'vitest';
import { ALWAYS, rows } from './ask.ts';
import { client, test } from './under.ts';

const remove = (apl: string, body: object = {}) =>
  client.call('POST', '/v2/datasets/_apl/delete', { body: { apl, ...ALWAYS, ...body } });

test('a delete by query of more than 50,000 events is counted, and refused with commit', async ({ made: name }) => {
  const events = Array.from({ length: 10_000 }, (_, n) => ({ n }));
  for (let n = 0; n < 5; n++) await client.ingest(name, events);
  await client.ingest(name, [{ n: -1 }]);
  expect((await remove(`['${name}']`)).json).toMatchObject({ rowsMatched: 50_001, dryRun: true });
  const { status, json } = await remove(`['${name}']`, { commit: true });
  expect([status, json['message']]).toEqual([400, expect.stringContaining('at most 50000 can be deleted at once')]);
  expect((await remove(`['${name}'] | where n >= 0`, { commit: true })).json).toMatchObject({ rowsDeleted: 50_000 });
  expect(await rows(`['${name}'] | project n`)).toEqual([[-1]]);
});
