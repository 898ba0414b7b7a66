import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { check } from '../../src/cli/check/check.ts';
import { hasOpenssl, makeAuthority, makeCertificate, readCertificate } from '../support/certificates.ts';
import { FakeService, replyWith } from '../support/fake-service.ts';
import { API_TOKEN, startLocalService } from '../support/local-service.ts';
import { makeTree } from '../support/temp-tree.ts';

interface Checked {
  readonly code: number;
  /** Problems, then warnings: `line:column message; fix`. */
  readonly found: string[];
}

async function checkOnline(url: string, sink = '', dataset = 'logs'): Promise<Checked> {
  const folder = makeTree({
    'app.log': 'x\n',
    'web.log': 'x\n',
    't.yaml': `data_dir: data
sources:
  app: {type: file, include: [app.log]}
  web: {type: file, include: [web.log], dataset: web}
sinks:
  store:
    type: ingest
    url: "${url}"
    token: ${API_TOKEN}
    dataset: ${dataset}
    ${sink}
`,
  });
  const out: string[] = [];
  const code = await check(
    { config: join(folder, 't.yaml'), json: true, online: true },
    { out: (line) => void out.push(line), error: () => {}, colours: false },
  );
  const { problems, warnings } = JSON.parse(out.join('')) as Record<'problems' | 'warnings', Finding[]>;
  const told = [...problems, ...warnings].filter(({ message }) => !message.includes('can be read by every user'));
  return {
    code,
    found: told.map(({ line, column, message, fix }) => `${line}:${column} ${message.replaceAll(url, 'URL')}; ${fix}`),
  };
}

interface Finding {
  readonly line: number;
  readonly column: number;
  readonly message: string;
  readonly fix: string;
}

test('check --online asks a real service, stores nothing, and names the dataset that it has not', async () => {
  const folder = makeTree({});
  const service = await startLocalService(folder, 'logs');
  onTestFinished(async () => void (await service.program.end('SIGKILL')));
  expect(await checkOnline(service.url)).toEqual({
    code: 1,
    found: [
      expect.stringMatching(
        /^4:50 the service at URL has no dataset `web`: HTTP 404 .*; create the dataset \(or set create_dataset: true\)/,
      ),
    ],
  });
  expect((await checkOnline(service.url, 'create_dataset: true')).found).toEqual([
    expect.stringMatching(
      /^4:50 the dataset `web` does not exist yet at URL \(HTTP 404 .*\); `run` will try to create it: the token must be allowed to \(.*--manage-datasets/,
    ),
  ]);
  await service.ask('POST', '/v1/datasets', { name: 'web' });
  for (const encoding of ['ndjson', 'json', 'csv'])
    expect(await checkOnline(service.url, `encoding: ${encoding}`)).toEqual({ code: 0, found: [] });
  expect(await service.events('logs')).toEqual([]);
});

// Symptom: `query loggs` was answered with "did you mean logs", `check --online` was not.
test('check --online names the dataset that was meant', async () => {
  const folder = makeTree({});
  const service = await startLocalService(folder, 'logs');
  onTestFinished(async () => void (await service.program.end('SIGKILL')));
  await service.ask('POST', '/v1/datasets', { name: 'web' });
  const misspelt = (name: string, more = '') => checkOnline(service.url, more, name);
  expect((await misspelt('loggs')).found).toEqual([
    expect.stringMatching(
      /^10:14 the service at URL has no dataset `loggs`: HTTP 404 .*; did you mean `logs`\? Else create the dataset/,
    ),
  ]);
  expect((await misspelt('weeb', 'create_dataset: true')).found).toEqual([
    expect.stringMatching(
      /^10:14 the dataset `weeb` does not exist yet .*; did you mean `web`\? Else `run` will try to create it/,
    ),
  ]);
  expect((await misspelt('payments')).found).toEqual([expect.stringMatching(/; create the dataset/)]);
});

test.for([
  [
    401,
    1,
    '9:12 the service refuses the token for the dataset `logs`: HTTP 401 not so; check that the token is an API token that may ingest into this dataset',
  ],
  [
    403,
    1,
    '9:12 the service refuses the token for the dataset `logs`: HTTP 403 not so; check that the token is an API token that may ingest into this dataset',
  ],
  [
    302,
    1,
    '8:10 what answers at URL is no ingest service: HTTP 302 not so; check url, and that no proxy answers in its place',
  ],
  [503, 0, '8:10 the service at URL takes no events now: HTTP 503 not so; the agent tries until it does'],
] as const)(
  'check --online tells what an answer of %i means, once, and ends with %i',
  async ([status, code, finding]) => {
    const service = await FakeService.start();
    service.respond = (_, response) => replyWith(response, status, { message: 'not so' });
    expect(await checkOnline(service.url)).toEqual({ code, found: [finding] });
    expect(service.requests.map(({ body, key }) => [body.length, key.startsWith('check-')])).toEqual([[0, true]]);
  },
);

test.skipIf(!hasOpenssl)(
  'check --online names tls.ca where the authority is not trusted (needs: apt-get install openssl)',
  async () => {
    const folder = makeTree({});
    const server = makeCertificate(folder, 'server', makeAuthority(folder, 'authority'), { names: 'IP:127.0.0.1' });
    const service = await FakeService.start(0, readCertificate(server));
    const { code, found } = await checkOnline(service.url);
    expect(code).toBe(1);
    expect(found).toEqual([
      expect.stringMatching(
        /signed by an authority that is not trusted here \(\w+\); set tls\.ca to the file with that authority's certificate$/,
      ),
    ]);
  },
);

test('check --online tells that the service cannot be reached, and takes a complaint about no events for good', async () => {
  const { code, found } = await checkOnline('http://127.0.0.1:1');
  expect([code, found]).toEqual([
    1,
    [expect.stringMatching(/^8:10 the service at URL cannot be reached: .*ECONNREFUSED.*; check url, and/)],
  ]);
  const service = await FakeService.start();
  service.respond = (_, response) => replyWith(response, 400, { message: 'no events' });
  expect(await checkOnline(service.url)).toEqual({ code: 0, found: [] });
});
