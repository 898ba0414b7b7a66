/** The keys of the agent itself. */
import { field, group, type FieldTable, type FieldValues } from '../fields/field.ts';
import { anyText, choice, duration, flag, size } from '../fields/kinds.ts';
import { hostPortOrNone, staticFields } from '../fields/kinds-special.ts';
import { originKind } from '../fields/origin.ts';
import { transform } from '../fields/kinds-transform.ts';

const telemetryTable = {
  listen: field(hostPortOrNone, {
    default: '127.0.0.1:9600',
    doc: '/metrics, /healthz and /readyz, and the status page at /; `none` switches it off',
  }),
  page: field(flag, {
    computed: 'true where `listen` is loopback',
    example: 'true',
    doc: 'the status page: its readers see file names, configuration and reasons, and need no token',
  }),
  live_tail: field(flag, {
    default: 'false',
    doc: 'the status page shows events, after their transforms, to everyone who reaches it',
  }),
  log_level: field(choice(['debug', 'info', 'warn', 'error']), {
    default: 'info',
    doc: 'the least level that is logged',
  }),
} satisfies FieldTable;

const deadLetterTable = {
  max_bytes: field(size('1KiB', '16384GiB'), { default: '1GiB', doc: 'of refused events that are kept' }),
  when_full: field(choice(['block', 'drop_newest', 'drop_oldest']), {
    default: 'block',
    doc: 'block: batches with refused events wait; else the newest or the oldest refused events are dropped',
  }),
} satisfies FieldTable;

export const agentFields = {
  data_dir: field(anyText, {
    computed: '$STATE_DIRECTORY, else tailrace-data in the working directory',
    example: '/var/lib/tailrace',
    doc: "checkpoints, dead letters and the disk buffer; a relative path starts at this file's folder",
  }),
  shutdown_timeout: field(duration('1s', '1h'), { default: '30s', doc: 'how long to go on delivering after SIGTERM' }),
  host_name: field(anyText, {
    computed: "the system's",
    example: '${HOSTNAME}',
    doc: 'the `host` of events; in a container, whose own name says little, that of its machine: `${NODE_NAME}`',
  }),
  memory: field(choice(['default', 'small']), {
    default: 'default',
    doc: 'small: for an agent beside one program; all sinks share 8 MiB (at least 1 MiB each) and each sends two requests at a time, unless buffer.max_memory or concurrency is set',
  }),
  origin: field(originKind, {
    computed: 'host and file of text lines, nothing of JSON lines',
    example: '[host, file]',
    doc: 'what the events of every source say of where they are from: see `origin` of a source',
  }),
  fields: field(staticFields, { default: '{}', example: '{env: prod}', doc: 'added to every event' }),
  transform: field(transform, {
    example: '{script: ./shape.ts}',
    doc: "shapes the events of all sources, after the source's own transform",
  }),
  dead_letter: field(group(deadLetterTable), {
    default: '{}',
    doc: 'events that the service refused (`tailrace dead-letters`)',
  }),
  telemetry: field(group(telemetryTable), { default: '{}', doc: "the agent's own metrics, health and log" }),
} satisfies FieldTable;

type AgentValues = FieldValues<typeof agentFields>;

/** `listen`: undefined when telemetry is switched off (`none`). */
export type TelemetryConfig = Omit<AgentValues['telemetry'], 'listen' | 'page'> & {
  readonly listen: NonNullable<AgentValues['telemetry']['listen']> | undefined;
  readonly page: boolean;
};

/** Settings that the configuration has as they are written. */
export type AgentSettings = Omit<AgentValues, 'dataDir' | 'hostName' | 'origin' | 'fields' | 'transform' | 'telemetry'>;
