/** The form of a body of the ingest API. Spool files of every release hold it, so its keys stay. */
import type { JsonValue } from '../../../core/block.ts';

export interface IngestForm {
  readonly encoding: 'ndjson' | 'csv' | 'json';
  readonly csv: {
    /** Undefined takes the keys of each batch. */
    readonly columns: readonly string[] | undefined;
    /** The column that takes all other keys; undefined drops them. */
    readonly extra: string | undefined;
    /** Where the columns are named: the first line of the body, or a header of the request. */
    readonly header: 'line' | 'header';
  };
  readonly json: { readonly envelope: boolean };
  /** Added to every event by the service. */
  readonly labels: Readonly<Record<string, JsonValue>>;
  readonly timestampField?: string | undefined;
  readonly timestampFormat?: string | undefined;
}
