/**
 * One ingest request, from its body to its reply: read, write into a block, note the key, insert, answer.
 * Everything between the block's first event and the key's note is synchronous, so the fields' limit cannot be overrun.
 */
import { z } from 'zod';
import type { Log } from '../../core/log.ts';
import { messageOf } from '../../core/errors.ts';
import type { Arrivals } from '../datasets/arrivals.ts';
import type { Catalog, DatasetRecord } from '../datasets/catalog.ts';
import { storedName } from '../datasets/field-types.ts';
import type { Engine } from '../engine/engine.ts';
import { lackOf, untilMemory } from '../engine/settings.ts';
import { RowBlock } from '../engine/rows/row-block.ts';
import { ApiError, badRequest, quote } from '../http/api-error.ts';
import type { ServiceLimits } from '../limits.ts';
import type { Metrics } from '../http/metrics.ts';
import type { Metadata } from '../metadata.ts';
import { EventFailure, InexactValue, keepNumber } from './event-failure.ts';
import { EventWriter } from './event-writer.ts';
import { isObject, JsonText, parseExact, type ExactValue } from '../../json/exact-reader.ts';
import type { OwnFieldChooser } from './own-fields.ts';
import type { IngestKeys, StoredRange } from './keys.ts';
import type { Quota } from './quota.ts';
import { readCsv, readJson, readNdjson, type EventReader, type RequestFormat } from './readers.ts';
import { formatTime } from '../../core/time/time-text.ts';
import { timeReader } from './timestamps.ts';

/** What a request says beside its body. Empty texts mean absent. */
export interface IngestQuery {
  readonly format: RequestFormat;
  readonly timestampField: string;
  readonly timestampFormat: string;
  readonly csvDelimiter: string;
  readonly csvFields: string;
  /** The Event-Labels header, UTF-8. */
  readonly labels: string;
  /** Its length as it was sent. */
  readonly labelBytes: number;
  readonly key: string | undefined;
}

/** `index`: the place among the body's events, from 0. */
const FAILURE = z.object({ timestamp: z.iso.datetime({ offset: true }), error: z.string(), index: z.int() });
type FailedEvent = Readonly<z.infer<typeof FAILURE>>;

export const INGEST_REPLY = z.object({
  ingested: z.int(),
  failed: z.int(),
  failures: z.array(FAILURE),
  processedBytes: z.int(),
  blocksCreated: z.int(),
  walLength: z.int(),
});

export interface IngestContext {
  readonly metadata: Metadata;
  readonly engine: Engine;
  readonly catalog: Catalog;
  readonly keys: IngestKeys;
  readonly quota: Quota;
  readonly arrivals: Arrivals;
  readonly ownFields: OwnFieldChooser;
  readonly countIngest: Metrics['countIngest'];
  readonly log: Log;
  readonly limits: ServiceLimits;
  /** Gives out row ids that were never used: the first of `count`. */
  takeRowIds(count: number): bigint;
}

/** Stores the body's events and returns the reply as JSON text. Throws an `ApiError`; then nothing is stored. */
export async function ingest(
  parts: IngestContext,
  dataset: DatasetRecord,
  body: Buffer,
  options: IngestQuery,
): Promise<string> {
  const { metadata, engine, catalog, keys, quota, log } = parts;
  const began = performance.now();
  const reader = openReader(body, options, parts.limits.bodyValues);
  const now = BigInt(Date.now()) * 1_000_000n;
  const { written } = dataset;
  const block = new RowBlock(now, written);
  const place = { index: 0 };
  const writer = new EventWriter({
    mayBeTiny: () => reader.mayBeTiny(place.index),
    block,
    tally: parts.ownFields.tallyOf(dataset),
    fields: dataset.fields,
    readTime: timeReader(options.timestampFormat),
    maps: dataset.mapFields,
    timestampField: options.timestampField ? storedName(dataset.mapFields, options.timestampField) : undefined,
    labels: readLabels(options.labels),
    receivedAt: now,
    maxFields: Math.min(parts.limits.datasetFields, dataset.fields.size + catalog.fieldsLeft()),
  });
  const failures = writeAll(reader, writer, place, formatTime(now));
  const processedBytes = body.length + options.labelBytes;
  const replyWith = (most: number): string =>
    JSON.stringify({
      ingested: block.rows,
      failed: failures.length,
      failures: failures.slice(0, most),
      processedBytes,
      blocksCreated: block.rows > 0 ? 1 : 0,
      walLength: 0,
    } satisfies z.infer<typeof INGEST_REPLY>);
  const reply = replyWith(failures.length);

  const { min, max } = block.bounds();
  const range: StoredRange = { firstRow: parts.takeRowIds(block.rows), rows: block.rows, minTime: min, maxTime: max };
  metadata.transaction(() => {
    catalog.noteFields(dataset, writer.changes());
    if (options.key !== undefined) keys.begin(dataset.id, options.key, range, reply, replyWith);
    quota.add(processedBytes, new Date());
  });
  const count = (): void =>
    parts.countIngest(dataset.name, {
      events: block.rows,
      failed: failures.length,
      bytes: processedBytes,
      seconds: (performance.now() - began) / 1000,
    });
  if (block.rows === 0) {
    count();
    return reply;
  }
  try {
    const bytes = block.bytes(range.firstRow);
    await untilMemory(async (attempt) => {
      // An attempt that found no memory may have stored a part, and the engine may take its token for a duplicate.
      if (attempt > 0) await keys.undo(dataset.id, undefined, range);
      const token = `rows-${range.firstRow}${attempt > 0 ? `-${attempt}` : ''}`;
      await engine.insert(dataset.table, bytes, token, options.key ?? token, written, { rows: block.rows, min, max });
    });
  } catch (error) {
    log.error({ dataset: dataset.name, error: messageOf(error) }, 'an insert failed');
    // Rows that cannot be taken back now are counted when the key comes again, or at the next start.
    await keys
      .undo(dataset.id, options.key, range)
      .then(() => quota.add(-processedBytes, new Date()))
      .catch((cause: unknown) => log.error({ error: messageOf(cause) }, 'its rows could not be taken back'));
    const known = error instanceof ApiError ? error : lackOf(error);
    const reason = known ? ` (${known.message})` : '';
    throw new ApiError(503, `the events could not be stored${reason}: send them again later`, { 'Retry-After': '5' });
  }
  if (options.key !== undefined) keys.finish(dataset.id, options.key);
  parts.arrivals.stored(dataset.id);
  await parts.ownFields.choose(dataset, block.rows);
  count();
  return reply;
}

const BOM = Buffer.from('\ufeff');

function openReader(sent: Buffer, options: IngestQuery, mostValues: number): EventReader {
  const body = sent.subarray(0, BOM.length).equals(BOM) ? sent.subarray(BOM.length) : sent;
  if (options.format === 'ndjson') return readNdjson(body, mostValues);
  const text = body.toString('utf8');
  if (options.format === 'json') return readJson(text, mostValues);
  const columns = options.csvFields.trim() === '' ? undefined : options.csvFields.split(',').map((name) => name.trim());
  return readCsv(text, options.csvDelimiter || ',', columns, mostValues);
}

function readLabels(header: string): Record<string, ExactValue> {
  if (header.trim() === '') return {};
  let labels: ExactValue | undefined;
  try {
    labels = parseExact(header);
  } catch {
    // The same message as for JSON that is no object.
  }
  if (isObject(labels)) {
    checkNumbers(labels);
    return labels;
  }
  throw badRequest(`the event labels header ${quote(header)}: wanted a JSON object`);
}

/** A label is of every event: one that none could keep fails the request. */
function checkNumbers(value: unknown, name = ''): void {
  if (value instanceof JsonText) {
    try {
      keepNumber(value, name);
    } catch (error) {
      throw badRequest(`the event labels header: ${messageOf(error)}`);
    }
  } else if (typeof value === 'object' && value !== null)
    for (const [key, inner] of Object.entries(value)) checkNumbers(inner, name === '' ? key : `${name}.${key}`);
}

/** `place.index` is kept up to date. */
function writeAll(
  reader: EventReader,
  writer: EventWriter,
  place: { index: number },
  receivedAt: string,
): FailedEvent[] {
  const failures: FailedEvent[] = [];
  for (let index = 0; index < reader.count; index++) {
    place.index = index;
    try {
      try {
        write(reader, writer, reader.read(index), !reader.lossy);
      } catch (error) {
        if (!(error instanceof InexactValue)) throw error;
        write(reader, writer, reader.readExact(index), true);
      }
    } catch (error) {
      if (error instanceof RangeError || error instanceof TypeError) throw error;
      failures.push({ timestamp: receivedAt, error: messageOf(error).slice(0, 500), index });
    }
  }
  return failures;
}

function write(reader: EventReader, writer: EventWriter, value: unknown, exact: boolean): void {
  if (!isObject(value)) {
    if (!reader.scalars)
      throw new EventFailure(
        `the event is ${value === null ? 'null' : Array.isArray(value) ? 'an array' : `a ${typeof value}`}: wanted an object`,
      );
    writer.add({ value }, exact);
  } else if (reader.envelopes && isEnvelope(value)) writer.addEnvelope(value, exact);
  else writer.add(value, exact);
}

const ENVELOPE = new Set(['time', 'data', 'labels']);

function isEnvelope(
  value: Record<string, unknown>,
): value is { time?: unknown; data: Record<string, unknown>; labels?: unknown } {
  return isObject(value['data']) && Object.keys(value).every((key) => ENVELOPE.has(key));
}
