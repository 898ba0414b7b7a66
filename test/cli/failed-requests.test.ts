/** What the client commands say of requests that fail: the sentence first, at once, and nothing that only programs need. */
import { describe, expect } from 'vitest';
import { type Responder, replyWith, test } from '../support/fake-service.ts';
import { freePort } from '../support/free-port.ts';
import { API_TOKEN, localService, PERSONAL_TOKEN } from '../support/local-service.ts';
import { type Running, tailraceFor } from './tailrace.ts';

const local = localService('logs');
const tailrace = (url: string, args: readonly string[], how?: Running) =>
  tailraceFor({ TAILRACE_URL: url, TAILRACE_TOKEN: API_TOKEN })(args, how);

// Symptom: every error began with `POST http://…/v1/datasets/_apl?format=tabular: HTTP 400 `.
test.for([
  ['logs | wher n < 3', /^logs \| wher n < 3\n {7}\^\ntailrace: line 1, column 8: /],
  ['logs | where n = 3\n| take 2', /^logs \| where n = 3\n *\^\ntailrace: line 1, column 16: /],
  ['lgos | take 1', /^lgos \| take 1\n\^\ntailrace: dataset "lgos" not found\n {2}fix: did you mean "logs"\?/],
] as const)('query %s begins its error with the sentence', async ([apl, wanted]) => {
  const { code, stderr } = await tailrace(local.url, ['query', apl]);
  expect([code, stderr]).toEqual([1, expect.stringMatching(wanted)]);
  expect(stderr).not.toMatch(/tabular|^tailrace: (?:POST|GET|HTTP)/m);
});

test('query names the service that is not there first', async () => {
  const { code, stderr } = await tailrace(`http://127.0.0.1:${await freePort()}`, ['query', 'logs']);
  expect([code, stderr]).toEqual([
    1,
    expect.stringMatching(/^tailrace: connect ECONNREFUSED \S+ \(POST http\S+\/_apl\)\n {2}fix: nothing listens/),
  ]);
});

test.for([
  [
    ['query', '-d', 'nope'],
    /^tailrace: dataset "nope" not found \(HTTP 404, POST \S+\/v1\/datasets\/nope\/query\)\n {2}fix: /,
  ],
  [
    ['datasets', 'get', 'nope'],
    /^tailrace: dataset "nope" not found \(HTTP 404, GET \S+\/v1\/datasets\/nope\)\n {2}fix: /,
  ],
  [
    ['tokens', 'revoke', 'nope'],
    /^tailrace: token "nope" not found \(HTTP 404, DELETE \S+\/v2\/tokens\/nope\)\n {2}fix: /,
  ],
] as const)('%s begins its error with the sentence', async ([args, wanted], { service }) => {
  const { code, stderr } = await tailrace(service.url, args);
  expect([code, stderr]).toEqual([1, expect.stringMatching(wanted)]);
});

describe('a fault of the service', () => {
  // Symptom: five retries over seconds before the error of a query was to be seen.
  test.for([
    [['query', 'logs']],
    [['query', 'logs', '--follow']],
    [['query', '-d', 'logs']],
    [['datasets', 'list']],
  ] as const)('that answers 500 is seen at once: %s', async ([args], { service }) => {
    const fault: Responder = (_request, response) =>
      replyWith(response, 500, { code: 500, message: 'internal error, trace 12' });
    service.answerNext(fault, fault, fault);
    const { code, stderr } = await tailrace(service.url, args);
    expect(service.requests).toHaveLength(1);
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/^tailrace: internal error, trace 12 \(HTTP 500, (?:POST|GET) \S+\)\n {2}fix: .*\n$/),
    ]);
  });

  test('a wait that passes is reported', async ({ service }) => {
    service.events.set('logs', [{ n: 1 }]);
    service.answerNext((_request, response) => replyWith(response, 503, { code: 503, message: 'starting' }));
    const { code, stdout, stderr } = await tailrace(service.url, ['query', 'logs', '-o', 'ndjson']);
    expect([code, stderr]).toEqual([
      0,
      expect.stringMatching(/^tailrace: starting \(HTTP 503, POST \S+\); trying again in [\d.]+ s \(2 of 6\)\n$/),
    ]);
    expect(stdout).toContain('"n":1');
  });

  test('does not stop ingest, which has events to store', async ({ service }) => {
    service.datasets.set('logs', {
      id: 'logs',
      name: 'logs',
      description: '',
      created: '',
      integrationConfigs: [],
      who: '',
    });
    service.answerNext((_request, response) => replyWith(response, 500, { code: 500, message: 'no' }));
    expect(await tailrace(service.url, ['ingest', 'logs'], { input: '{"n":1}' })).toMatchObject({ code: 0 });
    expect(service.events.get('logs')).toHaveLength(1);
  });
});

// Symptom: `tokens create` wanted --org-id with a personal token whose user has one organisation.
test('a personal token needs no organisation where its user has one', async () => {
  const env = { TAILRACE_TOKEN: PERSONAL_TOKEN };
  const made = await tailrace(local.url, ['tokens', 'create', 'web-1', '--ingest', 'logs'], { env });
  expect([made.code, made.stdout]).toEqual([0, expect.stringMatching(/^xaat-\S+\n$/)]);
  for (const args of [['users'], ['tokens', 'list'], ['datasets', 'list'], ['query', 'logs']])
    expect(await tailrace(local.url, args, { env })).toMatchObject({ code: 0 });
});

test('a personal token whose user has several organisations is asked which', async ({ service }) => {
  service.answerNext(
    (_request, response) => replyWith(response, 200, [{ id: 'a' }, { id: 'b' }]),
    (_request, response) => replyWith(response, 403, { code: 403, message: 'no organisation' }),
  );
  const { code, stderr } = await tailrace(service.url, ['users'], { env: { TAILRACE_TOKEN: PERSONAL_TOKEN } });
  expect([code, stderr]).toEqual([
    1,
    expect.stringContaining('set TAILRACE_ORG_ID or give --org-id; `tailrace orgs` shows the id'),
  ]);
});
