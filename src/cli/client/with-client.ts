/** Opens a client for one command and closes it afterwards; a failure comes with advice. */
import type { Client } from '../../client/client.ts';
import { ClientError } from '../../client/client-error.ts';
import { explainFailure } from './advice.ts';
import { type Connection, type ConnectionArguments, openConnection } from './connection.ts';

/**
 * Resolves with the exit code: what `work` gives, else 0. A failure is thrown as a `TailraceError` that says what to do; `dataset` is what the work is
 * about, so that a misspelt one can be corrected.
 */
export async function withClient(
  args: ConnectionArguments,
  dataset: string | undefined,
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
    throw await explainFailure(error, connection, dataset);
  } finally {
    await connection.client.close();
  }
}

/** A personal token may name an organisation; where its user has one alone, none other can be meant. */
async function onlyOrganisation({ client, token, orgId }: Connection): Promise<string | undefined> {
  if (orgId !== undefined || !token.startsWith('xapt-')) return undefined;
  try {
    const [first, ...others] = await client.orgs();
    return others.length === 0 ? first?.id : undefined;
  } catch (error) {
    // What was asked for says more, unless it cannot be asked either.
    if (error instanceof ClientError && error.status >= 400 && error.status < 500) return undefined;
    throw error;
  }
}

/** Creates the dataset unless one of that name exists. */
export async function ensureDataset(client: Client, dataset: Parameters<Client['datasets']['create']>[0]): Promise<void> {
  try {
    await client.datasets.create(dataset);
  } catch (error) {
    if (!(error instanceof ClientError) || error.status !== 409) throw error;
  }
}
