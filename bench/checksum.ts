/**
 * What makes "nothing is missing and nothing was changed" checkable whatever the order of the batches: each event's
 * CRC-32, added up. Sender and receiver take it over the same canonical text.
 */
import { crc32 } from 'node:zlib';

/** The field that the benchmark has added to each JSON line. */
export const ADDED_FIELD = { env: 'bench' } as const;

/** CRC-32 of the line behind the event: its message, or the JSON object without the added field. */
export function lineChecksum(event: Record<string, unknown>, kind: 'text' | 'json'): number {
  if (kind === 'text') return crc32(String(event['message']));
  const { env: _added, ...own } = event;
  return crc32(JSON.stringify(own));
}
