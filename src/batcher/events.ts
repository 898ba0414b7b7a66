/**
 * Events as byte ranges of an NDJSON body, for the rare times when single ones matter: a batch that is split, an event
 * that was refused. Nothing here is on the way of a batch that is simply stored.
 */
import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import { type Encoding, type NamedFailure, placesOf } from '../core/sink.ts';

const NEWLINE = 10;
const CARRIAGE_RETURN = 13;

/** The body as it was before compression. */
export function decode(body: Uint8Array, encoding: Encoding): Buffer {
  if (encoding === 'gzip') return gunzipSync(body);
  if (encoding === 'zstd') return zstdDecompressSync(body);
  return Buffer.from(body.buffer, body.byteOffset, body.byteLength);
}

/** The bytes of events `[first, first + count)`, each with its newline. A view, not a copy. */
export function sliceEvents(body: Buffer, first: number, count: number): Buffer {
  let from = 0;
  for (let i = 0; i < first; i++) from = body.indexOf(NEWLINE, from) + 1;
  let to = from;
  for (let i = 0; i < count; i++) to = body.indexOf(NEWLINE, to) + 1;
  return body.subarray(from, to);
}

/** The events of a body, without their newlines. Views. */
export function splitEvents(body: Buffer): Buffer[] {
  const events: Buffer[] = [];
  for (let from = 0; from < body.length;) {
    const end = body.indexOf(NEWLINE, from);
    const to = end < 0 ? body.length : end;
    events.push(body.subarray(from, to));
    from = to + 1;
  }
  return events;
}

/** Where in a span's own bytes its event number `index` begins: empty lines are no events. */
export function offsetOfEvent(bytes: Buffer, index: number): number {
  let seen = -1;
  for (let from = 0; from < bytes.length;) {
    const end = bytes.indexOf(NEWLINE, from);
    const to = end < 0 ? bytes.length : end;
    const length = to > from && bytes[to - 1] === CARRIAGE_RETURN ? to - from - 1 : to - from;
    if (length > 0) seen += 1;
    if (seen === index) return from;
    from = to + 1;
  }
  return 0;
}

/**
 * The places of the events that the service named, with its errors, or undefined when the named ones are not exactly `failed` different
 * events.
 */
export function locateFailures(
  body: Buffer,
  failures: readonly NamedFailure[],
  failed: number,
): Map<number, string> | undefined {
  const places = placesOf(splitEvents(body), failures);
  const found = new Map(
    failures.flatMap(({ error }, n) => (places[n] === undefined ? [] : [[places[n], error] as const])),
  );
  return found.size === failed && failures.length === failed ? found : undefined;
}
