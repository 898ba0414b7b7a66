/** The keys that sources have in common, and the forms that these take. */
import { readlinkSync } from 'node:fs';
import { field, type FieldTable, type FieldValues } from '../../config/fields/field.ts';
import type { JsonValue } from '../../core/block.ts';
import { size } from '../../config/fields/kinds.ts';
import { datasetName, staticFields } from '../../config/fields/kinds-special.ts';
import { originKind, type OriginNames } from '../../config/fields/origin.ts';
import { transform } from '../../config/fields/kinds-transform.ts';

/** Each table has it, in its own place. */
export const maxEventBytes = field(size('1KiB', '10MiB'), {
  default: '1MiB',
  doc: 'a longer line or message is cut there and marked; the service takes 1 MiB a string',
});

/** Each table ends in these. */
export const sharedFields = {
  transform: field(transform, {
    example: '{script: ./shape.ts}',
    doc: 'shapes the events of this source: docs/transform.md',
  }),
  fields: field(staticFields, {
    default: '{}',
    example: '{service: app}',
    doc: 'added to every event of this source; wins over the same field of the agent',
  }),
  origin: field(originKind, {
    computed: "the agent's, else host and file of text lines, and nothing of JSON lines",
    example: '[host, file]',
    doc: 'what every event says of where it is from, never over a key of its own; `{host: host.name}` names the field; `[]`: nothing',
  }),
  dataset: field(datasetName, { example: 'app-logs', doc: "overrides the sink's dataset" }),
} satisfies FieldTable;

/** What every source's configuration has. `fields`: the agent's and the source's own, the source's winning. */
export type CommonSourceConfig = Omit<FieldValues<typeof sharedFields>, 'transform' | 'origin'> & {
  readonly origin?: OriginNames | undefined;
} & Partial<Pick<FieldValues<typeof sharedFields>, 'transform'>> & {
    readonly id: string;
    readonly maxEventBytes: number;
    /** `host_name`. */
    readonly hostName: string;
  };

/** What `fields` adds to every event: a type may take a word in place of these. */
export function addedOf(
  fields: Readonly<Record<string, JsonValue>> | string | undefined,
): Readonly<Record<string, JsonValue>> {
  return typeof fields === 'string' ? {} : (fields ?? {});
}

export function hostZone(): string {
  // Most servers keep UTC, and Intl takes 1 MB and 10 ms to say so.
  return isUtc() ? 'UTC' : new Intl.DateTimeFormat().resolvedOptions().timeZone;
}

function isUtc(): boolean {
  try {
    return /^(?:.*\/zoneinfo\/)?(?:Etc\/)?UTC$/.test(process.env['TZ'] ?? readlinkSync('/etc/localtime'));
  } catch {
    return false;
  }
}
