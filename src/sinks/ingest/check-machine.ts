/** What an ingest sink needs of this machine: certificates and token that can be read. */
import { readSecret } from '../../config/connect/secrets.ts';
import { findTlsProblem } from '../../config/connect/tls-files.ts';
import type { Finding } from '../../config/findings.ts';
import { TailraceError } from '../../core/errors.ts';
import type { IngestSinkConfig } from './ingest-config.ts';

export function checkMachine({ id, token, url, apiUrl, tls }: IngestSinkConfig): Finding[] {
  const isEncrypted = [url, apiUrl].some((address) => address.startsWith('https:'));
  return [...(isEncrypted ? findTlsProblem(`sinks.${id}.tls`, tls) : []), ...checkToken(id, token)];
}

function checkToken(id: string, token: IngestSinkConfig['token']): Finding[] {
  const path = `sinks.${id}`;
  if (token === undefined) {
    const message = `the sink \`${id}\` has no token: a service that wants one refuses its events`;
    return [{ path, message, fix: 'add `token` or `token_file`', isWarning: true }];
  }
  if (token.kind === 'value') return [];
  try {
    readSecret(token);
    return [];
  } catch (error) {
    if (!(error instanceof TailraceError)) throw error;
    const { message, fix = 'check token_file', code } = error;
    // The agent runs with an empty one, but ships nothing, and logs that.
    return [{ path: `${path}.token_file`, message, fix, isWarning: code === 'E_SECRET_EMPTY' }];
  }
}
