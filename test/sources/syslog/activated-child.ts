/** A syslog source on what systemd opened for this process; prints its events. */
import { systemClock } from '../../../src/core/time/clock.ts';
import { silentLog } from '../../../src/core/log.ts';
import { createKernel } from '../../../src/kernel/kernel.ts';
import { createTestContext } from '../source-context.ts';
import { createSyslogSource } from '../../../src/sources/syslog/source.ts';

const kernel = createKernel(16 * 1024 * 1024);
const source = createSyslogSource(
  {
    type: 'syslog',
    id: 'net',
    fields: {},
    maxEventBytes: 10_000,
    dataset: undefined,
    hostName: 'web-1',
    listen: [{ protocol: 'systemd', name: '' }],
    tls: { cert: undefined, key: undefined, ca: undefined, requireClientCert: false, maxVersion: '1.2' },
    onOversize: 'truncate',
    timezone: 'UTC',
    parseJson: 'none',
    parse: 'none',
    charset: 'utf-8',
    receiveBufferBytes: 16 * 1024 * 1024,
    socketMode: 0o660,
    proxyProtocol: false,
    maxConnections: 10,
    idleTimeoutMs: Infinity,
  },
  {
    lane: {
      accept({ window, start, end }) {
        process.stdout.write(window.bytes.toString('utf8', start, end));
        return Promise.resolve();
      },
    },
    streams: createTestContext().streams,
    clock: systemClock,
    log: silentLog,
    hostname: 'h',
    reserve: (bytes) => kernel.reserve(bytes),
    once: false,
  },
  kernel,
);
await source.open();
await source.run();
