/** Map fields: objects that stay one column, whatever keys they have. */
import { describe, expect } from 'vitest';
import { apl, objectsOf, rows } from './ask.ts';
import { asOwner, client, dataset, test } from './under.ts';

const field = (name: string, type: string) => ({ name, type, unit: '', hidden: false, description: '' });
const mapped = async (name: string, ...maps: readonly string[]): Promise<void> => {
  const { status } = await client.call('PUT', `/v2/datasets/${name}/mapfields`, { ...asOwner(), body: maps });
  expect(status).toBe(200);
};
/** Every type of value, with keys that have dots, quotes and objects. */
const OBJECT = {
  'a.b': 'x/"y',
  n: 1,
  half: 0.5,
  zero: 0,
  no: false,
  yes: true,
  empty: '',
  nothing: null,
  list: [1, 'z'],
  in: { deep: 2 },
};
/** As it is given back: objects inside have dotted keys. */
const { in: inside, ...rest } = OBJECT;
const GIVEN = { ...rest, 'in.deep': inside.deep };

describe('a map field', () => {
  test('is one column of type map in every reply', async ({ made: name }) => {
    await mapped(name, 'foo', 'attributes.custom');
    await client.ingest(name, [
      { foo: OBJECT, other: { a: 1 } },
      { attributes: { custom: { 'k.v': 'w' }, known: true } },
    ]);
    const shown = ['_sysTime', '_time', 'attributes.custom', 'attributes.known', 'foo', 'other.a'];
    const types = [field('attributes.custom', 'map'), field('foo', 'map')];
    const fields = (await client.call('GET', `/v2/datasets/${name}/fields`)).json as unknown as { name: string }[];
    expect(fields.map((one) => one.name)).toEqual(shown);
    expect(fields).toEqual(expect.arrayContaining(types));
    const listed = (await client.call('GET', '/v1/datasets/_fields')).json as unknown as {
      datasetName: string;
      fields: object[];
    }[];
    expect(listed.find(({ datasetName }) => datasetName === name)?.fields).toEqual(fields);

    const { tables, fieldsMetaMap } = await apl(`['${name}'] | sort by foo.n asc`);
    expect(fieldsMetaMap[name]).toEqual(fields);
    expect(tables[0]!.fields.map((one) => [one.name, one.type])).toEqual(
      fields.map((one) => [one.name, (one as { type?: string }).type]),
    );
    const events = objectsOf(tables[0]!);
    expect(events.find(({ foo }) => foo !== null)!['foo']).toEqual(GIVEN);
    expect(events.find(({ foo }) => foo === null)!['attributes.custom']).toEqual({ 'k.v': 'w' });

    const legacy = await client.query(name);
    expect(legacy.fieldsMeta).toEqual(fields);
    const data = legacy.matches.map((match) => match.data);
    expect(data).toContainEqual({ foo: GIVEN, 'other.a': 1 });
    expect(data).toContainEqual({ 'attributes.custom': { 'k.v': 'w' }, 'attributes.known': true });
  });

  test('gives its keys by name, and counts as null where an event lacks it', async ({ made: name }) => {
    await mapped(name, 'foo');
    await client.ingest(name, [{ foo: OBJECT }, { bar: 1 }]);
    for (const rowsOf of [`['${name}']`, `['${name}'] | take 10`, `['${name}'] | project foo, bar | take 10`])
      for (const [expression, value] of [
        ["['foo']['a.b']", 'x/"y'],
        ["foo['n'] + 1", 2],
        ["foo['half']", 0.5],
        ["foo['zero']", 0],
        ["foo['no']", false],
        ["foo['yes']", true],
        ["foo['empty']", ''],
        ["foo['list'][1]", 'z'],
        ["foo['in.deep']", 2],
        ["foo['none']", null],
        ['isnotnull(foo)', true],
        ['array_length(bag_keys(foo))', 10],
        ["bag_has_key(foo, 'n')", true],
      ] as const)
        expect(
          await rows(`${rowsOf} | where isnull(bar) | project x = ${expression}`),
          `${rowsOf} ${expression}`,
        ).toEqual([[value]]);
    expect(await rows(`['${name}'] | where isnull(foo) | project bar`)).toEqual([[1]]);
    expect(await rows(`['${name}'] | where foo['n'] == 1 | count`)).toEqual([[1]]);
    expect(await rows(`['${name}'] | where foo.n == 1 | summarize count() by foo.n`)).toEqual([[1, 1]]);
    expect(await rows(`['${name}'] | where foo['in']['deep'] == 2 | count`)).toEqual([[1]]);
    expect(await rows(`['${name}'] | where isnotnull(foo) | project foo`)).toEqual([[GIVEN]]);
    const { tables } = await apl(`['${name}'] | project-away foo`);
    expect(tables[0]!.fields.map((one) => one.name)).toEqual(['_sysTime', '_time', 'bar']);
    expect(await rows(`['${name}'] | getschema | where ColumnName startswith 'foo' | project ColumnName`)).toEqual([
      ['foo'],
    ]);
    expect((await client.query(name, { filter: { op: '==', field: 'foo.n', value: 1 } })).matches).toHaveLength(1);
  });

  test.each([
    ['nested', { foo: { a: 1, 'b.c': 2 } }],
    ['with dots', { 'foo.a': 1, 'foo.b.c': 2 }],
    ['half of each', { 'foo.a': 1, foo: { 'b.c': 2 } }],
    ['half of a deeper map field', { foo: { a: 1, b: { c: 2 } } }],
  ])('takes keys that are written %s', async (_name, event) => {
    const name = await dataset();
    await mapped(name, 'foo.b', 'foo');
    await client.ingest(name, [event, { 'foo.d': 'x' }, { food: 3, foo: null }]);
    const { tables } = await apl(`['${name}'] | sort by foo.a asc`);
    expect(tables[0]!.fields.map((one) => one.name)).toEqual(['_sysTime', '_time', 'foo', 'food']);
    expect((await rows(`['${name}'] | where foo.a == 1 | project foo`)).flat()).toEqual([{ a: 1, 'b.c': 2 }]);
    expect((await rows(`['${name}'] | where isnotnull(foo['d']) | project foo`)).flat()).toEqual([{ d: 'x' }]);
  });

  test('keeps stored events unchanged when the list changes', async ({ made: name }) => {
    await client.ingest(name, [{ foo: { a: 1 } }]);
    await mapped(name, 'foo');
    await client.ingest(name, [{ foo: { a: 2 } }]);
    await mapped(name);
    await client.ingest(name, [{ foo: { a: 3 }, bar: { a: 4 } }]);
    const { tables } = await apl(`['${name}']`);
    expect(tables[0]!.fields.map((one) => one.name)).toEqual(['_sysTime', '_time', 'bar.a', 'foo', 'foo.a']);
    expect((await rows(`['${name}'] | sort by foo.a asc | project x = foo.a`)).flat()).toEqual([1, 2, 3]);
    expect((await rows(`['${name}'] | where isnotnull(foo) | project foo`)).flat()).toEqual([{ a: 2 }]);
  });

  test('may hold the time, and its keys count and fail like other fields', async ({ made: name }) => {
    await mapped(name, 'foo');
    const time = '2026-01-02T03:04:05Z';
    await client.call('POST', `/v1/ingest/${name}?timestamp-field=foo.at`, { body: [{ foo: { at: time } }] });
    expect(await rows(`['${name}'] | project _time`)).toEqual([[time]]);
    const key = 'k'.repeat(300);
    const { json } = await client.ingest(name, [{ foo: { [key]: 1 } }]);
    expect(JSON.stringify(json['failures'])).toContain(`foo.${key.slice(0, 20)}`);
  });

  test('of several datasets is one column of them all', async ({ made: name }) => {
    const other = `${name}-other`;
    await client.call('POST', '/v2/datasets', { ...asOwner(), body: { name: other } });
    await mapped(name, 'foo');
    await client.ingest(name, [{ foo: { a: 1 } }]);
    await client.ingest(other, [{ foo: { a: 2 } }]);
    const both = `union ['${name}'], ['${other}']`;
    expect((await rows(`${both} | sort by foo.a asc | project x = foo.a`)).flat()).toEqual([1, 2]);
    expect((await rows(`${both} | where isnotnull(foo) | project foo`)).flat()).toEqual([{ a: 1 }]);
  });
});
