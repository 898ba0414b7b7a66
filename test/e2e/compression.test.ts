/** `compression: auto` of the real program, before services that do not store every encoding. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { FakeService, type ReceivedRequest, replyWith, test } from '../support/fake-service.ts';
import { startProgram } from '../support/program.ts';
import { makeTree } from '../support/temp-tree.ts';

const encodingOf = ({ headers }: ReceivedRequest): string => headers['content-encoding'] ?? 'plain bodies';
const nothing = (failed: number) => ({
  ...{ ingested: 0, failed, processedBytes: 1, blocksCreated: 0, walLength: 0 },
  failures: Array.from({ length: failed }, (_, index) => ({ index, timestamp: '', error: 'not JSON' })),
});

test.for([
  ['gzip', '400'],
  ['gzip', '415'],
  ['gzip', 'nothing ingested'],
  ['plain bodies', '422'],
  ['plain bodies', 'a page'],
] as const)('a service that stores %s and answers the rest with %s gets every line once', async ([takes, refusal]) => {
  const service = await FakeService.start();
  const kept = new Map<string, string>();
  service.respond = (request, response) => {
    // As our own service does: the first result is the answer to every later request with the key.
    const before = kept.get(request.key);
    if (before !== undefined) return replyWith(response, 200, before);
    if (encodingOf(request) === takes) return service.storeAll(request, response);
    if (refusal === 'a page') return replyWith(response, 200, '<html>Welcome</html>', { 'content-type': 'text/html' });
    if (refusal !== 'nothing ingested') return replyWith(response, Number(refusal), { message: 'cannot read this' });
    const result = JSON.stringify(nothing(3));
    kept.set(request.key, result);
    replyWith(response, 200, result);
  };
  const folder = makeTree({});
  const lines = Array.from({ length: 5000 }, (_, n) => `{"n":${n},"text":"a line like every other one"}`);
  writeFileSync(join(folder, 'app.log'), `${lines.join('\n')}\n`);
  const config = join(folder, 'tailrace.yaml');
  writeFileSync(
    config,
    `data_dir: ${folder}/data
sources: {app: {type: file, include: ["${folder}/app.log"], time: read}}
sinks: {store: {type: ingest, url: "${service.url}", token: t, dataset: logs, batch: {max_events: 500}, concurrency: 3, retry: {initial_backoff: 5ms, max_backoff: 50ms}}}
`,
  );
  const run = startProgram(['run', '--once', '--config', config]);
  expect(await run.exited).toBe(0);
  expect(service.lines.map((line) => (JSON.parse(line) as { n: number }).n).toSorted((a, b) => a - b)).toEqual(
    lines.map((_, n) => n),
  );
  expect(run.stderr()).toContain('"dead_lettered":0');
  expect(encodingOf(service.requests.at(-1)!)).toBe(takes);
  // At most the batches in flight together asked.
  expect(service.requests.filter((request) => encodingOf(request) === 'zstd').length).toBeLessThanOrEqual(3);
});
