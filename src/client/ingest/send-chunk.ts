/**
 * Stores the events of one chunk, each at most once, and names those that the service refused. Sends refused requests again as the agent
 * does (core/requests.ts), in the same parts, encodings and keys, so that a repeated request is stored once. Two things differ, as the caller keeps
 * the events: of a request that was stored in part only the lines are named, and invalid JSON is left out first. For `tailrace ingest` and the client.
 */
import { promisify } from 'node:util';
import { constants, gzip, zstdCompress } from 'node:zlib';
import { messageOf } from '../../core/errors.ts';
import { silentLog } from '../../core/log.ts';
import { AddressEncodings, EncodingChoice, type RequestPart, RequestParts, Tries } from '../../core/requests.ts';
import { type CompressionSetting, type Encoding, placesOf } from '../../core/sink.ts';
import { systemClock } from '../../core/time/clock.ts';
import { ClientError } from '../client-error.ts';
import type { Client, IngestOptions } from '../client.ts';
import type { IngestReply } from '../answer.ts';
import { bodyOf } from './chunk.ts';
import type { SplitEvent } from './event-bytes.ts';

export type BodyCompression = Exclude<CompressionSetting, 'auto'>;

/** An event that was not stored, or several that the service did not tell apart. */
export interface FailedEvents {
  /** First and last line on which one of them may begin. */
  readonly lines: readonly [number, number];
  readonly events: number;
  readonly reason: string;
}

export interface ChunkTarget {
  readonly client: Pick<Client, 'ingest'>;
  readonly dataset: string;
  readonly options: IngestOptions;
  /** Of the CSV, once it is read. */
  header: Buffer | undefined;
  readonly encoding: EncodingChoice;
  onReply(reply: IngestReply): void;
  onFailed(failed: FailedEvents): void;
}

/** How the bodies of one stream are compressed: as the agent's, which starts anew with each process. */
export function encodingOf(compression: BodyCompression): EncodingChoice {
  return new EncodingChoice({
    ...{ sink: { id: 'client' }, encodings: new AddressEncodings(), compression },
    clock: systemClock,
    log: silentLog,
  });
}

/**
 * Rejects with a `ClientError` when the service refuses the request itself or cannot be reached. A chunk of which nothing is stored, not
 * for the size of its events, counts as that: whatever is wrong with it is wrong with the next one. `isPartStored`: events before these are.
 */
export async function sendChunk(
  delivery: ChunkTarget,
  events: readonly SplitEvent[],
  key: string,
  isPartStored = false,
): Promise<void> {
  if (events.length === 0) return;
  const chunk = new RequestParts([{ first: 0, count: events.length, key }]);
  const tries = new Tries();
  const refused: FailedEvents[] = [];
  let isStored = isPartStored;
  let refusal: ClientError | undefined;
  try {
    for (let part = chunk.parts[0]; part; part = chunk.parts[0]) {
      const own = events.slice(part.first, part.first + part.count);
      const sent = await post(delivery, tries, part, own);
      if (sent === undefined) continue;
      if (!(sent instanceof ClientError)) {
        isStored = true;
        delivery.onReply(sent);
        nameFailures(delivery, own, sent);
        chunk.finish(sent.failed === 0 ? 'stored' : 'refused');
        continue;
      }
      if (sent.refusal !== 'halve' && sent.refusal !== 'bisect') throw sent;
      if (sent.refusal === 'bisect' && chunk.extraRequests === 0) {
        // Parts go in the order of their events: these are all that is left.
        const rest = events.slice(part.first);
        const sound = leaveOutBroken(delivery, rest);
        if (sound.length < rest.length) return await sendChunk(delivery, sound, `${part.key}.s`, isStored);
      }
      const reason = chunk.cut(sent.refusal);
      if (reason === undefined) continue;
      chunk.finish('refused');
      if (reason === 'too_large') delivery.onFailed(failed(own, `it is too large for the service: ${sent.message}`));
      else {
        refusal = sent;
        refused.push(failed(own, reason === 'rejected' ? sent.what : `${sent.what} (for one or more of these)`));
      }
    }
  } finally {
    if (isStored) for (const each of refused) delivery.onFailed(each);
  }
  if (refusal && !isStored) throw refusal;
}

/** The reply, or why nothing of the part was taken; undefined where it is to be sent in another encoding. */
async function post(
  { client, dataset, options, header, encoding }: ChunkTarget,
  tries: Tries,
  part: RequestPart,
  events: readonly SplitEvent[],
): Promise<IngestReply | ClientError | undefined> {
  const body = bodyOf(events, options.format, header);
  const { encoding: chosen } = encoding.next(tries, part);
  try {
    const reply = await client.ingest(dataset, await compress(body, chosen), {
      ...options,
      encoding: chosen === 'identity' ? undefined : chosen,
      idempotencyKey: tries.keyOf(part, chosen),
    });
    if (reply.ingested > 0 || reply.failed === 0) encoding.noteStored(tries, part, chosen, true);
    return reply;
  } catch (error) {
    if (!(error instanceof ClientError) || error.refusal === undefined) throw error;
    if (error.refusal !== 'bisect') return error;
    const outcome = { kind: error.refusal, detail: error.what };
    return encoding.judge(tries, part, chosen, { outcome, status: error.status, elapsedMs: 0 }) && error;
  }
}

async function compress(body: Buffer, encoding: Encoding): Promise<Buffer> {
  if (encoding === 'gzip') return promisify(gzip)(body, { level: 1 });
  if (encoding === 'zstd') return promisify(zstdCompress)(body, { params: { [constants.ZSTD_c_compressionLevel]: 1 } });
  return body;
}

/** Some services refuse a whole request for one event that is no JSON: these are found without asking. Returns the others. */
function leaveOutBroken(delivery: ChunkTarget, events: readonly SplitEvent[]): readonly SplitEvent[] {
  if (delivery.options.format === 'csv') return events;
  return events.filter((event) => {
    const reason = faultOf(event.bytes);
    if (reason !== undefined) delivery.onFailed(failed([event], `it is no JSON: ${reason}`));
    return reason === undefined;
  });
}

function faultOf(bytes: Buffer): string | undefined {
  try {
    JSON.parse(bytes.toString('utf8'));
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

function nameFailures(delivery: ChunkTarget, events: readonly SplitEvent[], reply: IngestReply): void {
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
