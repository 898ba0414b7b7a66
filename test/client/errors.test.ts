import { expect, onTestFinished } from 'vitest';
import { ClientError } from '../../src/client/client-error.ts';
import { createClient } from '../../src/client/client.ts';
import { FakeService, replyWith, test } from '../support/fake-service.ts';
import { testTiming } from './timing.ts';
import { freePort } from '../support/free-port.ts';

const TOKEN = 'xaat-1';

async function failureOf(work: Promise<unknown>): Promise<ClientError> {
  const error: unknown = await work.then(
    (value) => {
      throw new Error(`it resolved with ${JSON.stringify(value)}`);
    },
    (reason: unknown) => reason,
  );
  if (!(error instanceof ClientError)) throw error;
  return error;
}

test.each([
  [400, 'E_REFUSED'],
  [401, 'E_UNAUTHORIZED'],
  [403, 'E_UNAUTHORIZED'],
  [404, 'E_NOT_FOUND'],
  [409, 'E_CONFLICT'],
  [413, 'E_TOO_LARGE'],
  [415, 'E_REFUSED'],
  [422, 'E_REFUSED'],
  [430, 'E_REFUSED'],
  [429, 'E_RATE_LIMITED'],
  [500, 'E_SERVICE'],
  [501, 'E_SERVICE'],
])('client answers a %i with %s, what was asked and what the service says', async (status, code) => {
  const service = await FakeService.start();
  const answer = { code: status, message: 'because of this' };
  service.respond = (_request, response) => replyWith(response, status, answer);
  const client = createClient({ url: service.url, token: TOKEN, timing: testTiming() });
  const error = await failureOf(client.datasets.create({ name: 'x' }));
  expect(error).toMatchObject({ code, status, method: 'POST', url: `${service.url}/v1/datasets`, body: answer });
  expect(error.message).toBe(`POST ${service.url}/v1/datasets: HTTP ${status} because of this`);
});

test('client shows a refusal that is no JSON, cut and on one line', async ({ service }) => {
  service.respond = (_request, response) => replyWith(response, 400, `<html>\n  <b>bad</b>${'x'.repeat(1000)}`);
  const error = await failureOf(createClient({ url: service.url }).orgs());
  expect(error.message).toMatch(/HTTP 400 bad x+…$/);
  expect(error.message.length).toBeLessThan(300);
});

test.each([
  ['a page', '<html>hello</html>', 'a list of datasets, it begins "<html>hello'],
  ['an object', '{"items":[]}', 'a list of datasets, it begins "{'],
  ['nothing', '', 'it is empty'],
])('client does not take %s for a list', async (_name, body, wanted) => {
  const service = await FakeService.start();
  service.respond = (_request, response) => replyWith(response, 200, body);
  const error = await failureOf(createClient({ url: service.url }).datasets.list());
  expect(error.code).toBe('E_BAD_ANSWER');
  expect(error.message).toContain(wanted);
  expect(error.fix).toContain('without /v1');
});

test.each([['{"ingested":1}'], ['[]'], ['null'], ['{"ingested":-1,"failed":0}']])(
  'client does not take %s for an ingest result',
  async (body) => {
    const service = await FakeService.start();
    service.respond = (_request, response) => replyWith(response, 200, body);
    const error = await failureOf(
      createClient({ url: service.url }).ingest('logs', '{}', { format: 'ndjson', idempotencyKey: 'k' }),
    );
    expect(error).toMatchObject({ code: 'E_BAD_ANSWER', status: 200 });
    expect(service.requests).toHaveLength(1);
  },
);

test('client follows no redirect and says where it leads', async ({ service }) => {
  service.respond = (_request, response) => replyWith(response, 302, '', { location: 'https://login.example.com/' });
  const error = await failureOf(createClient({ url: service.url, token: TOKEN }).orgs());
  expect(error.message).toContain('HTTP 302, which leads to https://login.example.com/');
  expect(service.requests).toHaveLength(1);
});

test('client says at which address nothing listens', async () => {
  const port = await freePort();
  const error = await failureOf(createClient({ url: `http://127.0.0.1:${port}` }).datasets.list());
  expect(error).toMatchObject({ code: 'E_CONNECTION', systemCode: 'ECONNREFUSED', status: 0 });
  expect(error.fix).toBe(`nothing listens at 127.0.0.1:${port}: start the service there, or correct url`);
});

test('client says which name is not known', async () => {
  const error = await failureOf(createClient({ url: 'http://no-such-host.invalid' }).datasets.list());
  expect(error.code).toBe('E_CONNECTION');
  expect(error.fix).toContain('no-such-host.invalid cannot be found');
});

test('client gives up a request that takes too long, as a whole', async ({ service }) => {
  service.respond = (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    // A byte now and then, which is no end.
    const timer = setInterval(() => response.write(' '), 20);
    onTestFinished(() => clearInterval(timer));
  };
  const error = await failureOf(createClient({ url: service.url, timeoutMs: 300 }).datasets.list());
  expect(error).toMatchObject({ code: 'E_TIMEOUT' });
  expect(error.message).toContain('no complete answer within 0.3 s');
});

test('client rejects with the caller’s own reason when its signal aborts', async ({ service }) => {
  const stop = new AbortController();
  service.respond = () => stop.abort(new Error('enough'));
  await expect(createClient({ url: service.url }).query('logs', { signal: stop.signal })).rejects.toThrow('enough');
});

test('client says what TLS means where the service has none', async ({ service }) => {
  const error = await failureOf(createClient({ url: service.url.replace('http:', 'https:') }).datasets.list());
  expect(error.code).toBe('E_CONNECTION');
  expect(error.message).toContain('does not speak TLS: write http:// in url');
});
