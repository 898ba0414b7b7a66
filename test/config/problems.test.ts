/** What a person reads when the configuration is wrong: whole texts at exact places. */
import { mkdirSync, chmodSync, writeFileSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ConfigError } from '../../src/config/config-error.ts';
import { loadConfig } from '../../src/config/load/load.ts';
import { UsageError } from '../../src/core/errors.ts';
import { SINK_TYPES } from '../../src/sinks/registry.ts';
import { SOURCE_TYPES } from '../../src/sources/registry.ts';
import { makeTree } from '../support/temp-tree.ts';
import { configWith, problemsOf, problemsOfFile } from './reading.ts';

const TEN_MISTAKES = `data_dirr: /var/lib/tailrace
shutdown_timeout: 30
sources:
  app:
    type: file
    include: /var/log/*.log
    charset: lattin1
    max_event_bytes: 64k
  pipe: {type: stdim}
sinks:
  store:
    type: ingest
    inputs: [app, pip]
    url: http://127.0.0.1:4100?x=1
    token: "\${NO_TOKEN}"
    batch: {max_bytes: 20MiB, max_evnts: 3}
    max_age: 1s
    timestamp_format: "%Y-%m-%d"
`;

test('a configuration with many mistakes reports all of them at once, in order', () => {
  expect(problemsOf(TEN_MISTAKES)).toEqual([
    '1:1: unknown key `data_dirr`; did you mean `data_dir`?',
    '2:19: `shutdown_timeout`: `30` has no unit; write `30s` for seconds or `30ms` for milliseconds',
    '6:14: `include` must be a list; write a list, such as `["/var/log/app/*.log"]`',
    '7:14: `charset`: `lattin1` is no charset that is known; did you mean `latin1`?',
    '8:22: `max_event_bytes`: `64k` is not a size; write `64KiB` (counted in 1,024) or `64KB` (counted in 1,000)',
    `9:16: \`type: stdim\` is not known; did you mean \`stdin\`? Known: ${Object.keys(SOURCE_TYPES).join(', ')}`,
    '11:3: `store` has no `dataset`; add `dataset: logs`',
    '13:19: there is no source `pip`; did you mean `pipe`?',
    '14:10: `url`: `http://127.0.0.1:4100?x=1` holds a query or fragment; end it before the `?` or `#`',
    '15:13: the environment variable `NO_TOKEN` is not set; set NO_TOKEN, or use `token_file`',
    '16:24: `max_bytes`: `20MiB` is larger than 10MiB; write a size from 1KiB to 10MiB',
    '16:31: unknown key `max_evnts`; did you mean `max_events`?',
    '17:5: unknown key `max_age`; it belongs under `batch`',
    '18:5: `timestamp_format` is given without `timestamp_field`; add `timestamp_field`, or remove it',
    '18:23: `timestamp_format`: `%Y-%m-%d` is a strftime format, not a Go layout; write the time Mon Jan 2 15:04:05 2006 in your format, such as `2006-01-02T15:04:05Z07:00`, or one of unix, unixms, unixus, unixnano, rfc3339',
  ]);
});

// Symptom: 14 errors of YAML, none with a fix.
test('a variable without quotes between braces is one problem each, and the rest is judged', () => {
  const text = `sources:
  app: {type: file, include: ["a.log", \${DIR}/b.log], fields: {host: \${HOST}}, format: jsn} # \${X}
  pipe:
    type: stdin
    fields: {a: "\${A}", b: '\${A}'}
    dataset: \${A}
sinks:
  store: {type: ingest, url: \${URL:-http://127.0.0.1:1}/x, token: \${TOKEN:-secret}, datset: logs}
`;
  const fix = (variable: string) =>
    `\`${variable}\` needs quotes here: YAML reads its braces as a mapping; put the whole value in quotes, such as \`"${variable}"\``;
  expect(problemsOf(text, { DIR: '/var', A: 'a' })).toEqual([
    `2:40: ${fix('${DIR}')}`,
    `2:70: ${fix('${HOST}')}`,
    '2:70: the environment variable `HOST` is not set; set HOST, or write `${HOST:-default}`',
    '2:88: `format: jsn` is not known; did you mean `json`? Known: auto, text, json, logfmt, cri, docker, combined, auditd, csv, w3c, regex',
    `8:30: ${fix('${URL:-…}')}`,
    `8:67: ${fix('${TOKEN:-…}')}`,
    '8:85: unknown key `datset`; did you mean `dataset`?',
  ]);
  expect(problemsOf('sources: {app: {type: stdin, dataset: ${A}, x: [}}', { A: 'a' })[0]).toBe(`1:39: ${fix('${A}')}`);
});

// Symptom: mistakes below a misspelt type were reported only a round later, once the type was right.
test('a component of a misspelt type is judged all the same', () => {
  const text = `sources:
  app: {type: files, include: /var/log/a.log, formatt: json}
  other: {type: kafka, nonsense: 1}
sinks:
  store: {type: http, uri: "http://127.0.0.1", dataset: logs}
`;
  expect(problemsOf(text)).toEqual([
    `2:15: \`type: files\` is not known; did you mean \`file\`? Known: ${Object.keys(SOURCE_TYPES).join(', ')}`,
    '2:31: `include` must be a list; write a list, such as `["/var/log/app/*.log"]`',
    '2:47: unknown key `formatt`; did you mean `format`?',
    `3:17: \`type: kafka\` is not known; use one of ${Object.keys(SOURCE_TYPES).join(', ')}`,
    `5:17: \`type: http\` is not known; use one of ${Object.keys(SINK_TYPES).join(', ')}`,
  ]);
});

test('a key that other agents call otherwise is answered with its name here', () => {
  const source = '{type: file, paths: [/var/log/a.log], read_from: end, max_line_bytes: 1MiB, path: x}';
  expect(
    problemsOf(`sources: {app: ${source}}\nsinks: {store: {type: ingest, url: "http://127.0.0.1", dataset: logs}}\n`),
  ).toEqual([
    '1:29: unknown key `paths`; it is `include` here',
    '1:54: unknown key `read_from`; it is `start_at` here',
    '1:70: unknown key `max_line_bytes`; it is `max_event_bytes` here',
    '1:92: unknown key `path`; it is `include` here',
  ]);
});

test('the error is one line a problem, file first, and means wrong usage', () => {
  const file = join(makeTree({ 't.yaml': 'sources: {}\nsinks: {}\n' }), 't.yaml');
  const error = (() => {
    try {
      return loadConfig(file, {});
    } catch (thrown) {
      return thrown;
    }
  })();
  expect(error).toBeInstanceOf(ConfigError);
  expect(error).toBeInstanceOf(UsageError);
  expect(error).toMatchObject({
    code: 'E_CONFIG',
    problems: [
      { file, line: 1, column: 10 },
      { file, line: 2, column: 8 },
    ],
  });
  expect((error as Error).message).toBe(
    `${file}:1:10: there is no source under \`sources\`; write at least one\n${file}:2:8: there is no sink under \`sinks\`; write at least one`,
  );
});

describe('YAML', () => {
  const valid = configWith({});
  test.each([
    ['an empty file', '', '1:1: the configuration is empty; '],
    ['a file of comments', '# nothing\n\n', '1:1: the configuration is empty; '],
    ['a list', '- a\n', '1:1: the configuration must be a mapping of keys; '],
    ['a text', 'hello', '1:1: the configuration must be a mapping of keys; '],
    ['an open bracket', 'sources: [', '1:11: YAML: '],
    [
      'a tab as indentation',
      'sources:\n\tapp: 1\n',
      '2:1: YAML: Tabs are not allowed as indentation; indent with spaces',
    ],
    ['a second document', `${valid}\n---\na: 1\n`, '10:1: a second YAML document starts here; '],
    ['a YAML 1.1 file', `%YAML 1.1\n---\n${valid}`, '1:1: YAML 1.1 is not supported; '],
    [
      'a duplicate key',
      `${valid}\n    url: http://b\n`,
      '10:5: `url` stands here a second time, first on line 8; keep one of them',
    ],
    [
      'a duplicate key in braces',
      configWith({ agent: 'fields: {a: 1, a: 2}' }),
      '1:16: `a` stands here a second time, first on line 1; ',
    ],
    ['an anchor', configWith({ agent: 'fields: &f {a: 1}' }), '1:9: anchors (`&f`) are not supported; '],
    ['an alias', configWith({ agent: 'fields: {a: *f}' }), '1:13: aliases (`*f`) are not supported; '],
    ['a merge key', configWith({ agent: 'fields: {<<: {a: 1}}' }), '1:10: merge keys (`<<`) are not supported; '],
    ['a key that is a list', configWith({ agent: 'fields: {[a]: 1}' }), '1:10: a key must be plain text; '],
    [
      'a tag',
      configWith({ agent: 'data_dir: !!binary aGVsbG8=' }),
      '1:20: tags (`tag:yaml.org,2002:binary`) are not supported; ',
    ],
    [
      'an unknown tag',
      configWith({ agent: 'fields: {a: !python/object x}' }),
      '1:28: tags (`!python/object`) are not supported; ',
    ],
  ])('with %s is told as such', (_what, text, expected) => {
    const problems = problemsOf(text);
    expect(
      problems.find((problem) => problem.startsWith(expected)),
      problems.join('\n'),
    ).toBeDefined();
  });

  test('deep nesting, in brackets or by indentation, is refused and not followed', () => {
    expect(problemsOf(`a: ${'['.repeat(100_000)}`)).not.toEqual([]);
    expect(problemsOf(configWith({ agent: `fields: {a: ${'['.repeat(40)}${']'.repeat(40)}}` }))[0]).toMatch(
      /^1:\d+: is nested too deeply; nest at most 32 levels$/,
    );
  });

  test('problems of hundreds of thousands of keys are reported within bounds', () => {
    const problems = problemsOf(Array.from({ length: 100_000 }, (_, index) => `k${index % 60_000}:`).join('\n'));
    expect(problems).toHaveLength(1001);
    expect(problems.at(-1)).toMatch(/\d+ more problems$/);
  });
});

describe('a file', () => {
  test('that is not there, a directory, or below a file is reported as such', () => {
    const folder = makeTree({ 'a.yaml': 'x: 1' });
    expect(problemsOfFile(join(folder, 'b.yaml'))).toEqual([
      '1:1: there is no such file; check the path, or start from config.example.yaml',
    ]);
    expect(problemsOfFile(folder)).toEqual(['1:1: is a directory, not a configuration file; name a file in it']);
    expect(problemsOfFile(join(folder, 'a.yaml', 'c'))[0]).toContain('there is no such file');
    expect(problemsOfFile(join(folder, 'a\0b'))[0]).toContain('is not a valid path');
  });

  test('that is a FIFO is refused without waiting for a writer', () => {
    const fifo = join(makeTree({}), 'fifo');
    expect(spawnSync('mkfifo', [fifo]).status).toBe(0);
    expect(problemsOfFile(fifo)).toEqual(['1:1: is not a regular file; write the configuration to a file']);
  });

  test('that may not be read is reported as such', () => {
    const folder = makeTree({});
    chmodSync(folder, 0o755);
    const inside = join(folder, 'sub');
    mkdirSync(inside);
    const file = join(inside, 't.yaml');
    writeFileSync(file, 'x: 1');
    chmodSync(file, 0);
    const isRoot = process.geteuid?.() === 0;
    // Root may read anything: be somebody else for the moment.
    if (isRoot) process.seteuid?.(65_534);
    try {
      expect(problemsOfFile(file)).toEqual([
        '1:1: cannot be read: permission denied; let the user that runs tailrace read it',
      ]);
    } finally {
      if (isRoot) process.seteuid?.(0);
    }
  });

  test('over 1 MiB is refused, one of exactly 1 MiB is read', () => {
    const text = `${configWith({})}\n#`;
    const padded = text.padEnd(1024 * 1024, 'x');
    const folder = makeTree({ 'fits.yaml': padded, 'over.yaml': `${padded}x` });
    expect(loadConfig(join(folder, 'fits.yaml'), {}).sources).toHaveLength(1);
    expect(problemsOfFile(join(folder, 'over.yaml'))).toEqual([
      '1:1: is larger than 1 MiB; is it a configuration? Name another file',
    ]);
  });

  test('that is not UTF-8 is reported at the first wrong byte', () => {
    const folder = makeTree({});
    const file = join(folder, 't.yaml');
    writeFileSync(file, Buffer.concat([Buffer.from('a: 1\nb: \uFFFDé'), Buffer.from([0xff, 0x41])]));
    expect(problemsOfFile(file)).toEqual(['2:6: is not valid UTF-8 here; save it as UTF-8']);
    writeFileSync(file, Buffer.from('\uFEFFa: 1', 'utf16le'));
    expect(problemsOfFile(file)).toEqual(['1:1: is UTF-16 text; save it as UTF-8']);
  });

  test('with a byte order mark and CRLF line ends is read, places included', () => {
    expect(problemsOf(`\uFEFF${configWith({ agent: 'data_dirr: x' })}`.replaceAll('\n', '\r\n'))).toEqual([
      '1:1: unknown key `data_dirr`; did you mean `data_dir`?',
    ]);
  });
});

test('a message about an address holds no user and no password, whatever is wrong with it', () => {
  const wrong = [
    'http://me:geheim@host/',
    'http://me:geh@eim@host',
    'http://me:gehe/im@host:99999',
    'ftp://me:geheim@host',
    'http://me:geheim@ho st',
  ];
  for (const address of wrong) {
    const [problem, ...others] = problemsOf(configWith({ sink: `edge_url: "${address}"` }));
    expect(others).toEqual([]);
    expect(problem).toContain('://(hidden)@ho');
    expect(problem).not.toMatch(/geh|eim|me:/);
  }
});
