/** Who sent a message: what ends each of its events, as bytes for the kernel. */
import { MAX_SUFFIX_BYTES } from '../../kernel/syslog.ts';

/** The fields that tell the sender. */
export interface Origin {
  /** `address:port`. */
  readonly peer: string;
  /** The name in the certificate that it showed. */
  readonly peer_name?: string;
}

/** The end of an event's JSON: the origin's members, each with its comma before it, the brace and the newline. */
export function suffixOf(origin: Origin): Buffer {
  const suffix = Buffer.from(`,${JSON.stringify(origin).slice(1)}\n`);
  if (suffix.length <= MAX_SUFFIX_BYTES) return suffix;
  // A name as long as this was made to do harm.
  return suffixOf({ peer: origin.peer.slice(0, 100) });
}

/** The origin that a suffix was made of. */
export function originOf(suffix: Buffer): Origin {
  return JSON.parse(`{${suffix.toString('utf8', 1)}`) as Origin;
}
