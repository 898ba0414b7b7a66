/** Reads the reply of the ingest endpoint. Pure; the ingest sink uses it, too. */
import { parseObject } from '../json/numbers.ts';
import type { NamedFailure } from '../core/sink.ts';
import { shorten } from './answer.ts';

const REASON_CHARACTERS = 200;

export interface IngestReply {
  readonly ingested: number;
  readonly failed: number;
  readonly processedBytes: number;
  readonly blocksCreated: number;
  readonly walLength: number;
  /** Some services list only the first ones, and without an index; `failed` is the true count. */
  readonly failures: readonly NamedFailure[];
}

/** The reply's counts, or undefined where it is no valid ingest result. */
export function readIngestResult(body: string): IngestReply | undefined {
  const reply = parseObject(body);
  if (!reply) return undefined;
  const count = (name: string): number | undefined => {
    const value = reply[name];
    return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
  };
  const ingested = count('ingested');
  const failed = count('failed');
  if (ingested === undefined || failed === undefined) return undefined;
  return {
    ingested,
    failed,
    processedBytes: count('processedBytes') ?? 0,
    blocksCreated: count('blocksCreated') ?? 0,
    walLength: count('walLength') ?? 0,
    failures: parseFailures(reply['failures']),
  };
}

/** The entries of `failures` that can be read; `{timestamp, error}` and, from some services, `index`. */
function parseFailures(value: unknown): NamedFailure[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((entry: unknown): NamedFailure[] => {
    if (typeof entry !== 'object' || entry === null) return [];
    const { index, timestamp, error } = entry as Record<string, unknown>;
    return [
      {
        index: typeof index === 'number' && Number.isSafeInteger(index) && index >= 0 ? index : undefined,
        timestamp: typeof timestamp === 'string' ? timestamp : '',
        error: typeof error === 'string' ? shorten(error, REASON_CHARACTERS) : 'no reason given',
      },
    ];
  });
}
