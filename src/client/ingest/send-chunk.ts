/**
 * Stores the events of one chunk, each at most once, and returns those that the service refused. Repairs what it can: a request
 * too large is sent in halves, one that is refused whole for a broken event without it, a compression that is not understood not at all.
 * Every part has a key of its own, as those of the agent's batches have, so that a repeated request is stored once. For `tailrace ingest` and the client.
 */
import { promisify } from 'node:util';
import { constants, gzip, zstdCompress } from 'node:zlib';
import { messageOf } from '../../core/errors.ts';
import { halvesOf, type Part, placesOf } from '../../core/sink.ts';
import { ClientError } from '../client-error.ts';
import type { Client, IngestOptions } from '../client.ts';
import type { IngestReply } from '../answer.ts';
import { bodyOf } from './chunk.ts';
import type { SplitEvent } from './event-bytes.ts';

export type Compression = 'gzip' | 'zstd' | 'none';

/** An event that was not stored, or several that the service did not tell apart. */
export interface FailedEvents {
  /** First and last line on which one of them may begin. */
  readonly lines: readonly [number, number];
  readonly events: number;
  readonly reason: string;
}

export interface Delivery {
  readonly client: Pick<Client, 'ingest'>;
  readonly dataset: string;
  readonly options: IngestOptions;
  /** Of the CSV, once it is read. */
  header: Buffer | undefined;
  /** Is set to `none` when the service does not take it. */
  compression: Compression;
  onReply(reply: IngestReply): void;
  onFailed(failed: FailedEvents): void;
}

/** Rejects with a `ClientError` when the service refuses the request itself or cannot be reached. */
export function sendChunk(delivery: Delivery, events: readonly SplitEvent[], key: string): Promise<void> {
  return sendPart(delivery, events, { first: 0, count: events.length, key });
}

async function sendPart(delivery: Delivery, chunk: readonly SplitEvent[], part: Part): Promise<void> {
  const events = chunk.slice(part.first, part.first + part.count);
  if (events.length === 0) return;
  try {
    const reply = await post(delivery, events, part.key);
    delivery.onReply(reply);
    nameFailures(delivery, events, reply);
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    if (error.status === 400 || error.status === 422) return sendWithoutBroken(delivery, events, part.key, error);
    if (error.status !== 413) throw error;
    if (events.length === 1)
      return delivery.onFailed(failed(events, `it is too large for the service: ${error.message}`));
    for (const half of halvesOf(part)) await sendPart(delivery, chunk, half);
  }
}

async function post(delivery: Delivery, events: readonly SplitEvent[], key: string): Promise<IngestReply> {
  const { client, dataset, options, header, compression } = delivery;
  const body = bodyOf(events, options.format, header);
  const encoding = compression === 'none' ? undefined : compression;
  try {
    return await client.ingest(dataset, await compress(body, compression), {
      ...options,
      encoding,
      idempotencyKey: key,
    });
  } catch (error) {
    if (!(error instanceof ClientError) || error.status !== 415 || encoding === undefined) throw error;
    const reply = await client.ingest(dataset, body, { ...options, idempotencyKey: key });
    delivery.compression = 'none';
    return reply;
  }
}

async function compress(body: Buffer, compression: Compression): Promise<Buffer> {
  if (compression === 'gzip') return promisify(gzip)(body, { level: 1 });
  if (compression === 'zstd')
    return promisify(zstdCompress)(body, { params: { [constants.ZSTD_c_compressionLevel]: 1 } });
  return body;
}

/** Some services refuse a whole request for one event that is no JSON. */
async function sendWithoutBroken(
  delivery: Delivery,
  events: readonly SplitEvent[],
  key: string,
  error: ClientError,
): Promise<void> {
  if (delivery.options.format === 'csv') throw error;
  const sound: SplitEvent[] = [];
  for (const event of events) {
    const reason = faultOf(event.bytes);
    if (reason === undefined) sound.push(event);
    else delivery.onFailed(failed([event], `it is no JSON: ${reason}`));
  }
  if (sound.length === events.length) throw error;
  return sendChunk(delivery, sound, `${key}.s`);
}

function faultOf(bytes: Buffer): string | undefined {
  try {
    JSON.parse(bytes.toString('utf8'));
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

function nameFailures(delivery: Delivery, events: readonly SplitEvent[], reply: IngestReply): void {
  const places = placesOf(
    events.map(({ bytes }) => bytes),
    reply.failures,
  );
  let unnamed = reply.failed;
  for (const [n, { error }] of reply.failures.entries()) {
    const event = events[places[n] ?? -1];
    if (!event) continue;
    delivery.onFailed(failed([event], error));
    unnamed -= 1;
  }
  if (unnamed > 0) {
    const reasons = [...new Set(reply.failures.filter((_, n) => places[n] === undefined).map(({ error }) => error))];
    const reason = reasons.slice(0, 3).join('; ') || 'the service gives no reason';
    delivery.onFailed({ ...failed(events, reason), events: unnamed });
  }
  const missing = events.length - reply.ingested - reply.failed;
  if (missing !== 0) {
    const reason = `the service counts ${reply.ingested} stored and ${reply.failed} refused of the ${events.length} events that it was sent`;
    delivery.onFailed({ ...failed(events, reason), events: Math.max(0, missing) });
  }
}

function failed(events: readonly SplitEvent[], reason: string): FailedEvents {
  return { lines: [events[0]?.line ?? 0, events.at(-1)?.line ?? 0], events: events.length, reason };
}
