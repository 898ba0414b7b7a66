/** What a failed connection means and what to do about it. Pure. */
import { codeOf, messageOf } from '../core/errors.ts';

export interface Failure {
  readonly code: string;
  /** One sentence: the attempt, why it failed, and the remedy where it is known. */
  readonly message: string;
  /** The remedy alone, which ends the message behind a colon; absent where it is not known. */
  readonly fix?: string | undefined;
}

type Explained = readonly [problem: string, remedy?: string];

/** What the user calls the settings that a remedy is about. */
export interface SettingNames {
  readonly url: string;
  readonly proxy: string;
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

export const CONFIG_NAMES: SettingNames = {
  url: 'url',
  proxy: 'proxy',
  ca: 'tls.ca',
  cert: 'tls.cert',
  key: 'tls.key',
};

/** What to do about a service that cannot be reached, where the failure says no more. */
export const UNREACHABLE_FIX = 'check url, and that the service runs and this machine may connect to it';

const UNKNOWN_AUTHORITY = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);
/** Errors of a server that wants another client certificate, or one at all. */
const CLIENT_CERTIFICATE =
  /ALERT_(CERTIFICATE_REQUIRED|BAD_CERTIFICATE|UNKNOWN_CA|CERTIFICATE_UNKNOWN|CERTIFICATE_EXPIRED|ACCESS_DENIED)/i;

/** `origin` is the address that was to be reached; `hasCert`: a client certificate is configured. */
export function describeFailure(
  error: unknown,
  origin: string,
  hasCert = false,
  names: SettingNames = CONFIG_NAMES,
): Failure {
  const deepest = causeOf(error);
  const code = codeOf(deepest) || codeOf(error);
  const { host } = new URL(origin);
  const isTls = origin.startsWith('https:');
  const isClosed = code === 'UND_ERR_SOCKET' || code === 'E_CLOSED';
  const closed = isTls && isClosed ? closedProblem(deepest, host, hasCert, names) : undefined;
  const plain =
    !isTls && (isClosed || code === 'ECONNRESET' || isTlsAlert(deepest, code))
      ? plainProblem(deepest, code, host, names)
      : undefined;
  const known = tlsProblem(deepest, code, host, hasCert, names) ?? proxyProblem(error, names) ?? closed ?? plain;
  if (known === undefined) return { code, message: plainMessage(deepest) };
  const [, fix] = known;
  return { code, message: known.join(': '), fix };
}

/** A service that speaks TLS ends a plain request with an alert, or with nothing. */
const isTlsAlert = (error: unknown, code: string): boolean =>
  code === 'E_BAD_RESPONSE' && messageOf(error).includes('begins with "\\u0015\\u0003');

function plainProblem(error: unknown, code: string, host: string, { url }: SettingNames): Explained {
  const isSure = isTlsAlert(error, code);
  const problem = isSure ? `${host} speaks TLS` : plainMessage(error);
  return [problem, isSure ? `write https:// in ${url}` : `if ${host} speaks TLS, write https:// in ${url}`];
}

/** What to do about a client certificate that a service wants. */
const certificateFix = (hasCert: boolean, { cert, key }: SettingNames): string =>
  hasCert ? `check ${cert} and ${key}` : `none is configured: set ${cert} and ${key}`;

function tlsProblem(
  error: unknown,
  code: string,
  host: string,
  hasCert: boolean,
  names: SettingNames,
): Explained | undefined {
  const certificate = `the certificate of ${host}`;
  if (UNKNOWN_AUTHORITY.has(code))
    return [
      `${certificate} is signed by an authority that is not trusted here`,
      `set ${names.ca} to the file with that authority's certificate`,
    ];
  if (code === 'CERT_HAS_EXPIRED')
    return [`${certificate}, or one above it, has expired`, `renew it, or correct this machine's clock`];
  if (code === 'CERT_NOT_YET_VALID')
    return [`${certificate} is not valid yet`, `correct this machine's clock, or the certificate`];
  if (code === 'CERT_REVOKED') return [`${certificate} was revoked`, `the service needs another one`];
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    const held = (error as { cert?: { subjectaltname?: unknown } }).cert?.subjectaltname;
    const has = typeof held === 'string' && held !== '' ? ` (it names ${held.slice(0, 200)})` : '';
    return [
      `${certificate} is for another host${has}`,
      `use a name that it holds in ${names.url}, or a certificate that holds this one`,
    ];
  }
  if (CLIENT_CERTIFICATE.test(code))
    return [
      `${host} ${hasCert ? 'does not take the' : 'wants a'} client certificate`,
      `${certificateFix(hasCert, names)} (${code})`,
    ];
  if (code.endsWith('ALERT_HANDSHAKE_FAILURE'))
    return [`${host} refused the TLS handshake`, `if it wants a client certificate, ${certificateFix(hasCert, names)}`];
  if (/WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST/.test(code))
    return [`${host} does not speak TLS`, `write http:// in ${names.url}, or the port that does`];
  return undefined;
}

/** With TLS 1.3 many servers say no more than this to a client without the certificate that they want. */
function closedProblem(error: unknown, host: string, hasCert: boolean, names: SettingNames): Explained {
  return [
    `${host} closed the connection without an answer, ${messageOf(error)}`,
    `if it wants a client certificate, ${certificateFix(hasCert, names)}`,
  ];
}

function proxyProblem(error: unknown, { proxy }: SettingNames): Explained | undefined {
  const text = messageOf(error);
  const status = /^Proxy response \((\d+)\)/.exec(text)?.[1] ?? (text.includes('(407)') ? '407' : undefined);
  if (status === '407')
    return [
      `the proxy wants a user and password, or other ones (407)`,
      `give them in ${proxy}, as http://user:password@host:port`,
    ];
  if (status !== undefined)
    return [`the proxy refused to connect (${status})`, `check ${proxy}, and that it may reach the service`];
  const name = error instanceof Error ? error.name : '';
  if (name === 'ProxyConnectionError' || name === 'SecureProxyConnectionError')
    return [`the proxy cannot be reached: ${plainMessage(causeOf(error))}`];
  return undefined;
}

/** A host with several addresses fails with an error for each. */
function plainMessage(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0)
    return [...new Set(error.errors.map(messageOf))].join(', ');
  // OpenSSL ends its texts with a line break.
  return messageOf(error).replaceAll(/\s+/g, ' ').trim();
}

function causeOf(error: unknown): unknown {
  let deepest = error;
  for (let depth = 0; depth < 5 && deepest instanceof Error && deepest.cause instanceof Error; depth++)
    deepest = deepest.cause;
  return deepest;
}
