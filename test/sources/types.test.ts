/** Types of named values, several formats, JSON in messages, fields of paths. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { problemsOf, configWith } from '../config/reading.ts';
import { makeTree } from '../support/temp-tree.ts';
import { make } from './made.ts';

const READ = '2026-11-22T18:00:00.500Z';

test('types: values become numbers, booleans, times and JSON; - and empty are absent; what does not convert stays and is counted', async () => {
  const source =
    'format: logfmt\ntypes: {status: int, rt: float, ok: bool, started: datetime, meta: json, id: text}\ntime: {timezone: Europe/Athens}';
  const { lines, stats } = await make(
    source,
    [
      'status=200 rt=0.25 ok=true started="2026-11-22 16:08:49" meta="{\\"a\\":[1]}" id=7',
      'status=- rt="" ok=- started=- meta=1 id=-',
      'status=2e3 rt=NaN ok=maybe started=noon meta={ id=x',
      'status=9007199254740993 rt=1e400 ok=NO started=1795363729123 meta=12345678901234567890',
      'status=0042 rt=-.5 ok status=1',
      'status=99999999999999999999 rt=+1.',
    ].join('\n'),
  );
  expect(lines).toEqual([
    `{"status":200,"rt":0.25,"ok":true,"started":"2026-11-22T14:08:49Z","meta":{"a":[1]},"id":"7","_time":"${READ}"}`,
    `{"meta":1,"_time":"${READ}"}`,
    `{"status":"2e3","rt":"NaN","ok":"maybe","started":"noon","meta":"{","id":"x","_time":"${READ}"}`,
    `{"status":9007199254740993,"rt":"1e400","ok":false,"started":"2026-11-22T16:08:49.123Z","meta":12345678901234567890,"_time":"${READ}"}`,
    `{"status":["0042","1"],"rt":-0.5,"ok":true,"_time":"${READ}"}`,
    `{"status":"99999999999999999999","rt":1,"_time":"${READ}"}`,
  ]);
  expect(stats.typeErrors).toBe(8);
});

test('formats: the first that fits, with the types and the time of each', async () => {
  const source = `formats: [combined, {regex: '^(?<_time>\\S+ \\S+) (?<level>\\w+) (?<rt>\\S+)ms$'}, json, text]\ntypes: {rt: float}\ntime: {timezone: UTC}`;
  const { events } = await make(
    source,
    [
      '10.0.0.7 - - [22/Nov/2026:16:08:49 +0100] "GET / HTTP/1.1" 200 7 "-" "curl" rt=0.1',
      '2026/11/22 16:08:49 info 1.5ms',
      '{"a":1.0,"time":"2026-11-22T16:08:50Z"}',
      '[2026-11-22T16:08:51Z] else',
    ].join('\n'),
  );
  expect(events).toEqual([
    {
      _time: '2026-11-22T15:08:49Z',
      client: '10.0.0.7',
      method: 'GET',
      path: '/',
      protocol: 'HTTP/1.1',
      status: 200,
      bytes: 7,
      user_agent: 'curl',
      extra: 'rt=0.1',
    },
    { _time: '2026-11-22T16:08:49Z', level: 'info', rt: 1.5 },
    { a: 1, time: '2026-11-22T16:08:50Z', _time: '2026-11-22T16:08:50Z' },
    { message: '[2026-11-22T16:08:51Z] else', _time: '2026-11-22T16:08:51Z' },
  ]);
  const { events: none } = await make("formats: [combined, {regex: '^(?<a>x)$'}]", 'y');
  expect(none).toEqual([{ message: 'y', parse_error: 'fits none of `formats`', _time: READ }]);
});

test('parse_json: members of JSON in messages are fields, which overwrite nothing and nobody', async () => {
  const source = 'format: cri\nparse_json: true\nfields: {env: prod}';
  const { lines } = await make(
    source,
    [
      '2026-11-22T16:08:49Z stdout F {"level":"info","n":12345678901234567890,"message":"m","stream":"x","_time":"t","host":"h","env":"dev","__proto__":1}',
      '2026-11-22T16:08:49Z stderr F started INFO {"a":{"b":1}}',
      '2026-11-22T16:08:49Z stderr F {"a":1} and more',
      '2026-11-22T16:08:49Z stderr F {broken}',
    ].join('\n'),
  );
  const [first, ...others] = lines;
  expect(first).toContain('"stream":"stdout","level":"info","n":12345678901234567890,"__proto__":1,"env":"prod"}');
  expect(JSON.parse(first!)).toMatchObject({
    _time: '2026-11-22T16:08:49Z',
    level: 'info',
    stream: 'stdout',
    env: 'prod',
  });
  expect(others.map((line) => JSON.parse(line) as unknown)).toEqual([
    {
      _time: '2026-11-22T16:08:49Z',
      message: 'started INFO {"a":{"b":1}}',
      stream: 'stderr',
      a: { b: 1 },
      env: 'prod',
    },
    { _time: '2026-11-22T16:08:49Z', message: '{"a":1} and more', stream: 'stderr', env: 'prod' },
    { _time: '2026-11-22T16:08:49Z', message: '{broken}', stream: 'stderr', env: 'prod' },
  ]);
});

test('parse_json: in lines of text, whose time is the line’s own', async () => {
  for (const format of ['auto', 'text']) {
    const { events } = await make(
      `format: ${format}\nparse_json: true`,
      '2026-11-22T16:08:49Z INFO {"user":7}\nplain',
      { file: '/log/a' },
    );
    expect(events).toEqual([
      { message: '2026-11-22T16:08:49Z INFO {"user":7}', user: 7, file: '/log/a', _time: '2026-11-22T16:08:49Z' },
      { message: 'plain', file: '/log/a', _time: READ },
    ]);
  }
});

test('path_fields: named groups of the path are fields of text and of JSON', async () => {
  const source = "path_fields: '/srv/(?<team>[^/]+)/(?<app>[^/]+)\\.log$'\nfields: {app: fixed}";
  const { events } = await make(source, 'x\n{"team":"own"}', { file: '/srv/blue/shop.log' });
  expect(events).toMatchObject([
    { message: 'x', team: 'blue', app: 'fixed' },
    { team: 'own', app: 'fixed' },
  ]);
  const { events: others } = await make(source, 'x', { file: '/elsewhere/shop.log' });
  expect(others[0]).not.toHaveProperty('team');
});

test.for(['\n', '\r', '\u2028'])('path_fields: a dot stands for the line break %j in a name', async (lineBreak) => {
  const { events } = await make("path_fields: '^/srv/(?<team>.*)/(?<app>.+)\\.log$'", 'x', {
    file: `/srv/a${lineBreak}b/c${lineBreak}d.log`,
  });
  expect(events).toMatchObject([{ team: `a${lineBreak}b`, app: `c${lineBreak}d` }]);
});

test('types, formats and path_fields that cannot work are reported at their place', () => {
  const problems = (source: string): string[] => problemsOf(configWith({ source }));
  expect(problems('types: {a: integer}')[0]).toContain('`a: integer` is not known; use one of int');
  expect(problems('format: text\ntypes: {a: int}')[0]).toContain('`types` has no effect with `format: text`');
  expect(problems('format: text\nformats: [text]')[0]).toContain('`format` and `formats` are both given');
  expect(problems('formats: [csv]')[0]).toContain('`formats: csv` is not known');
  expect(problems("formats: [{regex: '^x$'}]")[0]).toContain('`regex` has no named group');
  expect(problems("path_fields: '^x$'")[0]).toContain('`path_fields` has no named group');
  expect(problems('preset: nginx')[0]).toContain('`preset: nginx` is not known');
});

test('docker: the container’s name comes from the file beside its log', async () => {
  const id = 'a1'.repeat(32);
  const folder = makeTree({ [`containers/${id}/config.v2.json`]: '{"ID":"x","Name":"/web"}' });
  const file = join(folder, 'containers', id, `${id}-json.log`);
  const line = '{"log":"{\\"level\\":\\"info\\"}\\n","stream":"stdout","time":"2026-11-22T16:08:49Z"}';
  const { events } = await make('preset: docker', line, { file });
  expect(events[0]).toMatchObject({
    _time: '2026-11-22T16:08:49Z',
    stream: 'stdout',
    level: 'info',
    container_id: id,
    container_name: 'web',
  });
});

test('types: escaped undoes the escapes of web servers', async () => {
  const { events } = await make(
    `format: regex\nregex: '^"(?<a>.*)" (?<b>.*)$'\ntypes: {a: escaped, b: escaped}`,
    String.raw`"a \"quoted\" \x22agent\x22 \xc3\xa9 \n" -`,
  );
  expect(events).toEqual([{ a: 'a "quoted" "agent" é \n', _time: READ }]);
});

// Symptom: an empty line was an event with a parse_error. Cause: only lines that no parser makes events of were looked at.
test.each(['format: logfmt', "format: regex\nregex: '^(?<a>.)=(?<b>.)$'", 'formats: [logfmt, text]'])(
  'empty lines are skipped: %s',
  async (format) => {
    const { events } = await make(format, '\n\nx=1\r\n\r\n\ny=2\n\n');
    expect(events).toHaveLength(2);
    const { events: joined } = await make(`${format}\nmultiline: {start: '^[xy]'}`, '\n\nx=1\r\n\r\n\ny=2\n\n');
    expect(joined).toEqual(events);
  },
);

test('multiline: a line of `before` begins an event, which the first line goes on with', async () => {
  const { events } = await make("format: text\nmultiline: {start: '^S', before: '^#'}", 'x\n#1\nSa\nb\nSc\n#2\n#3\nSd');
  expect(events.map(({ message }) => message)).toEqual(['x', '#1\nSa\nb', 'Sc', '#2', '#3\nSd']);
  expect(problemsOf(configWith({ source: "multiline: {continue: '^ ', before: '^#'}" }))).toEqual([
    '5:33: `before` has no effect with `continue`; use `start`',
  ]);
});
