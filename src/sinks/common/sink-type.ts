/** What a type of sink brings. A line in registry.ts makes it known to configuration, checks, agent, metrics and documentation. */
import type { Context } from '../../config/fields/context.ts';
import { type FieldDrafts, field, type FieldTable, type FieldValues } from '../../config/fields/field.ts';
import { anyText, list } from '../../config/fields/kinds.ts';
import { transform } from '../../config/fields/kinds-transform.ts';
import type { Finding } from '../../config/findings.ts';
import type { PathReport } from '../../config/fields/path-report.ts';
import type { SinkSettings } from '../../config/common/sink-fields.ts';
import type { SinkConfig } from '../../config/model.ts';
import type { Environment } from '../../config/yaml/expand.ts';
import type { Log } from '../../core/log.ts';
import type { BodyForms, FactTable, Sink } from '../../core/sink.ts';
import type { Clock } from '../../core/time/clock.ts';
import type { LedgerBatch, Proof } from './proof.ts';

/** Every sink has these keys. */
export const commonSinkFields = {
  inputs: field(list(anyText, { filled: true, example: '[app]' }), {
    computed: 'every source',
    example: '[app, journal, pipe, net]',
    doc: 'the ids of the sources that feed it',
  }),
  transform: field(transform, {
    example: '{script: ./shape.ts}',
    doc: 'shapes the events that go to this sink, after those of the source and of all',
  }),
} satisfies FieldTable;

type CommonFields = FieldTable & typeof commonSinkFields;

/** Of any type, what the agent knows of it; `Own` are its own settings. */
export interface SinkType<Fields extends CommonFields = typeof commonSinkFields, Own extends object = object> {
  /** Its keys, with `type` among them. */
  readonly fields: Fields;
  /** The id that config.example.yaml gives it. */
  readonly exampleId: string;
  /** What the keys come to: paths absolute, defaults that depend on other keys filled in. Only where no key has a problem. */
  derive(
    values: FieldValues<Fields>,
    context: Context,
  ): Own & SinkSettings & Pick<SinkConfig, 'secretFiles' | 'ownFolder'>;
  /** Its entry in `sinks`, with comments, where it ships to a service: `tailrace init` and `demo` write it. */
  propose?(to: ServiceAddress): readonly string[];
  /** Its entry on one line, where it is for events that are only looked at. */
  readonly trial?: string;
  /** Makes the sink; opens nothing yet. */
  create(config: Own & SinkConfig, clock: Clock, log: Log): Sink;
  /** How bodies are written; absent where all are NDJSON. */
  readonly forms?: BodyForms<Own & SinkConfig>;
  /** The metrics that its answers bring (`Facts` in core/sink), by what they count. */
  readonly facts?: FactTable;
  /** The rules between its keys, in a draft that may have problems; a sink's own path begins each path. */
  checkKeys?(draft: FieldDrafts<Fields>, path: string, at: PathReport, env: Environment): void;
  /** What `tailrace check` finds on this machine. */
  check?(config: Own & SinkConfig): Finding[];
  /** What `tailrace check --online` finds. `datasets`: those that it gets events for, with the path where each is named. */
  checkOnline?(config: Own & SinkConfig, datasets: ReadonlyMap<string, string>): Promise<Finding[]>;
  /** What `tailrace audit` finds of the batches that it was given; absent where only a service could tell. Reads only. */
  prove?(config: Own & SinkConfig, batches: readonly LedgerBatch[]): Promise<Proof>;
}

export interface ServiceAddress {
  readonly url: string;
  readonly dataset: string;
  /** Absent: the token is `${TAILRACE_TOKEN}`. */
  readonly tokenFile?: string | undefined;
  /** The dataset exists: `create_dataset` is left out. */
  readonly exists?: true;
}

/** Infers a type's own settings. */
export function sinkType<Fields extends CommonFields, Own extends object>(
  type: SinkType<Fields, Own>,
): SinkType<Fields, Own> {
  return type;
}
