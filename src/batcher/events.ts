/**
 * Events as byte ranges of an NDJSON body, for the rare times when single ones matter: a batch that is split, an event
 * that was refused. Nothing here is on the way of a batch that is simply stored.
 */
import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import type { Encoding, NamedFailure } from '../core/sink.ts';

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
 * The places of the events that the service named, or undefined when the named ones are not exactly `failed` different
 * events: by `index`, else by a time that only one event of the body has.
 */
export function locateFailures(body: Buffer, failures: readonly NamedFailure[], failed: number): Map<number, string> | undefined {
  const events = splitEvents(body);
  const byTime = failures.every(({ index }) => index !== undefined) ? new Map<string, number[]>() : indexByTime(events);
  const found = new Map<number, string>();
  for (const { index, timestamp, error } of failures) {
    const place = index ?? onlyOne(byTime.get(instantOf(timestamp)));
    if (place === undefined || !Number.isInteger(place) || place < 0 || place >= events.length) return undefined;
    found.set(place, error);
  }
  return found.size === failed && failures.length === failed ? found : undefined;
}

function indexByTime(events: readonly Buffer[]): Map<string, number[]> {
  const places = new Map<string, number[]>();
  events.forEach((event, place) => {
    const instant = timeOf(event);
    if (instant === '') return;
    const known = places.get(instant);
    if (known) known.push(place);
    else places.set(instant, [place]);
  });
  return places;
}

function timeOf(event: Buffer): string {
  try {
    const parsed = JSON.parse(event.toString('utf8')) as { _time?: unknown };
    return typeof parsed._time === 'string' ? instantOf(parsed._time) : '';
  } catch {
    return '';
  }
}

/** One spelling for one instant: nanosecond digits are kept, trailing zeros and the zone's spelling are not. */
function instantOf(text: string): string {
  const match = /^(\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2})(?:\.(\d{1,9}))?(Z|[+-]\d{2}:?\d{2})$/i.exec(text);
  if (!match) return '';
  const seconds = Date.parse(`${match[1]!.replace(' ', 'T')}${match[3]!.toUpperCase()}`);
  return Number.isNaN(seconds) ? '' : `${seconds}.${(match[2] ?? '').replace(/0{1,9}$/, '')}`;
}

function onlyOne(places: readonly number[] | undefined): number | undefined {
  return places?.length === 1 ? places[0] : undefined;
}
