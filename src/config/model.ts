/**
 * The configuration after checking: every unit converted (milliseconds, bytes), every default filled in.
 * config/tables/schema defines how each key is written, config/load/load makes this from a file.
 */
import type { JsonValue } from '../core/block.ts';
import type { SecretFile } from './findings.ts';
import type { SinkSettings } from './common/sink-fields.ts';

export interface Config {
  /** The file it was read from, absolute. */
  readonly file: string;
  /** Of the file's text: which configuration is in force. 12 hex digits. */
  readonly hash: string;
  /** As one can write it, with every default. */
  readonly written: Readonly<Record<string, JsonValue>>;
  readonly dataDir: string;
  readonly shutdownTimeoutMs: number;
  readonly sources: readonly SourceConfig[];
  readonly sinks: readonly SinkConfig[];
  /** Of the events of every source. */
  readonly transform?: TransformConfig | undefined;
  readonly deadLetter: { readonly maxBytes: number; readonly whenFull: 'block' | 'drop_newest' | 'drop_oldest' };
  readonly telemetry: TelemetryConfig;
  readonly tests: readonly TestConfig[];
  /** Of the presets of users. `path` names its place. */
  readonly presetTests: readonly PresetTestConfig[];
}

export interface PresetTestConfig extends Pick<TestConfig, 'file' | 'input' | 'expect'> {
  readonly preset: string;
  readonly path: string;
}

/** Lines, and the events that they become. */
export interface TestConfig {
  /** Ids. */
  readonly source: string;
  readonly sink: string | undefined;
  /** The path of the file that the lines are of. */
  readonly file: string | undefined;
  readonly input: readonly string[];
  readonly expect: readonly Readonly<Record<string, JsonValue>>[];
}

/** What shapes events. `path` names its place in the file. `onError`: undefined leaves it to what the transform does. */
export type TransformConfig = {
  readonly path: string;
  readonly onError: 'keep' | 'dead_letter' | 'drop' | undefined;
} & ({ readonly kind: 'pipeline'; readonly text: string } | { readonly kind: 'script'; readonly file: string });

export type SourceConfig = FileSourceConfig | StdinSourceConfig | SyslogSourceConfig;

/** True for a source whose bytes are lines, which formats and `multiline` make events of. Also of drafts. */
export function readsLines<S extends { readonly type: string }>(source: S): source is Exclude<S, { readonly type: 'syslog' }> {
  return source.type !== 'syslog';
}

export function fileSources({ sources }: Pick<Config, 'sources'>): FileSourceConfig[] {
  return sources.filter((source) => source.type === 'file');
}

interface SourceCommon {
  readonly id: string;
  /** The agent's `fields` and the source's own, the source's winning. */
  readonly fields: Readonly<Record<string, JsonValue>>;
  readonly maxEventBytes: number;
  /** Overrides the sink's dataset. */
  readonly dataset: string | undefined;
  readonly transform?: TransformConfig | undefined;
}

/** How bytes become events, for sources that read lines. */
export interface LineConfig extends SourceCommon {
  readonly format: 'auto' | 'text' | 'json' | 'logfmt' | 'cri' | 'docker' | 'combined' | 'auditd' | 'csv' | 'w3c' | 'regex';
  readonly onOversize: 'truncate' | 'split' | 'dead_letter';
  readonly multiline: MultilineConfig | undefined;
  readonly group?: GroupConfig | undefined;
  /** One of config/fields/charsets. */
  readonly charset: string;
  readonly csv: {
    /** One ASCII character. */
    readonly delimiter: string;
    /** Undefined where the first record names them. */
    readonly columns: readonly string[] | undefined;
    /** Of the last columns, those that a record may lack. */
    readonly optional?: number;
  };
  /** The regular expression of `format: regex`. */
  readonly regex: string | undefined;
  readonly time: TimeConfig;
  /** A transform follows: text that it may hide must not stand in `time_error`. */
  readonly isShaped: boolean;
  /** Formats of which each line has the first that fits, in place of `format`; empty for none. */
  readonly formats: readonly FormatChoice[];
  /** Of named values. */
  readonly types: Readonly<Record<string, 'int' | 'float' | 'bool' | 'datetime' | 'json' | 'text' | 'escaped'>>;
  /** JSON in messages becomes fields. */
  readonly parseJson: boolean;
  /** Regular expressions whose named groups, matched against the path, are fields. */
  readonly pathFields: readonly string[];
}

export interface FormatChoice {
  readonly format: 'text' | 'json' | 'logfmt' | 'combined' | 'regex';
  /** Of `regex`. */
  readonly regex?: string;
}

/**
 * `read`: the time of the read. `auto`: what the kernel finds. `given`: a field, and its format, which is `auto`, `unix…` or a Go
 * layout; without a field that of the default's keys and of the beginning of text. `timezone`: IANA name; of times that name none.
 */
export type TimeConfig =
  /** `kept`: a `_time` of the format's own stays as it is written, for the service. */
  | { readonly kind: 'read' | 'kept' }
  | { readonly kind: 'auto'; readonly timezone: string }
  | { readonly kind: 'given'; readonly field: string | undefined; readonly format: string; readonly timezone: string };

export interface MultilineConfig {
  /** Whether `pattern` tells the lines that begin an event, or those that go on with it. */
  readonly kind: 'start' | 'continue';
  readonly pattern: string;
  /** A regular expression for a line in front of the first one. */
  readonly before?: string | undefined;
  readonly timeoutMs: number;
  readonly maxLines: number;
  /** Infinity where only `maxEventBytes` limits it. */
  readonly maxBytes: number;
}

/** Lines of which the pattern finds the same key, within so long of the first one, are one event. */
export interface GroupConfig {
  readonly by: string;
  readonly withinMs: number;
}

export interface FileSourceConfig extends LineConfig {
  readonly type: 'file';
  /** Absolute globs. */
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  /** Of symbolic links that a wildcard matched; `safe`: those that root, the agent's user or the owner of the target made. */
  readonly followLinks: boolean | 'safe';
  readonly startAt: 'beginning' | 'end';
  /** Between full scans where changes are not watched for. */
  readonly scanIntervalMs: number;
  /** The most between full scans where they are: `scanIntervalMs` where that was written. */
  readonly maxScanIntervalMs: number;
  /** Infinity for `never`. */
  readonly ignoreOlderMs: number;
  readonly order: 'fair' | 'oldest_first';
  /** Infinity for `never`. */
  readonly partialTimeoutMs: number;
  readonly maxDeletedBytes: number;
  readonly stableInodes: boolean;
  readonly readCompressed: boolean;
}

export interface StdinSourceConfig extends LineConfig {
  readonly type: 'stdin';
}

export interface InternetAddress {
  readonly protocol: 'udp' | 'tcp' | 'tls';
  readonly host: string;
  readonly port: number;
}

/** `unix` is a stream socket, `unixgram` a datagram one. */
export interface UnixAddress {
  readonly protocol: 'unix' | 'unixgram';
  readonly path: string;
}

/** Sockets that systemd has opened: those of a name, or all where it is empty. */
export interface SystemdAddress {
  readonly protocol: 'systemd' | 'systemd-tls';
  readonly name: string;
}

export type ListenAddress = InternetAddress | UnixAddress | SystemdAddress;

export interface SyslogSourceConfig extends SourceCommon {
  readonly type: 'syslog';
  readonly onOversize: 'truncate' | 'split' | 'dead_letter';
  readonly listen: readonly ListenAddress[];
  /** The certificate and key of TLS listeners, and the authorities of client certificates. */
  readonly tls: TlsFiles & { readonly requireClientCert: boolean; readonly maxVersion: '1.2' | '1.3' };
  /** IANA name; of times without a zone. */
  readonly timezone: string;
  /** One of config/fields/charsets: of messages that are no UTF-8. */
  readonly charset: string;
  /** Which JSON in messages is parsed into the field `json`; `fields`: all, its members into fields of their own. */
  readonly parseJson: 'none' | 'cee' | 'all' | 'fields';
  readonly parse: 'none' | 'cef' | 'leef' | 'kv' | 'auto';
  /** Receive buffer asked for each datagram socket. */
  readonly receiveBufferBytes: number;
  /** Permissions of unix sockets. */
  readonly socketMode: number;
  /** Connections over stream sockets of the network begin with a PROXY protocol header. */
  readonly proxyProtocol: boolean;
  readonly maxConnections: number;
  /** Infinity for `never`. */
  readonly idleTimeoutMs: number;
}

export type Secret = { readonly kind: 'value'; readonly value: string } | { readonly kind: 'file'; readonly path: string };

/** Absolute paths of PEM files. */
export interface TlsFiles {
  readonly ca: string | undefined;
  /** Both or none. */
  readonly cert: string | undefined;
  readonly key: string | undefined;
}

/** Of a sink of any type. Its type's own settings are for that type alone (sinks/sink-type). */
export interface SinkConfig extends SinkSettings {
  readonly type: string;
  readonly id: string;
  /** Ids of the sources that feed it. */
  readonly inputs: readonly string[];
  /** `inputs` is not written: every source feeds it. */
  readonly takesAll?: true;
  /** Of the events that go to this sink. */
  readonly transform?: TransformConfig | undefined;
  /** `what` as in "it is the token_file". */
  readonly secretFiles?: readonly SecretFile[];
}

export interface TelemetryConfig {
  /** Undefined when telemetry is switched off (`listen: none`). */
  readonly listen: { readonly host: string; readonly port: number } | undefined;
  /** The status page is served. */
  readonly page: boolean;
  /** It shows events. */
  readonly liveTail: boolean;
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error';
}
