/** What the ingest API's replies tell beside the events, as metrics. */
import type { IngestReply } from '../../client/ingest-result.ts';
import type { FactTable } from '../../core/sink.ts';

export const ingestFacts = {
  ingest_processed_bytes_total: ['processedBytes of the service’s replies'],
  ingest_blocks_created_total: ['blocksCreated of the service’s replies'],
  ingest_wal_length: ['walLength of the service’s last reply'],
} satisfies FactTable;

export function factsOf({ processedBytes, blocksCreated, walLength }: IngestReply): Record<keyof typeof ingestFacts, number> {
  return { ingest_processed_bytes_total: processedBytes, ingest_blocks_created_total: blocksCreated, ingest_wal_length: walLength };
}
