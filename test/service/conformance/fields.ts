/** The fields of a dataset: their types, and what people say about them. */
import { describe, expect } from 'vitest';
import { apl } from './ask.ts';
import { asOwner, client, dataset, test } from './under.ts';

const plain = (name: string, type: string) => ({ name, type, unit: '', hidden: false, description: '' });

describe('the fields of a dataset', () => {
  test('are listed with their types, the service’s own two first', async ({ made: name }) => {
    await client.ingest(name, [
      { b: 1, a: { c: 'x' } },
      { b: 'y', d: true, e: 0.5, f: [1], g: null },
    ]);
    const { json } = await client.call('GET', `/v2/datasets/${name}/fields`);
    expect(json).toEqual([
      plain('_sysTime', 'datetime'),
      plain('_time', 'datetime'),
      plain('a.c', 'string'),
      plain('b', 'integer|string'),
      plain('d', 'boolean'),
      plain('e', 'float'),
      plain('f', 'array'),
      plain('g', ''),
    ]);
  });

  test('can be given a unit and a description, or be hidden, which every result’s metadata then says', async ({
    made: name,
  }) => {
    await client.ingest(name, [{ 'size/in': 1, ms: 2 }]);
    const path = `/v2/datasets/${name}/fields/${encodeURIComponent('size/in')}`;
    const wanted = { ...plain('size/in', 'integer'), unit: 'decbytes', description: 'of the body', hidden: true };
    const changed = await client.call('PUT', path, {
      body: { unit: 'decbytes', description: 'of the body', hidden: true },
    });
    expect([changed.status, changed.json]).toEqual([200, wanted]);
    expect((await client.call('GET', path)).json).toEqual(wanted);
    // What a change leaves out stays.
    expect((await client.call('PUT', path, { ...asOwner(), body: { hidden: false, unit: null } })).json).toEqual({
      ...wanted,
      hidden: false,
    });
    expect((await client.query(name)).fieldsMeta).toContainEqual({ ...wanted, hidden: false });
    expect((await apl(`['${name}']`)).fieldsMetaMap[name]).toContainEqual({ ...wanted, hidden: false });
    const when = await client.call('PUT', `/v2/datasets/${name}/fields/_time`, { body: { description: 'when' } });
    expect(when.json).toEqual({ ...plain('_time', 'datetime'), description: 'when' });
  });

  test('of a dataset that is made again nothing is known', async ({ made: name }) => {
    await client.call('PUT', `/v2/datasets/${name}/fields/_time`, { body: { description: 'when' } });
    await client.call('DELETE', `/v2/datasets/${name}`, asOwner());
    await client.createDataset(name);
    expect((await client.call('GET', `/v2/datasets/${name}/fields/_time`)).json).toEqual(plain('_time', 'datetime'));
  });

  test.each([
    ['of an unknown dataset', 'GET', 'none/fields', undefined, 404],
    ['that there is not', 'GET', '#/fields/nope', undefined, 404],
    ['that there is not, to be changed', 'PUT', '#/fields/nope', { unit: 'ms' }, 404],
    ['with a unit that is no text', 'PUT', '#/fields/_time', { unit: 5 }, 400],
    ['with a unit too long', 'PUT', '#/fields/_time', { unit: 'x'.repeat(65) }, 400],
    ['without a body', 'PUT', '#/fields/_time', undefined, 400],
  ])('a field %s is refused', async (_name, method, path, body, status) => {
    const answer = await client.call(method, `/v2/datasets/${path.replace('#', await dataset())}`, body && { body });
    expect(answer.json).toEqual({ code: status, message: expect.stringMatching(/./) });
  });
});
