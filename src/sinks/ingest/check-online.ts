/** Whether the service of an ingest sink can be reached, takes the token and has the datasets. */
import { randomUUID } from 'node:crypto';
import { ClientError } from '../../client/client-error.ts';
import { createClient } from '../../client/client.ts';
import { UNREACHABLE_FIX } from '../../client/failure.ts';
import { readSecret } from '../../config/connect/secrets.ts';
import { readTlsFiles } from '../../config/connect/tls-files.ts';
import type { Finding } from '../../config/findings.ts';
import { nearest } from '../../config/nearest.ts';
import type { Outcome } from '../../core/sink.ts';
import { systemClock } from '../../core/time/clock.ts';
import { ingestForms } from './encode/encoder.ts';
import type { IngestSinkConfig } from './ingest-config.ts';
import { createIngestSink } from './sink.ts';

/** A service that answers later is taken for one that does not. */
const PATIENCE_MS = 10_000;
/** Only creating a dataset would show whether the token may. */
const RUN_CREATES =
  '`run` will try to create it: the token must be allowed to (`tailrace tokens create` wants --manage-datasets)';

export async function checkOnline(config: IngestSinkConfig, datasets: ReadonlyMap<string, string>): Promise<Finding[]> {
  const found: Finding[] = [];
  for (const [dataset, place] of datasets) {
    const outcome = await askService(config, dataset);
    const finding = findingOf(config, dataset, place, outcome);
    if (!finding) continue;
    const near =
      outcome.kind === 'pause' && outcome.reason === 'not_found' ? await nearestDataset(config, dataset) : undefined;
    found.push(near === undefined ? finding : { ...finding, fix: `did you mean \`${near}\`? Else ${finding.fix}` });
    // A wrong address or token is wrong for every dataset: report it once.
    if (finding.path !== place) break;
  }
  return found;
}

/** Asks with a request without any events, as the agent would send it, so that it needs no more rights than that and stores nothing. */
async function askService(config: IngestSinkConfig, dataset: string): Promise<Outcome> {
  const sink = createIngestSink(
    { ...config, createDataset: false, timeoutMs: Math.min(config.timeoutMs, PATIENCE_MS) },
    systemClock,
  );
  try {
    const nothing = Buffer.alloc(0);
    const body = ingestForms.encoderOf(config)?.(nothing) ?? nothing;
    const request = { key: `check-${randomUUID()}`, dataset, events: 0, body, encoding: 'identity' } as const;
    return (await sink.send(request, new AbortController().signal)).outcome;
  } finally {
    await sink.close();
  }
}

/** Undefined, too, where the token may list none. */
async function nearestDataset(config: IngestSinkConfig, dataset: string): Promise<string | undefined> {
  const { apiUrl, token, orgId, headerPrefix, apiProxy, tls } = config;
  const client = createClient({
    url: apiUrl,
    headerPrefix,
    timeoutMs: PATIENCE_MS,
    tls: readTlsFiles(tls),
    onRetry: () => false,
    ...(token !== undefined && { token: readSecret(token) }),
    ...(orgId !== undefined && { orgId }),
    ...(apiProxy !== undefined && { proxy: apiProxy }),
  });
  try {
    const names = (await client.datasets.list()).map(({ name }) => name);
    return nearest(dataset, names);
  } catch (error) {
    if (error instanceof ClientError) return undefined;
    throw error;
  } finally {
    await client.close();
  }
}

/** Undefined where the service would take events, also where it only objects to the empty request. */
function findingOf(config: IngestSinkConfig, dataset: string, place: string, outcome: Outcome): Finding | undefined {
  const { id, url, token, createDataset } = config;
  const at = (path: string, message: string, fix: string, isWarning = false): Finding => ({
    path,
    message,
    fix,
    isWarning,
  });
  if (outcome.kind === 'pause' && outcome.reason === 'not_found') {
    if (createDataset)
      return at(
        place,
        `the dataset \`${dataset}\` does not exist yet at ${url} (${outcome.detail})`,
        RUN_CREATES,
        true,
      );
    return at(place, `the service at ${url} has no dataset \`${dataset}\`: ${outcome.detail}`, outcome.fix);
  }
  if (outcome.kind === 'pause') {
    const key = token === undefined ? '' : token.kind === 'file' ? '.token_file' : '.token';
    const missing = token === undefined ? 'the service wants a token' : 'the service refuses the token';
    return at(`sinks.${id}${key}`, `${missing} for the dataset \`${dataset}\`: ${outcome.detail}`, outcome.fix);
  }
  if (outcome.kind !== 'retry') return undefined;
  if (outcome.reason === 'bad_answer')
    return at(
      `sinks.${id}.url`,
      `what answers at ${url} is no ingest service: ${outcome.detail}`,
      'check url, and that no proxy answers in its place',
    );
  const isPassing = outcome.reason === 'rate_limited' || outcome.reason === 'server_error';
  const message = isPassing ? `the service at ${url} takes no events now` : `the service at ${url} cannot be reached`;
  const unknown = isPassing ? 'the agent tries until it does' : UNREACHABLE_FIX;
  const { detail, fix } = outcome;
  const problem = fix === undefined ? detail : detail.replace(`: ${fix}`, '');
  return at(`sinks.${id}.url`, `${message}: ${problem}`, fix ?? unknown, isPassing);
}
