/**
 * The local service: stores what agents send and answers queries, as the hosted services of its API family do. This file wires its parts together
 * and closes them again. Events that were answered with 200 survive a kill of the process.
 */
import { rmdirSync, rmSync } from 'node:fs';
import { isIPv6 } from 'node:net';
import { resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { codeOf, messageOf, TailraceError, UsageError } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import type { Credentials } from '../auth/auth.ts';
import { nameIn } from '../../web/host-check.ts';
import { FairBudget } from '../fairness/fair-budget.ts';
import { leastRateOf } from '../fairness/least-rate.ts';
import {
  DEFAULT_LIMITS,
  memoryShares,
  queryLimitsOf,
  SERVICE_MEMORY_BYTES,
  SERVICE_WAITING_QUERIES,
  type ServiceLimits,
} from '../limits.ts';

export interface ServiceOptions {
  /** Port 0: a free one. */
  readonly listen: { readonly host: string; readonly port: number };
  readonly dataDir: string;
  /** `embedded`, the default, or `clickhouse://…`. */
  readonly engine?: string;
  /** Names by which clients may call it, beside loopback's and its own. */
  readonly allowHosts?: readonly string[];
  /** Origins whose pages may ask it; `*` for every one. */
  readonly corsOrigins?: readonly string[];
  /** Of the org-ID, event-labels, CSV-fields and trace-id headers; default `TAILRACE_HEADER_PREFIX`, else `X-Service-`. */
  readonly headerPrefix?: string;
  /** What the process, and an engine in it, may take: decides the bounds that `limits` does not. */
  readonly memoryBytes?: number;
  /** What differs from the defaults. */
  readonly limits?: Partial<ServiceLimits>;
  /** Fsync events before the request is answered. */
  readonly sync?: boolean;
  /** Personal tokens of owners and admins may ingest, too. */
  readonly personalIngest?: boolean;
  /** Takes one line of JSON for each request that has ended. */
  readonly accessLog?: (line: string) => void;
  readonly log: Log;
  /** Default: the process's environment. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

export interface Service {
  /** `http://host:port` */
  readonly address: string;
  /** The tokens only when they were made or given at this start. */
  readonly credentials: Credentials;
  /** Answers running requests, then frees the port and the folder. Idempotent. */
  close(): Promise<void>;
}

/** Row ids are reserved on disk this many at a time. */
const ROW_ID_STEP = 1_000_000n;
/** A scrape does not wait longer for the engine, which may be busy with a query. */
const MEMORY_WAIT_MS = 500;

/** Throws a `TailraceError`: the folder is unusable, locked by another process, the engine is missing or away, the port is taken. */
export async function startService(options: ServiceOptions): Promise<Service> {
  const { log, sync = false } = options;
  const env = options.env ?? process.env;
  const headerPrefix = checkPrefix(options.headerPrefix ?? env['TAILRACE_HEADER_PREFIX'] ?? 'X-Service-');
  const ownHosts = (options.allowHosts ?? []).map(readHost);
  const dataDir = resolve(options.dataDir);

  // Loaded lazily: the agent, in the same program, needs none of it.
  const { openMetadata } = await import('../metadata.ts');
  const { openAuth } = await import('../auth/auth.ts');
  const { openEngine } = await import('./open-engine.ts');
  const { openCatalog } = await import('../datasets/catalog.ts');
  const { openArrivals } = await import('../datasets/arrivals.ts');
  const { openTrimmer } = await import('../datasets/trim.ts');
  const { openKeys } = await import('../ingest/keys.ts');
  const { chooseOwnFields } = await import('../ingest/own-fields.ts');
  const { openQuota } = await import('../ingest/quota.ts');
  const { createServer } = await import('./server.ts');

  /** What to close, last first. */
  const opened: (() => Promise<void> | void)[] = [];
  const closeAll = async (): Promise<void> => {
    for (const undo of opened.splice(0).reverse()) await undo();
  };
  try {
    const metadata = openMetadata(dataDir, sync);
    opened.push(() => metadata.close());
    // A failed first start removes its folder while it still holds the lock. With a cluster it stays: the cluster may bear its mark already.
    let isServing = false;
    const engineName = options.engine ?? 'embedded';
    const { n: datasets } = metadata.db.prepare('select count(*) as n from datasets').get() as { n: number };
    const limits = limitsOf(options, engineName === 'embedded', datasets);
    const wantedMib = (options.limits?.queryMemoryBytes ?? 0) / 2 ** 20;
    const queryMib = limits.queryMemoryBytes / 2 ** 20;
    if (wantedMib > queryMib)
      log.warn({ wantedMib, queryMib }, 'a query gets half of the memory at most: give the service more with --memory');
    if (!engineName.startsWith('clickhouse:')) opened.push(() => void (isServing || takeAway(metadata.madeFolders)));
    const engine = await openEngine(engineName, metadata, dataDir, {
      limits: queryLimitsOf(limits),
      memoryBytes: limits.engineBytes,
      sync,
      log,
      env,
    });
    opened.push(() => engine.close());
    const catalog = await openCatalog(metadata, engine, log, limits);
    const keys = await openKeys(metadata, engine, log);
    const auth = openAuth(metadata, env, new Date(), options.personalIngest);
    const created = metadata.fact('created') ?? new Date().toISOString();
    metadata.setFact('created', created);
    const trimmer = openTrimmer(catalog, engine, log);
    opened.push(() => trimmer.stop());

    const { rateLimit } = await import('../auth/rate-limit.ts');
    const { describeApi } = await import('../http/openapi.ts');
    const { openVirtualFields } = await import('../api/virtual-fields.ts');
    const { ENDPOINT_GROUPS } = await import('../api/groups.ts');
    const { createMetrics } = await import('../http/metrics.ts');
    const { QueryTurns } = await import('../query/turns.ts');
    const { openRunningQueries } = await import('../query/running-queries.ts');
    const arrivals = openArrivals();
    const running = openRunningQueries(headerPrefix);
    const metrics = createMetrics({
      openStreams: arrivals.waiting,
      waitingQueries: () => turns.waiting,
      memoryBytes: lastKnown(MEMORY_WAIT_MS, () => engine.memoryBytes()),
    });
    const turns = new QueryTurns(engine.queriesAtOnce, metrics.countWait);
    const replies = new FairBudget(limits.replyBytes, SERVICE_WAITING_QUERIES);
    const server = createServer({
      auth,
      rateLimit: rateLimit(limits.ratePerSecond),
      headerPrefix,
      ownHosts: [options.listen.host, ...ownHosts],
      corsOrigins: new Set(options.corsOrigins),
      requestSeconds: limits.requestSeconds,
      leastRate: leastRateOf(limits),
      jsonBytes: limits.jsonBytes,
      replies,
      log,
      countRequest: metrics.countRequest,
      accessLog: options.accessLog,
    });
    describeApi(server, headerPrefix);
    server.addHook('preClose', (done) => {
      arrivals.close();
      running.stop();
      done();
    });
    const organisation = {
      id: auth.credentials.orgId,
      created,
      email: auth.users.owner.email,
      ratePerSecond: limits.ratePerSecond,
      monthlyBytes: limits.monthlyBytes,
      maxFields: limits.datasetFields,
    };
    const virtualFields = openVirtualFields(metadata, catalog);
    const parts = {
      metadata,
      engine,
      catalog,
      trimmer,
      arrivals,
      keys,
      auth,
      organisation,
      virtualFields,
      metrics,
      log,
      limits,
      headerPrefix,
      columnsOf: virtualFields.columnsOf,
      quota: openQuota(metadata, limits.monthlyBytes),
      ownFields: chooseOwnFields(catalog, log, limits.ownColumnSample),
      takeRowIds: rowIds(metadata),
      replyBytes: limits.replyBytes,
      replies,
      turns,
      running,
      personalIngest: options.personalIngest ?? false,
      countIngest: metrics.countIngest,
      countQuery: metrics.countQuery,
    };
    for (const group of ENDPOINT_GROUPS) group.bind(server, parts);
    opened.push(() => server.close());
    const address = await listen(server, options.listen);
    isServing = true;
    auth.noteTold();
    log.info({ address, dataDir, engine: engine.name }, 'the service is ready');
    return { address, credentials: auth.credentials, close: closeAll };
  } catch (error) {
    await closeAll();
    throw error;
  }
}

function limitsOf(
  { limits = {}, memoryBytes = SERVICE_MEMORY_BYTES }: ServiceOptions,
  isEmbedded: boolean,
  datasets: number,
): ServiceLimits {
  const shares = memoryShares(memoryBytes, isEmbedded, datasets, limits.queryMemoryBytes);
  return { ...DEFAULT_LIMITS, ...shares, ...limits, queryMemoryBytes: shares.queryMemoryBytes };
}

/** The answer of `ask` within this time; else, or when it fails, the answer before. */
function lastKnown(ms: number, ask: () => Promise<number>): () => Promise<number> {
  let known = 0;
  let asking: Promise<void> | undefined;
  return async () => {
    asking ??= ask()
      .then((value) => void (known = value))
      .catch(() => undefined)
      .finally(() => (asking = undefined));
    const waited = new AbortController();
    await Promise.race([asking, wait(ms, undefined, { signal: waited.signal }).catch(() => undefined)]);
    waited.abort();
    return known;
  };
}

/** Removes the data folder, and the folders above it that this start created and that are empty now. */
function takeAway([dataDir, ...above]: readonly string[]): void {
  if (dataDir === undefined) return;
  rmSync(dataDir, { recursive: true, force: true });
  try {
    for (const folder of above) rmdirSync(folder);
  } catch {
    // Another process uses it by now.
  }
}

function checkPrefix(prefix: string): string {
  if (/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}$/.test(prefix)) return prefix;
  throw new TailraceError(
    'E_HEADER_PREFIX',
    `the header prefix ${JSON.stringify(prefix)} cannot begin an HTTP header`,
    {
      fix: 'use letters, digits and -, such as X-Service-',
    },
  );
}

/** A name or address, perhaps with a port. Throws a `UsageError`. */
function readHost(text: string): string {
  const name = isIPv6(text) ? `[${text}]` : nameIn(text);
  if (name !== undefined && /^(?:\[.*\]|[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?)$/i.test(name)) return name;
  throw new UsageError('E_ALLOW_HOST', `--allow-host ${JSON.stringify(text)} is no name of a host`, {
    fix: 'write each name in full, such as logs.example.org; --allow-host may be repeated',
  });
}

/** Gives out row ids that are unique across restarts: reserved ids that were not used are skipped. */
function rowIds(metadata: {
  fact(name: string): string | undefined;
  setFact(name: string, value: string): void;
}): (count: number) => bigint {
  let next = BigInt(metadata.fact('next_row_id') ?? '1');
  let reserved = next;
  return (count) => {
    const first = next;
    const after = first + BigInt(count);
    if (after > reserved) {
      // Given out only once this is written.
      metadata.setFact('next_row_id', String(after + ROW_ID_STEP));
      reserved = after + ROW_ID_STEP;
    }
    next = after;
    return first;
  };
}

async function listen(server: FastifyInstance, { host, port }: ServiceOptions['listen']): Promise<string> {
  try {
    await server.listen({ host, port });
  } catch (cause) {
    const code = codeOf(cause);
    const fix =
      code === 'EADDRINUSE'
        ? 'stop what listens there, or choose another port with --listen'
        : code === 'EACCES'
          ? 'ports below 1024 need privileges: choose another with --listen'
          : 'choose an address of this machine with --listen';
    throw new TailraceError(
      'E_LISTEN',
      `cannot listen on ${host}:${port}: ${code === 'EADDRINUSE' ? 'the port is taken' : messageOf(cause)}`,
      { fix, cause },
    );
  }
  const bound = server.server.address();
  const actual = typeof bound === 'object' && bound !== null ? bound.port : port;
  return `http://${isIPv6(host) ? `[${host}]` : host}:${actual}`;
}
