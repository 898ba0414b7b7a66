/** From finished field values to the model: paths made absolute, defaults that depend on the machine filled in. */
import { hostname } from 'node:os';
import { dirname, resolve } from 'node:path';
import { originFields } from '../fields/origin.ts';
import type { sharedFields } from '../../sources/common/source-fields.ts';
import { addedOf } from '../../sources/common/source-fields.ts';
import { readsLines, sourceTypeOf, type SourceConfig } from '../../sources/registry.ts';
import { type Context, withTransform } from '../fields/context.ts';
import type { Environment } from '../yaml/expand.ts';
import { finish } from '../fields/field.ts';
import type { FieldDrafts, FieldValues } from '../fields/field.ts';
import type { TelemetryConfig } from '../common/agent-fields.ts';
import type { Config, SinkConfig } from '../model.ts';
import type { TransformConfig } from '../values.ts';
import { isLoopback } from '../connect/proxy.ts';
import { type agentTable, type SinkDraft, type AnySourceDraft, sourceTables } from '../tables/schema.ts';
import { sinkTypeOf } from '../../sinks/registry.ts';

/**
 * Only for a configuration without problems; `file` is absolute, `hash` that of its text. `folderOf` returns the folder of the file of a
 * component (`sources.app`).
 */
export function buildConfig(
  { file, hash, written }: Pick<Config, 'file' | 'hash' | 'written'>,
  env: Environment,
  agent: FieldValues<typeof agentTable>,
  folderOf: (path: string) => string,
  presetTests: Config['presetTests'],
): Config {
  const { fields, origin, hostName = hostname(), transform, includeConfig: _, ...settings } = agent;
  const { components: sources } = settings.sources;
  const folder = dirname(file);
  const context: Context = { env, folder, fields, origin, hostName, sourceIds: sources.map(({ id }) => id) };
  const contextOf = ({ path }: { readonly path: string }): Context => ({ ...context, folder: folderOf(path) });
  const sinks = settings.sinks.components.map((sink) => buildSink(sink, contextOf(sink)));
  return {
    ...settings,
    ...{ file, hash, written, presetTests },
    dataDir: dataDirOf(settings.dataDir, env, folder),
    sources: sources.map((source) => withSinks(buildSource(source, contextOf(source)), sinks, transform !== undefined)),
    sinks,
    ...withTransform(transform, context),
    telemetry: telemetryOf(settings.telemetry),
  };
}

function telemetryOf({ listen, page, ...others }: FieldValues<typeof agentTable>['telemetry']): TelemetryConfig {
  return { listen: listen ?? undefined, page: page ?? (listen !== null && isLoopback(listen.host)), ...others };
}

/** Where the service is to read `_time` itself, it stays as it is written. */
function withSinks(source: SourceConfig, sinks: readonly SinkConfig[], isAlwaysShaped: boolean): SourceConfig {
  if (!readsLines(source)) return source;
  const own = sinks.filter(({ inputs }) => inputs.includes(source.id));
  const isShaped = isAlwaysShaped || [source, ...own].some(({ transform }) => transform !== undefined);
  const isReadThere = own.some(({ timestampField }) => timestampField === '_time');
  return { ...source, isShaped, ...(isReadThere ? { time: { kind: 'kept' } } : {}) };
}

/** The transforms of a configuration that may have problems. */
export function transformsIn(
  { sources, sinks, transform }: FieldDrafts<typeof agentTable>,
  folder: string,
): TransformConfig[] {
  const components = [...(sources?.components ?? []), ...(sinks?.components ?? [])];
  return [transform, ...components.map(({ draft }) => draft.transform)].flatMap(
    (each) => withTransform(each, { folder }).transform ?? [],
  );
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

function buildSource({ type, id, draft }: AnySourceDraft, context: Context): SourceConfig {
  const values: FieldValues<typeof sharedFields> & { readonly maxEventBytes: number } = finish(
    sourceTables[type],
    draft,
  );
  const { hostName } = context;
  const origin = values.origin ?? context.origin;
  const ofOrigin = sourceTypeOf({ type }).readsLines ? {} : originFields(origin, { host: hostName });
  // The registry pairs each type's keys with its form of them.
  return {
    ...sourceTypeOf({ type }).derive(values, context),
    type,
    id,
    ...{ origin, hostName },
    fields: { ...ofOrigin, ...context.fields, ...addedOf(values.fields) },
    maxEventBytes: values.maxEventBytes,
    dataset: values.dataset,
    ...withTransform(values.transform, context),
  } as SourceConfig;
}
