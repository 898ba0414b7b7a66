/** Opens a client for one command and closes it afterwards; a failure comes with advice. */
import type { Client } from '../../client/client.ts';
import { ClientError } from '../../client/client-error.ts';
import { type ServiceConnection, type ConnectionArguments, openConnection } from './connection.ts';
import { nearest } from '../../config/nearest.ts';
import { TailraceError } from '../../core/errors.ts';
import { isIngest, sentenceOf } from './sentence.ts';

/**
 * Resolves with the exit code: what `work` gives, else 0. A failure is thrown as a `TailraceError` that says what to do; `dataset` is what the work is
 * about, so that a misspelt one can be corrected.
 */
export async function withClient(
  args: ConnectionArguments,
  dataset: string | (() => string | undefined) | undefined,
  work: (client: Client) => Promise<number | void>,
): Promise<number> {
  let connection = openConnection(args, process.env);
  try {
    const orgId = await onlyOrganisation(connection);
    if (orgId !== undefined) {
      await connection.client.close();
      connection = openConnection({ ...args, orgId }, process.env);
    }
    return (await work(connection.client)) ?? 0;
  } catch (error) {
    throw await explainFailure(error, connection, typeof dataset === 'function' ? dataset() : dataset);
  } finally {
    await connection.client.close();
  }
}

/** A personal token may name an organisation; where its user has one alone, none other can be meant. */
async function onlyOrganisation({ client, token, orgId }: ServiceConnection): Promise<string | undefined> {
  if (orgId !== undefined || !token.startsWith('xapt-')) return undefined;
  try {
    const [first, ...others] = await client.orgs();
    return others.length === 0 ? first?.id : undefined;
  } catch (error) {
    // The request that was asked for explains more, unless it cannot be sent either.
    if (error instanceof ClientError && error.status >= 400 && error.status < 500) return undefined;
    throw error;
  }
}

/** Creates the dataset unless one of that name exists. */
export async function ensureDataset(
  client: Client,
  dataset: Parameters<Client['datasets']['create']>[0],
): Promise<void> {
  try {
    await client.datasets.create(dataset);
  } catch (error) {
    if (!(error instanceof ClientError) || error.status !== 409) throw error;
  }
}

/** The error to show in place of `error`; asks the service for its datasets where `dataset` was not found. */
async function explainFailure(
  error: unknown,
  connection: ServiceConnection,
  dataset: string | undefined,
): Promise<unknown> {
  if (!(error instanceof ClientError)) return error;
  const fix = await fixFor(error, connection, dataset);
  return new TailraceError(error.code, sentenceOf(error), { fix, cause: error });
}

async function fixFor(
  error: ClientError,
  connection: ServiceConnection,
  dataset: string | undefined,
): Promise<string | undefined> {
  if (error.code === 'E_UNAUTHORIZED') return adviseOnToken(error, connection);
  const version = /\/v[12](?=\/|$)/.exec(connection.url);
  if (version !== null && (error.code === 'E_NOT_FOUND' || error.code === 'E_BAD_ANSWER'))
    return `the client adds \`${version[0]}\` itself: give the address as \`--url ${connection.url.slice(0, version.index)}\``;
  if (error.code === 'E_NOT_FOUND' && dataset !== undefined && /dataset/i.test(error.message))
    return adviseOnDataset(dataset, connection, isIngest(error));
  if (error.code === 'E_NOT_FOUND')
    return error.fix ?? 'check that --url is the address of the service’s API, without /v1';
  return error.fix;
}

/** Which token was sent, why it may have been refused, and how to get another one. */
function adviseOnToken(
  { method, url }: ClientError,
  { client, token, tokenFrom, orgId }: ServiceConnection,
): string | Promise<string> {
  const path = new URL(url).pathname;
  const kind = token.startsWith('xaat-') ? 'API token' : token.startsWith('xapt-') ? 'personal token' : 'token';
  const sent = `the ${kind} ending in …${token.slice(-4)} (from ${tokenFrom})`;
  if (kind === 'personal token' && path.includes('ingest') && method === 'POST')
    return `ingest takes API tokens (xaat-…) only, and ${sent} was sent: make one with \`tailrace tokens create NAME --ingest DATASET\``;
  if (kind === 'API token' && /\/(user|users|orgs)$/.test(path))
    return `this takes personal tokens (xapt-…) only, and ${sent} was sent: give a personal one`;
  if (kind === 'personal token' && orgId !== undefined) return adviseOnRole(sent, client, orgId);
  if (kind === 'personal token')
    return `${sent} was sent without an organisation: set TAILRACE_ORG_ID or give --org-id; \`tailrace orgs\` shows the id`;
  return `${sent} was sent: give one that may do this; an owner makes it with \`tailrace tokens create\`, hosted services in their settings`;
}

/** A personal token may do what its user's role in the organisation allows. */
async function adviseOnRole(sent: string, client: ServiceConnection['client'], orgId: string): Promise<string> {
  try {
    const organisation = (await client.orgs()).find(({ id }) => id === orgId);
    if (!organisation)
      return `${sent} is of nobody in the organisation ${orgId}: \`tailrace orgs\` shows the ids that it may name`;
    return `${sent} is of a user with the role "${organisation.role}", which does not allow this: ask someone with a higher role to do it, or to give the user that role`;
  } catch {
    return `${sent} was sent, which the service does not know: give one that is still valid`;
  }
}

/** `stores`: the request needs the dataset to exist; deleting one does not. */
async function adviseOnDataset(dataset: string, { client }: ServiceConnection, stores: boolean): Promise<string> {
  const list = '`tailrace datasets list` shows those that are there';
  const advice = stores ? `\`tailrace datasets create ${dataset}\` makes it, ${list}` : list;
  try {
    const names = (await client.datasets.list()).map(({ name }) => name);
    if (names.includes(dataset)) return `the dataset ${dataset} exists, but this service does not know the request`;
    const near = nearest(dataset, names);
    return near === undefined ? advice : `did you mean "${near}"? ${advice}`;
  } catch {
    // The token may not list them.
    return advice;
  }
}
