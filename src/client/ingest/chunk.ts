/** The events of one ingest request, and how they become its body. */
import { CLIENT_CHUNK_BYTES } from '../limits.ts';
import { MAX_BATCH_EVENTS } from '../../core/limits.ts';
import type { IngestFormat } from '../client.ts';
import type { SplitEvent } from './event-bytes.ts';

const NEWLINE = Buffer.from('\n');
const COMMA = Buffer.from(',');

/** `header`: the line with the names, for CSV that has one. */
export function bodyOf(events: readonly SplitEvent[], format: IngestFormat, header: Buffer | undefined): Buffer {
  const parts: Buffer[] = [];
  if (header) parts.push(header, NEWLINE);
  if (format === 'json') parts.push(Buffer.from('['));
  for (const [index, { bytes }] of events.entries()) {
    if (index > 0) parts.push(format === 'json' ? COMMA : NEWLINE);
    parts.push(bytes);
  }
  if (format === 'json') parts.push(Buffer.from(']'));
  return Buffer.concat(parts);
}

/** Events on their way into a chunk. */
export type OpenChunk = ReturnType<typeof openChunk>;

export function openChunk(maxBytes = CLIENT_CHUNK_BYTES, maxEvents = MAX_BATCH_EVENTS) {
  let events: SplitEvent[] = [];
  let bytes = 0;
  const take = (): SplitEvent[] => {
    const taken = events;
    events = [];
    bytes = 0;
    return taken;
  };
  return {
    get isEmpty() {
      return events.length === 0;
    },
    /** Adds an event; returns the events of a full chunk that it did not fit. */
    add(event: SplitEvent): SplitEvent[] | undefined {
      const isFull = events.length > 0 && (events.length === maxEvents || bytes + event.bytes.length > maxBytes);
      const full = isFull ? take() : undefined;
      events.push(event);
      bytes += event.bytes.length + 1;
      return full;
    },
    /** The events so far; it is empty afterwards. */
    take,
  };
}
