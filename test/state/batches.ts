/** Batches and spans for the tests of the state. */
import { crc32 } from 'node:zlib';
import type { Spool, SpoolEntry } from '../../src/state/spool/spool.ts';
import type { State } from '../../src/state/database/store.ts';
import type { StoredBatch, StoredSpan } from '../../src/state/database/stored-batch.ts';
import { contentSum } from '../../src/kernel/content-sum.ts';

/** A span of `stream` whose checksums follow from its range, so that a mixed-up one shows. */
export function span(stream: string, from: number, to: number, source = 'app'): StoredSpan {
  const name = `${stream} ${from} ${to}`;
  return {
    source,
    stream,
    from,
    to,
    events: to - from,
    sum: contentSum(Buffer.from(name), from),
    tail: { length: 7, crc: crc32(`tail ${name}`) },
    digest: 'd1',
  };
}

export function batch(id: number, spans: readonly StoredSpan[], owner = 'store', dataset = 'logs'): StoredBatch {
  return {
    id,
    key: `key-${id}-${owner}`,
    owner,
    dataset,
    events: spans.reduce((sum, each) => sum + each.events, 0),
    spans,
  };
}

/** Commits a batch of these spans, which it returns. */
export function commit(state: State, ...spans: StoredSpan[]): StoredBatch {
  const made = batch(state.ledger.nextId(), spans);
  state.commit([made]);
  return made;
}

/** What the spool holds after a restart. */
export async function recoverAll(spool: Spool): Promise<SpoolEntry[]> {
  const entries: SpoolEntry[] = [];
  for await (const entry of spool.recover()) entries.push(entry);
  return entries;
}
