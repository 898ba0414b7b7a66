/**
 * How a source's fields come into its events. As a rule they end each event, with the sender; then events are whole and nothing looks at
 * them again. Fields that an event may have itself must not come twice: the batcher splices them in later.
 */
import type { EventShape, JsonValue } from '../../../core/block.ts';
import type { ParseJson } from './message-json.ts';
import type { SenderFields } from './sender.ts';

/** Bytes of fields that end each event; more are spliced in. */
const MAX_ENDING_BYTES = 512;
/** Every name that an event may have. */
export const OWN_NAMES: ReadonlySet<string> = new Set([
  '_time',
  'message',
  'host',
  'appname',
  'procid',
  'msgid',
  'facility',
  'severity',
  'facility_code',
  'severity_code',
  'structured_data',
  'peer',
  'peer_name',
  'parse_error',
  'time_error',
  'json',
  'part',
  'part_last',
  'truncated',
  'original_bytes',
  // An object made of it would lose it.
  '__proto__',
]);

export interface EventForm {
  readonly shape: EventShape;
  /** The end of each event of a sender. */
  endingOf(origin: SenderFields): Readonly<Record<string, JsonValue>>;
}

export function createEventForm(fields: Readonly<Record<string, JsonValue>>, objects: ParseJson): EventForm {
  const isSpliced =
    Object.keys(fields).some((name) => OWN_NAMES.has(name)) ||
    Buffer.byteLength(JSON.stringify(fields)) > MAX_ENDING_BYTES;
  return isSpliced
    ? { shape: { format: 'auto', wrapFields: {}, fields, objects }, endingOf: (origin) => ({ ...origin }) }
    : {
        shape: { format: 'events', wrapFields: {}, fields: {}, objects },
        endingOf: (origin) => ({ ...origin, ...fields }),
      };
}
