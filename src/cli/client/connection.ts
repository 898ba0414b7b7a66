/** From options and environment to a client: which service, which token and where it came from. */
import { parseBaseUrl } from '../../config/connect/base-url.ts';
import { parseProxy, proxyVariableFor } from '../../config/connect/proxy.ts';
import { readSecret } from '../../config/connect/secrets.ts';
import { readTlsFiles } from '../../config/connect/tls-files.ts';
import { parseDuration } from '../../config/fields/units.ts';
import { type Client, createClient } from '../../client/client.ts';
import { parseLongIntegers, rawNumber } from '../../json/numbers.ts';
import type { Retry } from '../../client/requester.ts';
import { quote } from '../../config/quote.ts';
import type { Environment } from '../../config/yaml/expand.ts';
import { isIngest, sentenceOf } from './sentence.ts';
import { say, usageError } from '../output/say.ts';
import type { ArgumentsOf } from '../options/command-options.ts';

/** Characters of an address in a message. */
const MAX_SHOWN = 200;

/** The options that every client command takes. */
export type ConnectionArguments = ArgumentsOf<'whoami'>;

export interface ServiceConnection {
  readonly client: Client;
  readonly url: string;
  readonly token: string;
  /** Its name for the user: `--token`, `TAILRACE_TOKEN`, …. */
  readonly tokenFrom: string;
  readonly orgId: string | undefined;
}

/** Where `tailrace serve` listens by default. */
const DEFAULT_URL = 'http://127.0.0.1:4100';

/** Throws `UsageError` for a missing or wrong value. Opens no connection yet. */
export function openConnection(args: ConnectionArguments, env: Environment): ServiceConnection {
  const url = addressOf(args.url, '--url') ?? addressOf(env['TAILRACE_URL'], 'TAILRACE_URL') ?? DEFAULT_URL;
  const { token, tokenFrom } = tokenOf(args, env);
  const orgId = args.orgId ?? nonEmpty(env['TAILRACE_ORG_ID']);
  const edgeDomain = edgeOf(args.edgeDomain ?? nonEmpty(env['TAILRACE_EDGE_DOMAIN']));
  const headerPrefix = prefixOf(args.headerPrefix ?? nonEmpty(env['TAILRACE_HEADER_PREFIX']));
  const timeoutMs = timeoutOf(args.timeout);
  const variable = proxyVariableFor(url, env);
  const client = createClient({
    url,
    token,
    ...(orgId !== undefined && { orgId }),
    ...(edgeDomain !== undefined && { edgeDomain }),
    ...(headerPrefix !== undefined && { headerPrefix }),
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(variable !== undefined && { proxy: proxyOf(variable, env) }),
    tls: readTlsFiles({ ca: args.ca, cert: args.cert, key: args.key }),
    parseJson: (text) => parseLongIntegers(text, rawNumber),
    onRetry: sayRetry,
    names: { url: '--url', proxy: variable ?? 'HTTPS_PROXY', ca: '--ca', cert: '--cert', key: '--key' },
  });
  return { client, url, token, tokenFrom, orgId };
}

/** A 500 is a fault that the same question meets again: whoever waits sees it at once. Ingest tries on, since its events are to be stored. */
function sayRetry({ error, waitMs, attempt, tries }: Retry): boolean {
  const isLasting = error.status === 500 && !isIngest(error);
  if (!isLasting)
    say(`tailrace: ${sentenceOf(error)}; trying again in ${(waitMs / 1000).toFixed(1)} s (${attempt} of ${tries})`);
  return !isLasting;
}

function addressOf(text: string | undefined, name: string): string | undefined {
  if (text === undefined || text === '') return undefined;
  const parsed = parseBaseUrl(text);
  if ('value' in parsed) return parsed.value;
  throw usageError(`${name}: "${quote(text, MAX_SHOWN)}" ${parsed.message}`, parsed.fix.replace('`token`', '--token'));
}

function tokenOf({ token, tokenFile }: ConnectionArguments, env: Environment): { token: string; tokenFrom: string } {
  if (token !== undefined) return { token: checkedToken(token, '--token'), tokenFrom: '--token' };
  if (tokenFile !== undefined)
    return { token: readSecret({ kind: 'file', path: tokenFile }), tokenFrom: `the file ${tokenFile}` };
  const given = nonEmpty(env['TAILRACE_TOKEN']);
  if (given !== undefined) return { token: checkedToken(given, 'TAILRACE_TOKEN'), tokenFrom: 'TAILRACE_TOKEN' };
  throw usageError(
    'no token: every request to the service carries one',
    'set TAILRACE_TOKEN, or give --token-file or --token; `tailrace serve` prints its tokens at its first start',
  );
}

function checkedToken(token: string, name: string): string {
  if (/^[\x21-\x7e]+$/.test(token)) return token;
  throw usageError(
    `${name} is empty or holds a space, a line break or a character outside ASCII`,
    'give the token alone, as one word',
  );
}

function edgeOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const parsed = parseBaseUrl(text.includes('://') ? text : `https://${text}`);
  if ('value' in parsed) return text;
  throw usageError(
    `the edge domain "${quote(text, MAX_SHOWN)}" ${parsed.message}`,
    'write it as `edge.example.com` or as an address',
  );
}

function prefixOf(text: string | undefined): string | undefined {
  if (text === undefined || /^[A-Za-z][A-Za-z0-9-]{0,62}-$/.test(text)) return text;
  throw usageError(
    `the header prefix "${text}" cannot begin a header's name`,
    'use letters, digits and `-`, ending in `-`, such as `X-Service-`',
  );
}

function timeoutOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const parsed = parseDuration(text);
  if (parsed.ok && parsed.value > 0) return parsed.value;
  throw usageError(
    `--timeout: "${text}" ${parsed.ok ? 'is no time at all' : parsed.message}`,
    parsed.ok ? 'write a duration such as `30s`' : parsed.fix,
  );
}

function proxyOf(variable: string, env: Environment): string {
  const parsed = parseProxy(env[variable] ?? '');
  if ('value' in parsed) return parsed.value;
  throw usageError(`${variable} ${parsed.message}`, parsed.fix);
}

function nonEmpty(text: string | undefined): string | undefined {
  return text === '' ? undefined : text;
}
