/**
 * Stores a stream of any length: cuts it into whole events, sends them in chunks, a few at a time, and names the events that were refused
 * by their lines. Promises: bounded memory; an event that came slowly is sent after a second; a chunk is sent again under its own key only.
 */
import { randomUUID } from 'node:crypto';
import { CLIENT_CHUNKS_IN_FLIGHT, CLIENT_FLUSH_MS } from '../limits.ts';
import type { Client, IngestFormat, IngestOptions } from '../client.ts';
import { openChunk } from './chunk.ts';
import type { SplitEvent, Splitter } from './event-bytes.ts';
import { openBody } from './open-body.ts';
import { type BodyCompression, type ChunkTarget, encodingOf, type FailedEvents, sendChunk } from './send-chunk.ts';
import { splitLines } from './split-lines.ts';
import { splitRecords } from './split-records.ts';
import { splitValues } from './split-values.ts';

/** A source may give all of its bytes at once: chunks are made of so many at a time. */
const PIECE_BYTES = 64 * 1024;

export interface StreamOptions extends Omit<IngestOptions, 'encoding' | 'idempotencyKey' | 'signal'> {
  /** Of the requests; default gzip. */
  readonly compression?: BodyCompression;
  readonly onFailed?: (failed: FailedEvents) => void;
  /** After every change of the summary. */
  readonly onProgress?: (summary: Readonly<StreamSummary>) => void;
  /** Of the first request; further ones have it with their number. Only for a source that always gives the same bytes, all at once. */
  readonly key?: string | undefined;
  /** When aborted, stops reading and sends the rest. */
  readonly stop?: AbortSignal;
  /** For tests. */
  readonly chunk?: { readonly bytes?: number; readonly events?: number };
}

export interface StreamSummary {
  ingested: number;
  failed: number;
  requests: number;
  processedBytes: number;
  blocksCreated: number;
  walLength: number;
  /** All up to this line are stored or named as failed. */
  settledLine: number;
}

/** Rejects with a `ClientError` when the service refuses a request or cannot be reached; chunks in flight then may be stored. */
export async function ingestStream(
  client: Pick<Client, 'ingest'>,
  dataset: string,
  source: AsyncIterable<Uint8Array>,
  options: StreamOptions,
): Promise<StreamSummary> {
  const { format, compression = 'gzip', onFailed, onProgress, stop, key, chunk: limits = {}, ...how } = options;
  const summary: StreamSummary = {
    ingested: 0,
    failed: 0,
    requests: 0,
    processedBytes: 0,
    blocksCreated: 0,
    walLength: 0,
    settledLine: 0,
  };
  const end = new AbortController();
  const run = randomUUID();
  const keyOf = (chunk: number): string =>
    key === undefined ? `${run}.${chunk}` : chunk === 0 ? key : `${key}-${chunk}`;
  let chunks = 0;
  let wantsHeader = format === 'csv' && how.csvFields === undefined;
  const chunk = openChunk(limits.bytes, limits.events);
  const splitter = splitterOf(format, how.csvDelimiter);
  const flights = trackFlights(summary);

  const fail = (failed: FailedEvents): void => {
    summary.failed += failed.events;
    onFailed?.(failed);
  };
  const delivery: ChunkTarget = {
    client,
    dataset,
    options: { format, ...how, signal: end.signal },
    header: undefined,
    encoding: encodingOf(compression),
    onReply(reply) {
      summary.ingested += reply.ingested;
      summary.requests += 1;
      summary.processedBytes += reply.processedBytes;
      summary.blocksCreated += reply.blocksCreated;
      summary.walLength = reply.walLength;
    },
    onFailed: fail,
  };
  const send = (events: SplitEvent[]): void => {
    if (events.length === 0) return;
    const sent = sendChunk(delivery, events, keyOf(chunks++));
    flights.add(sent, events.at(-1)!.line, () => onProgress?.(summary));
  };
  const take = (event: SplitEvent): void => {
    if (event.problem !== undefined) fail({ lines: [event.line, event.line], events: 1, reason: event.problem });
    else if (wantsHeader) {
      wantsHeader = false;
      delivery.header = event.bytes;
    } else {
      const full = chunk.add(event);
      if (full) send(full);
    }
  };

  const input = openBody(source);
  try {
    for await (const bytes of withPauses(input, () => !chunk.isEmpty, stop)) {
      if (bytes === 'pause') send(chunk.take());
      else
        for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
          splitter.push(bytes.subarray(at, at + PIECE_BYTES), take);
          await flights.below(CLIENT_CHUNKS_IN_FLIGHT);
        }
    }
    if (!stop?.aborted) splitter.end(take);
    send(chunk.take());
    await flights.below(1);
    onProgress?.(summary);
    return summary;
  } finally {
    end.abort();
    // A pipe that nobody writes to would never answer.
    void input.return(undefined).catch(() => undefined);
  }
}

function splitterOf(format: IngestFormat, delimiter: string | undefined): Splitter {
  if (format === 'csv') return splitRecords(delimiter);
  return format === 'json' ? splitValues() : splitLines();
}

/** The requests in flight, in the order of their lines. */
function trackFlights(summary: StreamSummary) {
  let failure: { readonly error: unknown } | undefined;
  const flights: { readonly line: number; isDone: boolean; readonly landed: Promise<void> }[] = [];
  return {
    add(sent: Promise<void>, line: number, onLanded: () => void): void {
      const land = async (): Promise<void> => {
        try {
          await sent;
          flight.isDone = true;
        } catch (error) {
          failure ??= { error };
        }
        while (flights[0]?.isDone) summary.settledLine = flights.shift()!.line;
        onLanded();
      };
      const flight = { line, isDone: false, landed: Promise.resolve() };
      flights.push(flight);
      flight.landed = land();
    },
    /** Resolves once fewer than `count` are in flight; rejects when one has failed. */
    async below(count: number): Promise<void> {
      for (;;) {
        if (failure) throw failure.error;
        const underWay = flights.filter(({ isDone }) => !isDone);
        if (underWay.length < count) return;
        await Promise.race(underWay.map(({ landed }) => landed));
      }
    },
  };
}

/** The pieces as they come, and a `pause` where the next one takes long while `isWaiting`. Ends early when `stop` aborts. */
async function* withPauses(
  source: AsyncGenerator<Buffer>,
  isWaiting: () => boolean,
  stop: AbortSignal | undefined,
): AsyncGenerator<Buffer | 'pause'> {
  let waiting = Promise.withResolvers<IteratorResult<Buffer> | 'pause' | 'stop'>();
  const onStop = () => waiting.resolve('stop');
  stop?.addEventListener('abort', onStop);
  try {
    let next = source.next();
    for (;;) {
      if (stop?.aborted) return;
      // One of its own for each turn: a promise that outlives them would remember every one.
      const turn = (waiting = Promise.withResolvers());
      next.then(turn.resolve, turn.reject);
      const timeout = isWaiting() ? setTimeout(() => turn.resolve('pause'), CLIENT_FLUSH_MS) : undefined;
      const came = await turn.promise;
      clearTimeout(timeout);
      if (came === 'stop' || (came !== 'pause' && came.done === true)) return;
      if (came === 'pause') yield 'pause';
      else {
        next = source.next();
        yield came.value;
      }
    }
  } finally {
    stop?.removeEventListener('abort', onStop);
  }
}
