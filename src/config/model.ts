/**
 * The configuration after checking: every unit converted (milliseconds, bytes), every default filled in.
 * config/schema says how each key is written, config/load makes this from a file.
 */
import type { JsonValue } from '../core/block.ts';

export interface Config {
  /** The file it was read from, absolute. */
  readonly file: string;
  readonly dataDir: string;
  readonly shutdownTimeoutMs: number;
  readonly sources: readonly SourceConfig[];
  readonly sinks: readonly IngestSinkConfig[];
  readonly telemetry: TelemetryConfig;
}

export type SourceConfig = FileSourceConfig | StdinSourceConfig | SyslogSourceConfig;

interface SourceCommon {
  readonly id: string;
  /** The agent's `fields` and the source's own, the source's winning. */
  readonly fields: Readonly<Record<string, JsonValue>>;
  readonly maxEventBytes: number;
  /** Overrides the sink's dataset. */
  readonly dataset: string | undefined;
}

export interface FileSourceConfig extends SourceCommon {
  readonly type: 'file';
  /** Absolute globs. */
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  readonly startAt: 'beginning' | 'end';
  readonly format: 'auto' | 'text' | 'json';
  readonly scanIntervalMs: number;
}

export interface StdinSourceConfig extends SourceCommon {
  readonly type: 'stdin';
  readonly format: 'auto' | 'text' | 'json';
}

export interface ListenAddress {
  readonly protocol: 'udp' | 'tcp';
  readonly host: string;
  readonly port: number;
}

export interface SyslogSourceConfig extends SourceCommon {
  readonly type: 'syslog';
  readonly listen: readonly ListenAddress[];
  /** IANA name; of times without a zone. */
  readonly timezone: string;
}

export type Secret = { readonly kind: 'value'; readonly value: string } | { readonly kind: 'file'; readonly path: string };

export interface IngestSinkConfig {
  readonly type: 'ingest';
  readonly id: string;
  /** Ids of the sources that feed it. */
  readonly inputs: readonly string[];
  /** Base address without a trailing slash; `edge_url` where it is set. */
  readonly url: string;
  readonly token: Secret | undefined;
  readonly orgId: string | undefined;
  readonly dataset: string;
  readonly createDataset: boolean;
  readonly path: 'current' | 'legacy';
  readonly headerPrefix: string;
  readonly timestampField: string | undefined;
  readonly timestampFormat: string | undefined;
  readonly compression: 'gzip' | 'zstd' | 'none';
  readonly batch: { readonly maxBytes: number; readonly maxEvents: number; readonly maxAgeMs: number };
  readonly concurrency: number;
  readonly timeoutMs: number;
  /** `maxElapsedMs` is Infinity for `never`. */
  readonly retry: { readonly initialBackoffMs: number; readonly maxBackoffMs: number; readonly maxElapsedMs: number };
  readonly buffer: { readonly maxMemoryBytes: number };
}

export interface TelemetryConfig {
  /** Undefined when telemetry is switched off (`listen: none`). */
  readonly listen: { readonly host: string; readonly port: number } | undefined;
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error';
}
