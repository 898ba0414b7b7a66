/** Opens a client for one command and closes it afterwards; a failure comes with advice. */
import type { Client } from '../../client/client.ts';
import { explainFailure } from './advice.ts';
import { type Connection, type ConnectionArguments, openConnection } from './connection.ts';

/**
 * Runs `work` with a client and closes it. A failure is thrown as a `TailraceError` that says what to do; `dataset` is what the work is
 * about, so that a misspelt one can be corrected.
 */
export async function withClient<T>(
  args: ConnectionArguments,
  dataset: string | undefined,
  work: (client: Client, connection: Connection) => Promise<T>,
): Promise<T> {
  const connection = openConnection(args, process.env);
  try {
    return await work(connection.client, connection);
  } catch (error) {
    throw await explainFailure(error, connection, dataset);
  } finally {
    await connection.client.close();
  }
}
