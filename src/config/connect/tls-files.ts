/** Reads the certificates and the key of a sink's `tls`. Promises: certificate and key match; no message holds a key. */
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { messageOf, TailraceError } from '../../core/errors.ts';
import { MAX_TLS_FILE_BYTES } from '../limits.ts';
import type { Finding } from '../findings.ts';
import type { TlsFiles } from '../values.ts';
import { readSmallFile, stampOf } from './small-file.ts';

/** PEM bytes. */
export interface TlsMaterial {
  readonly ca: Buffer | undefined;
  readonly cert: Buffer | undefined;
  readonly key: Buffer | undefined;
}

/** Which key of `tls` a problem is about. */
export class TlsFileError extends TailraceError {
  override readonly name = 'TlsFileError';
  readonly part: keyof TlsFiles;

  constructor(part: keyof TlsFiles, message: string, options: { fix?: string | undefined; cause?: unknown }) {
    super('E_TLS_FILE', message, options);
    this.part = part;
  }
}

const WHAT = { ca: 'certificate file', cert: 'certificate file', key: 'key file' } as const;

/** Throws `TlsFileError` when a file cannot be read, is no PEM, or the key is not the certificate's. */
export function readTlsFiles(files: TlsFiles): TlsMaterial {
  const read = (part: keyof TlsFiles): Buffer | undefined => {
    const path = files[part];
    if (path === undefined) return undefined;
    try {
      return readSmallFile({ path, what: WHAT[part], maxBytes: MAX_TLS_FILE_BYTES, code: 'E_TLS_FILE' });
    } catch (error) {
      if (!(error instanceof TailraceError)) throw error;
      throw new TlsFileError(part, error.message, { fix: error.fix, cause: error });
    }
  };
  const material = { ca: read('ca'), cert: read('cert'), key: read('key') };
  if (material.ca) readCertificate('ca', files.ca, material.ca);
  const certificate = material.cert && readCertificate('cert', files.cert, material.cert);
  const key = material.key && readKey(files.key, material.key);
  if (certificate && key && !certificate.checkPrivateKey(key)) {
    throw new TlsFileError('key', `the key file "${files.key}" does not belong to the certificate "${files.cert}"`, {
      fix: 'name the key that the certificate was made for',
    });
  }
  return material;
}

/** Text that changes when one of the files does. */
export function tlsStampOf({ ca, cert, key }: TlsFiles): string {
  return [ca, cert, key].map((path) => (path === undefined ? '' : stampOf(path))).join(', ');
}

/** The first certificate of the file, the only one that is checked. */
function readCertificate(part: 'ca' | 'cert', path: string | undefined, pem: Buffer): X509Certificate {
  try {
    if (!pem.includes('-----BEGIN')) throw new Error('it holds no `-----BEGIN CERTIFICATE-----`');
    return new X509Certificate(pem);
  } catch (cause) {
    const fix = 'give it in PEM form; `openssl x509 -in FILE -text` shows whether it is';
    throw new TlsFileError(part, `the certificate file "${path}" cannot be used: ${messageOf(cause)}`, { fix, cause });
  }
}

function readKey(path: string | undefined, pem: Buffer): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch (cause) {
    const encrypted = pem.includes('ENCRYPTED');
    throw new TlsFileError(
      'key',
      `the key file "${path}" cannot be used: ${encrypted ? 'it is encrypted' : messageOf(cause)}`,
      {
        fix: encrypted
          ? 'decrypt it with `openssl pkey`, and let only this user read it'
          : 'give a private key in PEM form',
        cause,
      },
    );
  }
}

/** The machine's certificate authorities and NODE_EXTRA_CA_CERTS; undefined (Node's own list) where the machine has none. */
export function systemAuthorities(): string[] | undefined {
  const { getCACertificates } = process.getBuiltinModule('node:tls');
  const system = getCACertificates('system');
  return system.length === 0 ? undefined : [...new Set([...system, ...getCACertificates('extra')])];
}

/** The error that keeps the files of `tls` at `path` from being read. */
export function findTlsProblem(path: string, tls: TlsFiles): Finding[] {
  try {
    readTlsFiles(tls);
    return [];
  } catch (error) {
    if (!(error instanceof TlsFileError)) throw error;
    const { message, fix = `check ${error.part}`, part } = error;
    return [{ path: `${path}.${part}`, message, fix }];
  }
}
