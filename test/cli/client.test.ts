/** The client commands as a user runs them, against the real local service. */
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import { API_TOKEN, localService, PERSONAL_TOKEN } from '../support/local-service.ts';
import { FakeService, type Responder } from '../support/fake-service.ts';
import { freePort } from '../support/free-port.ts';
import { startProgram } from '../support/program.ts';
import { askSame } from '../support/proxy.ts';
import { makeTree } from '../support/temp-tree.ts';
import { until } from '../support/until.ts';
import { tailraceFor } from './tailrace.ts';

const personal = { TAILRACE_TOKEN: PERSONAL_TOKEN, TAILRACE_ORG_ID: 'test-org' };

const service = localService('logs');
const tailrace: ReturnType<typeof tailraceFor> = (...given) =>
  tailraceFor({ TAILRACE_URL: service.url, TAILRACE_TOKEN: API_TOKEN })(...given);

const file = (name: string, content: string | Buffer): string => join(makeTree({ [name]: content }), name);

/** Asks the service as its owner. */
async function personally(method: string, path: string, body: object = {}): Promise<unknown> {
  const headers = {
    authorization: `Bearer ${PERSONAL_TOKEN}`,
    'x-service-org-id': 'test-org',
    'content-type': 'application/json',
  };
  const reply = await fetch(`${service.url}${path}`, { method, headers, body: JSON.stringify(body) });
  return JSON.parse((await reply.text()) || 'null');
}

async function makeDataset(name: string): Promise<void> {
  await service.ask('POST', '/v1/datasets', { name });
}

test('datasets are made, listed, read, changed and deleted', async () => {
  const made = await tailrace(['datasets', 'create', 'shop-1', '--description', 'of the shop', '--json']);
  expect(made).toMatchObject({ code: 0, stderr: '' });
  expect(made.json()).toMatchObject([{ id: 'shop-1', name: 'shop-1', description: 'of the shop' }]);
  const list = await tailrace(['datasets', 'list']);
  expect(list.stdout.split('\n')[0]).toMatch(/^name +created +who +description$/);
  expect(list.stdout).toMatch(/^shop-1 .* of the shop$/m);
  expect((await tailrace(['datasets', 'list', '--json'])).json().map(({ name }) => name)).toContain('shop-1');
  expect((await tailrace(['datasets', 'update', 'shop-1', '--description', 'new'])).stdout).toMatch(
    /^description +new$/m,
  );
  expect((await tailrace(['datasets', 'get', 'shop-1'])).stdout).toMatch(/^description +new$/m);
  expect(await tailrace(['datasets', 'delete', 'shop-1', '--json'], { env: personal })).toMatchObject({
    code: 0,
    stdout: '{"deleted":"shop-1"}\n',
  });
  const gone = await tailrace(['datasets', 'get', 'shop-1']);
  expect(gone).toMatchObject({ code: 1, stdout: '' });
  expect(gone.stderr).toContain(
    `tailrace: dataset "shop-1" not found (HTTP 404, GET ${service.url}/v1/datasets/shop-1)`,
  );
});

test('datasets get prints no blanks at the ends of its lines', async () => {
  await makeDataset('plain-1');
  const { stdout } = await tailrace(['datasets', 'get', 'plain-1']);
  expect(stdout).toMatch(/^description$/m);
  expect(stdout).not.toMatch(/ $/m);
});

test('an unknown dataset is made where events go into it, not where it is to be deleted', async () => {
  for (const args of [['get'], ['delete'], ['trim'], ['update', '--description', 'x']]) {
    const { stderr } = await tailrace(
      ['datasets', args[0]!, 'nope', ...(args[0] === 'trim' ? ['1d'] : args.slice(1))],
      { env: personal },
    );
    expect(stderr).toContain('`tailrace datasets list` shows those that are there');
    expect(stderr).not.toContain('datasets create');
  }
  expect((await tailrace(['datasets', 'get', 'log'])).stderr).toContain('did you mean "logs"?');
  expect((await tailrace(['ingest', 'nope'], { input: '{}' })).stderr).toContain(
    '`tailrace datasets create nope` makes it',
  );
});

test('datasets create says that a dataset is there already', async () => {
  const again = await tailrace(['datasets', 'create', 'logs']);
  expect(again).toMatchObject({ code: 1, stdout: '' });
  expect(again.stderr).toContain('HTTP 409');
});

test('datasets trim deletes older events and prints how many', async () => {
  await makeDataset('trim-1');
  await tailrace(['ingest', 'trim-1'], {
    input: '{"_time":"2020-01-01T00:00:00Z"}\n{"a":1}\n{"_time":"2021-01-01T00:00:00Z"}\n',
  });
  expect(await tailrace(['datasets', 'trim', 'trim-1', '30d'])).toMatchObject({
    code: 0,
    stdout: '2 events deleted\n',
  });
  expect(await tailrace(['datasets', 'trim', 'trim-1', '--max-duration', '1h', '--json'])).toMatchObject({
    stdout: '{"numDeleted":0}\n',
  });
});

test.each([
  [['datasets', 'create', 'no_underscores'], 'use 1 to 128 letters'],
  [['datasets', 'update', 'logs'], 'give --description'],
  [['datasets', 'trim', 'logs'], 'tailrace datasets trim logs 30d'],
  [['datasets', 'explode'], "unknown command 'explode'\n(tailrace datasets --help shows every command)"],
  [['datasets', 'explode', '-h'], "unknown command 'explode'"],
  [['xyzzy', '--help'], "unknown command 'xyzzy'\n(tailrace --help shows every command)"],
  [['help', 'datasetz'], "unknown command 'datasetz'\n(Did you mean datasets?)"],
  [['ingest'], '(tailrace ingest --help shows its arguments and options)'],
  [['ingest', 'logs', '/no/such/file'], 'nothing was sent'],
  [['ingest', 'logs', '--labels', 'team'], '--labels team=core'],
  [['ingest', 'logs', '--labels', '{"a"'], 'no JSON'],
  [['ingest', 'logs', '--format', 'xml'], 'Allowed choices are ndjson, json, csv'],
  [['query', '--dataset', 'logs', 'logs | take 1'], 'leave --dataset out for APL'],
  [['query', 'logs', '--limit', '0'], 'whole number from 1'],
  [['query', ' '], 'no query: the text is empty'],
  [['query', 'logs', '--output', 'xml'], 'Allowed choices are table, json, ndjson, csv'],
  [['whoami', '--url', 'localhost:4100'], 'https://host'],
  [['whoami', '--url', 'http://me:pw@localhost'], 'use --token'],
  [['whoami', '--timeout', '5'], 'write `5s`'],
  [['whoami', '--header-prefix', 'X Y'], 'ending in `-`'],
  [['whoami', '--token', 'two words'], 'as one word'],
  [['tokens', 'create', 'x'], 'give --ingest'],
  [['tokens', 'create', 'x', '--query', 'logs', '--expires', 'soon'], '2030-01-31'],
])('wrong usage %j ends with 2 and says what to write', async (args, wanted) => {
  const ended = await tailrace(args, { input: '{}' });
  expect(ended.stderr).toContain(wanted);
  expect(ended).toMatchObject({ code: 2, stdout: '' });
});

test('a command without a token says how to give one', async () => {
  const ended = await tailrace(['datasets', 'list'], { env: { TAILRACE_TOKEN: '' } });
  expect(ended).toMatchObject({ code: 2, stdout: '' });
  expect(ended.stderr).toContain('set TAILRACE_TOKEN, or give --token-file or --token');
});

test('a token comes from an option, a file or the environment, in this order', async () => {
  const env = { TAILRACE_TOKEN: 'xaat-wrong' };
  expect(await tailrace(['datasets', 'list', '--token-file', file('token', `${API_TOKEN}\n`)], { env })).toMatchObject({
    code: 0,
  });
  expect(await tailrace(['datasets', 'list', '--token', API_TOKEN], { env })).toMatchObject({ code: 0 });
  expect(await tailrace(['datasets', 'list'], { env })).toMatchObject({ code: 1 });
});

test.each<[string, string[], Record<string, string>, string]>([
  [
    'an unknown token',
    ['datasets', 'list'],
    { TAILRACE_TOKEN: 'xaat-nobody' },
    'the API token ending in …body (from TAILRACE_TOKEN)',
  ],
  ['a personal token that ingests', ['ingest', 'logs'], personal, 'tailrace tokens create NAME --ingest DATASET'],
  ['an API token that asks who it is', ['whoami'], {}, 'this takes personal tokens (xapt-…) only'],
])('%s is told what to do', async (_name, args, env, wanted) => {
  const ended = await tailrace(args, { env, input: '{}' });
  expect(ended.stderr).toContain('HTTP 403');
  expect(ended.stderr).toContain(wanted);
  expect(ended.stderr).not.toContain(API_TOKEN);
  expect(ended.stderr).not.toContain(PERSONAL_TOKEN);
  expect(ended).toMatchObject({ code: 1, stdout: '' });
});

// Symptom: the fix for a user who may only read was `tokens create`, which the same role may not do.
test("a personal token whose role does not allow a request gets the role's name, and an unknown one a plain refusal", async () => {
  const role = { role: 'user', email: 'reader@example.org' };
  await personally('POST', '/v2/users', { name: 'a reader', ...role });
  onTestFinished(async () => void (await personally('DELETE', `/v2/users/${role.email}`)));
  const { token } = (await personally('POST', '/v2/tokens', { name: 'reads', kind: 'personal', user: role.email })) as {
    token: string;
  };
  const reader = { ...personal, TAILRACE_TOKEN: token };
  const refused = await tailrace(['datasets', 'create', 'not-mine'], { env: reader });
  expect(refused.code).toBe(1);
  expect(refused.stderr).toContain('is of a user with the role "user", which does not allow this');
  expect(refused.stderr).not.toContain('tokens create');
  const unknown = await tailrace(['datasets', 'list'], { env: { ...personal, TAILRACE_TOKEN: 'xapt-nobody' } });
  expect(unknown.stderr).toContain('which the service does not know');
  const elsewhere = await tailrace(['datasets', 'list'], { env: { ...personal, TAILRACE_ORG_ID: 'other-org' } });
  expect(elsewhere.stderr).toContain('is of nobody in the organisation other-org');
});

test('a service that is not there is named with its address', async () => {
  const port = await freePort();
  for (const args of [
    ['datasets', 'list'],
    ['ingest', 'logs'],
    ['query', 'logs'],
  ]) {
    const ended = await tailrace([...args, '--url', `http://127.0.0.1:${port}`], { input: '{}' });
    expect(ended).toMatchObject({ code: 1, stdout: '' });
    expect(ended.stderr).toContain(`nothing listens at 127.0.0.1:${port}: start the service there, or correct --url`);
  }
});

test.each([
  ['datasets', 'get', 'lgos'],
  ['datasets', 'trim', 'lgos', '1d'],
  ['ingest', 'lgos'],
  ['query', '--dataset', 'lgos'],
])('a misspelt dataset is answered with the nearest one: %s %s', async (...args) => {
  const ended = await tailrace(args, { input: '{}' });
  expect(ended).toMatchObject({ code: 1, stdout: '' });
  expect(ended.stderr).toContain('did you mean "logs"?');
});

test('whoami, users and orgs show what a personal token may see', async () => {
  const who = await tailrace(['whoami', '--json'], { env: personal });
  expect(who.json()).toMatchObject([{ name: 'owner' }]);
  expect((await tailrace(['whoami'], { env: { TAILRACE_TOKEN: PERSONAL_TOKEN } })).stdout).toMatch(/^name +owner$/m);
  expect((await tailrace(['users', '--json'], { env: personal })).json()).toMatchObject([{ role: 'owner' }]);
  expect((await tailrace(['users'], { env: personal })).stdout).toMatch(/ owner .*ManageBilling/);
  expect((await tailrace(['orgs', '--json'], { env: personal })).json()).toMatchObject([{ id: 'test-org' }]);
  expect((await tailrace(['orgs'], { env: personal })).stdout).toMatch(/^test-org /m);
});

test('tokens are made with their rights, listed and revoked', async () => {
  await makeDataset('granted-1');
  const made = await tailrace(['tokens', 'create', 'ci', '--ingest', 'granted-1', '--expires', '1d'], {
    env: personal,
  });
  expect(made.code).toBe(0);
  expect(made.stdout).toMatch(/^xaat-[0-9a-f-]{36}\n$/);
  const env = { TAILRACE_TOKEN: made.stdout.trim() };
  expect(await tailrace(['ingest', 'granted-1'], { env, input: '{"a":1}' })).toMatchObject({ code: 0 });
  expect(await tailrace(['ingest', 'logs'], { env, input: '{"a":1}' })).toMatchObject({ code: 1 });
  const list = await tailrace(['tokens', 'list'], { env: personal });
  expect(list.stdout).toMatch(/ ci +\S+ +ingest: granted-1$/m);
  const [listed] = (await tailrace(['tokens', 'list', '--json'], { env: personal }))
    .json<{ id: string; name: string }>()
    .filter(({ name }) => name === 'ci');
  expect(await tailrace(['tokens', 'revoke', listed!.id], { env: personal })).toMatchObject({ code: 0, stdout: '' });
  expect(await tailrace(['ingest', 'granted-1'], { env, input: '{"a":1}' })).toMatchObject({ code: 1 });
  const unknown = await tailrace(['tokens', 'revoke', 'nothing'], { env: personal });
  expect(unknown).toMatchObject({ code: 1 });
  expect(unknown.stderr).toContain('`tailrace tokens list` shows the tokens');
});

test('ingest stores files of all formats, packed or not, and stdin', async () => {
  await makeDataset('formats-1');
  const files = [
    file('a.ndjson', '{"n":1}\n\n{"n":2}\n'),
    file('b.json', '[{"time":"2026-01-02T03:04:05Z","data":{"n":3}},{"n":4}]'),
    file('c.csv', 'n,text\r\n5,"two\r\nlines"\r\n6,x\r\n'),
    file('d.ndjson.gz', gzipSync('{"n":7}\n')),
    '-',
  ];
  const ended = await tailrace(['ingest', 'formats-1', ...files, '--json'], { input: '\uFEFF{"n":8}\n{"n":9}' });
  expect(ended).toMatchObject({ code: 0, stderr: '' });
  expect(ended.json()).toMatchObject([{ dataset: 'formats-1', ingested: 9, failed: 0, requests: 5, failures: [] }]);
  const events = await service.events('formats-1');
  expect(events.map(({ n }) => n as number).sort((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
  expect(events.find(({ n }) => n === 5)).toMatchObject({ text: 'two\r\nlines' });
});

test('ingest reads times and adds labels by its options', async () => {
  await makeDataset('times-1');
  const args = [
    '--timestamp-field',
    'at',
    '--timestamp-format',
    '2/Jan/2006:15:04:05 -0700',
    '--labels',
    'team=core,env=a=b',
  ];
  await tailrace(['ingest', 'times-1', ...args], { input: '{"at":"2/Mar/2026:03:04:05 +0100","n":1}' });
  const columns = [
    '--format',
    'csv',
    '--csv-delimiter',
    '\\t',
    '--csv-fields',
    'n, _time',
    '--labels',
    '{"team":"kärn"}',
  ];
  await tailrace(['ingest', 'times-1', ...columns], { input: '2\t2026-03-01T00:00:00Z\n' });
  const rows = (await tailrace(['query', '--dataset', 'times-1', '-o', 'ndjson'])).json();
  expect(rows).toMatchObject([
    { _time: '2026-03-02T02:04:05Z', n: 1, team: 'core', env: 'a=b' },
    { _time: '2026-03-01T00:00:00Z', n: 2, team: 'kärn' },
  ]);
});

test('ingest names refused events by file and line, and ends with 1', async () => {
  const path = file('bad.ndjson', '\n{"a":1}\n{"a":\n{"a":2}\n{"_time":"yesterday"}\n');
  const ended = await tailrace(['ingest', 'logs', path]);
  expect(ended.code).toBe(1);
  expect(ended.stdout).toMatch(/^2 events ingested into logs, 2 failed \(/);
  const said = ended.stderr.trim().split('\n');
  expect(said).toHaveLength(2);
  expect(said[0]).toContain(`${path}:3: `);
  expect(said[1]).toContain(`${path}:5: `);
  const [summary] = (await tailrace(['ingest', 'logs', path, '--json'])).json();
  expect(summary).toMatchObject({
    ingested: 2,
    failed: 2,
    failures: [{ file: path, lines: [3, 3], events: 1 }, { lines: [5, 5] }],
  });
});

test('ingest tells plain text from events', async () => {
  const ended = await tailrace(['ingest', 'logs'], { input: 'May 1 sshd[1]: hello\n' });
  expect(ended).toMatchObject({ code: 2, stdout: '' });
  expect(ended.stderr).toContain('lines of plain text are for the agent: `tailrace run`');
});

test('ingest makes a dataset where it is asked to', async () => {
  expect(await tailrace(['ingest', 'made-1', '--create-dataset'], { input: '{"a":1}' })).toMatchObject({ code: 0 });
  expect(await tailrace(['ingest', 'made-1', '--create-dataset'], { input: '{"a":1}' })).toMatchObject({ code: 0 });
  expect(await service.aggregate('made-1', [{ op: 'count' }])).toEqual([2]);
});

test('ingest stores fifty thousand events once, in five requests at least', async () => {
  await makeDataset('many-1');
  const lines = Array.from({ length: 50_001 }, (_, n) => `{"n":${n}}`).join('\n');
  const ended = await tailrace(['ingest', 'many-1', file('many.ndjson', lines), '--json', '--compression', 'zstd']);
  expect(ended.json()).toMatchObject([{ ingested: 50_001, failed: 0, requests: 6 }]);
  expect(
    await service.aggregate('many-1', [{ op: 'count' }, { op: 'sum', field: 'n' }, { op: 'distinct', field: 'n' }]),
  ).toEqual([50_001, (50_000 * 50_001) / 2, 50_001]);
});

test('ingest stores every event once when each first answer is lost after the service has stored the events', async () => {
  await makeDataset('lost-1');
  const lost = new Set<string>();
  const between = await FakeService.start();
  const passOn: (...given: Parameters<Responder>) => Promise<void> = async (request, response) => {
    const answer = await askSame(service.url, request);
    if (lost.has(request.key)) return void answer.pipe(response.writeHead(answer.statusCode!, answer.headers));
    lost.add(request.key);
    answer.resume().on('end', () => response.destroy());
  };
  between.respond = (request, response) => void passOn(request, response);
  const lines = Array.from({ length: 35_000 }, (_, n) => `{"n":${n}}`).join('\n');
  const ended = await tailrace(['ingest', 'lost-1', '--url', between.url, '--json'], { input: lines });
  expect(ended).toMatchObject({ code: 0 });
  expect(ended.json()).toMatchObject([{ ingested: 35_000, failed: 0, requests: 4 }]);
  expect(lost.size).toBe(4);
  expect(await service.aggregate('lost-1', [{ op: 'count' }, { op: 'distinct', field: 'n' }])).toEqual([
    35_000, 35_000,
  ]);
});

test('ingest says that an archive is broken, and is not to blame', async () => {
  const ended = await tailrace([
    'ingest',
    'logs',
    file('half.ndjson.gz', gzipSync('{"a":1}\n'.repeat(1000)).subarray(0, 40)),
  ]);
  expect(ended).toMatchObject({ code: 1, stdout: '' });
  expect(ended.stderr).toMatch(/half\.ndjson\.gz to its end: unexpected end of file\n {2}fix: /);
});

test.each([
  ['in APL, newest first', ['many-1']],
  ['in APL, oldest first', ['many-1 | sort by _time asc']],
  ['structured, newest first', ['--dataset', 'many-1']],
  ['structured, oldest first', ['--dataset', 'many-1', '{"order":[{"field":"_time","desc":false}]}']],
])('query %s follows its pages to the end, each row once, also where all have the same time', async (_name, args) => {
  const rows = (await tailrace(['query', ...args, '--all', '-o', 'ndjson'])).json();
  expect(rows).toHaveLength(50_001);
  expect(new Set(rows.map(({ n }) => n)).size).toBe(50_001);
});

test('query in APL shows columns as they were chosen, and where a text is wrong', async () => {
  const { stdout } = await tailrace([
    'query',
    'many-1 | where n < 3 | sort by n desc | project n, double = n * 2',
    '-o',
    'csv',
  ]);
  expect(stdout).toBe('n,double\n2,4\n1,2\n0,0\n');
  const wrong = await tailrace(['query', 'many-1\n| wher n < 3']);
  expect(wrong).toMatchObject({ code: 1, stdout: '' });
  expect(wrong.stderr).toMatch(/^\| wher n < 3\n {2}\^\ntailrace: line 2, column 3: /);
  expect((await tailrace(['query', 'meny-1 | take 1'])).stderr).toContain('did you mean "many-1"?');
});

test('ingest stops at SIGINT, says where, and has stored what it read', async () => {
  await makeDataset('stopped-1');
  const program = startProgram(
    ['ingest', 'stopped-1'],
    { TAILRACE_URL: service.url, TAILRACE_TOKEN: API_TOKEN },
    'pipe',
  );
  program.process.stdin!.write('{"n":1}\n{"n":2}\n');
  await until('the events', async () => (await service.aggregate('stopped-1', [{ op: 'count' }]))[0] === 2);
  expect(await program.end('SIGINT')).toBe(1);
  expect(program.stderr()).toContain('stopped at line 2 of stdin');
  expect(program.stdout()).toMatch(/^2 events ingested into stopped-1, 0 failed/);
});

test('a structured query is printed as table, CSV, NDJSON and JSON', async () => {
  await makeDataset('rows-1');
  const input =
    '{"_time":"2026-01-02T03:04:05.000000001Z","big":9007199254740993,"t":"a,\\u001b[1mb"}\n{"_time":"2026-01-02T03:04:06Z","t":"x","y":[1]}\n';
  await tailrace(['ingest', 'rows-1'], { input });
  const ask = async (...args: string[]) => {
    const ended = await tailrace([
      'query',
      '--dataset',
      'rows-1',
      '{"order":[{"field":"_time","desc":false}]}',
      ...args,
    ]);
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    return ended;
  };
  const table = (await ask()).stdout.split('\n');
  expect(table[0]).toMatch(/^_time +big +t +y +_sysTime +_rowId$/);
  expect(table[1]).toMatch(/^2026-01-02T03:04:05.000000001Z {2}9007199254740993 {2}a,\\u001b\[1mb {7}/);
  expect(table[2]).toMatch(/^2026-01-02T03:04:06Z .* x +\[1\] +2/);
  const csv = (await ask('-o', 'csv')).stdout.split('\n');
  expect(csv[0]).toBe('_time,big,t,y,_sysTime,_rowId');
  expect(csv[1]).toContain('2026-01-02T03:04:05.000000001Z,9007199254740993,"a,\u001b[1mb",,2');
  const ndjson = await ask('-o', 'ndjson');
  expect(ndjson.stdout).toContain('"big":9007199254740993');
  expect(ndjson.json()[1]).toMatchObject({ _time: '2026-01-02T03:04:06Z', t: 'x', y: [1] });
  expect(ndjson.json()[1]).not.toHaveProperty('big');
  const [reply] = (await ask('--json', '--start', '2026-01-02T03:04:06Z', '--end', '2026-01-03T00:00:00Z')).json<{
    matches: unknown[];
  }>();
  expect(reply).toMatchObject({ matches: [{ data: { t: 'x' } }], status: { rowsMatched: 1 } });
  const groups = await tailrace(['query', '-d', 'rows-1', '-'], {
    input: '{"aggregations":[{"op":"count","alias":"n"}],"groupBy":["t"],"filter":{"op":"==","field":"t","value":"x"}}',
  });
  expect(groups.stdout).toBe('t  n\nx  1\n');
});

test('help names every client command with its options', async () => {
  const { stdout } = await tailrace(['--help']);
  for (const name of ['datasets', 'ingest', 'query', 'whoami', 'users', 'orgs', 'tokens'])
    expect(stdout).toMatch(new RegExp(`^  ${name} `, 'm'));
  expect((await tailrace(['datasets', '--help'])).stdout).toMatch(/list[^]*get[^]*create[^]*update[^]*delete[^]*trim/);
  expect((await tailrace(['ingest', '--help'])).stdout).toContain('--timestamp-format');
});

// Symptom: `--url …/v1` gave a 404 of /v1/v1 and the advice to list the datasets, which gave the same.
test.for([['datasets', 'list'], ['query', 'logs'], ['ingest', 'logs'], ['whoami']])(
  'an address that ends in /v1 is named as the mistake: %s',
  async (args) => {
    const ended = await tailrace([...args, '--url', `${service.url}/v1`], { input: '{"a":1}\n' });
    expect([ended.code, ended.stderr]).toEqual([
      1,
      expect.stringContaining(`fix: the client adds \`/v1\` itself: give the address as \`--url ${service.url}\``),
    ]);
  },
);
