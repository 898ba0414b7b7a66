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
export type SourceConfig = { [K in SourceTypeName]: Types[K] extends SourceType<infer _T, infer C> ? C : never }[SourceTypeName];

/** All that is asked of a source's type. */
export function sourceTypeOf({ type }: { readonly type: SourceTypeName }): SourceType {
  return SOURCE_TYPES[type];
}

/** True for a source whose bytes are lines, which formats and `multiline` make events of. */
export function readsLines(source: SourceConfig): source is Extract<SourceConfig, LineConfig> {
  return SOURCE_TYPES[source.type].readsLines;
}
