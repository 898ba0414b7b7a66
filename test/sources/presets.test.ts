/** Presets on lines of the programs that they are for. test/e2e/presets.test.ts runs those that Debian has. */
import { expect, test } from 'vitest';
import { PRESET_NAMES } from '../../src/config/presets/preset.ts';
import { make } from './made.ts';

const READ = '2026-11-22T18:00:00.500Z';
const T = '2026-11-22T16:08:49Z';
const OFFSET = '2026-11-22T16:08:49+00:00';
const MS = '2026-11-22T16:08:49.123Z';
const UID = '0a1b2c3d-1111-2222-3333-444455556666';

/** Preset, line, what its event has beside `message`, and its message where that is not the line. */
type Sample = [preset: string, line: string, event: Record<string, unknown>, file?: string];
// prettier-ignore
const SAMPLES: Sample[] = [
  ['nginx-access', '10.0.0.7 - frank [22/Nov/2026:16:08:49 +0000] "GET /a HTTP/1.1" 200 2326 "-" "curl/8" "10.1.1.1"', { _time: OFFSET, client: '10.0.0.7', user: 'frank', status: 200, bytes: 2326, extra: '"10.1.1.1"' }],
  ['apache-access', '10.0.0.7 - - [22/Nov/2026:16:08:49 +0000] "GET /a HTTP/1.1" 404 -', { _time: OFFSET, status: 404, path: '/a' }],
  ['nginx-error', '2026/11/22 16:08:49 [error] 17#18: *9 open() "/srv/x" failed (2: No such file or directory), client: 10.0.0.7, server: _, request: "GET /x HTTP/1.1", host: "example.com", referrer: "http://a/"',
    { _time: T, level: 'error', pid: 17, tid: 18, connection: 9, message: 'open() "/srv/x" failed (2: No such file or directory)', client: '10.0.0.7', server: '_', request: 'GET /x HTTP/1.1', http_host: 'example.com', referer: 'http://a/' }],
  ['nginx-error', '2026/11/22 16:08:49 [notice] 17#17: signal 15 (SIGTERM) received from 1, exiting', { _time: T, level: 'notice', pid: 17, message: 'signal 15 (SIGTERM) received from 1, exiting' }],
  ['apache-error', '[Sun Nov 22 16:08:49.123000 2026] [core:error] [pid 812:tid 813] [client 10.0.0.7:5000] AH00126: Invalid URI in request', { _time: '2026-11-22T16:08:49.123000Z', module: 'core', level: 'error', pid: 812, tid: 813, client: '10.0.0.7:5000', code: 'AH00126', message: 'Invalid URI in request' }],
  ['apache-error', '[Sun Nov 22 16:08:49.123000 2026] [mpm_event:notice] [pid 7] AH00489: Apache/2.4 configured', { level: 'notice', pid: 7, code: 'AH00489', message: 'Apache/2.4 configured' }],
  ['postgresql', '2026-11-22 16:08:49.123 UTC [812] LOG:  database system is ready', { _time: MS, pid: 812, level: 'LOG', message: 'database system is ready' }],
  ['postgresql', '2026-11-22 16:08:49.123 CET [812] web@shop ERROR:  relation "x" does not exist at character 15', { _time: '2026-11-22T15:08:49.123Z', user: 'web', database: 'shop', level: 'ERROR' }],
  ['postgresql', '2026-11-22 16:08:49.123 -03 [812-1] web@shop STATEMENT:  select\n\tx', { _time: '2026-11-22T19:08:49.123Z', level: 'STATEMENT', message: 'select\n\tx' }],
  ['syslog-file', 'Nov 22 16:08:49 web-1 sshd[812]: Accepted publickey', { _time: T, host: 'web-1', appname: 'sshd', procid: '812', message: 'Accepted publickey' }],
  ['syslog-file', '2026-11-22T16:08:49.123000+01:00 web-1 kernel: [ 1.5] up', { _time: '2026-11-22T15:08:49.123000Z', appname: 'kernel', message: '[ 1.5] up' }],
  ['syslog-file', '<34>1 2026-11-22T16:08:49Z web-1 app - ID47 [x@1 a="]\\""] BOM', { _time: T, pri: 34, appname: 'app', msgid: 'ID47', structured_data: '[x@1 a="]\\""]', message: 'BOM' }],
  ['syslog-file', 'Nov 22 16:08:49 web-1 sshd[812] Accepted', { host: 'web-1', appname: 'sshd', procid: '812', message: 'Accepted' }],
  ['syslog-file', 'last message repeated 2 times', { message: 'last message repeated 2 times' }],
  ['auth', 'Nov 22 16:08:49 web-1 sudo:    root : TTY=pts/0 ; COMMAND=/bin/ls', { appname: 'sudo', message: '   root : TTY=pts/0 ; COMMAND=/bin/ls' }],
  ['dpkg', '2026-11-22 16:08:49 status half-configured libc6:amd64 2.36-9', { _time: T, action: 'status', status: 'half-configured', package: 'libc6', arch: 'amd64', version: '2.36-9' }],
  ['dpkg', '2026-11-22 16:08:49 install nginx:amd64 <none> 1.22.1-9', { action: 'install', package: 'nginx', version: '<none>', new_version: '1.22.1-9' }],
  ['dpkg', '2026-11-22 16:08:49 startup archives unpack', { action: 'startup', message: 'archives unpack' }],
  ['log4j', '2026-11-22 16:08:49,123 [main] ERROR com.example.App - it broke\njava.lang.X: no\n\tat a.B', { _time: MS, thread: 'main', level: 'ERROR', logger: 'com.example.App', message: 'it broke\njava.lang.X: no\n\tat a.B' }],
  ['log4j', '2026-11-22 16:08:49,123 WARN  com.example.App:12 - slow', { level: 'WARN', logger: 'com.example.App', message: 'slow' }],
  ['logback', '2026-11-22T16:08:49.123Z  INFO 7 --- [shop] [           main] c.e.App : Started', { _time: MS, level: 'INFO', pid: 7, thread: 'main', logger: 'c.e.App', message: 'Started' }],
  ['python', '2026-11-22 16:08:49,123 - app.db - ERROR - no\nTraceback (most recent call last):\n  File "a"', { _time: MS, logger: 'app.db', level: 'ERROR', message: 'no\nTraceback (most recent call last):\n  File "a"' }],
  ['python', '2026-11-22 16:08:49,123 INFO app: up', { level: 'INFO', logger: 'app', message: 'up' }],
  ['python', 'WARNING:root:low', { level: 'WARNING', logger: 'root', message: 'low' }],
  ['pino', '{"level":30,"time":1795363729123,"pid":7,"msg":"up"}', { _time: MS, level: 30, msg: 'up' }],
  ['bunyan', '{"name":"a","level":30,"msg":"up","time":"2026-11-22T16:08:49.123Z","v":0}', { _time: MS }],
  ['zap', '{"level":"info","ts":1795363729.123,"caller":"a.go:1","msg":"up"}', { _time: MS }],
  ['logfmt', 'time=2026-11-22T16:08:49Z level=info msg=up', { _time: T, level: 'info' }],
  ['klog', 'E1122 16:08:49.123456       1 main.go:77] "failed" err="x"', { _time: '2026-11-22T16:08:49.123456Z', level: 'E', thread: 1, source: 'main.go', line: 77, message: '"failed" err="x"' }],
  ['kubernetes', '2026-11-22T16:08:49.123Z stdout F {"level":"info"}', { _time: MS, stream: 'stdout', level: 'info', namespace: 'shop', pod: 'web-5d4f', uid: UID, container: 'app' }, `/var/log/pods/shop_web-5d4f_${UID}/app/0.log`],
  ['kubernetes', '2026-11-22T16:08:49.123Z stderr F x', { stream: 'stderr', namespace: 'shop', pod: 'web-5d4f', container: 'app-x' }, `/var/log/containers/web-5d4f_shop_app-x-${'0f'.repeat(32)}.log`],
  ['docker', '{"log":"x\\n","stream":"stdout","time":"2026-11-22T16:08:49.123Z"}', { _time: MS, message: 'x', container_id: '0f'.repeat(32) }, `/var/lib/docker/containers/${'0f'.repeat(32)}/${'0f'.repeat(32)}-json.log`],
]; // prettier-ignore

test('each preset has a sample', () => {
  expect(PRESET_NAMES.filter((name) => !SAMPLES.some(([preset]) => preset === name))).toEqual([]);
});

test.each(SAMPLES)('%s: %s', async (preset, line, event, file) => {
  const { events, stats } = await make(`preset: ${preset}\ntime: {timezone: UTC}`, line, file === undefined ? {} : { file });
  expect(events).toHaveLength(1);
  expect(events[0]).toMatchObject(event);
  expect(events[0]).not.toHaveProperty('parse_error');
  expect([stats.typeErrors, stats.timeErrors]).toEqual([undefined, undefined]);
});

test('keys beside a preset win; types and path_fields merge by name', async () => {
  const line = '2026/11/22 16:08:49 [error] 17#18: *9 x';
  const { events } = await make('preset: nginx-error\ntypes: {pid: text, level: text}\ntime: read', line);
  expect(events[0]).toMatchObject({ _time: READ, pid: '17', tid: 18, connection: 9 });
  const { events: text } = await make('preset: nginx-error\nformat: text\ntypes: {}\nparse_json: true', line);
  expect(text[0]).toMatchObject({ message: line });
  const { events: own } = await make("preset: nginx-error\nregex: '^(?<day>\\S+) (?<rest>.*)$'", line);
  expect(own[0]).toMatchObject({ day: '2026/11/22' });
  const path = `/var/log/pods/shop_web_${UID}/app/0.log`;
  const { events: pod } = await make("preset: kubernetes\npath_fields: '^/var/(?<pod>log)/'", '2026-11-22T16:08:49Z stdout F x', {
    file: path,
  });
  expect(pod[0]).toMatchObject({ pod: 'log', namespace: 'shop', container: 'app' });
});

// Symptom: an old auth.log had events two weeks ahead. Cause: a date without a year could be up to 31 days ahead, and presets took any year.
// prettier-ignore
const AHEAD: [preset: string, line: string, time: string, isError: boolean][] = [
  ['auth', 'Dec 10 06:55:46 host1 sshd[24200]: Invalid user', '2025-12-10T06:55:46Z', false],
  ['syslog-file', 'Nov 23 18:00:01 host1 cron[1]: x', '2025-11-23T18:00:01Z', false],
  ['syslog-file', 'Nov 23 18:00:00 host1 cron[1]: x', '2026-11-23T18:00:00Z', false],
  ['klog', 'E1210 06:55:46.1 1 a.go:1] x', '2025-12-10T06:55:46.1Z', false],
  ['log4j', '2099-01-01 10:00:00,1 INFO x', READ, true],
  ['nginx-access', '10.0.0.7 - - [05/Mar/2099:16:08:49 +0000] "GET /a HTTP/1.1" 200 7', READ, true],
  ['kubernetes', '2099-11-22T16:08:49.123Z stderr F x', READ, true],
  ['docker', '{"log":"x\\n","stream":"stdout","time":"2099-11-22T16:08:49.123Z"}', READ, true],
]; // prettier-ignore

test.each(AHEAD)('%s: no time is ahead of the read: %s', async (preset, line, time, isError) => {
  const { events, stats } = await make(`preset: ${preset}\ntime: {timezone: UTC}`, line);
  expect(events[0]).toMatchObject({ _time: time, ...(isError ? { time_error: expect.any(String) } : {}) });
  expect(stats.timeErrors).toBe(isError ? 1 : undefined);
});

// Symptom: the time of the line went to the service as it was written. Cause: `time: read` read none, and left the text of a preset in its place.
test.each(SAMPLES)('%s: time: read wins: %s', async (preset, line, event, file) => {
  const { events } = await make(`preset: ${preset}\ntime: read`, line, file === undefined ? {} : { file });
  expect(events[0]).toMatchObject({ ...event, _time: READ });
});
