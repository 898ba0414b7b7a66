/** `tailrace test` as a user runs it. */
import { expect, test } from 'vitest';
import { makeTree } from '../support/temp-tree.ts';
import { tailraceFor } from './tailrace.ts';

const tailrace = tailraceFor({});

const config = (tests: string): string => `fields: {env: prod}
sources:
  app: {type: stdin, transform: 'where level != "debug" | project-away req.headers'}
  pods: {type: file, include: [/var/log/pods/*/*/*.log], preset: kubernetes}
sinks:
  store: {type: ingest, url: "http://127.0.0.1:1", dataset: logs, token: "\${UNSET_TOKEN}"}
  other: {type: ingest, url: "http://127.0.0.1:1", dataset: logs, inputs: [app], transform: 'extend copied = true'}
tests:
${tests}`;

const PASSING = `  - {source: app, input: ['{"level":"debug"}', '{"level":"info","req":{"headers":1}}'], expect: [{level: info, req: {}}]}
  - source: app
    sink: other
    input: ['{"level":"info","_time":"2026-05-01T10:00:00Z"}']
    expect: [{level: info, _time: "2026-05-01T10:00:00Z", copied: true, env: prod}]
  - source: pods
    file: /var/log/pods/shop_web-1_0f1e2d3c/app/0.log
    input: ['2026-05-01T10:00:00Z stdout P half ', '2026-05-01T10:00:00Z stdout F whole']
    expect: [{message: half whole, stream: stdout, namespace: shop, pod: web-1, uid: 0f1e2d3c, container: app}]
  - {source: app, input: ['{"level":"debug"}'], expect: []}
`;

test('test passes where lines become the events that are expected', async () => {
  const folder = makeTree({ 'tailrace.yaml': config(PASSING) });
  const { code, stdout, stderr } = await tailrace(['test'], { cwd: folder });
  expect([code, stdout, stderr]).toEqual([0, '4 tests passed\n', '']);
  expect((await tailrace(['check'], { cwd: folder, env: { UNSET_TOKEN: 'x' } })).code).toBe(0);
});

test('test names the place of a failing test, with the expected and the found event', async () => {
  const failing = `${PASSING}  - source: app
    input: ['{"level":"info","n":1,"req":{}}', '{"level":"warn"}']
    expect: [{level: info, n: 2}]
`;
  const folder = makeTree({ 'tailrace.yaml': config(failing) });
  const { code, stdout, stderr } = await tailrace(['test'], { cwd: folder });
  expect(code).toBe(1);
  expect(stdout.split('\n')).toEqual([
    'tailrace.yaml:19:5: the test of source "app" fails (- expected, + found)',
    '  event 1',
    '  - n: 2',
    '  + n: 1',
    '  + req: {}',
    '  event 2',
    '  + {"level":"warn"}',
    '',
  ]);
  expect(stderr).toBe('1 of 5 tests failed\n');
  const json = await tailrace(['test', '--json'], { cwd: folder });
  expect(json.code).toBe(1);
  expect(json.json()[0]).toMatchObject({
    ok: false,
    tests: [{ ok: true }, { ok: true }, { ok: true }, { ok: true }, { ok: false, line: 19 }],
  });
});

// Symptom: the event was just missing; a failed transform gave no reason.
test('test says why an event is not sent, and needs no keys to begin with', async () => {
  const yaml = `sources: {app: {type: stdin, transform: 'extend user = hash(user, env("NO_KEY"))'}}
sinks: {store: {type: ingest, url: "http://127.0.0.1:1", dataset: logs}}
tests: [{source: app, input: ['{"user":"ann"}'], expect: [{user: x}]}]
`;
  const folder = makeTree({ 'tailrace.yaml': yaml });
  const failed = await tailrace(['test'], { cwd: folder });
  expect([failed.code, failed.stdout]).toEqual([
    1,
    `tailrace.yaml:3:9: the test of source "app" fails (- expected, + found)
  event 1
  - {"user":"x"}
  ✗ dead letter: extend at 1:1: the environment variable NO_KEY with the key is not set
`,
  ]);
  expect((await tailrace(['test', '--json'], { cwd: folder })).json()[0]).toMatchObject({
    tests: [{ unsent: ['dead letter: extend at 1:1: the environment variable NO_KEY with the key is not set'] }],
  });
  for (const verb of ['check', 'run']) {
    const refused = await tailrace([verb], { cwd: folder });
    expect([refused.code, refused.stderr]).toEqual([
      2,
      expect.stringContaining(
        'tailrace.yaml:1:67: the environment variable `NO_KEY` with the key of `hash` is not set',
      ),
    ]);
  }
});

test('test names sources that are not there, lines that are no text, and a configuration without tests', async () => {
  const wrong = makeTree({
    'tailrace.yaml': config('  - {source: ap, input: [{level: info}], expect: [], inputs: 1}\n'),
  });
  const { code, stderr } = await tailrace(['test'], { cwd: wrong });
  expect(code).toBe(2);
  expect(stderr).toMatch(/tailrace.yaml:9:14: there is no source `ap`; did you mean `app`/);
  expect(stderr).toMatch(/tailrace.yaml:9:26: a line of `input` must be text/);
  expect(stderr).toMatch(/unknown key `inputs`; did you mean `input`/);
  const without = await tailrace(['test'], { cwd: makeTree({ 'tailrace.yaml': config('  []\n') }) });
  expect([without.code, without.stderr]).toEqual([1, expect.stringContaining('has no tests')]);
});
