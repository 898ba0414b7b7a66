/** The types of sources. A new one is its folder, and its line here. */
import type { LineConfig } from './common/line-fields.ts';
import type { SourceType } from './common/source-type.ts';
import { fileType } from './file/file-type.ts';
import { journaldType } from './journald/journald-type.ts';
import { stdinType } from './stdin/stdin-type.ts';
import { syslogType } from './syslog/syslog-type.ts';

export const SOURCE_TYPES = {
  file: fileType,
  journald: journaldType,
  stdin: stdinType,
  syslog: syslogType,
};

type Types = typeof SOURCE_TYPES;
export type SourceTypeName = keyof Types;

/** A source of a checked configuration, distinguished by its type. */
export type SourceConfig = {
  [K in SourceTypeName]: Types[K] extends SourceType<infer _T, infer C> ? C : never;
}[SourceTypeName];

/** The type that reads files. */
export const FILES_TYPE = Object.entries<SourceType>(SOURCE_TYPES).find(([, { files }]) => files)![0];

/** An entry of `sources` with these keys, for lines that come from nowhere. */
export const trialSource = (keys: string): string =>
  `{${Object.values<SourceType>(SOURCE_TYPES).flatMap(({ trial }) => trial ?? [])[0]}, ${keys}}`;

/** The keys of presets: without those that choose its input. */
export const { include: _include, exclude: _exclude, ...PRESET_FIELDS } = SOURCE_TYPES.file.fields;

/** All that is asked of a source's type. */
export function sourceTypeOf({ type }: { readonly type: SourceTypeName }): SourceType {
  return SOURCE_TYPES[type];
}

/** True for a source whose bytes are lines, which formats and `multiline` make events of. */
export function readsLines(source: SourceConfig): source is Extract<SourceConfig, LineConfig> {
  return SOURCE_TYPES[source.type].readsLines;
}
