/** Certificates made by openssl for a test: authorities, servers, clients; also expired ones. */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** False where openssl is not installed (`apt-get install openssl`). */
export const hasOpenssl = spawnSync('openssl', ['version']).status === 0;

export interface Certificate {
  /** Paths. */
  readonly cert: string;
  readonly key: string;
}

/** A certificate authority in `folder`. */
export function makeAuthority(folder: string, name: string): Certificate {
  const made = { cert: join(folder, `${name}.crt`), key: join(folder, `${name}.key`) };
  const extensions = ['-addext', 'basicConstraints=critical,CA:TRUE', '-addext', 'keyUsage=critical,keyCertSign'];
  openssl([
    'req',
    '-x509',
    ...KEY,
    '-keyout',
    made.key,
    '-out',
    made.cert,
    '-days',
    '2',
    '-subj',
    `/CN=${name}`,
    ...extensions,
  ]);
  return made;
}

/** A certificate that `authority` signed, for the names (`DNS:localhost,IP:127.0.0.1`). `expired` ended yesterday. */
export function makeCertificate(
  folder: string,
  name: string,
  authority: Certificate,
  options: { names: string; expired?: boolean },
): Certificate {
  const made = { cert: join(folder, `${name}.crt`), key: join(folder, `${name}.key`) };
  const request = join(folder, `${name}.csr`);
  const extensions = join(folder, `${name}.ext`);
  openssl(['req', '-new', ...KEY, '-keyout', made.key, '-out', request, '-subj', `/CN=${name}`]);
  writeFileSync(extensions, `subjectAltName=${options.names}\n`);
  const days = options.expired ? '-1' : '2';
  openssl([
    'x509',
    '-req',
    '-in',
    request,
    '-CA',
    authority.cert,
    '-CAkey',
    authority.key,
    '-out',
    made.cert,
    '-days',
    days,
    '-extfile',
    extensions,
  ]);
  return made;
}

/** Their bytes, as `https.createServer` takes them. */
export function readCertificate({ cert, key }: Certificate): { cert: Buffer; key: Buffer } {
  return { cert: readFileSync(cert), key: readFileSync(key) };
}

const KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

function openssl(args: readonly string[]): void {
  const { status, stderr } = spawnSync('openssl', args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`openssl ${args[0]} failed: ${stderr}`);
}
