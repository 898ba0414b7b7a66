/** A sink's values to its part of the model. */
import { defaultBatchBytes } from '../../core/sink-memory.ts';
import { parseProxy, proxyVariableFor } from '../connect/proxy.ts';
import { finish, type Values } from '../fields/field.ts';
import type { ConsoleSinkConfig, IngestSinkConfig, Secret, SinkConfig } from '../model.ts';
import { consoleTable, ingestTable } from '../tables/schema-sinks.ts';
import type { SinkDraft } from '../tables/schema.ts';
import type { Environment } from '../yaml/expand.ts';
import { type Context, credentialPath, withTransform } from './context.ts';

const DEFAULT_MAX_AGE_MS = 1000;

export function buildSink(sink: SinkDraft, context: Context): SinkConfig {
  if (sink.type === 'console') return buildConsole(sink.id, finish(consoleTable, sink.draft), context);
  return buildIngest(sink.id, finish(ingestTable, sink.draft), context);
}

function buildIngest(id: string, values: Values<typeof ingestTable>, context: Context): IngestSinkConfig {
  const { batch, buffer, retry } = values;
  const url = values.edgeUrl ?? values.url;
  const path = (file: string | undefined) => (file === undefined ? undefined : credentialPath(file, context));
  const proxy = (address: string) => values.proxy ?? environmentProxy(address, context.env);
  return {
    type: 'ingest',
    id,
    ...inputsOf(values.inputs, context),
    url,
    apiUrl: values.url,
    token: secretOf(values.token, values.tokenFile, context),
    orgId: values.orgId,
    dataset: values.dataset,
    ...withTransform(values.transform, context),
    createDataset: values.createDataset,
    path: values.path,
    encoding: values.encoding,
    csv: { columns: values.csv.columns, extra: values.csv.extra === 'drop' ? undefined : values.csv.extra, header: values.csv.header },
    json: values.json,
    headerPrefix: values.headerPrefix,
    tls: { ca: path(values.tls.ca), cert: path(values.tls.cert), key: path(values.tls.key) },
    proxy: proxy(url),
    apiProxy: proxy(values.url),
    labels: values.labels,
    timestampField: values.timestampField,
    timestampFormat: values.timestampFormat,
    compression: values.compression,
    batch: {
      maxBytes: batch.maxBytes ?? defaultBatchBytes(buffer.maxMemoryBytes),
      maxEvents: batch.maxEvents,
      maxAgeMs: batch.maxAgeMs ?? DEFAULT_MAX_AGE_MS,
      closesEarly: batch.maxAgeMs === undefined,
    },
    concurrency: values.concurrency,
    timeoutMs: values.timeoutMs,
    retry,
    buffer: bufferOf(buffer),
  };
}

const inputsOf = (written: readonly string[] | undefined, { sourceIds }: Context): Pick<SinkConfig, 'inputs' | 'takesAll'> =>
  written === undefined ? { inputs: sourceIds, takesAll: true } : { inputs: written };

const bufferOf = (buffer: Values<typeof ingestTable>['buffer']): SinkConfig['buffer'] => ({
  maxMemoryBytes: buffer.maxMemoryBytes,
  maxDiskBytes: buffer.disk.maxBytes,
  spillFiles: buffer.disk.files,
  sync: buffer.sync,
  whenFull: buffer.whenFull,
});

/** One batch at a time, so that events come in their order. */
function buildConsole(id: string, values: Values<typeof consoleTable>, context: Context): ConsoleSinkConfig {
  const { buffer } = values;
  return {
    type: 'console',
    id,
    style: values.style,
    ...inputsOf(values.inputs, context),
    ...withTransform(values.transform, context),
    dataset: CONSOLE_DATASET,
    encoding: 'ndjson',
    csv: { columns: undefined, extra: undefined, header: 'line' },
    json: { envelope: false },
    labels: {},
    timestampField: undefined,
    compression: 'none',
    batch: { maxBytes: defaultBatchBytes(buffer.maxMemoryBytes), maxEvents: 10_000, maxAgeMs: DEFAULT_MAX_AGE_MS, closesEarly: true },
    concurrency: 1,
    retry: { initialBackoffMs: 250, maxBackoffMs: 30_000, maxElapsedMs: Infinity },
    buffer: bufferOf(buffer),
  };
}

/** Events on standard output belong to no dataset, but checkpoints and metrics need a name. */
const CONSOLE_DATASET = 'console';

function secretOf(value: string | undefined, file: string | undefined, context: Context): Secret | undefined {
  if (value !== undefined) return { kind: 'value', value };
  return file === undefined ? undefined : { kind: 'file', path: credentialPath(file, context) };
}

/** One that cannot be read was reported before (config/rules/relations). */
function environmentProxy(address: string, env: Environment): string | undefined {
  const name = proxyVariableFor(address, env);
  const parsed = name === undefined ? undefined : parseProxy(env[name] ?? '');
  return parsed && 'value' in parsed ? parsed.value : undefined;
}
