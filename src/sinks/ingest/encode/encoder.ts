/** How a sink writes its events: the content type, the encoder, and the headers that belong to it. */
import { asciiJson } from '../../../client/paths.ts';
import type { BodyForm } from '../../../core/sink.ts';
import { columnsOf, encodeCsv } from './csv.ts';
import { encodeArray, encodeEnvelopes } from './json.ts';

/** Turns a batch's NDJSON (every line ends in a newline) into a request's body before compression. Pure. */
export type EncodeBody = (ndjson: Buffer) => Uint8Array;

/** The form that a sink is configured with, without the rest of its configuration. */
export function bodyFormOf({ encoding, csv, json, labels, timestampField, timestampFormat }: BodyForm): BodyForm {
  return { encoding, csv, json, labels, timestampField, timestampFormat };
}

/** Undefined for NDJSON, which is sent as it is. */
export function encoderOf({ encoding, csv, json, labels, timestampField }: BodyForm): EncodeBody | undefined {
  if (encoding === 'ndjson') return undefined;
  if (encoding === 'csv') return (ndjson) => encodeCsv(ndjson, { columns: csv.columns, extra: csv.extra, header: csv.header === 'line' });
  if (!json.envelope) return encodeArray;
  const options = { timestampField, labels: hasLabels(labels) ? JSON.stringify(labels) : undefined };
  return (ndjson) => encodeEnvelopes(ndjson, options);
}

/**
 * Text that differs when the same events would be stored differently: a part of what a batch's key stands for. For
 * NDJSON without labels it is `ndjson`.
 */
export function formOf({ encoding, csv, json, labels, timestampFormat }: BodyForm): string {
  const details = encoding === 'csv' ? [csv] : encoding === 'json' ? [json] : [];
  const isPlain = details.length === 0 && !hasLabels(labels) && timestampFormat === undefined;
  return isPlain ? encoding : JSON.stringify([encoding, ...details, labels, ...(timestampFormat === undefined ? [] : [timestampFormat])]);
}

export function contentTypeOf({ encoding }: BodyForm): string {
  return { ndjson: 'application/x-ndjson', json: 'application/json', csv: 'text/csv' }[encoding];
}

/** Headers that say how the body is to be read, by their name without the prefix. */
export function formHeadersOf({ encoding, csv, json, labels }: BodyForm): Record<string, string> {
  const headers: Record<string, string> = {};
  // An envelope carries the labels itself.
  if (hasLabels(labels) && !(encoding === 'json' && json.envelope)) headers['event-labels'] = asciiJson(labels);
  if (encoding === 'csv' && csv.header === 'header' && csv.columns) headers['csv-fields'] = columnsOf(csv.columns, csv.extra).join(',');
  return headers;
}

function hasLabels(labels: BodyForm['labels']): boolean {
  return Object.keys(labels).length > 0;
}
