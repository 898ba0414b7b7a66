/** `tailrace preview` and `tailrace test` with a syslog source, beside what the source really sends. */
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { expect } from 'vitest';
import { test } from '../support/fake-service.ts';
import { freePort } from '../support/free-port.ts';
import { startProgram } from '../support/program.ts';
import { makeTree } from '../support/temp-tree.ts';
import { until } from '../support/until.ts';
import { tailraceFor } from './tailrace.ts';

const tailrace = tailraceFor({});

const configFor = (url: string, port: number, rest = ''): string => `data_dir: data
sources:
  net:
    type: syslog
    listen: ["tcp://127.0.0.1:${port}"]
    timezone: Europe/Athens
    parse_json: cee
    parse: auto
    max_event_bytes: 1KiB
    charset: latin1
    fields: {env: test}
    transform: where severity != "debug" | project-away procid
sinks: {store: {type: ingest, url: "${url}", dataset: logs, token: "\${TOKEN}", compression: none}}
telemetry: {listen: none}
${rest}`;

const TWO_LINES = '<14>1 2026-05-01T10:00:03Z web-1 app - - - two lines\nin one message';
const MESSAGES = [
  '<34>1 2026-05-01T10:00:00Z web-1 app 7 ID47 [x@1 a="b"] caf\u00e9',
  '<13>May  1 10:00:00 web-1 sudo[812]: @cee: {"n":1}',
  '<15>1 2026-05-01T10:00:01Z web-1 app - - - left out',
  `<14>1 2026-05-01T10:00:02Z web-1 app - - - ${'long '.repeat(400)}`,
  `${TWO_LINES.length} ${TWO_LINES}`,
  '<14>1 2026-05-01T10:00:04Z web-1 app - - - the last one has no newline',
];
const INPUT = Buffer.from(MESSAGES.join('\n'), 'latin1');

interface Previewed {
  readonly input: string;
  readonly events: Record<string, unknown>[];
}

test('preview shows of messages in a file what a connection makes of them', async ({ service }) => {
  const port = await freePort();
  const folder = makeTree({ 'tailrace.yaml': configFor(service.url, port) });
  writeFileSync(join(folder, 'messages.log'), INPUT);
  const shown = await tailrace(['preview', '--json', 'messages.log'], { cwd: folder });
  expect([shown.code, shown.stderr]).toEqual([0, '']);
  const previewed = shown.json<Previewed>();
  const [first, second, third, long, , last] = MESSAGES;
  expect(previewed.map(({ input }) => input)).toEqual([first, second, third, long!.slice(0, 1024), TWO_LINES, last]);
  expect(previewed.map(({ events }) => events.length)).toEqual([1, 1, 0, 1, 1, 1]);
  expect(previewed[0]?.events[0]).toMatchObject({
    message: 'caf\u00e9',
    appname: 'app',
    structured_data: { 'x@1': { a: 'b' } },
    env: 'test',
  });

  const agent = startProgram(['run', '--config', join(folder, 'tailrace.yaml')], { TOKEN: 'token' });
  await agent.says('tailrace runs');
  const socket = connect(port, '127.0.0.1');
  socket.end(INPUT);
  await once(socket, 'close');
  await until('the messages', () => service.lines.length === 5);
  expect(await agent.end('SIGTERM')).toBe(0);
  const withoutPeer = (line: string) => line.replace(/"peer":"[^"]*"/, '"peer":""');
  const lines = shown.stdout
    .trimEnd()
    .split('\n')
    .map((line) => line.slice(line.indexOf(',"events":[') + ',"events":['.length, -']}'.length));
  expect(lines.filter((line) => line !== '').map(withoutPeer)).toEqual(service.lines.map(withoutPeer));
});

test('preview --stats counts messages, and those of which no part can be read', async () => {
  const folder = makeTree({ 'tailrace.yaml': configFor('http://127.0.0.1:1', 5514) });
  const { stdout } = await tailrace(['preview', '--stats'], {
    cwd: folder,
    input: Buffer.concat([INPUT, Buffer.from('\nno priority\n')]),
  });
  expect(stdout).toMatch(/^format +syslog 6, failed 1$/m);
  expect(stdout).toMatch(/^time +own 6, of the read 1$/m);
  expect(stdout).toMatch(/^truncated +1 event$/m);
});

test('tests of the configuration may be messages', async () => {
  const rest = `tests:
  - source: net
    input: ['<34>1 2026-05-01T10:00:00Z web-1 app 7 - - up', '<15>1 2026-05-01T10:00:00Z web-1 app - - - no', '<13>May  1 10:00:00 fw CEF:0|V|P|1|7|Logon|3|src=192.0.2.1']
    expect: [{appname: app, message: up, facility: auth, facility_code: 4, severity: crit, severity_code: 2, host: web-1},
      {message: 'CEF:0|V|P|1|7|Logon|3|src=192.0.2.1', facility: user, facility_code: 1, severity: notice, severity_code: 5, vendor: V, product: P, product_version: '1', event_id: '7', name: Logon, event_severity: '3', src: 192.0.2.1}]
`;
  const folder = makeTree({ 'tailrace.yaml': configFor('http://127.0.0.1:1', 5514, rest) });
  const { code, stdout, stderr } = await tailrace(['test'], { cwd: folder });
  expect([code, stdout, stderr]).toEqual([0, '1 test passed\n', '']);
});
