/** `tailrace preview` as a user runs it, beside what `tailrace run` really sends. */
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { test } from '../support/fake-service.ts';
import { BINARY } from '../support/program.ts';
import { makeTree } from '../support/temp-tree.ts';
import { tailraceFor } from './tailrace.ts';

const tailrace = tailraceFor({});

interface Previewed {
  readonly input: string;
  readonly events: Record<string, unknown>[];
  readonly before?: Record<string, unknown>;
  readonly dead_lettered?: string;
}

/** The events of the NDJSON, verbatim. */
function eventTexts(stdout: string): string[] {
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.slice(line.indexOf(',"events":[') + ',"events":['.length, -']}'.length));
}

test('preview prints byte for byte what run sends, for every format', async ({ service }) => {
  const logs: Record<string, string> = {
    auto: '2026-05-01T10:00:00Z started\n{"a":1,"time":"2026-05-01T10:00:00Z","n":1.0, "x":"\\u00e9"}\n\n{"_time":"2026-05-01T10:00:00Z"}\n',
    logfmt: 'ts=2026-05-01T10:00:00Z level=info msg="two words" n=1\n',
    combined: '127.0.0.1 - bob [01/May/2026:10:00:00 +0000] "GET / HTTP/1.1" 200 12 "-" "curl"\n',
    csv: '_time,level\n2026-05-01T10:00:00Z,info\n2026-05-01T10:00:01Z,"a\nb"\n',
    docker:
      '{"log":"half ","stream":"stdout","time":"2026-05-01T10:00:00Z"}\n{"log":"whole\\n","stream":"stdout","time":"2026-05-01T10:00:00Z"}\n',
  };
  const folder = makeTree({
    ...Object.fromEntries(Object.entries(logs).map(([format, text]) => [`${format}.log`, text])),
    'java.log': '2026-05-01 10:00:00 ERROR failed\n\tat One\n\tat Two\n2026-05-01 10:00:01 INFO next\n',
  });
  const sources = Object.keys(logs).map(
    (format) => `  ${format}: {type: file, include: ["${folder}/${format}.log"], format: ${format}}`,
  );
  const config = [
    `data_dir: ${join(folder, 'data')}`,
    'fields: {env: test}',
    'telemetry: {listen: none}',
    'sources:',
    ...sources,
    `  java: {type: file, include: ["${folder}/java.log"], multiline: {start: '^\\d'}, time: {timezone: UTC}}`,
    `sinks: {store: {type: ingest, url: "${service.url}", token: "\${TOKEN}", dataset: logs, compression: none}}`,
  ];
  const file = join(makeTree({ 'tailrace.yaml': `${config.join('\n')}\n` }), 'tailrace.yaml');

  const shown: string[] = [];
  for (const name of [...Object.keys(logs), 'java']) {
    const { code, stdout, stderr } = await tailrace([
      'preview',
      '--config',
      file,
      '--json',
      join(folder, `${name}.log`),
    ]);
    expect(stderr).toBe('');
    expect(code).toBe(0);
    shown.push(...eventTexts(stdout));
  }
  expect(service.requests).toEqual([]);
  expect(existsSync(join(folder, 'data'))).toBe(false);

  expect((await tailrace(['run', '--once', '--config', file], { env: { TOKEN: 'token' } })).code).toBe(0);
  expect(shown).toHaveLength(10);
  expect(shown.toSorted()).toEqual(service.lines.toSorted());
});

test('preview shows each event with its input line', async () => {
  const folder = makeTree({ 'a.log': '2026-05-01T10:00:00Z one\r\n{"b":2,"_time":"2026-05-01T10:00:01Z"}\nlast' });
  const { stdout } = await tailrace(['preview', 'a.log'], { cwd: folder });
  const [first, event, second, unchanged, ...rest] = stdout.split('\n');
  expect(first).toBe('2026-05-01T10:00:00Z one');
  expect(event).toMatch(
    /^ {2}→ \{"_time":"2026-05-01T10:00:00Z","message":"2026-05-01T10:00:00Z one","host":"[^"]+","file":".*\/a.log"\}$/,
  );
  expect([second, unchanged]).toEqual([
    '{"b":2,"_time":"2026-05-01T10:00:01Z"}',
    '  → {"b":2,"_time":"2026-05-01T10:00:01Z"}',
  ]);
  expect(rest[0]).toBe('last');
  expect(readdirSync(folder)).toEqual(['a.log']);
});

test('preview reads standard input, several files, other charsets and lines over the limit', async () => {
  const folder = makeTree({
    'tailrace.yaml': `
sources:
  latin: {type: file, include: [/var/log/latin.log], charset: latin1}
  short: {type: stdin, max_event_bytes: 1KiB, on_oversize: dead_letter}
sinks: {store: {type: ingest, url: "http://127.0.0.1:1", dataset: logs, token: "\${UNSET_TOKEN}"}}
`,

    'two.log': 'two\n',
  });
  const latin = await tailrace(['preview', '--source', 'latin', '--json'], {
    cwd: folder,
    input: Buffer.from('caf\u00e9\n', 'latin1'),
  });
  expect(
    latin.json<Previewed>().map(({ input, events }) => [input, events[0]?.['message'], events[0]?.['file']]),
  ).toEqual([['café', 'café', undefined]]);
  const short = await tailrace(['preview', '--source', 'short', '--json'], {
    cwd: folder,
    input: `${'x'.repeat(2000)}\nnext\n`,
  });
  const [refused, next] = short.json<Previewed>();
  expect(refused?.events).toEqual([]);
  expect(refused?.dead_lettered).toContain('the line has 2000 bytes');
  expect(next?.events[0]?.['message']).toBe('next');
  const both = await tailrace(['preview', '--source', 'latin', '--json', 'two.log', 'two.log'], { cwd: folder });
  expect(both.json<Previewed>().map(({ events }) => events[0]?.['file'])).toEqual([
    join(folder, 'two.log'),
    join(folder, 'two.log'),
  ]);
});

test('preview --preset takes a preset without a configuration, and fields of the path', async () => {
  const access = '127.0.0.1 - - [01/May/2026:10:00:00 +0000] "GET /a HTTP/1.1" 404 12 "-" "curl"';
  const nginx = await tailrace(['preview', '--preset', 'nginx-access', '--json'], {
    input: `${access}\n`,
    cwd: makeTree({}),
  });
  expect(nginx.json<Previewed>()[0]?.events[0]).toMatchObject({
    _time: '2026-05-01T10:00:00+00:00',
    status: 404,
    method: 'GET',
  });
  const uid = '0f1e2d3c-aaaa-bbbb-cccc-0123456789ab';
  const folder = makeTree({ [`pods/shop_web-1_${uid}/app/0.log`]: '2026-05-01T10:00:00Z stdout F hello\n' });
  const pod = await tailrace(['preview', '--preset', 'kubernetes', '--json', `pods/shop_web-1_${uid}/app/0.log`], {
    cwd: folder,
  });
  expect(pod.json<Previewed>()[0]?.events[0]).toMatchObject({
    message: 'hello',
    namespace: 'shop',
    pod: 'web-1',
    container: 'app',
    uid,
  });
  const misspelt = await tailrace(['preview', '--preset', 'nginx-acces'], { input: '' });
  expect([misspelt.code, misspelt.stderr]).toEqual([2, expect.stringContaining('did you mean "nginx-access"?')]);
});

const TRANSFORMED = `
sources:
  app:
    type: stdin
    transform: |
      where level != "debug"
      | extend message = replace_string("a@b.example", "somebody", message)
      | project-away req.headers
transform: extend env = "prod"
sinks:
  store: {type: ingest, url: "http://127.0.0.1:1", dataset: logs, transform: 'extend n = toint(n) + 1'}
  other: {type: ingest, url: "http://127.0.0.1:1", dataset: logs}
`;

test('preview shows what the transforms of source, configuration and sink make of events', async () => {
  const folder = makeTree({ 'tailrace.yaml': TRANSFORMED });
  const time = '"_time":"2026-05-01T10:00:00Z"';
  const input = [
    `{${time},"level":"debug"}`,
    `{${time}, "level":"info","message":"from a@b.example", "req":{"url":"/","headers":{"cookie":"x"}},"n":1.0}`,
    `{${time},"level":"info"}`,
  ];
  const { code, stdout } = await tailrace(['preview', '--json', '--diff'], {
    cwd: folder,
    input: `${input.join('\n')}\n`,
  });
  expect(code).toBe(0);
  const [debug, info] = stdout.split('\n').map((line) => (line === '' ? undefined : (JSON.parse(line) as Previewed)));
  expect(debug).toMatchObject({ input: input[0], events: [], before: { level: 'debug' } });
  expect(stdout).toContain(
    `"events":[{${time}, "level":"info","message":"from somebody", "req":{"url":"/"},"n":2,"env":"prod"}]`,
  );
  expect(info?.before).toMatchObject({ message: 'from a@b.example', n: 1 });
  const other = await tailrace(['preview', '--sink', 'other', '--json'], { cwd: folder, input: `${input[1]}\n` });
  expect(other.json<Previewed>()[0]?.events[0]).toMatchObject({ n: 1, env: 'prod' });
  const shown = await tailrace(['preview', '--diff'], { cwd: folder, input: `${input[0]}\n${input[2]}\n` });
  expect(shown.stdout.split('\n')).toEqual([
    input[0],
    `  - ${input[0]}`,
    '  · filtered',
    input[2],
    `  - ${input[2]}`,
    expect.stringContaining('  + {'),
    '',
  ]);
});

test('preview names the mistakes of a transform and says what becomes of events that it fails on', async () => {
  const config = (transform: string) => `
sources: {app: {type: stdin, transform: ${transform}}}
sinks: {store: {type: ingest, url: "http://127.0.0.1:1", dataset: logs}}
`;
  const wrong = await tailrace(['preview'], {
    cwd: makeTree({ 'tailrace.yaml': config("'wher a == 1'") }),
    input: 'x\n',
  });
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringMatching(/tailrace.yaml:2:\d+: .*wher/)]);
  const folder = makeTree({
    'tailrace.yaml': config('{script: ./shape.ts, on_error: dead_letter}'),
    'shape.ts': `import { defineTransform } from 'tailrace/transform';
export default defineTransform((event) => {
  if (event.n === 0) throw new Error('no');
  return event.n === 2 ? [event, { ...event, n: 3 }] : event;
});
`,
  });
  const { stdout } = await tailrace(['preview', '--json'], { cwd: folder, input: '{"n":0}\n{"n":1}\n{"n":2}\n' });
  const events = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Previewed);
  expect(events.map(({ events: sent }) => sent.map(({ n }) => n))).toEqual([[], [1], [2, 3]]);
  expect(events[0]?.dead_lettered).toContain('threw Error');
});

test('preview --stats counts what formats and times came to', async () => {
  const lines = ['{"time":"2026-05-01T10:00:00Z"}', '{"n":1}', 'no json', ''];
  const folder = makeTree({
    'tailrace.yaml': `
sources: {app: {type: stdin, format: json, time: {field: time}}}
sinks: {store: {type: ingest, url: "http://127.0.0.1:1", dataset: logs}}
`,
  });
  const stats = await tailrace(['preview', '--stats', '--json'], { cwd: folder, input: `${lines.join('\n')}\n` });
  expect(stats.json()).toMatchObject([
    { inputs: 3, empty_lines: 1, events: 3, format: { json: 2, failed: 1 }, outcome: { sent: 3, filtered: 0 } },
  ]);
  const text = await tailrace(['preview', '--stats'], { cwd: folder, input: `${lines.join('\n')}\n` });
  expect(text.stdout).toMatch(/^format +json 2, failed 1$/m);
});

test('preview --stats counts what each step of the transforms took, left out and failed on', async () => {
  const folder = makeTree({
    'shape.ts': `import { defineTransform } from 'tailrace/transform';
export default defineTransform((event) => {
  if (event.n === 3) throw new Error('no');
  return event.n === 4 ? null : event;
});
`,
    'tailrace.yaml': `
sources: {app: {type: stdin, transform: 'where n > 1 | extend m = n | where m < 9'}}
transform: {script: ./shape.ts, on_error: drop}
sinks: {store: {type: ingest, url: "http://127.0.0.1:1", dataset: logs}}
`,
  });
  const input = [1, 2, 3, 4, 9].map((n) => `{"n":${n}}\n`).join('');
  const { stdout } = await tailrace(['preview', '--stats', '--json'], { cwd: folder, input });
  expect(JSON.parse(stdout)).toMatchObject({
    outcome: { sent: 1, filtered: 3, dropped: 1 },
    steps: [
      { transform: 'sources.app.transform', step: 'where n > 1', events: 5, filtered: 1, failed: 0 },
      { step: 'extend m = n', events: 4, filtered: 0, failed: 0 },
      { step: 'where m < 9', events: 4, filtered: 1, failed: 0 },
      { step: join(folder, 'shape.ts'), events: 3, filtered: 1, failed: 1 },
    ],
  });
  const text = await tailrace(['preview', '--stats'], { cwd: folder, input });
  expect(text.stdout).toMatch(/^step +where n > 1: took 5, filtered 1$/m);
});

test('check warns where most of the first lines fail, and quotes none that a transform could hide', async () => {
  const folder = makeTree({
    'app.log': 'no pairs\nnone either\nlevel=info\n',
    'json.log': '{"when":"soon","password":"geheim"}\n{"when":"later","password":"geheim"}\n',
    'fine.log': 'level=info\nno pairs\n',
  });
  const yaml = (json: string) => `data_dir: ${folder}/data
sources:
  app: {type: file, include: ["${folder}/app.log"], format: logfmt}
  json: {type: file, include: ["${folder}/json.log"], format: json, time: {field: when}${json}}
  fine: {type: file, include: ["${folder}/fine.log"], format: logfmt}
sinks: {store: {type: ingest, url: "http://127.0.0.1:1", dataset: logs, token: "\${TOKEN}"}}
`;
  const warningsOf = async (json: string) => {
    const check = await tailrace(['check', '--json'], {
      cwd: makeTree({ 'tailrace.yaml': yaml(json) }),
      env: { TOKEN: 'x' },
    });
    expect(check.code).toBe(0);
    return check.json<{ warnings: { line: number; message: string }[] }>()[0]!.warnings;
  };
  expect(await warningsOf('')).toMatchObject([
    {
      line: 3,
      message: expect.stringMatching(
        /^the format fails on 2 of the first 3 events of the files, such as `no pairs`: .*app\.log\)$/,
      ),
    },
    {
      line: 4,
      message: expect.stringMatching(
        /^the time fails on 2 of the first 2 events of the files, such as `\{"when":"soon"/,
      ),
    },
  ]);
  const hidden = await warningsOf(', transform: project-away password');
  expect(hidden).toHaveLength(2);
  expect(JSON.stringify(hidden)).not.toContain('geheim');
});

// Symptom: a word without quotes is the name of a field, so that nothing was ever sent, without a warning.
test('check warns of a transform that leaves out every line', async () => {
  const folder = makeTree({ 'app.log': '{"level":"info"}\n'.repeat(3) });
  const check = async (condition: string) => {
    const yaml = `sources: {app: {type: file, include: [app.log], transform: where level == ${condition}}}
sinks: {store: {type: ingest, url: "http://127.0.0.1:1", dataset: logs, token: "\${TOKEN}"}}
`;
    writeFileSync(join(folder, 'tailrace.yaml'), yaml);
    const { code, stderr } = await tailrace(['check'], { cwd: folder, env: { TOKEN: 'x' } });
    expect(code).toBe(0);
    return stderr;
  };
  expect(await check('info')).toBe(
    'tailrace.yaml:1:60: warning: the transform leaves out all of the first 3 events of the files\n  see what it does with `tailrace preview --diff`; a text in it stands in quotes\n',
  );
  expect(await check('"info"')).toBe('');
});

test('preview ends with its reader, and names a source, file or configuration that is not there', async () => {
  const child = spawn('sh', ['-c', `yes '{"n":1}' | "${BINARY}" preview | head -n 2; echo "rest $?"`]);
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  await new Promise((resolve) => child.on('close', resolve));
  expect(output.split('\n')).toEqual(['{"n":1}', expect.stringContaining('→ {"n":1,"_time":'), 'rest 0', '']);

  const folder = makeTree({
    'tailrace.yaml': `
sources: {app: {type: stdin}, web: {type: file, include: [/var/log/web.log]}}
sinks: {store: {type: ingest, url: "http://127.0.0.1:1", dataset: logs}}
`,
  });
  const unclear = await tailrace(['preview'], { cwd: folder, input: 'x\n' });
  expect([unclear.code, unclear.stderr]).toEqual([2, expect.stringContaining('--source: app, web')]);
  const misspelt = await tailrace(['preview', '--source', 'ap'], { cwd: folder, input: 'x\n' });
  expect([misspelt.code, misspelt.stderr]).toEqual([2, expect.stringContaining('did you mean "app"?')]);
  const missing = await tailrace(['preview', '--source', 'web', 'none.log'], { cwd: folder });
  expect([missing.code, missing.stderr]).toEqual([1, expect.stringContaining('cannot read "none.log"')]);
});

test('preview shows the dataset of each event that to_dataset routes', async () => {
  const config = `sources: {app: {type: file, include: [/nothing], transform: 'mv-expand parts | to_dataset(iff(parts == "own", "", tostring(parts)))'}}
sinks: {store: {type: ingest, url: "http://127.0.0.1:1", token: "-", dataset: logs}}
`;
  const folder = makeTree({
    'tailrace.yaml': config,
    'a.log':
      '{"parts":["audit","own"],"_time":"2026-05-01T10:00:00Z"}\n{"parts":"no name","_time":"2026-05-01T10:00:00Z"}\n',
  });
  const text = await tailrace(['preview', 'a.log', '--source', 'app'], { cwd: folder });
  expect(text.stdout.split('\n').filter((line) => line.startsWith('  '))).toEqual([
    '  → audit: {"parts":"audit","_time":"2026-05-01T10:00:00Z"}',
    '  → logs: {"parts":"own","_time":"2026-05-01T10:00:00Z"}',
    '  → logs: {"parts":"no name","_time":"2026-05-01T10:00:00Z"}',
  ]);
  const diff = await tailrace(['preview', '--diff', 'a.log', '--source', 'app'], { cwd: folder });
  expect(diff.stdout).toContain('\n  + audit: {"parts":"audit"');
  expect(diff.stdout).toContain('\n  = logs: {"parts":"no name"');
  const json = await tailrace(['preview', '--json', 'a.log', '--source', 'app'], { cwd: folder });
  expect(
    json.stdout
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as { datasets: unknown }).datasets),
  ).toEqual([['audit', 'logs'], ['logs']]);
});
