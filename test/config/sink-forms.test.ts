/** How a sink's requests are written and which way they take: encodings, labels, certificates, proxies. */
import { describe, expect, test } from 'vitest';
import { join } from 'node:path';
import { checkMachine } from '../../src/cli/check/check-machine.ts';
import { memoryOf } from '../../src/agent/build/sink-pipeline.ts';
import { readConfig } from '../../src/config/load/load.ts';
import { parseProxy, proxyVariableFor } from '../../src/config/connect/proxy.ts';
import { ingestForms } from '../../src/sinks/ingest/encode/encoder.ts';
import { makeTree } from '../support/temp-tree.ts';
import { configOf, configWith, problemsOf, sinkOf } from './reading.ts';

function warningsOf(text: string): string[] {
  return readConfig(join(makeTree({ 'tailrace.yaml': text }), 'tailrace.yaml'), {}).warnings.map(
    ({ message }) => message,
  );
}

describe('encoding', () => {
  test('has a form that loses nothing by default', () => {
    expect(sinkOf(configOf(configWith({})))).toMatchObject({
      encoding: 'ndjson',
      csv: { columns: undefined, extra: 'json', header: 'line' },
      json: { envelope: false },
      labels: {},
      createDataset: false,
    });
  });

  test('csv takes columns, a column for the rest, and a place for the names', () => {
    const sink = 'encoding: csv\ncsv: {columns: [_time, "a b"], extra: drop, header: header}\ncreate_dataset: true';
    expect(sinkOf(configOf(configWith({ sink })))).toMatchObject({
      encoding: 'csv',
      csv: { columns: ['_time', 'a b'], extra: undefined, header: 'header' },
      createDataset: true,
    });
    expect(
      sinkOf(configOf(configWith({ sink: 'encoding: json\njson: {envelope: true}\nlabels: {team: core, n: 1}' }))),
    ).toMatchObject({
      json: { envelope: true },
      labels: { team: 'core', n: 1 },
    });
  });

  test.each([
    ['csv: {columns: []}', '`columns` is empty'],
    ['csv: {columns: [a, a]}', 'the column `a` stands there twice'],
    ['csv: {columns: [a, rest], extra: rest}', 'the column `rest` stands also in `extra`'],
    ['csv: {columns: [" a"]}', 'cannot be a column'],
    ['csv: {columns: ["a,b"], header: header}', 'the column `a,b` cannot stand in a header'],
    ['csv: {columns: ["é"], header: header}', 'the column `é` cannot stand in a header'],
    ['csv: {header: header}', '`header: header` is given without `columns`'],
    ['csv: {columns: [a], wide: 1}', 'unknown key `wide`'],
    [`csv: {columns: [${Array.from({ length: 1024 }, (_, n) => `c${n}`).join(', ')}]}`, 'there are 1024 columns'],
    ['json: {envelope: 1}', '`envelope` must be true or false'],
    ['labels: [a]', '`labels` must be a mapping'],
    [`labels: {a: ${'é'.repeat(800)}}`, 'the labels take 4808 bytes of a header'],
  ])('%# is refused', (sink, message) => expect(problemsOf(configWith({ sink }))[0]).toContain(message));
});

describe('tls', () => {
  const https = (text: string) => text.replace('http://127.0.0.1', 'https://127.0.0.1');

  test('takes files, relative ones from the credentials or the folder of the configuration', () => {
    const text = https(configWith({ sink: 'tls: {ca: ca.pem, cert: /abs/c.crt, key: client.key}' }));
    const credentials = makeTree({ 'client.key': '' });
    const config = configOf(text, { CREDENTIALS_DIRECTORY: credentials });
    expect(sinkOf(config).tls).toEqual({
      ca: join(config.file, '..', 'ca.pem'),
      cert: '/abs/c.crt',
      key: join(credentials, 'client.key'),
    });
  });

  test('wants a key with a certificate and a certificate with a key', () => {
    expect(problemsOf(configWith({ sink: 'tls: {cert: a}' }))).toEqual([
      '10:11: `tls.cert` is given without `tls.key`; add `key`, or remove it',
    ]);
    expect(problemsOf(configWith({ sink: 'tls: {key: a}' }))).toEqual([
      '10:11: `tls.key` is given without `tls.cert`; add `cert`, or remove it',
    ]);
  });

  test('that cannot be read is a problem that check finds, at its place', async () => {
    const text = https(configWith({ sink: 'token: t\ntls:\n  ca: ca.pem\n  cert: c.crt\n  key: c.key' }));
    const file = join(makeTree({ 't.yaml': text, 'ca.pem': 'no certificate' }), 't.yaml');
    const read = readConfig(file, {});
    const { problems } = await checkMachine(read.config!, (path) => read.locate(path));
    expect(problems).toEqual([
      {
        file,
        line: 13,
        column: 13,
        message: expect.stringContaining('ENOENT'),
        fix: expect.stringContaining('check the path'),
      },
    ]);
  });

  test('without an https address is reported as a likely mistake', () => {
    expect(warningsOf(configWith({ sink: 'tls: {ca: a}' }))).toEqual([
      '`tls` has no effect: events and token are sent in the clear',
    ]);
    expect(warningsOf(https(configWith({ sink: 'tls: {ca: a}' })))).toEqual([]);
    expect(warningsOf(configWith({ sink: 'tls:' }))).toEqual([]);
  });
});

describe('proxy', () => {
  test.each([
    ['proxy:3128', 'http://proxy:3128'],
    ['http://proxy:3128/', 'http://proxy:3128'],
    ['https://u:p%40@[::1]:8443', 'https://u:p%40@[::1]:8443'],
  ])('%s is read as %s', (written, value) => expect(parseProxy(written)).toEqual({ value }));

  test.each([
    ['socks5://p', 'is not an http or https proxy'],
    ['http://p/path', 'has more than a host and a port'],
    ['http://a b', 'is not the address of a proxy'],
    ['http://:80', 'is not the address of a proxy'],
    ['http://u:100%@p', 'has a `%` in its user or password'],
  ])('%s is refused', (written, message) =>
    expect(parseProxy(written)).toMatchObject({ message: expect.stringContaining(message) }),
  );

  const address = 'https://ingest.example.com';
  test.each([
    [address, { HTTPS_PROXY: 'a' }, 'HTTPS_PROXY'],
    [address, { HTTPS_PROXY: 'a', https_proxy: 'b' }, 'https_proxy'],
    [address, { HTTP_PROXY: 'a' }, 'HTTP_PROXY'],
    ['http://ingest.example.com', { HTTPS_PROXY: 'a' }, undefined],
    ['http://ingest.example.com', { http_proxy: 'a' }, 'http_proxy'],
    [address, { HTTPS_PROXY: '' }, undefined],
    [address, { HTTPS_PROXY: 'a', NO_PROXY: '*' }, undefined],
    [address, { HTTPS_PROXY: 'a', NO_PROXY: 'x, Example.COM' }, undefined],
    [address, { HTTPS_PROXY: 'a', NO_PROXY: '.example.com' }, undefined],
    [address, { HTTPS_PROXY: 'a', NO_PROXY: '*.example.com' }, undefined],
    ['https://example.com', { HTTPS_PROXY: 'a', NO_PROXY: '*.example.com' }, 'HTTPS_PROXY'],
    ['https://myexample.com', { HTTPS_PROXY: 'a', NO_PROXY: 'example.com' }, 'HTTPS_PROXY'],
    [address, { HTTPS_PROXY: 'a', NO_PROXY: 'example.com:8443' }, 'HTTPS_PROXY'],
    [`${address}:8443`, { HTTPS_PROXY: 'a', NO_PROXY: 'example.com:8443' }, undefined],
    [address, { HTTPS_PROXY: 'a', no_proxy: 'other', NO_PROXY: '*' }, 'HTTPS_PROXY'],
    ['https://[fe80::1:2]', { HTTPS_PROXY: 'a', NO_PROXY: 'fe80::1:2' }, undefined],
    ['https://[fe80::1:2]:444', { HTTPS_PROXY: 'a', NO_PROXY: '[fe80::1:2]:443' }, 'HTTPS_PROXY'],
    ['https://[fe80::1:2]', { HTTPS_PROXY: 'a', NO_PROXY: '[fe80::1:2]:443' }, undefined],
    ['http://localhost:4100', { HTTP_PROXY: 'a' }, undefined],
    ['http://127.8.0.1:4100', { HTTP_PROXY: 'a' }, undefined],
    ['http://[::1]:4100', { HTTP_PROXY: 'a' }, undefined],
    ['http://128.8.0.1:4100', { HTTP_PROXY: 'a' }, 'HTTP_PROXY'],
  ])('for %s with %j is named by %s', (url, env, name) => expect(proxyVariableFor(url, env)).toBe(name));

  test('is the configured one, else the one of the environment, for each address its own', () => {
    const env = { HTTPS_PROXY: 'http://from-env:1', NO_PROXY: 'api.example.com' };
    const text = configWith({ sink: `edge_url: ${address}` }).replace(
      'http://127.0.0.1:4100',
      'https://api.example.com',
    );
    expect(sinkOf(configOf(text, env))).toMatchObject({
      url: address,
      proxy: 'http://from-env:1',
      apiUrl: 'https://api.example.com',
      apiProxy: undefined,
    });
    const configured = configWith({ sink: 'proxy: http://mine:2' });
    expect(sinkOf(configOf(configured, env))).toMatchObject({ proxy: 'http://mine:2', apiProxy: 'http://mine:2' });
  });

  test('that is wrong is reported without its password, wherever it comes from', () => {
    const inFile = problemsOf(configWith({ sink: 'proxy: "http://user:pass word@p"' }));
    expect(inFile).toEqual([expect.stringContaining('10:12: `proxy` is not the address of a proxy')]);
    const text = configWith({}).replace('http://127.0.0.1:4100', address);
    const inEnvironment = problemsOf(text, { HTTPS_PROXY: 'socks5://user:pass-word@p' });
    expect(inEnvironment).toEqual([
      expect.stringContaining('8:10: the variable HTTPS_PROXY is not an http or https proxy'),
    ]);
    expect(`${inFile.join()} ${inEnvironment.join()}`).not.toMatch(/pass.word/);
    // Where the environment is not asked, it does not matter.
    expect(() => configOf(configWith({ sink: 'proxy: http://p' }), { HTTPS_PROXY: 'socks5://p' })).not.toThrow();
  });
});

test('requests that do not fit into memory together are warned of', () => {
  expect(warningsOf(configWith({ sink: 'batch: {max_bytes: 10MiB}' }))).toEqual([
    'only 2 of the 4 requests of `concurrency` fit into `buffer.max_memory` (32MiB)',
  ]);
  expect(warningsOf(configWith({ sink: 'concurrency: 30' }))).toEqual([]);
  for (const sink of ['concurrency: 31', 'concurrency: 32', 'buffer: {max_memory: 4MiB}', 'buffer: {max_memory: 1MiB}'])
    expect(warningsOf(configWith({ sink })), sink).toHaveLength(1);
});

test('forms have the names and keys that a data folder of the release before holds, however the keys are written', () => {
  const sink = sinkOf(
    configOf(configWith({ sink: 'encoding: csv\ncsv: {header: line, extra: rest, columns: [_time, a]}' })),
  );
  const form = ingestForms.formOf(sink);
  const csv = '{"columns":["_time","a"],"extra":"rest","header":"line"}';
  expect(ingestForms.nameOf(form)).toBe(`["csv",${csv},{}]`);
  expect(JSON.stringify(form)).toBe(`{"encoding":"csv","csv":${csv},"json":{"envelope":false},"labels":{}}`);
  expect(ingestForms.nameOf(ingestForms.formOf(sinkOf(configOf(configWith({})))))).toBe('ndjson');
});

test.each([1, 2, 3, 8])('sinks with `memory: small` have 8 MiB in all, %i of them', (count) => {
  const ids = Array.from(
    { length: count - 1 },
    (_, n) => `  s${n}: {type: ingest, url: 'http://h', token: t, dataset: logs}`,
  );
  const { sinks, written } = configOf(configWith({ agent: 'memory: small', sinks: ids.join('\n') }));
  expect(sinks).toHaveLength(count);
  const sum = sinks.reduce((bytes, { buffer }) => bytes + buffer.maxMemoryBytes, 0);
  expect(sum).toBeLessThanOrEqual(8 * 1024 ** 2);
  expect(sum).toBeGreaterThan(8 * 1024 ** 2 - count * 1024);
  const { slotBytes, slots } = memoryOf(sinks[0]!);
  // Three batches always fit.
  expect((slots + 1) * slotBytes).toBeLessThanOrEqual(Math.max(sum / count, 3 * slotBytes));
  expect(sinks.map(({ concurrency }) => concurrency)).toEqual(sinks.map(() => 2));
  expect(written['sinks']).toMatchObject({
    store: { concurrency: 2, buffer: { max_memory: `${Math.floor(8192 / count)}KiB` } },
  });
});

test('keys of a sink win over `memory: small`, and problems with its share are at the key that was written', () => {
  const small = (sink: string) => configWith({ agent: 'memory: small', sink });
  const { buffer, concurrency } = sinkOf(configOf(small('buffer: {max_memory: 16MiB}\nconcurrency: 3')));
  expect([buffer.maxMemoryBytes, concurrency]).toEqual([16 * 1024 ** 2, 3]);
  expect(sinkOf(configOf(small('buffer: {sync: always}'))).buffer).toMatchObject({
    maxMemoryBytes: 8 * 1024 ** 2,
    sync: 'always',
  });
  expect(warningsOf(small(''))).toEqual([]);
  expect(problemsOf(small('batch: {max_bytes: 5MiB}'))).toEqual([
    expect.stringContaining('more than half of `buffer.max_memory` (8MiB)'),
  ]);
  expect(problemsOf(configWith({ agent: 'memory: tiny' }))).toEqual([
    '1:9: `memory: tiny` is not known; use one of default, small',
  ]);
  expect(sinkOf(configOf(configWith({ agent: 'memory: ${SIZE:-small}' }))).buffer.maxMemoryBytes).toBe(8 * 1024 ** 2);
});
