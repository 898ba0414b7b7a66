/** A batch as its file in the disk buffer has it, and back. */
import type { SpoolHeader } from '../../state/spool/spool-file.ts';
import type { SpoolEntry } from '../../state/spool/spool.ts';
import type { StoredPart } from '../../state/database/stored-batch.ts';
import { Batch } from '../batch.ts';
import type { Accounts } from '../accounting.ts';
import { ShapingOutcomes } from '../shaping-outcomes.ts';
import { isMadeOnce } from '../span.ts';

/** The body of a batch that is out of memory. */
export const EMPTY = Buffer.alloc(0);

/** `parts` are those still to be sent of a batch that was split. */
export function headerOf(batch: Batch, parts?: readonly StoredPart[]): SpoolHeader {
  const { key, owner, dataset, events, spans } = batch.toStored();
  const { readAtMs, refusal, outcomes, withheld } = batch;
  const { bytes, encoding, form } = batch.payload;
  return {
    key,
    sink: owner,
    dataset,
    events,
    bytes,
    encoding,
    ...(form ? { form } : {}),
    spans,
    ...(readAtMs === undefined ? {} : { readAtMs }),
    ...(parts ? { parts } : {}),
    ...(refusal === undefined ? {} : { refusal }),
    ...(outcomes ? { fates: outcomes.toStored() } : {}),
    ...(withheld.events.length > 0 ? { withheld: withheld.events } : {}),
  };
}

/** The batch of a file, without its body; its events are accepted again. `isTracked`: the database has it under `id`, too. */
export function restoreSpooled(
  { name, header }: SpoolEntry,
  id: number,
  isTracked: boolean,
  accounts: Accounts,
): Batch {
  const origin = !isTracked ? 'live' : header.spans.some(isMadeOnce) ? 'once' : 'orphan';
  const batch = new Batch(id, header.sink, header.dataset, origin, { body: EMPTY });
  batch.key = header.key;
  batch.events = header.events;
  batch.payload.bytes = header.bytes;
  batch.payload.encoding = header.encoding;
  batch.payload.form = header.form;
  batch.spoolName = name;
  batch.readAtMs = header.readAtMs;
  batch.isCommitted = true;
  batch.refusal = header.refusal;
  if (header.fates) batch.outcomes = new ShapingOutcomes(header.fates);
  batch.withheld.isAny = header.withheld !== undefined;
  batch.accepted = header.spans.reduce((sum, { events }) => sum + events, 0);
  for (const span of header.spans) {
    const accounting = accounts.accountingOf(span.source);
    batch.spans.push({ ...span, reads: undefined, accounting, firstEvent: accounting.accepted, closed: true });
    accounting.accept(span.events, 1);
  }
  batch.condense();
  return batch;
}
