/** From finished field values to the model: paths made absolute, defaults that depend on the machine filled in. */
import { dirname, isAbsolute, resolve } from 'node:path';
import type { JsonValue } from '../../core/block.ts';
import { MAX_SCAN_INTERVAL_MS } from '../limits.ts';
import type { Environment } from '../yaml/expand.ts';
import { finish } from '../fields/field.ts';
import type { Draft, Values } from '../fields/field.ts';
import {
  type Config,
  type SinkConfig,
  type LineConfig,
  type MultilineConfig,
  type SourceConfig,
  type TelemetryConfig,
  type TimeConfig,
  type TransformConfig,
  readsLines,
} from '../model.ts';
import { isLoopback } from '../connect/proxy.ts';
import type { SinkDraft, SourceDraft, agentTable } from '../tables/schema.ts';
import type { multilineTable, timeTable } from '../tables/schema-lines.ts';
import { fileTable, stdinTable, syslogTable } from '../tables/schema-sources.ts';

import { sinkTypeOf } from '../../sinks/registry.ts';
import { type Context, credentialPath, withTransform } from '../fields/context.ts';

const DEFAULT_SCAN_INTERVAL_MS = 1000;

/**
 * Only for a configuration without problems; `file` is absolute, `hash` that of its text. `folderOf` tells the folder of the file that a
 * component (`sources.app`) stands in.
 */
export function buildConfig(
  { file, hash, written }: Pick<Config, 'file' | 'hash' | 'written'>,
  env: Environment,
  agent: Values<typeof agentTable>,
  folderOf: (path: string) => string,
  presetTests: Config['presetTests'],
): Config {
  const folder = dirname(file);
  const sources = agent.sources.components;
  const context: Context = { env, folder, fields: agent.fields, sourceIds: sources.map(({ id }) => id) };
  const contextOf = ({ path }: { readonly path: string }): Context => ({ ...context, folder: folderOf(path) });
  const sinks = agent.sinks.components.map((sink) => buildSink(sink, contextOf(sink)));
  return {
    file,
    hash,
    written,
    dataDir: dataDirOf(agent.dataDir, env, folder),
    shutdownTimeoutMs: agent.shutdownTimeoutMs,
    sources: sources.map((source) => withSinks(buildSource(source, contextOf(source)), sinks, agent.transform !== undefined)),
    sinks,
    ...withTransform(agent.transform, context),
    deadLetter: agent.deadLetter,
    tests: agent.tests,
    presetTests,
    telemetry: telemetryOf(agent.telemetry),
  };
}

function telemetryOf({ listen, page, ...others }: Values<typeof agentTable>['telemetry']): TelemetryConfig {
  return { listen: listen ?? undefined, page: page ?? (listen !== null && isLoopback(listen.host)), ...others };
}

/** Where the service is to read `_time` itself, it stays as it is written. */
function withSinks(source: SourceConfig, sinks: readonly SinkConfig[], isAlwaysShaped: boolean): SourceConfig {
  if (!readsLines(source)) return source;
  const own = sinks.filter(({ inputs }) => inputs.includes(source.id));
  const isShaped = isAlwaysShaped || source.isShaped || own.some(({ transform }) => transform !== undefined);
  const isReadThere = own.some(({ timestampField }) => timestampField === '_time');
  return { ...source, isShaped, ...(isReadThere ? { time: { kind: 'kept' } } : {}) };
}

/** The transforms of a configuration that may have problems. */
export function transformsIn({ sources, sinks, transform }: Draft<typeof agentTable>, folder: string): TransformConfig[] {
  const components = [...(sources?.components ?? []), ...(sinks?.components ?? [])];
  return [transform, ...components.map(({ draft }) => draft.transform)].flatMap((each) => withTransform(each, { folder }).transform ?? []);
}

/** The data folder, absolute: as it is written in a configuration in this folder, or by default. */
export function dataDirOf(written: string | undefined, env: Environment, folder: string): string {
  if (written !== undefined) return resolve(folder, written);
  // systemd gives a list when a unit has several state directories.
  const state = env['STATE_DIRECTORY']?.split(':')[0] ?? '';
  return state === '' ? resolve('tailrace-data') : resolve(state);
}

function buildSink({ type, id, draft }: SinkDraft, context: Context): SinkConfig {
  const sinkType = sinkTypeOf({ type });
  const values = finish(sinkType.fields, draft);
  const { inputs, transform } = values;
  return {
    ...sinkType.derive(values, context),
    ...{ type, id, inputs: inputs ?? context.sourceIds, ...(inputs === undefined ? { takesAll: true } : {}) },
    ...withTransform(transform, context),
  };
}

function buildSource({ type, id, draft }: SourceDraft, context: Context): SourceConfig {
  switch (type) {
    case 'file':
      return buildFile(id, finish(fileTable, draft), context);
    case 'stdin':
      return { ...lineConfig(id, finish(stdinTable, draft), context), type };
    case 'syslog':
      return buildSyslog(id, finish(syslogTable, draft), context);
  }
}

function buildSyslog(id: string, values: Values<typeof syslogTable>, context: Context): SourceConfig {
  const path = (file: string | undefined) => (file === undefined ? undefined : credentialPath(file, context));
  const { cert, key, ca, requireClientCert, maxVersion } = values.tls;
  return {
    ...common(id, values, context),
    type: 'syslog',
    charset: values.charset,
    onOversize: values.onOversize,
    listen: values.listen,
    tls: { cert: path(cert), key: path(key), ca: path(ca), requireClientCert, maxVersion },
    timezone: values.timezone ?? hostZone(),
    parseJson: values.parseJson,
    parse: values.parse,
    receiveBufferBytes: values.receiveBufferBytes,
    socketMode: values.socketMode,
    proxyProtocol: values.proxyProtocol,
    maxConnections: values.maxConnections,
    idleTimeoutMs: values.idleTimeoutMs,
  };
}

function buildFile(id: string, values: Values<typeof fileTable>, context: Context): SourceConfig {
  return {
    ...lineConfig(id, values, context),
    type: 'file',
    pathFields: values.pathFields,
    include: values.include.map((glob) => absoluteGlob(glob, context.folder)),
    // Without a slash a pattern is about the name alone.
    exclude: values.exclude.map((glob) => (glob.includes('/') ? absoluteGlob(glob, context.folder) : glob)),
    followLinks: values.followLinks,
    startAt: values.startAt,
    scanIntervalMs: values.scanIntervalMs ?? DEFAULT_SCAN_INTERVAL_MS,
    maxScanIntervalMs: values.scanIntervalMs ?? MAX_SCAN_INTERVAL_MS,
    ignoreOlderMs: values.ignoreOlderMs,
    order: values.order,
    partialTimeoutMs: values.partialTimeoutMs,
    maxDeletedBytes: values.maxDeletedBytes,
    stableInodes: values.stableInodes,
    readCompressed: values.readCompressed,
  };
}

function lineConfig(id: string, values: Omit<Values<typeof stdinTable>, 'type'>, context: Context): LineConfig {
  const { format, onOversize, charset, regex, multiline } = values;
  const csv = values.csv ?? { delimiter: ',', columns: undefined };
  return {
    ...common(id, values, context),
    format,
    onOversize,
    charset,
    csv,
    regex,
    multiline: multiline && multilineOf(multiline),
    group: values.group,
    time: timeOf(values.time),
    isShaped: values.transform !== undefined,
    formats: values.formats ?? [],
    types: values.types,
    parseJson: values.parseJson,
    pathFields: [],
  };
}

function timeOf(time: 'auto' | 'read' | Values<typeof timeTable>): TimeConfig {
  if (time === 'read') return { kind: 'read' };
  const { field, format, timezone = hostZone() } = time === 'auto' ? { field: undefined, format: 'auto' } : time;
  return field === undefined && format === 'auto' ? { kind: 'auto', timezone } : { kind: 'given', field, format, timezone };
}

function hostZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** Exactly one of the patterns is given (config/rules/relations). */
function multilineOf({ start, continue: more, maxBytes = Infinity, ...others }: Values<typeof multilineTable>): MultilineConfig {
  const kind = start === undefined ? 'continue' : 'start';
  return { kind, pattern: start ?? more ?? '', maxBytes, ...others };
}

interface CommonValues {
  readonly fields: Readonly<Record<string, JsonValue>>;
  readonly maxEventBytes: number;
  readonly dataset: string | undefined;
  readonly transform: TransformConfig | undefined;
}

function common(id: string, values: CommonValues, context: Context) {
  return {
    id,
    fields: { ...context.fields, ...values.fields },
    maxEventBytes: values.maxEventBytes,
    dataset: values.dataset,
    ...withTransform(values.transform, context),
  };
}

/** The folder is a name, not a pattern: what looks like a wildcard in it is escaped. */
function absoluteGlob(glob: string, folder: string): string {
  return isAbsolute(glob) ? glob : resolve(folder.replaceAll(/[\\*?[\]{}()!]/g, String.raw`\$&`), glob);
}
