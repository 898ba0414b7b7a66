/**
 * The configuration after checking: every unit converted (milliseconds, bytes), every default filled in.
 * config/tables/schema defines how each key is written, config/load/load makes this from a file.
 */
import type { JsonValue } from '../core/block.ts';
import type { SourceConfig } from '../sources/registry.ts';
import type { AgentSettings, TelemetryConfig } from './common/agent-fields.ts';
import type { SinkSettings } from './common/sink-fields.ts';
import type { PresetTestConfig, TestConfig } from './common/test-fields.ts';
import type { SecretFile } from './findings.ts';
import type { TransformConfig } from './values.ts';

export interface Config extends AgentSettings {
  /** The file it was read from, absolute. */
  readonly file: string;
  /** Checksum of the file's text: identifies the configuration in force. 12 hex digits. */
  readonly hash: string;
  /** As one can write it, with every default. */
  readonly written: Readonly<Record<string, JsonValue>>;
  readonly dataDir: string;
  readonly sources: readonly SourceConfig[];
  readonly sinks: readonly SinkConfig[];
  /** Applies to the events of every source. */
  readonly transform?: TransformConfig | undefined;
  readonly telemetry: TelemetryConfig;
  readonly tests: readonly TestConfig[];
  readonly presetTests: readonly PresetTestConfig[];
}

/** A sink of any type. Its type's own settings are for that type alone (sinks/sink-type). */
export interface SinkConfig extends SinkSettings {
  readonly type: string;
  readonly id: string;
  /** Ids of the sources that feed it. */
  readonly inputs: readonly string[];
  /** `inputs` is not written: every source feeds it. */
  readonly takesAll?: true;
  /** Applies to the events that go to this sink. */
  readonly transform?: TransformConfig | undefined;
  /** `what` as in "it is the token_file". */
  readonly secretFiles?: readonly SecretFile[];
  /** It writes into this one, absolute: no source reads its files. */
  readonly ownFolder?: string;
}
