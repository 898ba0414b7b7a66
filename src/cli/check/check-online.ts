/**
 * What `tailrace check --online` finds: whether the service of each sink can be reached, takes the token and has the
 * datasets.
 */
import { askService } from '../../agent/control/ask-service.ts';
import { ClientError } from '../../client/client-error.ts';
import { createClient } from '../../client/client.ts';
import { UNREACHABLE_FIX } from '../../client/failure.ts';
import type { Problem } from '../../config/config-error.ts';
import { readSecret } from '../../config/connect/secrets.ts';
import { readTlsFiles } from '../../config/connect/tls-files.ts';
import type { Config, IngestSinkConfig } from '../../config/model.ts';
import { nearest } from '../../config/nearest.ts';
import type { Outcome } from '../../core/sink.ts';
import type { Locate, MachineFindings } from './check-machine.ts';

/** The list of datasets is a help, and not waited for longer. */
const PATIENCE_MS = 10_000;
/** Only creating a dataset would show whether the token may. */
const RUN_CREATES = '`run` will try to create it: the token must be allowed to (`tailrace tokens create` wants --manage-datasets)';

export async function checkOnline(config: Config, locate: Locate): Promise<MachineFindings> {
  const found = await Promise.all(
    config.sinks.flatMap((sink) => (sink.type === 'ingest' ? [checkSink(sink, datasetsOf(config, sink), locate)] : [])),
  );
  return { problems: found.flatMap(({ problems }) => problems), warnings: found.flatMap(({ warnings }) => warnings) };
}

/** Each dataset that the sink gets events for, with the place where it is named. */
function datasetsOf(config: Config, sink: IngestSinkConfig): Map<string, string> {
  const datasets = new Map<string, string>();
  for (const { id, dataset } of config.sources.filter(({ id }) => sink.inputs.includes(id))) {
    const name = dataset ?? sink.dataset;
    if (!datasets.has(name)) datasets.set(name, dataset === undefined ? `sinks.${sink.id}.dataset` : `sources.${id}.dataset`);
  }
  return datasets;
}

async function checkSink(config: IngestSinkConfig, datasets: ReadonlyMap<string, string>, locate: Locate): Promise<MachineFindings> {
  const problems: Problem[] = [];
  const warnings: Problem[] = [];
  for (const [dataset, place] of datasets) {
    const outcome = await askService(config, dataset);
    const finding = findingOf(config, dataset, place, outcome);
    if (!finding) continue;
    const { path, message, fix, isWarning } = finding;
    const near = outcome.kind === 'pause' && outcome.reason === 'not_found' ? await nearestDataset(config, dataset) : undefined;
    const meant = near === undefined ? '' : `did you mean \`${near}\`? Else `;
    (isWarning ? warnings : problems).push({ ...locate(path), message, fix: meant + fix });
    // A wrong address or token is wrong for every dataset: report it once.
    if (path !== place) break;
  }
  return { problems, warnings };
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

interface Finding {
  readonly path: string;
  readonly message: string;
  readonly fix: string;
  readonly isWarning: boolean;
}

/** Undefined where the service would take events, also where it only objects to the empty request. */
function findingOf(config: IngestSinkConfig, dataset: string, place: string, outcome: Outcome): Finding | undefined {
  const { id, url, token, createDataset } = config;
  const at = (path: string, message: string, fix: string, isWarning = false): Finding => ({ path, message, fix, isWarning });
  if (outcome.kind === 'pause' && outcome.reason === 'not_found') {
    if (createDataset) return at(place, `the dataset \`${dataset}\` does not exist yet at ${url} (${outcome.detail})`, RUN_CREATES, true);
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
