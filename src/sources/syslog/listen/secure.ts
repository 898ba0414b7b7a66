/**
 * TLS over connections that were accepted elsewhere. Promises: version 1.2, or 1.3 where it is wanted; certificates are read again when their files have
 * changed, and kept when the new ones cannot be used; a sender without a certificate that is wanted gets no further.
 */
import type { Socket } from 'node:net';
import { createServer, type Server, type TLSSocket } from 'node:tls';
import type { SourceConfig } from '../../registry.ts';
import { readTlsFiles, tlsStampOf } from '../../../config/connect/tls-files.ts';
import type { Clock } from '../../../core/time/clock.ts';
import { messageOf } from '../../../core/errors.ts';
import { SYSLOG_HANDSHAKE_MS } from '../limits.ts';

/** The files are looked at no more often. */
const FRESH_MS = 1000;

type TlsConfig = Extract<SourceConfig, { readonly type: 'syslog' }>['tls'];

export interface SecureOptions {
  readonly files: TlsConfig;
  readonly clock: Clock;
  /** A handshake is complete. */
  readonly onSecure: (socket: TLSSocket) => void;
  /** A handshake failed; the connection is closed. */
  readonly onFailure: (error: Error, socket: TLSSocket) => void;
  /** New certificates are in use, or cannot be used and why. */
  readonly onReload: (problem: string | undefined) => void;
}

export type Secure = ReturnType<typeof createSecure>;

/** Throws `TlsFileError` when the files cannot be used. */
export function createSecure({ files, clock, onSecure, onFailure, onReload }: SecureOptions) {
  let stamp = tlsStampOf(files);
  let lookedAtMs = clock.monotonic();
  const server: Server = createServer({
    ...contextOf(files),
    handshakeTimeout: SYSLOG_HANDSHAKE_MS,
    requestCert: files.ca !== undefined,
    rejectUnauthorized: files.requireClientCert,
  });
  server.on('secureConnection', onSecure);
  server.on('tlsClientError', (error, socket) => {
    socket.destroy();
    onFailure(error, socket);
  });

  function refresh(): void {
    const now = tlsStampOf(files);
    if (now === stamp) return;
    stamp = now;
    try {
      server.setSecureContext(contextOf(files));
      onReload(undefined);
    } catch (error) {
      onReload(messageOf(error));
    }
  }

  return {
    /** Takes changed files into use. */
    refresh,
    /** Begins the handshake. */
    take(socket: Socket): void {
      if (clock.monotonic() - lookedAtMs >= FRESH_MS) {
        lookedAtMs = clock.monotonic();
        refresh();
      }
      server.emit('connection', socket);
    },
  };
}

function contextOf(files: TlsConfig) {
  const { ca, cert, key } = readTlsFiles(files);
  // Later versions make senders that never read lose messages (docs/adr/0007-syslog-tls-1.2.md).
  return {
    minVersion: 'TLSv1.2' as const,
    maxVersion: `TLSv${files.maxVersion}` as const,
    ...(ca && { ca }),
    ...(cert && { cert }),
    ...(key && { key }),
  };
}

/** The name in the certificate that the sender showed, if `ca` has signed it: its common name, else its first other one. */
export function nameOf(socket: TLSSocket): string | undefined {
  if (!socket.authorized) return undefined;
  const { subject, subjectaltname } = socket.getPeerCertificate();
  const [common] = [subject?.CN].flat();
  return common ?? subjectaltname?.split(', ')[0]?.replace(/^[^:]*:/, '');
}
