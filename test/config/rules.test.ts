/** Each rule of the configuration: accepted values, and the problem when it is broken. */
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadConfig, readConfig } from '../../src/config/load/load.ts';
import { makeTree } from '../support/temp-tree.ts';
import { SOURCE_TYPES } from '../../src/sources/registry.ts';
import { configOf, configWith, fileSourceOf, problemsOf, sinkOf, sourceOf } from './reading.ts';

const syslog = (id: string, listen: string) => `  ${id}: {type: syslog, listen: [${listen}]}`;

describe('inputs', () => {
  test('default to every source, and are kept as written', () => {
    const sources = '  in: {type: stdin}';
    expect(sinkOf(configOf(configWith({ sources }))).inputs).toEqual(['app', 'in']);
    expect(sinkOf(configOf(configWith({ sources, sink: 'inputs: [in, app]' }))).inputs).toEqual(['in', 'app']);
  });

  test('must name existing sources, once each', () => {
    expect(problemsOf(configWith({ sink: 'inputs: [apq, zzz, app, app]' }))).toEqual([
      '10:14: there is no source `apq`; did you mean `app`?',
      '10:19: there is no source `zzz`; known: app',
      '10:29: `app` stands in `inputs` twice; remove one',
    ]);
  });

  test('may name a source that has problems of its own', () => {
    expect(problemsOf(configWith({ sources: '  bad: {type: nope}', sink: 'inputs: [app, bad]' }))).toEqual([
      `5:15: \`type: nope\` is not known; use one of ${Object.keys(SOURCE_TYPES).join(', ')}`,
    ]);
  });

  test('must not be empty, and must leave no source out', () => {
    expect(problemsOf(configWith({ sink: 'inputs: []' }))).toEqual([
      '10:13: `inputs` is empty; write a list, such as `[app]`',
    ]);
    expect(problemsOf(configWith({ sources: '  in: {type: stdin}', sink: 'inputs: [app]' }))).toEqual([
      "5:3: the source `in` feeds no sink; add it to a sink's `inputs`, or remove it",
    ]);
  });
});

describe('sources', () => {
  test('at most one reads standard input', () => {
    expect(problemsOf(configWith({ sources: '  a: {type: stdin}\n  b: {type: stdin}' }))).toEqual([
      '6:3: there is a second stdin source beside `a`; keep one: standard input can be read once',
    ]);
  });

  test.each(['a b', 'a.b', '"é"', '""', 'a'.repeat(65)])('the id %s is refused', (id) => {
    expect(problemsOf(configWith({ sources: `  ${id}: {type: stdin}` }))[0]).toContain(
      'cannot be an id; use 1 to 64 letters, digits, `_` and `-`',
    );
  });

  test('a source without a type is reported, a misspelt one with the right name', () => {
    const [first, ...others] = Object.keys(SOURCE_TYPES);
    expect(problemsOf(configWith({ sources: '  a: {format: text}' }))).toEqual([
      `5:3: the source \`a\` has no \`type\`; add \`type: ${first}\` (or ${others.join(', ')})`,
    ]);
    expect(problemsOf(configWith({ sources: '  a: {tpye: stdin}' }))).toEqual([
      '5:3: the source `a` has no `type`; did you mean `type` by `tpye`?',
    ]);
  });

  test('empty or missing sections are reported', () => {
    expect(problemsOf('sources:\nsinks: []')).toEqual([
      '1:1: there is no source under `sources`; write at least one',
      '2:8: `sinks` must be a mapping; write its keys below it, indented, one `key: value` a line',
    ]);
    expect(problemsOf('source: {}')).toEqual([
      '1:1: unknown key `source`; did you mean `sources`?',
      '1:1: the configuration has no `sinks`; add it: where events go: an id of your choice and a mapping for each',
    ]);
  });

  test("globs start at the file's folder, whose own name is no pattern", () => {
    const folder = makeTree({
      'a[1]/t.yaml': configWith({ source: 'exclude: ["*.gz", "old/*.log"]' }).replace(
        '/var/log/*.log',
        '../logs/**/*.log", "/abs/*.log',
      ),
    });
    const source = fileSourceOf(loadConfig(join(folder, 'a[1]', 't.yaml'), {}));
    expect(source.include).toEqual([`${folder}/logs/**/*.log`, '/abs/*.log']);
    expect(source.exclude).toEqual(['*.gz', `${folder}/a\\[1\\]/old/*.log`]);
  });

  test('limits and units', () => {
    const source = fileSourceOf(
      configOf(
        configWith({
          source: 'max_event_bytes: 1KiB\nscan_interval: 250ms\nstart_at: end\nformat: json\ndataset: my-logs',
        }),
      ),
    );
    expect(source).toMatchObject({
      maxEventBytes: 1024,
      scanIntervalMs: 250,
      startAt: 'end',
      format: 'json',
      dataset: 'my-logs',
    });
    expect(problemsOf(configWith({ source: 'max_event_bytes: 1023\nscan_interval: 99ms' }))).toEqual([
      '5:22: `max_event_bytes`: `1023` is smaller than 1KiB; write a size from 1KiB to 10MiB',
      '6:20: `scan_interval`: `99ms` is shorter than 100ms; write a duration from 100ms to 1h',
    ]);
    expect(problemsOf(configWith({ source: 'max_event_bytes: 11MiB' }))).toEqual([
      '5:22: `max_event_bytes`: `11MiB` is larger than 10MiB; write a size from 1KiB to 10MiB',
    ]);
  });
});

describe('not available yet', () => {
  test('the value that is there already is accepted', () => {
    const source = 'on_oversize: truncate\norder: fair\ncharset: utf-8\nread_compressed: false';
    expect(() => configOf(configWith({ source, sink: 'encoding: ndjson\nbuffer: {when_full: block}' }))).not.toThrow();
  });
});

describe('listen', () => {
  test('takes names, IPv4, IPv6 in brackets, and port 0 any number of times', () => {
    const sources = syslog('net', '"udp://[::1]:0", "udp://[::1]:0", tcp://localhost:5514, udp://0.0.0.0:5514');
    expect(sourceOf(configOf(configWith({ sources })), 'net')).toMatchObject({
      listen: [
        { protocol: 'udp', host: '::1', port: 0 },
        { protocol: 'udp', host: '::1', port: 0 },
        { protocol: 'tcp', host: 'localhost', port: 5514 },
        { protocol: 'udp', host: '0.0.0.0', port: 5514 },
      ],
    });
  });

  test.each([
    ['tls://127.0.0.1:6514', 'a TLS listener has no `tls.cert`; add `tls: {cert: tls.crt, key: tls.key}`'],
    ['systemd-tls://', 'a TLS listener has no `tls.cert`'],
    ['unix://run/x.sock', 'has no absolute path of a socket'],
    ['unixgram:///run/', 'has no absolute path of a socket'],
    [`unix:///${'x'.repeat(107)}`, 'has a path of more than 107 bytes'],
    ['systemd://a:b', 'has no valid name of descriptors'],
    ['http://127.0.0.1:1', 'has the unknown protocol `http`'],
    ['127.0.0.1:514', 'is not an address to listen on'],
    ['udp://127.0.0.1', 'has no `host:port`'],
    ['udp://127.0.0.1:65536', 'has the port 65536, above 65535'],
    ['udp://::1:514', 'has an IPv6 address without brackets'],
    ['udp://[::g]:514', 'has no IPv6 address in its brackets'],
    ['udp://1.2.3:514', 'has no valid host'],
    ['udp://:514', 'has no valid host'],
    ['udp://a/b:514', 'has no valid host'],
  ])('%s is refused', (address, message) => {
    expect(problemsOf(configWith({ sources: syslog('net', `"${address}"`) }))[0]).toContain(message);
  });

  test('a port is taken once: by one source, by two, by telemetry', () => {
    const sources = [
      syslog('a', 'tcp://127.0.0.1:5514, tcp://127.0.0.1:5514, udp://127.0.0.1:5514'),
      syslog('b', 'tcp://0.0.0.0:5514, tcp://127.0.0.1:9600'),
    ];
    expect(problemsOf(configWith({ sources: sources.join('\n') }))).toEqual([
      '5:52: tcp port 5514 is already taken by the source `a`; choose another port',
      '6:30: tcp port 5514 is already taken by the source `a`; choose another port',
      '6:50: tcp port 9600 is already taken by `telemetry.listen`; choose another port',
    ]);
    const unix = [syslog('c', 'unix:///run/x, unixgram:///run/x'), syslog('d', 'systemd://a, systemd://')];
    expect(problemsOf(configWith({ sources: unix.join('\n') }))).toEqual([
      '5:45: the socket `/run/x` is already taken by the source `c`; choose another one',
      expect.stringContaining('is already taken by the source `d`; choose another one'),
    ]);
    expect(() =>
      configOf(configWith({ agent: 'telemetry: {listen: none}', sources: syslog('b', 'tcp://127.0.0.1:9600') })),
    ).not.toThrow();
  });

  test('takes TLS, unix sockets and what systemd opened, with their keys', () => {
    const keys = `tls: {cert: /c, key: /k, ca: /a, require_client_cert: true}, socket_mode: "0622", proxy_protocol: true, max_connections: 7, idle_timeout: 5m`;
    const sources = `  net: {type: syslog, listen: ["tls://[::1]:6514", unix:///run/s.sock, unixgram:///run/d.sock, systemd://plain, systemd-tls://web], ${keys}, parse_json: cee}`;
    expect(sourceOf(configOf(configWith({ sources })), 'net')).toMatchObject({
      listen: [
        { protocol: 'tls', host: '::1', port: 6514 },
        { protocol: 'unix', path: '/run/s.sock' },
        { protocol: 'unixgram', path: '/run/d.sock' },
        { protocol: 'systemd', name: 'plain' },
        { protocol: 'systemd-tls', name: 'web' },
      ],
      tls: { cert: '/c', key: '/k', ca: '/a', requireClientCert: true },
      socketMode: 0o622,
      proxyProtocol: true,
      maxConnections: 7,
      idleTimeoutMs: 300_000,
      parseJson: 'cee',
      charset: 'utf-8',
    });
  });

  test('a certificate of senders needs the authority that signs it, and a mode octal digits', () => {
    const base = 'type: syslog, listen: [tls://127.0.0.1:6514]';
    const problems = (keys: string) => problemsOf(configWith({ sources: `  net: {${base}, ${keys}}` })).join();
    expect(problems('tls: {cert: /c, key: /k, require_client_cert: true}')).toContain(
      '`require_client_cert` is given without `ca`',
    );
    expect(problems('tls: {cert: /c}')).toContain('a TLS listener has no `tls.key`');
    expect(problems('tls: {cert: /c, key: /k}, socket_mode: "0888"')).toContain('is no set of permissions');
  });

  test('timezone must be known', () => {
    expect(
      problemsOf(configWith({ sources: '  n: {type: syslog, listen: [udp://127.0.0.1:0], timezone: Europe/Athen}' })),
    ).toEqual(['5:60: `timezone`: `Europe/Athen` is not a known time zone; did you mean `Europe/Athens`?']);
  });

  test.each([
    ['2006-01-02 15:04:05 MST', 'MST'],
    ['2006-01-02 15:04:05 CEST', 'CEST'],
    ['2006-01-02 15:04:05 EET', 'EET'],
    ['2006-01-02 15:04:05 UTC', undefined],
    ['2006-01-02 15:04:05 GMT', undefined],
    ['2006-01-02T15:04:05Z', undefined],
    ['2006-01-02 15:04:05 -0700', undefined],
  ])('a layout that names a zone gets a warning: %s', (layout, name) => {
    const text = configWith({ source: `time: {field: at, format: "${layout}"}` });
    const { warnings } = readConfig(join(makeTree({ 'tailrace.yaml': text }), 'tailrace.yaml'), {});
    const zones = warnings.filter(({ message }) => message.includes('does not tell its offset'));
    expect(zones.map(({ line, message }) => [line, /`(\w+)`/.exec(message)?.[1]])).toEqual(
      name === undefined ? [] : [[5, name]],
    );
  });
});

describe('sinks', () => {
  test.each([
    ['https://h/', 'https://h'],
    ['http://h:4100/base/', 'http://h:4100/base'],
    ['http://[::1]:4100', 'http://[::1]:4100'],
  ])('the address %s is %s', (url, expected) =>
    expect(sinkOf(configOf(configWith({}).replace('http://127.0.0.1:4100', `"${url}"`))).url).toBe(expected),
  );

  test.each([
    ['ftp://h', 'is not an http or https address'],
    ['h:4100', 'is not an http or https address'],
    ['http://', 'is not an http or https address'],
    ['http://a b', 'is not an http or https address'],
    ['http://u:p@h', 'holds a user or password'],
    ['http://h?', 'holds a query or fragment'],
    ['http://h#a', 'holds a query or fragment'],
    ['http://127.0.0.1:141777', 'has the port 141777; a port is at most 65535'],
    ['https://[::1]:65536/base', 'has the port 65536; a port is at most 65535'],
  ])('the address %s is refused', (url, message) =>
    expect(problemsOf(configWith({}).replace('http://127.0.0.1:4100', `"${url}"`))[0]).toContain(message),
  );

  test('edge_url takes the place of url', () => {
    expect(sinkOf(configOf(configWith({ sink: 'edge_url: https://edge' }))).url).toBe('https://edge');
  });

  test.each(['my_logs', 'a/b', 'é', 'a'.repeat(129), '"a b"'])('the dataset %s is refused', (name) => {
    expect(problemsOf(configWith({}).replace('dataset: logs', `dataset: ${name}`))[0]).toContain(
      'is not a dataset name',
    );
  });

  test('a dataset of digits needs quotes, and the text says so', () => {
    expect(problemsOf(configWith({}).replace('dataset: logs', 'dataset: 2024'))).toEqual([
      '9:14: `dataset` must be text, not a number; put it in quotes: `"2024"`',
    ]);
    expect(sinkOf(configOf(configWith({}).replace('dataset: logs', 'dataset: "2024"'))).dataset).toBe('2024');
  });

  test('a batch takes at most half of the memory', () => {
    expect(problemsOf(configWith({ sink: 'batch: {max_bytes: 2MiB}\nbuffer: {max_memory: 3MiB}' }))).toEqual([
      '10:24: `batch.max_bytes` (2MiB) is more than half of `buffer.max_memory` (3MiB); write at most 1536KiB, or raise `buffer.max_memory` to 4MiB',
    ]);
    expect(() => configOf(configWith({ sink: 'batch: {max_bytes: 2MiB}\nbuffer: {max_memory: 4MiB}' }))).not.toThrow();
  });

  // Symptom: `max_memory: 1MiB`, the least that there may be, was refused over a batch size that nobody wrote.
  test('a batch that nobody sized shrinks with the memory', () => {
    const bytesOf = (sink: string): number => sinkOf(configOf(configWith({ sink }))).batch.maxBytes;
    expect([
      bytesOf('buffer: {max_memory: 1MiB}'),
      bytesOf('buffer: {max_memory: 1500KiB}\nbatch: {max_age: 5s}'),
    ]).toEqual([512 * 1024, 750 * 1024]);
    expect(bytesOf('buffer: {max_memory: 3MiB}')).toBe(1024 * 1024);
  });

  test('limits of counts, and backoffs in order', () => {
    expect(
      problemsOf(
        configWith({
          sink: 'batch: {max_events: 10001}\nconcurrency: 65\nretry: {initial_backoff: 2s, max_backoff: 1s}',
        }),
      ),
    ).toEqual([
      '10:25: `max_events` must be a whole number from 1 to 10000, not `10001`',
      '11:18: `concurrency` must be a whole number from 1 to 64, not `65`',
      '12:30: `initial_backoff` (2s) is longer than `max_backoff` (1s); write at most 1s',
    ]);
    expect(problemsOf(configWith({ sink: 'concurrency: 1.5' }))).toHaveLength(1);
  });

  test.each([
    '2006-01-02T15:04:05Z07:00',
    '2/Jan/2006:15:04:05 -0700',
    'Mon Jan _2 15:04:05 2006',
    '06-002',
    'unix',
    'unixnano',
    'rfc3339',
  ])('the time format %s is accepted', (layout) => {
    expect(
      sinkOf(configOf(configWith({ sink: `timestamp_field: ts\ntimestamp_format: '${layout}'` }))).timestampFormat,
    ).toBe(layout);
  });

  test.each([
    ['%Y-%m-%d', 'is a strftime format'],
    ['yyyy-MM-dd', 'is a format in letters'],
    ['15:04:05', 'has no year'],
    ['2006 02', 'has no month'],
    ['Jan 2006', 'has no day'],
    ['unixmss', 'did you mean `unixms`?'],
  ])('the time format %s is refused', (layout, message) => {
    expect(problemsOf(configWith({ sink: `timestamp_field: ts\ntimestamp_format: '${layout}'` }))[0]).toContain(
      message,
    );
  });

  test.each(['X-Service', '"X Service-"', '"-"', '"X:-"'])('the header prefix %s is refused', (prefix) => {
    expect(problemsOf(configWith({ sink: `header_prefix: ${prefix}` }))[0]).toContain('is not a header prefix');
  });

  test('an organisation that no header can carry is refused', () => {
    expect(problemsOf(configWith({ sink: 'org_id: "a b"' }))[0]).toContain('cannot stand in a header');
  });
});

describe('fields', () => {
  test('hold any JSON value; those of the source win', () => {
    const agent = 'fields: {a: 1, b: [x, {y: null}], "__proto__": p, 404: true, f: 1.5, e: ""}';
    const { fields } = sourceOf(configOf(configWith({ agent, source: 'fields: {a: 2}' })));
    expect(JSON.stringify(fields)).toBe('{"404":true,"a":2,"b":["x",{"y":null}],"__proto__":"p","f":1.5,"e":""}');
  });

  test('numbers that JSON cannot keep are refused', () => {
    expect(problemsOf(configWith({ agent: 'fields: {a: 9007199254740993, b: .nan, c: -.inf}' }))).toEqual([
      '1:13: `9007199254740993` cannot be kept exactly as a number; put it in quotes: `"9007199254740993"`',
      '1:34: `.nan` cannot be kept exactly as a number; put it in quotes: `".nan"`',
      '1:43: `-.inf` cannot be kept exactly as a number; put it in quotes: `"-.inf"`',
    ]);
  });

  test("number at most 60 and take at most 16 KiB, the agent's and the source's together", () => {
    expect(() => configOf(configWith({ agent: many('a', 60), source: many('a', 60) }))).not.toThrow();
    expect(problemsOf(configWith({ agent: many('a', 61) }))).toEqual([
      '1:1: 61 fields are added to every event; add at most 60, or nest them',
    ]);
    expect(problemsOf(configWith({ agent: many('a', 30), source: many('b', 31) }))).toEqual([
      "6:5: 61 fields, the agent's included, are added to every event; add at most 60, or nest them",
    ]);
    expect(
      problemsOf(
        configWith({ agent: `fields: {a: [${Array.from({ length: 5 }, () => 'x'.repeat(4000)).join(', ')}]}` }),
      )[0],
    ).toMatch(/^1:1: the fields added to every event take \d+ bytes; shorten them to 16384$/);
  });

  test('must be a mapping; an empty one has no keys', () => {
    expect(problemsOf(configWith({ agent: 'fields: [a]' }))).toEqual([
      '1:9: `fields` must be a mapping of names to values; write it as `fields: {env: prod}`',
    ]);
    expect(sourceOf(configOf(configWith({ agent: 'fields:' }))).fields).toEqual({});
  });
});

describe('agent', () => {
  test('the data folder is the one written, else $STATE_DIRECTORY, else in the working directory', () => {
    expect(configOf(configWith({ agent: 'data_dir: /var/lib/t' }), { STATE_DIRECTORY: '/s' }).dataDir).toBe(
      '/var/lib/t',
    );
    expect(configOf(configWith({}), { STATE_DIRECTORY: '/s/one:/s/two' }).dataDir).toBe('/s/one');
    expect(configOf(configWith({})).dataDir).toBe(join(process.cwd(), 'tailrace-data'));
    expect(configOf(configWith({}), { STATE_DIRECTORY: '' }).dataDir).toBe(join(process.cwd(), 'tailrace-data'));
    const relative = configOf(configWith({ agent: 'data_dir: data' }));
    expect(relative.dataDir).toBe(join(relative.file, '..', 'data'));
  });

  test('telemetry listens on loopback by default and can be switched off', () => {
    expect(configOf(configWith({})).telemetry).toEqual({
      listen: { host: '127.0.0.1', port: 9600 },
      page: true,
      liveTail: false,
      logLevel: 'info',
    });
    expect(configOf(configWith({ agent: 'telemetry: {listen: none, log_level: debug}' })).telemetry).toEqual({
      listen: undefined,
      page: false,
      liveTail: false,
      logLevel: 'debug',
    });
    const pageOf = (telemetry: string): boolean =>
      configOf(configWith({ agent: `telemetry: {${telemetry}}` })).telemetry.page;
    expect(
      ['localhost:9600', '[::1]:9600', '0.0.0.0:9600', '[::]:9600', '192.0.2.1:9600'].filter((at) =>
        pageOf(`listen: "${at}"`),
      ),
    ).toEqual(['localhost:9600', '[::1]:9600']);
    expect(pageOf('listen: "0.0.0.0:9600", page: true')).toBe(true);
    expect(pageOf('page: false')).toBe(false);
    expect(configOf(configWith({ agent: 'telemetry: {listen: "[::]:0"}' })).telemetry.listen).toEqual({
      host: '::',
      port: 0,
    });
    expect(problemsOf(configWith({ agent: 'telemetry: {listen: 9600, log_level: loud}' }))).toEqual([
      '1:21: `listen` must be text, not a number; put it in quotes: `"9600"`',
      '1:38: `log_level: loud` is not known; use one of debug, info, warn, error',
    ]);
  });

  test('a key without a value is reported, a group without keys has its defaults', () => {
    expect(problemsOf(configWith({ agent: 'data_dir:' }))).toEqual([
      '1:1: `data_dir` has no value; give it a value, or remove it',
    ]);
    expect(configOf(configWith({ agent: 'telemetry:' })).telemetry.logLevel).toBe('info');
  });
});

function many(prefix: string, count: number): string {
  return `fields: {${Array.from({ length: count }, (_, index) => `${prefix}${index}: 1`).join(', ')}}`;
}
