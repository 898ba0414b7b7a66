/** The bounds of the service that its operator may set; the others are in core/limits. */
import {
  SERVICE_BODY_BYTES,
  SERVICE_DATASET_FIELDS,
  SERVICE_QUERY_MEMORY_BYTES,
  SERVICE_QUERY_SECONDS,
  SERVICE_REQUEST_SECONDS,
  SERVICE_RESULT_BYTES,
} from '../core/limits.ts';
import type { QueryLimits } from './engine/engine.ts';

export interface ServiceLimits {
  /** Bytes of an ingest body after decompression. */
  readonly bodyBytes: number;
  /** Fields of one dataset. */
  readonly datasetFields: number;
  readonly querySeconds: number;
  readonly queryMemoryBytes: number;
  /** Requests of the organisation a second; 0 for any number. */
  readonly ratePerSecond: number;
  /** Bytes that a calendar month may bring in; 0 for any number. */
  readonly monthlyBytes: number;
  /** For a request to arrive whole. */
  readonly requestSeconds: number;
}

export const DEFAULT_LIMITS: ServiceLimits = {
  bodyBytes: SERVICE_BODY_BYTES,
  datasetFields: SERVICE_DATASET_FIELDS,
  querySeconds: SERVICE_QUERY_SECONDS,
  queryMemoryBytes: SERVICE_QUERY_MEMORY_BYTES,
  ratePerSecond: 0,
  monthlyBytes: 0,
  requestSeconds: SERVICE_REQUEST_SECONDS,
};

export const queryLimitsOf = ({ querySeconds, queryMemoryBytes }: ServiceLimits): QueryLimits => ({
  seconds: querySeconds,
  memoryBytes: queryMemoryBytes,
  resultBytes: SERVICE_RESULT_BYTES,
});
