/**
 * Logs of logging libraries and of rsyslog through presets: Java, Python and rsyslog as they run here; of Go's klog and zap and of Node's
 * bunyan what they wrote elsewhere (klog 2.140.0, zap 1.28.0, bunyan 2.0.5), a year earlier.
 */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { findProgram } from '../support/installed.ts';
import { hasJavaLoggers, JAVA_PACKAGES, writeJavaLog } from '../support/java-logs.ts';
import { hasRsyslog, startRsyslog } from '../support/rsyslog.ts';
import { makeSite, startShipping } from '../support/shipping.ts';
import { until } from '../support/until.ts';

type Event = Record<string, unknown>;
const ZONE = 'Asia/Kolkata';

/** Ships what `write` writes into a folder of logs; resolves with the events of a file, or of a kind where they name none. */
async function ship(
  write: (folder: string, logs: string) => Promise<void> | void,
  sources: (logs: string) => Record<string, string>,
): Promise<(name: string) => Event[]> {
  const site = await makeSite();
  const logs = join(site.folder, 'logs');
  await write(site.folder, logs);
  const agent = startShipping(site, { sources: sources(logs), args: ['--once'] });
  expect(await agent.exited, agent.stderr()).toBe(0);
  const events = site.service.stored.map((event) => JSON.parse(event) as Event);
  expect(events.filter((event) => 'parse_error' in event || 'time_error' in event)).toEqual([]);
  return (name) => events.filter(({ file, kind }) => String(file ?? kind).endsWith(name));
}

function expectTimesWithin(events: readonly Event[], from: number, to: number): void {
  for (const { _time } of events) {
    const time = Date.parse(String(_time));
    expect([_time, time >= from && time <= to]).toEqual([_time, true]);
  }
}

test.skipIf(!hasJavaLoggers)(
  `logback's events arrive with their times and stack traces${hasJavaLoggers ? '' : ` (apt-get install ${JAVA_PACKAGES})`}`,
  async () => {
    const startedAt = Date.now();
    const of = await ship(
      (folder, logs) => writeJavaLog('logback', { folder, log: join(logs, 'java.log'), zone: ZONE }),
      (logs) => ({ java: `{type: file, preset: logback, include: ["${logs}/java.log"], time: {timezone: ${ZONE}}}` }),
    );
    expect(of('java.log')).toMatchObject([
      { thread: 'main', level: 'INFO', logger: 'com.example.App', message: 'started' },
      {
        level: 'ERROR',
        message: expect.stringMatching(
          /^it broke\njava.lang.IllegalStateException: no\n\tat .*\nCaused by: .*\n\t\.\.\. /s,
        ),
      },
    ]);
    expectTimesWithin(of('java.log'), startedAt, Date.now());
  },
);

const python = findProgram('python3');
const PYTHON = `import logging, sys
handler = logging.FileHandler(sys.argv[1])
if sys.argv[2]: handler.setFormatter(logging.Formatter(sys.argv[2]))
logging.basicConfig(handlers=[handler], level=logging.INFO)
log = logging.getLogger('shop.db')
log.info('connected')
try: {}['no']
except KeyError: log.exception('it broke')
`;
const PYTHON_FORMATS = {
  'dashes.log': '%(asctime)s - %(name)s - %(levelname)s - %(message)s',
  'spaces.log': '%(asctime)s %(levelname)s %(name)s: %(message)s',
  'brackets.log': '%(asctime)s [%(levelname)s] %(name)s: %(message)s',
  // The formatter of basicConfig, which has no time.
  'basic.log': '',
};

test.skipIf(python === undefined)(
  `Python's logging arrives with its times and tracebacks${python === undefined ? ' (apt-get install python3)' : ''}`,
  async () => {
    const startedAt = Date.now();
    const of = await ship(
      (_folder, logs) => {
        for (const [name, format] of Object.entries(PYTHON_FORMATS))
          execFileSync(python!, ['-c', PYTHON, join(logs, name), format], { env: { ...process.env, TZ: ZONE } });
      },
      (logs) => ({ python: `{type: file, preset: python, include: ["${logs}/*.log"], time: {timezone: ${ZONE}}}` }),
    );
    for (const name of Object.keys(PYTHON_FORMATS)) {
      expect(of(name)).toMatchObject([
        { level: 'INFO', logger: 'shop.db', message: 'connected' },
        {
          level: 'ERROR',
          logger: 'shop.db',
          message: expect.stringMatching(/^it broke\nTraceback .*\nKeyError: 'no'$/s),
        },
      ]);
      expectTimesWithin(of(name), startedAt, Date.now());
      expect([name, /\.\d{3}Z$/.test(String(of(name)[0]?.['_time']))]).toEqual([name, true]);
    }
  },
);

/** A minute ago: a date without a year must not be that of a year ago. */
const sentAt = new Date(Date.now() - 60_000).toISOString().replace(/\d{3}Z$/, '123456Z');
const MESSAGES = [
  `<86>${sentAt} web-1 sshd[812]: Accepted publickey for ann`,
  `<4>${sentAt} web-1 kernel: [    1.5] up`,
  `<86>1 ${sentAt} web-1 sshd 812 - - Accepted publickey for ann`,
  `<13>1 ${sentAt} web-1 app - ID47 [x@1 a="b\\"c"] with data`,
];

async function writeRsyslogFiles(folder: string, logs: string): Promise<void> {
  const port = await freePort();
  const to = (file: string, template: string) =>
    `action(type="omfile" file="${logs}/${file}" template="${template}")\n`;
  const rsyslog = startRsyslog(
    folder,
    `global(workDirectory="${folder}")
module(load="imtcp")
input(type="imtcp" port="${port}" address="127.0.0.1")
if $protocol-version == "1" then {
  ${to('rfc5424.log', 'RSYSLOG_SyslogProtocol23Format')}} else {
  ${to('traditional.log', 'RSYSLOG_TraditionalFileFormat')}  ${to('syslog.log', 'RSYSLOG_FileFormat')}}
if $syslogfacility-text == "authpriv" then ${to('auth.log', 'RSYSLOG_TraditionalFileFormat')}`,
  );
  onTestFinished(() => void rsyslog.kill('SIGKILL'));
  await until('rsyslog to take the messages', async () => {
    const socket = connect(port, '127.0.0.1');
    try {
      await once(socket, 'connect');
    } catch {
      return rsyslog.exitCode !== null;
    }
    socket.end(MESSAGES.map((message) => `${message}\n`).join(''));
    await once(socket, 'close');
    return true;
  });
  const files = ['traditional.log', 'syslog.log', 'rfc5424.log', 'auth.log'];
  const linesOf = (name: string) =>
    existsSync(join(logs, name)) ? readFileSync(join(logs, name), 'utf8').split('\n').length - 1 : 0;
  await until('the files', () => files.every((name) => linesOf(name) === 2), { withinMs: 300_000 });
  const closed = once(rsyslog, 'close');
  rsyslog.kill('SIGTERM');
  await closed;
}

test.skipIf(!hasRsyslog)(
  `rsyslog's files arrive with their times and fields${hasRsyslog ? '' : ' (.ci/unpack-rsyslog)'}`,
  async () => {
    const of = await ship(writeRsyslogFiles, (logs) => ({
      system: `{type: file, preset: syslog-file, include: ["${logs}/*.log"], exclude: [auth.log], time: {timezone: UTC}}`,
      auth: `{type: file, preset: auth, include: ["${logs}/auth.log"], time: {timezone: UTC}}`,
    }));
    const login = {
      host: 'web-1',
      appname: 'sshd',
      procid: '812',
      message: expect.stringMatching(/^ ?Accepted publickey for ann$/),
    };
    for (const name of ['traditional.log', 'syslog.log', 'rfc5424.log', 'auth.log']) {
      const exact = name === 'syslog.log' || name === 'rfc5424.log';
      const events = of(`/${name}`);
      expect([name, events[0]]).toMatchObject([name, login]);
      for (const { _time } of events)
        expect([name, String(_time).replace('+00:00', 'Z')]).toEqual([
          name,
          exact ? sentAt : sentAt.replace(/\.\d+Z$/, 'Z'),
        ]);
    }
    expect(of('/rfc5424.log')[1]).toMatchObject({
      pri: 13,
      appname: 'app',
      msgid: 'ID47',
      structured_data: '[x@1 a="b\\"c"]',
    });
    expect(of('/traditional.log')[1]).toMatchObject({ appname: 'kernel', message: '[    1.5] up' });
    // Of a message of RFC 5424 rsyslog writes no colon behind the tag.
    expect(of('/auth.log')[1]).toMatchObject(login);
  },
);

const RECORDED = {
  klog: `I1122 22:07:15.124162   23903 main.go:5] Starting controller
E1122 22:07:15.124343   23903 main.go:6] "Failed to list" err="connection refused" resource="pods" attempt=3
W1122 22:07:15.124391   23903 main.go:7] slow: 1200 ms
with a second line
`,
  zap: `{"level":"info","ts":1763849235.1244273,"caller":"shop/main.go:9","msg":"request done","status":200,"elapsed":0.25,"kind":"zap"}
{"level":"error","ts":1763849235.1245232,"caller":"shop/main.go:9","msg":"failed","error":"no","stacktrace":"main.main\\n\\tshop/main.go:9\\nruntime.main\\n\\truntime/proc.go:290","kind":"zap"}
`,
  bunyan: `{"name":"shop","hostname":"web-1","pid":25406,"level":30,"status":200,"msg":"done","time":"2025-11-22T22:07:29.435Z","v":0,"kind":"bunyan"}
{"name":"shop","hostname":"web-1","pid":25406,"level":50,"err":{"message":"no","name":"Error","stack":"Error: no\\n    at [eval]:1:91"},"msg":"failed","time":"2025-11-22T22:07:29.436Z","v":0,"kind":"bunyan"}
`,
};

test('what klog, zap and bunyan wrote arrives with its times and fields', async () => {
  const of = await ship(
    (_folder, logs) => {
      for (const [name, text] of Object.entries(RECORDED)) writeFileSync(join(logs, `${name}.log`), text);
    },
    (logs) => {
      const source = (name: string) =>
        `{type: file, preset: ${name}, include: ["${logs}/${name}.log"], time: {timezone: UTC}}`;
      return Object.fromEntries(Object.keys(RECORDED).map((name) => [name, source(name)]));
    },
  );
  expect(of('klog.log')).toMatchObject([
    {
      _time: expect.stringMatching(/-11-22T22:07:15\.124162Z$/),
      level: 'I',
      thread: 23903,
      source: 'main.go',
      line: 5,
      message: 'Starting controller',
    },
    { level: 'E', line: 6, message: '"Failed to list" err="connection refused" resource="pods" attempt=3' },
    { level: 'W', line: 7, message: 'slow: 1200 ms\nwith a second line' },
  ]);
  expect(of('zap')).toMatchObject([
    { _time: expect.stringMatching(/^2025-11-22T22:07:15\.1244\d*Z$/), status: 200, elapsed: 0.25, level: 'info' },
    { _time: expect.stringMatching(/^2025-11-22T22:07:15\.1245\d*Z$/), level: 'error', error: 'no' },
  ]);
  expect(of('bunyan')).toMatchObject([
    { _time: '2025-11-22T22:07:29.435Z', level: 30, status: 200 },
    { _time: '2025-11-22T22:07:29.436Z', level: 50, err: { name: 'Error' } },
  ]);
});
