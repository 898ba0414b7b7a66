/** A running syslog source on a kernel of its own, whose events a lane records. */
import { afterEach } from 'vitest';
import type { InternetAddress } from '../../../src/config/fields/kinds-listen.ts';
import type { SyslogConfig } from '../../../src/sources/syslog/syslog-type.ts';
import { createKernel } from '../../../src/kernel/kernel.ts';
import { nativeLibrary, type NativeLibrary } from '../../../src/sources/native/library.ts';
import { createSyslogSource, type SyslogSource } from '../../../src/sources/syslog/source.ts';
import { createTestContext, type TestContext } from '../source-context.ts';

export const patience = { timeout: 600_000 };
export const udp: InternetAddress = { protocol: 'udp', host: '127.0.0.1', port: 0 };
export const tcp: InternetAddress = { protocol: 'tcp', host: '127.0.0.1', port: 0 };
export const config: SyslogConfig = {
  type: 'syslog',
  id: 'net',
  fields: { team: 'core' },
  maxEventBytes: 10_000,
  dataset: undefined,
  hostName: 'web-1',
  listen: [udp, tcp],
  tls: { cert: undefined, key: undefined, ca: undefined, requireClientCert: false, maxVersion: '1.2' },
  onOversize: 'truncate',
  timezone: 'UTC',
  parseJson: 'none',
  parse: 'none',
  charset: 'utf-8',
  receiveBufferBytes: 16 * 1024 * 1024,
  socketMode: 0o660,
  proxyProtocol: false,
  maxConnections: 1024,
  idleTimeoutMs: Infinity,
};

export interface Started {
  readonly context: TestContext;
  readonly source: SyslogSource;
  readonly running: Promise<void>;
  readonly udpPort: number;
  readonly tcpPort: number;
}

const started: Started[] = [];

/** A source on a kernel of its own. */
export function create(
  changes: Partial<SyslogConfig> = {},
  context = createTestContext(),
  library: NativeLibrary | 'node' = nativeLibrary() ?? 'node',
) {
  const kernel = createKernel(16 * 1024 * 1024);
  return createSyslogSource(
    { ...config, ...changes },
    { ...context, reserve: (bytes) => kernel.reserve(bytes) },
    kernel,
    library,
  );
}

export async function start(
  changes: Partial<SyslogConfig> = {},
  context = createTestContext(),
  library?: NativeLibrary | 'node',
): Promise<Started> {
  const source = create(changes, context, library);
  await source.open();
  const portOf = (protocol: string): number => {
    const found = source.addresses().find((address) => address.protocol === protocol);
    return found !== undefined && 'port' in found ? found.port : 0;
  };
  const result = { context, source, running: source.run(), udpPort: portOf('udp'), tcpPort: portOf('tcp') };
  started.push(result);
  return result;
}

afterEach(async () => {
  for (const { context, source, running } of started.splice(0)) {
    context.lane.release();
    await source.stop();
    await running;
  }
});

export function events(context: TestContext): Record<string, unknown>[] {
  return context.lane.texts.map((line) => JSON.parse(line));
}

export function messages(context: TestContext): unknown[] {
  return events(context).map((event) => event['message']);
}
