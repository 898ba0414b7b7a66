/** `tailrace migrate`: moves a data folder's events from the embedded engine to ClickHouse, with progress on stderr. */
import { printable } from '../config/quote.ts';
import { resolve } from 'node:path';
import { silentLog } from '../core/log.ts';
import { refuseForeignFolder } from '../state/keep-owner.ts';
import { hidePassword } from '../service/engine/clickhouse-url.ts';
import { moveToCluster, type MoveProgress } from '../service/run/migrate.ts';
import type { ArgumentsOf } from './options/command-options.ts';

export type MigrateArguments = ArgumentsOf<'migrate'> & { readonly to: string };

/** Resolves to the exit code. Throws a `TailraceError`. */
export async function migrate({
  data = 'tailrace-service',
  to,
  sync = false,
  json = false,
}: MigrateArguments): Promise<number> {
  refuseForeignFolder(resolve(data));
  const show = json ? showNothing : process.stderr.isTTY ? showInPlace : showEachDataset();
  const result = await moveToCluster({
    dataDir: resolve(data),
    to,
    sync,
    log: silentLog,
    env: process.env,
    onProgress: show,
  });
  if (!json && process.stderr.isTTY) process.stderr.write('\n');
  if (json) process.stdout.write(`${JSON.stringify(result)}\n`);
  else
    process.stdout.write(
      `moved ${result.rows} events of ${result.datasets} datasets, compared by count and checksum\n` +
        `start the service with --engine ${hidePassword(to)}; the folder ${resolve(data, 'engine')} is no longer used and may be removed\n`,
    );
  return 0;
}

const showNothing = (): void => undefined;
const showInPlace = ({ dataset, rows, total }: MoveProgress): void => {
  const percent = total === 0 ? 100 : Math.floor((rows / total) * 100);
  process.stderr.write(`\r\u001B[K${printable(dataset)}: ${rows} of ${total} events, ${percent} %`);
};
/** Not a terminal: a line for each tenth of a dataset. */
function showEachDataset(): (progress: MoveProgress) => void {
  let last = '';
  return ({ dataset, rows, total }) => {
    const line = `${printable(dataset)}: ${total === 0 ? 100 : Math.floor((rows / total) * 10) * 10} %`;
    if (line !== last) process.stderr.write(`${line}\n`);
    last = line;
  };
}
