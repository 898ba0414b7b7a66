/** Opens a client for one command and closes it afterwards; a failure comes with advice. */
import type { Client } from '../../client/client.ts';
import { ClientError } from '../../client/client-error.ts';
import { explainFailure } from './advice.ts';
import { type ConnectionArguments, openConnection } from './connection.ts';

/**
 * Resolves with the exit code: what `work` gives, else 0. A failure is thrown as a `TailraceError` that says what to do; `dataset` is what the work is
 * about, so that a misspelt one can be corrected.
 */
export async function withClient(
  args: ConnectionArguments,
  dataset: string | undefined,
  work: (client: Client) => Promise<number | void>,
): Promise<number> {
  const connection = openConnection(args, process.env);
  try {
    return (await work(connection.client)) ?? 0;
  } catch (error) {
    throw await explainFailure(error, connection, dataset);
  } finally {
    await connection.client.close();
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
