/** Each snippet of docs/syslog.md does what it is for, only addresses and paths exchanged. That for journald: clients.test.ts. */
import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { InternetAddress } from '../../../src/config/fields/kinds-listen.ts';
import { configOf } from '../../config/reading.ts';
import { hasOpenssl, makeAuthority, makeCertificate } from '../../support/certificates.ts';
import { findProgram } from '../../support/installed.ts';
import { hasRsyslog, startRsyslog } from '../../support/rsyslog.ts';
import { expectRelayed, logFile, sampleLines } from './relayed.ts';
import { page, replaced, snippetBehind } from './snippets.ts';
import { messages, start, tcp, udp } from './started.ts';
import { suiteFolder } from '../../support/temp-tree.ts';

const run = promisify(execFile);
const lines = sampleLines(50);
const hasLogger = findProgram('logger') !== undefined;
const folder = suiteFolder();

beforeAll(() => {
  writeFileSync(join(folder, 'lines'), `${lines.join('\n')}\n`);
});

test('the configuration at the top is one', () => {
  const sinks = 'sinks: {store: {type: ingest, url: "http://127.0.0.1:4100", dataset: logs}}\n';
  const [source] = configOf(`${snippetBehind('# Syslog')}${sinks}`).sources;
  expect(source).toMatchObject({ id: 'net', type: 'syslog', timezone: 'Europe/Athens', fields: { site: 'athens' } });
});

test.skipIf(!hasLogger)('by hand: each line of logger arrives (apt-get install bsdutils)', async () => {
  const path = join(folder, 'by-hand.sock');
  const { context, tcpPort, udpPort } = await start({ listen: [tcp, udp, { protocol: 'unix', path }] });
  const commands = snippetBehind('**By hand**').trim().split('\n');
  expect(commands).toHaveLength(3);
  for (const command of commands) {
    const port = command.includes('--udp') ? udpPort : tcpPort;
    await run('sh', [
      '-c',
      command.includes('--port')
        ? replaced(command, { 5514: String(port) })
        : replaced(command, { '/run/tailrace/syslog.sock': path }),
    ]);
  }
  await context.lane.until((lane) => lane.count === 3);
  expect(messages(context)).toEqual(['hello', 'hello', 'hello']);
});

describe.skipIf(!hasRsyslog || !hasLogger)('rsyslog (.ci/unpack-rsyslog)', () => {
  async function ship(config: string): Promise<void> {
    const own = mkdtempSync(join(folder, 'rsyslog-'));
    const input = join(own, 'in.sock');
    const module = `module(load="imuxsock" SysSock.Use="off")\ninput(type="imuxsock" Socket="${input}" RateLimit.Interval="0")\n`;
    const rsyslog = startRsyslog(own, `global(workDirectory="${own}")\n${module}${config}\n`);
    onTestFinished(() => void rsyslog.kill('SIGKILL'));
    await logFile(input, join(folder, 'lines'));
  }

  test.skipIf(!hasOpenssl)('over TLS with a client certificate', async () => {
    const authority = makeAuthority(folder, 'authority');
    const server = makeCertificate(folder, 'server', authority, { names: 'DNS:logs.example.com' });
    const client = makeCertificate(folder, 'relay-1', authority, { names: 'DNS:relay-1.example' });
    const tls = {
      cert: server.cert,
      key: server.key,
      ca: authority.cert,
      requireClientCert: true,
      maxVersion: '1.2' as const,
    };
    const { context, source } = await start({ listen: [{ protocol: 'tls', host: '127.0.0.1', port: 0 }], tls });
    const { port } = source.addresses()[0] as InternetAddress;
    await ship(
      replaced(snippetBehind('**rsyslog**'), {
        '/etc/rsyslog/ca.crt': authority.cert,
        '/etc/rsyslog/client.crt': client.cert,
        '/etc/rsyslog/client.key': client.key,
        'target="logs.example.com" port="6514"': `target="127.0.0.1" port="${port}"`,
      }),
    );
    await expectRelayed(context, lines, { peer_name: 'relay-1' });
  });

  test('without TLS', async () => {
    const { context, tcpPort } = await start();
    const action = /Without TLS: `(.*?)`/.exec(page)?.[1] ?? '';
    await ship(replaced(action, { '5514': String(tcpPort) }));
    await expectRelayed(context, lines);
  });
});

const syslogNg = findProgram('syslog-ng');

test.skipIf(syslogNg === undefined || !hasLogger)('syslog-ng (apt-get install syslog-ng-core)', async () => {
  const { context, tcpPort } = await start();
  const input = join(folder, 'syslog-ng.sock');
  const config = join(folder, 'syslog-ng.conf');
  const snippet = replaced(snippetBehind('**syslog-ng**'), { '5514': String(tcpPort) });
  writeFileSync(
    config,
    `@version: 3.38\noptions { stats-freq(0); };\nsource s_src { unix-dgram("${input}"); };\n${snippet}`,
  );
  const own = ['persist-file', 'pidfile', 'control'].map((name) => `--${name}=${join(folder, `syslog-ng.${name}`)}`);
  const program = spawn(syslogNg!, ['-F', '--no-caps', `--cfgfile=${config}`, ...own], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  onTestFinished(() => void program.kill('SIGKILL'));
  await logFile(input, join(folder, 'lines'));
  await expectRelayed(context, lines);
  program.kill('SIGTERM');
  await once(program, 'exit');
});

test.skipIf(spawnSync('systemd-analyze', ['--version']).status !== 0)(
  'the socket unit verifies without a word (apt-get install systemd)',
  () => {
    const unit = snippetBehind('or let systemd open the socket');
    writeFileSync(join(folder, 'tailrace-syslog.socket'), unit);
    copyFileSync(join(import.meta.dirname, '../../../systemd/tailrace.service'), join(folder, 'tailrace.service'));
    const service = join(folder, 'tailrace.service');
    spawnSync('sed', ['-i', '-e', 's|/usr/bin/tailrace|/bin/true|', '-e', '/^Documentation=/d', service]);
    const { status, stdout, stderr } = spawnSync(
      'systemd-analyze',
      ['verify', join(folder, 'tailrace-syslog.socket'), service],
      {
        encoding: 'utf8',
      },
    );
    expect([status, stdout + stderr]).toEqual([0, '']);
  },
);
