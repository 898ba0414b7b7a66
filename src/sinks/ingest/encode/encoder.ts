/** How a sink writes its events: the content type, the encoder, and the headers that belong to it. */
import { asciiJson } from '../../../client/paths.ts';
import type { BodyForms } from '../../../core/sink.ts';
import { bodyColumns, encodeCsv } from './csv.ts';
import type { IngestForm } from './form.ts';
import { encodeArray, encodeEnvelopes } from './json.ts';

export const ingestForms: BodyForms<IngestForm, IngestForm> = {
  formOf: ({ encoding, csv, json, labels, timestampField, timestampFormat }) => ({
    ...{ encoding, csv, json, labels, timestampField, timestampFormat },
  }),
  nameOf: formNameOf,
  encoderOf,
};

export function encoderOf({
  encoding,
  csv,
  json,
  labels,
  timestampField,
}: IngestForm): ((ndjson: Buffer) => Uint8Array) | undefined {
  if (encoding === 'ndjson') return undefined;
  if (encoding === 'csv')
    return (ndjson) => encodeCsv(ndjson, { columns: csv.columns, extra: csv.extra, header: csv.header === 'line' });
  if (!json.envelope) return encodeArray;
  const options = { timestampField, labels: hasLabels(labels) ? JSON.stringify(labels) : undefined };
  return (ndjson) => encodeEnvelopes(ndjson, options);
}

export function formNameOf({ encoding, csv, json, labels, timestampFormat }: IngestForm): string {
  const details = encoding === 'csv' ? [csv] : encoding === 'json' ? [json] : [];
  const isPlain = details.length === 0 && !hasLabels(labels) && timestampFormat === undefined;
  return isPlain
    ? encoding
    : JSON.stringify([encoding, ...details, labels, ...(timestampFormat === undefined ? [] : [timestampFormat])]);
}

export function contentTypeOf({ encoding }: IngestForm): string {
  return { ndjson: 'application/x-ndjson', json: 'application/json', csv: 'text/csv' }[encoding];
}

/** Headers that say how the body is to be read, by their name without the prefix. */
export function formHeadersOf({ encoding, csv, json, labels }: IngestForm): Record<string, string> {
  const headers: Record<string, string> = {};
  // An envelope carries the labels itself.
  if (hasLabels(labels) && !(encoding === 'json' && json.envelope)) headers['event-labels'] = asciiJson(labels);
  if (encoding === 'csv' && csv.header === 'header' && csv.columns)
    headers['csv-fields'] = bodyColumns(csv.columns, csv.extra).join(',');
  return headers;
}

function hasLabels(labels: IngestForm['labels']): boolean {
  return Object.keys(labels).length > 0;
}
