/** How much ingest is under way: requests and bytes of their bodies are counted before a body is read, so that memory stays bounded. */
import type { IncomingHttpHeaders } from 'node:http';
import { SERVICE_GUESSED_COMPRESSION, SERVICE_INGEST_BYTES_IN_FLIGHT, SERVICE_INGESTS_IN_FLIGHT } from '../limits.ts';
import { ApiError } from '../http/api-error.ts';

/** `bodyBytes` is the most that one body may have. */
export function ingestAdmission(bodyBytes: number) {
  let requests = 0;
  let bytes = 0;
  return {
    /** Admits a request until the returned function is called. Throws an `ApiError` 429 when too much is under way. */
    enter(headers: IncomingHttpHeaders): () => void {
      const weight = Math.min(bodyBytes, guessBytes(headers));
      // One request is always admitted, however large.
      const isFull = requests >= SERVICE_INGESTS_IN_FLIGHT || (requests > 0 && bytes + weight > SERVICE_INGEST_BYTES_IN_FLIGHT);
      if (isFull) throw new ApiError(429, 'rate limit exceeded', { 'Retry-After': '1' });
      requests++;
      bytes += weight;
      return () => {
        requests--;
        bytes -= weight;
      };
    },
  };
}

function guessBytes(headers: IncomingHttpHeaders): number {
  const length = Number(headers['content-length'] ?? Number.NaN);
  if (!Number.isFinite(length)) return Number.POSITIVE_INFINITY;
  return headers['content-encoding'] ? length * SERVICE_GUESSED_COMPRESSION : length;
}
