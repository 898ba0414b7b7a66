/** `tailrace query` in APL over pages, against a service written from the specification. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { FakeService, replyWith } from '../support/fake-service.ts';
import { BINARY, startCommand } from '../support/program.ts';
import { makeTree } from '../support/temp-tree.ts';
import { tailraceFor } from './tailrace.ts';

async function start(events: number): Promise<{ service: FakeService; tailrace: ReturnType<typeof tailraceFor> }> {
  const service = await FakeService.start();
  service.events.set(
    'logs',
    Array.from({ length: events }, (_, n) => ({ n })),
  );
  return { service, tailrace: tailraceFor({ TAILRACE_URL: service.url, TAILRACE_TOKEN: 'xaat-1' }) };
}

const sentTo = ({ requests }: FakeService) =>
  requests.map(({ body }) => JSON.parse(body.toString()) as Record<string, unknown>);

test('query asks for one page, with the range and nothing else of its own', async () => {
  const { service, tailrace } = await start(1500);
  const ended = await tailrace(['query', 'logs', '--start', 'now-1h', '--end', 'now', '-o', 'ndjson']);
  expect(ended.json()).toHaveLength(1000);
  expect(ended).toMatchObject({ code: 0, stderr: '' });
  expect(service.requests[0]?.url).toBe('/v1/datasets/_apl?format=tabular');
  expect(sentTo(service)).toEqual([{ apl: 'logs', startTime: 'now-1h', endTime: 'now' }]);
});

test('query --all follows the pages to the end, each row once', async () => {
  const { service, tailrace } = await start(25_000);
  const ended = await tailrace(['query', 'logs | sort by _time asc', '--all', '-o', 'csv', '--no-cache']);
  const lines = ended.stdout.trimEnd().split('\n');
  expect(lines[0]).toBe('_sysTime,_time,n');
  expect(lines.slice(1).map((line) => Number(line.split(',')[2]))).toEqual(Array.from({ length: 25_000 }, (_, n) => n));
  expect(sentTo(service).map(({ limit, cursor }) => [limit, cursor])).toEqual([
    [10_000, undefined],
    [10_000, '00009999'],
    [10_000, '00019999'],
    [10_000, '00024999'],
  ]);
  expect(service.requests[0]?.url).toBe('/v1/datasets/_apl?format=tabular&nocache=true');
});

test('query --limit follows the pages up to so many rows', async () => {
  const { service, tailrace } = await start(30_000);
  expect((await tailrace(['query', 'logs', '--limit', '12000', '-o', 'ndjson'])).json()).toHaveLength(12_000);
  expect(sentTo(service).map(({ limit }) => limit)).toEqual([10_000, 10_000]);
  expect((await tailrace(['query', 'logs', '--limit', '7', '-o', 'ndjson'])).json()).toHaveLength(7);
  expect(sentTo(service)).toHaveLength(3);
});

test('query --json prints the replies as they are', async () => {
  const { tailrace } = await start(3);
  const [reply] = (await tailrace(['query', 'logs', '--json'])).json();
  expect(reply).toMatchObject({
    format: 'tabular',
    status: { rowsMatched: 3 },
    tables: [{ sources: [{ name: 'logs' }] }],
    datasetNames: ['logs'],
  });
});

test('query takes its text from stdin and from a file', async () => {
  const { service, tailrace } = await start(1);
  await tailrace(['query'], { input: 'logs\n| take 1\n' });
  await tailrace(['query', '--file', join(makeTree({ 'q.apl': 'logs | take 2' }), 'q.apl')]);
  expect(sentTo(service).map(({ apl }) => apl)).toEqual(['logs\n| take 1\n', 'logs | take 2']);
});

test('query sends to the edge domain what the edge takes', async () => {
  const [edge, { service, tailrace }] = [await FakeService.start(), await start(0)];
  edge.events.set('logs', [{ n: 1 }]);
  const env = { TAILRACE_EDGE_DOMAIN: new URL(edge.url).host };
  expect((await tailrace(['query', 'logs', '-o', 'ndjson'], { env })).json()).toHaveLength(1);
  expect((await tailrace(['query', 'logs', '-o', 'ndjson', '--edge-domain', edge.url])).json()).toHaveLength(1);
  expect(edge.requests.map(({ url }) => url)).toEqual([
    '/v1/query/_apl?format=tabular',
    '/v1/query/_apl?format=tabular',
  ]);
  expect(service.requests).toEqual([]);
});

test('query marks the place that the service names in a text that it refuses', async () => {
  const { service, tailrace } = await start(0);
  const detail = { message: 'unexpected x', line: 2, column: 9, errorType: 'syntax' };
  service.answerNext((_request, response) => replyWith(response, 400, { code: 400, message: 'unexpected x', detail }));
  const ended = await tailrace(['query', 'logs\n| where x x\n| take 1']);
  expect(ended).toMatchObject({ code: 1, stdout: '' });
  expect(ended.stderr).toContain('| where x x\n        ^\ntailrace: unexpected x');
});

test('query says what the service notes about a result', async () => {
  const { service, tailrace } = await start(0);
  const message = (code: string, msg: string) => ({ code, msg, count: 1, priority: 'warn' });
  service.answerNext((request, response) => {
    const [, body] = service.handle(request) as [number, { status: object }];
    const messages = [
      message('apl_implicitendtimeofnowapplied_1', 'the end is now'),
      message('missing_column', 'no field x'),
    ];
    replyWith(response, 200, { ...body, status: { ...body.status, messages } });
  });
  expect((await tailrace(['query', 'logs'])).stderr).toBe('tailrace: warn: no field x\n');
});

test('query says which dataset was meant', async () => {
  const { service, tailrace } = await start(0);
  service.datasets.set('web-logs', {
    id: 'web-logs',
    name: 'web-logs',
    description: '',
    created: '',
    integrationConfigs: [],
    who: '',
  });
  service.answerNext((_request, response) =>
    replyWith(response, 404, { code: 404, message: 'dataset "web-lgs" not found' }),
  );
  expect((await tailrace(['query', "['web-lgs'] | take 1"])).stderr).toContain('did you mean "web-logs"?');
});

test('query waits out a limit and says so', async () => {
  const { service, tailrace } = await start(1);
  service.answerNext((_request, response) =>
    replyWith(response, 429, { message: 'rate limit exceeded' }, { 'retry-after': '1' }),
  );
  const ended = await tailrace(['query', 'logs']);
  expect(ended.code).toBe(0);
  expect(ended.stderr).toMatch(
    /^tailrace: rate limit exceeded \(HTTP 429, POST \S+\); trying again in 1\.0 s \(2 of 6\)/,
  );
});

test('query to a reader that goes away ends without a word', async () => {
  const { service } = await start(20_000);
  const program = startCommand('sh', ['-c', `"${BINARY}" query logs --all -o ndjson | head -n 2`], {
    TAILRACE_URL: service.url,
    TAILRACE_TOKEN: 'x',
  });
  expect(await program.exited).toBe(0);
  expect(program.stdout().trimEnd().split('\n')).toHaveLength(2);
  expect(program.stderr()).toBe('');
});
