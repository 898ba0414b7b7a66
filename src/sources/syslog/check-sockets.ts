/** What `tailrace check` finds of listeners on this machine: certificates that cannot be used, receive buffers that lose bursts. */
import { readFileSync } from 'node:fs';
import { findTlsProblem } from '../../config/connect/tls-files.ts';
import type { Finding } from '../../config/findings.ts';
import type { SyslogConfig } from './syslog-type.ts';
import type { Machine } from '../common/source-type.ts';
import { UDP_RECEIVE_BUFFER_BYTES } from './limits.ts';

export function checkSockets({ id, listen, tls }: SyslogConfig, { rmemMaxFile }: Machine): Finding[] {
  const hasTls = listen.some(({ protocol }) => protocol === 'tls' || protocol === 'systemd-tls');
  const udp = listen.findIndex(({ protocol }) => protocol === 'udp');
  const warning = udp < 0 ? undefined : udpWarning(rmemMaxFile);
  return [
    ...(warning ? [{ path: `sources.${id}.listen.${udp}`, ...warning, isWarning: true }] : []),
    ...(hasTls ? findTlsProblem(`sources.${id}.tls`, tls) : []),
  ];
}

function udpWarning(file: string): { message: string; fix: string } | undefined {
  let bytes;
  try {
    bytes = Number(readFileSync(file, 'utf8'));
  } catch {
    // Other systems have no such limit to read.
    return undefined;
  }
  if (!(bytes < UDP_RECEIVE_BUFFER_BYTES)) return undefined;
  const message = `UDP bursts will be lost: the kernel's largest receive buffer (net.core.rmem_max) is ${bytes} bytes, below 4 MiB`;
  return {
    message,
    fix: `run \`sysctl -w net.core.rmem_max=${UDP_RECEIVE_BUFFER_BYTES}\` as root, and keep it in /etc/sysctl.d`,
  };
}
