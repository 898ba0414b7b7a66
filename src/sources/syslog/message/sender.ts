/** What ends each event of a sender, as bytes for the kernel and as members for JavaScript. */
import type { JsonValue } from '../../../core/block.ts';
import { MAX_SUFFIX_BYTES } from '../../../kernel/syslog.ts';

/** The fields that name the sender. */
export interface SenderFields {
  /** `address:port`. */
  readonly peer: string;
  /** The name in the certificate that it showed. */
  readonly peer_name?: string;
}

export type EventEnding = Readonly<Record<string, JsonValue>>;

/** The end of an event's JSON: the members, each with its comma before it, the brace and the newline. */
export function suffixOf(ending: EventEnding): Buffer {
  const suffix = Buffer.from(`,${JSON.stringify(ending).slice(1)}\n`);
  if (suffix.length > MAX_SUFFIX_BYTES) throw new RangeError(`the end of events has ${suffix.length} bytes`);
  return suffix;
}

/** The members that a suffix was made of. */
export function endingOf(suffix: Buffer): EventEnding {
  return JSON.parse(`{${suffix.toString('utf8', 1)}`) as EventEnding;
}
