/** The password of an engine's address is in no error, log, reply or metric, however the address is written and whatever a server answers. */
import { expect, onTestFinished, test } from 'vitest';
import { hidePassword, parseClickhouseUrl } from '../../src/service/engine/clickhouse-url.ts';
import { moveToCluster } from '../../src/service/run/migrate.ts';
import { messageOf } from '../../src/core/errors.ts';
import type { Log } from '../../src/core/log.ts';
import { startClickhouse } from '../support/clickhouse.ts';
import { FakeService, type Responder } from '../support/fake-service.ts';
import { startProgram } from '../support/program.ts';
import { askSame } from '../support/proxy.ts';
import { makeTree } from '../support/temp-tree.ts';
import { startOn } from './support.ts';

/** Each with a password that holds SEC and RET, and what a person reads instead. */
const ADDRESSES: readonly (readonly [address: string, shown: string])[] = [
  ['clickhouse://u:SECRET@h:8123/db?cluster=c&secure=1', 'clickhouse://u:***@h:8123/db?cluster=c&secure=1'],
  ['clickhouse://u:SECRET@[::1]:8123,h2:1/db', 'clickhouse://u:***@[::1]:8123,h2:1/db'],
  ['clickhouse://u:SECRET', 'clickhouse://u***'],
  ['clickhouse://u:1234567SECRET', 'clickhouse://u***'],
  ['clickhouse://u:12/SEC-RET', 'clickhouse://u***'],
  ['clickhouse://u:SEC?RET', 'clickhouse://u***'],
  ['clickhouse://u:SEC#RET', 'clickhouse://u***'],
  ['clickhouse://:SECRET', 'clickhouse://***'],
  ['clickhouse://:SECRET@', 'clickhouse://:***@'],
  ['clickhouse://:SECRET@h', 'clickhouse://:***@h'],
  ['clickhouse://u:SECRET@', 'clickhouse://u:***@'],
  ['clickhouse://u:SEC@RET:w@h', 'clickhouse://u:***@h'],
  ['clickhouse://u:SEC/RET@h/db', 'clickhouse://u:***@h/db'],
  ['clickhouse://u:SEC?RET@h', 'clickhouse://u:***@h'],
  ['clickhouse://u:SEC?RET=1@h', 'clickhouse://***'],
  ['clickhouse://u:SEC#RET@h', 'clickhouse://u:***@h'],
  ['clickhouse://u:SE:SEC/R:RET@h:x', 'clickhouse://u:***@h***'],
  ['clickhouse://u:SEC RET@h h', 'clickhouse://u:***@h***'],
  ['clickhouse://u:SEC\nRET@h', 'clickhouse://u:***@h'],
  ['clickhouse://h/db?password=SECRET', 'clickhouse://h/db***'],
  ['clickhouse://h?secure=1&PASSWORD=SEC@RET&x=y', 'clickhouse://***'],
  ['clickhouse://u@h/db?cluster=SEC RET', 'clickhouse://u@h/db?cluster=SEC***'],
  ['CLICKHOUSE://u:SECRET@h', 'CLICKHOUSE://u:***@h'],
  ['ClickHouse://u:SEC@RET@h/db?secure=1', 'ClickHouse://u:***@h/db?secure=1'],
  ['clickhouse+http://u:SECRET@h', 'clickhouse+http://u:***@h'],
  ['https://u:SECRET@h', 'https://u:***@h'],
  ['clickhouse:u:SECRET@h', 'clickhouse:***@h'],
  ['clickhouse:/u:SECRET@h', 'clickhouse:***@h'],
  ['u:SECRET@h:8123', 'u:***@h:8123'],
  ['//u:SECRET@h', '//u:***@h'],
];

test.each(ADDRESSES)('%j is shown as %s', (address, shown) => {
  expect(hidePassword(address)).toBe(shown);
  let message = '';
  try {
    parseClickhouseUrl(address, {});
  } catch (error) {
    message = `${messageOf(error)} ${String((error as { fix?: string }).fix)}`;
  }
  expect(message.replace('cluster=SEC***', '')).not.toMatch(/SEC|RET/);
});

test('commands that refuse an address, or a folder for it, do not show its password', async () => {
  const data = makeTree({});
  for (const address of [
    'clickhouse://u:SEC@RET@127.0.0.1:1/db',
    'CLICKHOUSE://u:SECRET',
    'clickhouse://u:SECRET@127.0.0.1:1/db',
  ])
    for (const args of [
      ['serve', '--listen', '127.0.0.1:0', '--json', '--data', data, '--engine', address],
      ['migrate', '--json', '--data', data, '--to', address],
    ]) {
      const program = startProgram(args, {});
      expect(await program.exited).not.toBe(0);
      expect(program.stdout() + program.stderr()).toMatch(/^(?![^]*(?:SEC|RET))[^]*tailrace/);
    }
}, 60_000);

test('a server that repeats what it was sent brings no password into replies, metrics and the log', async () => {
  const cluster = await startClickhouse(1);
  onTestFinished(() => cluster.stop());
  let [isEchoing, echoed] = [false, 0];
  const proxy = await FakeService.start();
  const passOn: (...given: Parameters<Responder>) => Promise<void> = async (request, response) => {
    if (isEchoing) {
      echoed++;
      const statement = new URL(request.url, proxy.url).searchParams.get('query');
      const [, base64 = ''] = request.headers.authorization!.split(' ');
      response.writeHead(500, { 'x-clickhouse-exception-code': '209' });
      response.end(`Code: 209. DB::Exception: ${base64} ${Buffer.from(base64, 'base64').toString()} for ${statement}`);
      return;
    }
    const { authorization: _, ...headers } = request.headers;
    const answer = await askSame(`http://127.0.0.1:${new URL(cluster.url).port}`, { ...request, headers });
    answer.pipe(response.writeHead(answer.statusCode!, answer.headers));
  };
  proxy.respond = (request, response) => void passOn(request, response);
  const logged: string[] = [];
  const note = (fields: object, message: string): void => void logged.push(`${JSON.stringify(fields)} ${message}`);
  const log: Log = { debug: note, info: note, warn: note, error: note };
  const dataDir = makeTree({});
  const service = await startOn(dataDir, { engine: `clickhouse://default:SECRET@127.0.0.1:${proxy.port}/x`, log });
  const { address, credentials } = service;
  const ask = async (method: string, path: string, body?: object): Promise<string> => {
    const headers = { authorization: `Bearer ${credentials.apiToken}`, 'content-type': 'application/json' };
    const reply = await fetch(address + path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    return `${reply.status} ${await reply.text()}`;
  };
  expect(await ask('POST', '/v1/datasets', { name: 'logs' })).toMatch(/^200/);
  isEchoing = true;
  const replies = [
    await ask('POST', '/v1/ingest/logs', [{ n: 1 }]),
    await ask('POST', '/v1/datasets/logs/query', {}),
    await ask('POST', '/v1/query/_apl', { apl: 'logs | count' }),
    await ask('POST', '/v1/datasets', { name: 'more' }),
    await ask('POST', '/v1/datasets/logs/trim', { maxDuration: '1h' }),
    await ask('GET', '/v1/datasets/logs/info'),
    await ask('GET', '/healthz'),
    await ask('GET', '/readyz'),
    await ask('GET', '/metrics'),
  ];
  isEchoing = false;
  expect(echoed).toBeGreaterThan(5);
  const all = [...replies, ...logged].join('\n');
  expect(all).toContain('(hidden)');
  for (const form of ['SEC', 'RET', Buffer.from('default:SECRET').toString('base64').slice(-6)])
    expect(all).not.toContain(form);
  // Symptom: `migrate` on a folder that had moved already printed how to start the service, with the password.
  await service.close();
  const moving = moveToCluster({
    dataDir,
    to: 'clickhouse://u:SECRET@h',
    sync: false,
    log,
    env: {},
    onProgress: () => undefined,
  });
  await expect(moving).rejects.toMatchObject({ fix: 'start it with --engine clickhouse://u:***@h' });
}, 60_000);
