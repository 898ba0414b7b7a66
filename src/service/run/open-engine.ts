/**
 * Opens the engine of a data folder. A folder remembers its engine and refuses another, which would show empty datasets.
 */
import { randomUUID } from 'node:crypto';
import { TailraceError, UsageError } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import type { Metadata } from '../metadata.ts';
import { hidePassword, parseClickhouseUrl, type ClickhouseAddress } from '../engine/clickhouse-url.ts';
import type { Engine, EngineOptions } from '../engine/engine.ts';

export interface OpenOptions extends EngineOptions {
  readonly log: Log;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** `engine` is `embedded` or `clickhouse://…`. Throws a `TailraceError`. */
export async function openEngine(
  engine: string,
  metadata: Metadata,
  dataDir: string,
  options: OpenOptions,
): Promise<Engine> {
  const { log, env } = options;
  if (engine !== 'embedded' && !engine.startsWith('clickhouse://'))
    throw new UsageError('E_ENGINE', `--engine ${JSON.stringify(hidePassword(engine))} is not known`, {
      fix: 'use --engine embedded or --engine clickhouse://host:8123/database',
    });
  const kind = engine === 'embedded' ? 'embedded' : 'clickhouse';
  const address = kind === 'clickhouse' ? parseClickhouseUrl(engine, env) : undefined;
  const known = metadata.fact('engine') ?? (hasDatasets(metadata) ? 'embedded' : kind);
  if (known !== kind)
    throw new TailraceError('E_ENGINE', `the events of ${dataDir} are in the engine "${known}", not in "${kind}"`, {
      fix:
        kind === 'clickhouse'
          ? `move them with tailrace migrate --data ${dataDir} --to clickhouse://…, or choose another folder with --data`
          : 'name it with --engine clickhouse://…, or choose another folder with --data',
    });
  const opened = address ? await openCluster(address, metadata, options, log) : await openEmbedded(dataDir, options);
  metadata.setFact('engine', kind);
  return opened;
}

/** Each engine is loaded only where it is used. */
async function openEmbedded(dataDir: string, options: EngineOptions): Promise<Engine> {
  const { openChdb } = await import('../engine/embedded/chdb.ts');
  return openChdb(dataDir, options);
}

/** Opens the cluster as the folder's own. */
export async function openCluster(
  address: ClickhouseAddress,
  metadata: Metadata,
  options: EngineOptions,
  log: Log,
): Promise<Engine> {
  const { openClickhouse } = await import('../engine/clickhouse.ts');
  const instance = metadata.fact('instance') ?? randomUUID();
  metadata.setFact('instance', instance);
  return openClickhouse(address, instance, options, log);
}

const hasDatasets = (metadata: Metadata): boolean => metadata.db.prepare('select 1 from datasets').get() !== undefined;
