/** What the real local service has stored, read back: the same events, whatever form they were sent in. */
import { expect, test } from 'vitest';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Batch } from '../../../src/batcher/batch.ts';
import { InFlightBatch } from '../../../src/batcher/send/in-flight-batch.ts';
import type { IngestSinkConfig } from '../../../src/sinks/ingest/ingest-config.ts';
import type { SendResult } from '../../../src/core/sink.ts';
import { encoderOf } from '../../../src/sinks/ingest/encode/encoder.ts';
import { API_TOKEN, localService } from '../../support/local-service.ts';
import { startProgram } from '../../support/program.ts';
import { sinkConfig } from '../../support/sink-config.ts';
import { makeTree } from '../../support/temp-tree.ts';
import { makeSink, never } from './rig.ts';

const service = localService('plain');

const EVENTS = [
  '{"_time":"2026-11-21T10:00:00.000000001Z","seq":0,"message":"plain","big":9007199254740993,"small":0.1,"flag":true}',
  '{"_time":"2026-11-21T10:00:01Z","seq":1,"message":"a \\"quoted\\", text\\r\\nover lines\\n","number":"404","switch":"true","empty":""}',
  '{"_time":"2026-11-21T12:00:02+02:00","seq":2,"message":" spaces ","nothing":null,"leading":"007","minus":-5,"exponent":1.5e3}',
  '{"seq":3,"message":"\\u00fcber \\ud83d\\ude00 Größe","_time":"2026-11-21T10:00:03Z","comma,key":1,"quo\\"te":2}',
  '{"_time":1795255204,"seq":4,"message":"\\u0000nul","lev\\u0065l":"info"}',
];
const NESTED =
  '{"_time":"2026-11-21T10:00:05Z","seq":5,"geo":{"city":"Rome","at":[1.0,{"x":9007199254740993}]},"list":["a",null]}';

async function send(
  events: readonly string[],
  dataset: string,
  key: string,
  changes: Partial<IngestSinkConfig>,
): Promise<SendResult> {
  const config = sinkConfig(service.url, { token: { kind: 'value', value: API_TOKEN }, ...changes });
  const body = Buffer.from(events.map((event) => `${event}\n`).join(''));
  const batch = new Batch(1, 'store', dataset, 'live', { body });
  batch.events = events.length;
  const part = { first: 0, count: events.length, key };
  const encoding = changes.compression === 'gzip' || changes.compression === 'zstd' ? changes.compression : 'identity';
  const sinkRequest = await new InFlightBatch(batch, [part]).requestOf(
    part,
    { encoding, isStrict: false },
    encoderOf(config),
  );
  return makeSink(service.url, config).send(sinkRequest, never);
}

async function store(events: readonly string[], dataset: string, changes: Partial<IngestSinkConfig>): Promise<void> {
  await service.ask('POST', '/v1/datasets', { name: dataset });
  const { outcome } = await send(events, dataset, `key-${dataset}`, changes);
  expect(outcome).toMatchObject({ kind: 'delivered', stored: events.length });
}

interface Stored {
  readonly _time: string;
  readonly data: Record<string, unknown>;
}

/** Events by `seq`; numbers as their text, so that no digit is lost here. */
async function stored(dataset: string): Promise<Stored[]> {
  const reply = await fetch(`${service.url}/v1/datasets/${dataset}/query`, {
    method: 'POST',
    headers: { authorization: `Bearer ${API_TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      startTime: '2000-01-01T00:00:00Z',
      endTime: '2100-01-01T00:00:00Z',
      order: [{ field: 'seq', desc: false }],
    }),
  });
  const text = await reply.text();
  expect(reply.status, text).toBe(200);
  const exactly = (_key: string, value: unknown, context?: { source?: string }) =>
    typeof value === 'number' ? `number ${context?.source}` : value;
  const { matches } = JSON.parse(text, exactly) as { matches: Stored[] };
  return matches.map(({ _time, data }) => ({ _time, data }));
}

const withoutNulls = (events: Stored[]): Stored[] =>
  events.map(({ _time, data }) => ({
    _time,
    data: Object.fromEntries(Object.entries(data).filter(([, value]) => value !== null)),
  }));

test('events arrive alike as NDJSON, as a JSON array, in envelopes and as CSV', async () => {
  await store(EVENTS, 'as-ndjson', { compression: 'gzip' });
  const wanted = await stored('as-ndjson');
  expect(wanted).toHaveLength(EVENTS.length);
  expect(wanted[0]).toMatchObject({
    _time: '2026-11-21T10:00:00.000000001Z',
    data: { big: 'number 9007199254740993' },
  });
  expect(wanted[1]!.data).toMatchObject({ number: '404', switch: 'true', empty: '' });

  await store(EVENTS, 'as-json', { encoding: 'json', compression: 'zstd' });
  expect(await stored('as-json')).toEqual(wanted);
  await store(EVENTS, 'as-envelopes', { encoding: 'json', json: { envelope: true } });
  expect(await stored('as-envelopes')).toEqual(wanted);
  await store(EVENTS, 'as-csv', { encoding: 'csv', compression: 'gzip' });
  // CSV has no null: it leaves the value out, which reads alike.
  expect(withoutNulls(await stored('as-csv'))).toEqual(withoutNulls(wanted));
  const columns = [
    '_time',
    'seq',
    'message',
    'big',
    'small',
    'flag',
    'number',
    'switch',
    'empty',
    'leading',
    'minus',
    'exponent',
    'level',
  ];
  for (const header of ['line', 'header'] as const) {
    await store(EVENTS, `as-columns-${header}`, { encoding: 'csv', csv: { columns, extra: 'rest', header } });
    const inColumns = withoutNulls(await stored(`as-columns-${header}`));
    expect(inColumns.map(({ _time }) => _time)).toEqual(wanted.map(({ _time }) => _time));
    expect(inColumns[3]!.data).toEqual({
      seq: 'number 3',
      message: 'über 😀 Größe',
      rest: '{"comma,key":1,"quo\\"te":2}',
    });
    for (const at of [0, 1, 4]) expect(inColumns[at]).toEqual(wanted[at]);
  }
});

test('nested values are JSON text in CSV, and themselves in every other form', async () => {
  await store([NESTED], 'nested-json', { encoding: 'json' });
  await store([NESTED], 'nested-envelope', { encoding: 'json', json: { envelope: true } });
  await store([NESTED], 'nested-csv', { encoding: 'csv' });
  const [flat] = await stored('nested-json');
  expect(flat!.data).toMatchObject({ 'geo.city': 'Rome' });
  expect(await stored('nested-envelope')).toEqual([flat]);
  const [asText] = await stored('nested-csv');
  expect(asText!.data).toMatchObject({ geo: '{"city":"Rome","at":[1.0,{"x":9007199254740993}]}', list: '["a",null]' });
});

test('labels and the timestamp field mean the same in every form', async () => {
  const events = [
    '{"ts":"21/Nov/2026:10:00:00 +0000","seq":0,"team":"own"}',
    '{"ts":"21/Nov/2026:10:00:01 +0000","seq":1}',
  ];
  const common = {
    labels: { team: 'Größe', n: 1 },
    timestampField: 'ts',
    timestampFormat: '2/Jan/2006:15:04:05 -0700',
  };
  const forms: [string, Partial<IngestSinkConfig>][] = [
    ['labels-ndjson', {}],
    ['labels-json', { encoding: 'json' }],
    ['labels-envelope', { encoding: 'json', json: { envelope: true } }],
    ['labels-csv', { encoding: 'csv' }],
  ];
  for (const [dataset, changes] of forms) {
    await store(events, dataset, { ...common, ...changes });
    expect(await stored(dataset), dataset).toEqual([
      {
        _time: '2026-11-21T10:00:00Z',
        data: { ts: '21/Nov/2026:10:00:00 +0000', seq: 'number 0', team: 'own', n: 'number 1' },
      },
      {
        _time: '2026-11-21T10:00:01Z',
        data: { ts: '21/Nov/2026:10:00:01 +0000', seq: 'number 1', team: 'Größe', n: 'number 1' },
      },
    ]);
  }
});

test('a missing dataset is created once, and the batch then goes in at once', async () => {
  const changes = { createDataset: true };
  expect((await send(['{"seq":0}'], 'made-here', 'k', {})).outcome).toMatchObject({
    kind: 'pause',
    reason: 'not_found',
  });
  const first = await send(['{"seq":0}'], 'made-here', 'k', changes);
  expect(first).toMatchObject({ status: 404, outcome: { kind: 'retry', reason: 'dataset_created', afterMs: 0 } });
  expect((await send(['{"seq":0}'], 'made-here', 'k', changes)).outcome.kind).toBe('delivered');
  expect(await stored('made-here')).toHaveLength(1);
  const refused = await send(['{"seq":0}'], 'never-made', 'k', {
    ...changes,
    token: { kind: 'value', value: 'wrong' },
  });
  expect(refused.outcome).toMatchObject({ kind: 'pause', reason: 'unauthorized' });
});

test('a configuration file’s keys reach the service through the agent', async () => {
  const input = EVENTS.slice(0, 3).map((event) => `${event}\n`);
  const folder = makeTree({ 'app.log': input.join('') });
  const file = join(folder, 'agent.yaml');
  writeFileSync(
    file,
    `data_dir: ${join(folder, 'agent')}
telemetry: {listen: none}
sources: {app: {type: file, include: [app.log]}}
sinks:
  store: {type: ingest, url: "${service.url}", token: ${API_TOKEN}, dataset: by-agent, create_dataset: true, encoding: csv, labels: {by: agent}}
`,
  );
  const agent = startProgram(['run', '--once', '--config', file]);
  expect(await agent.exited, agent.stderr()).toBe(0);
  const events = await stored('by-agent');
  expect(events.map(({ data }) => [data['seq'], data['by'], data['message']])).toEqual([
    ['number 0', 'agent', 'plain'],
    ['number 1', 'agent', 'a "quoted", text\r\nover lines\n'],
    ['number 2', 'agent', ' spaces '],
  ]);
});
