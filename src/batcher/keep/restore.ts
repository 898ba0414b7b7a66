/**
 * Rebuilds the batches that the last process committed and did not settle, from the bytes of their files, so that they are sent again
 * under the same keys before a file is read on. A batch whose bytes or shape changed gets a new key (its events may then be stored
 * twice); bytes that are gone are logged and counted as lost.
 */
import type { Region } from '../../core/block.ts';
import type { Log } from '../../core/log.ts';
import { countLost } from '../../core/source.ts';
import type { Clock } from '../../core/time/clock.ts';
import { codeOf, messageOf, TailraceError } from '../../core/errors.ts';
import { sinkOfOwner } from '../../core/checkpoint-owner.ts';
import type { State } from '../../state/database/store.ts';
import type { StoredBatch, StoredSpan } from '../../state/database/stored-batch.ts';
import { Batch, keyOf } from '../batch.ts';
import { persist } from '../store.ts';
import type { BatchQueue } from '../queue.ts';
import { isMadeOnce } from '../span.ts';
import type { Delivery } from '../send/delivery.ts';
import { inEvents, type RebuildSource, rebuild, type RebuildTarget, type Rebuilt } from './rebuild.ts';
import { EMPTY } from './spooled-batch.ts';
import type { MemoryBudget } from '../memory-budget.ts';

interface RestoreTarget extends RebuildTarget {
  readonly delivery: Delivery;
  readonly budget: MemoryBudget;
  readonly queue?: Pick<BatchQueue, 'note'>;
}

export interface RestoreOptions {
  readonly log: Log;
  /** Kernel memory for one batch. */
  readonly slot: Region;
  readonly batches: readonly StoredBatch[];
  readonly state: Pick<State, 'ledger' | 'replace' | 'run'>;
  readonly clock: Clock;
  /** How long to wait before a disk that refused is tried again. */
  readonly retryMs: number;
  /** Aborts when the agent stops. */
  readonly stopping: AbortSignal;
  target(owner: string): RestoreTarget | undefined;
  source(id: string): RebuildSource | undefined;
  /** True for a batch of former `to_dataset` routes: it is dropped, and its bytes are read again under those in force. */
  isRetired?(batch: StoredBatch): boolean;
  /** Called before each batch: batches committed before it that are kept elsewhere go first. */
  reached?(batch: StoredBatch): void;
}

/** Restores in the order of commitment; waits for memory, and stops early (`E_STOPPED`) when the agent stops. */
export async function restoreBatches(options: RestoreOptions): Promise<void> {
  for (const stored of options.batches) {
    options.reached?.(stored);
    if (options.isRetired?.(stored) === true) {
      await replace(options, stored.id, []);
      continue;
    }
    const target = options.target(stored.owner);
    if (!target) {
      options.log.warn(
        { sink: sinkOfOwner(stored.owner), batch: stored.key, events: stored.events },
        'a batch belongs to a sink that is not configured any more; it is kept until the sink is back',
      );
      continue;
    }
    const absent = stored.spans.filter((span) => !options.source(span.source));
    if (absent.length > 0) {
      options.log.warn(
        { source: absent[0]?.source, batch: stored.key, events: countIn(absent) },
        'a batch belongs to a source that is not configured any more; it is kept until the source is back',
      );
    }
    if (absent.length === stored.spans.length) continue;
    try {
      await restore(options, target, stored, absent);
    } catch (error) {
      if (codeOf(error) !== 'E_UNREADABLE') throw error;
      options.log.error(
        { sink: sinkOfOwner(stored.owner), batch: stored.key, events: stored.events, reason: messageOf(error) },
        'the file of a batch cannot be read again now; the batch is kept, and sent at the next start',
      );
    }
  }
}

/** `absent` are the spans of sources that are not configured: they become a batch of their own, which waits for them. */
async function restore(
  options: RestoreOptions,
  target: RestoreTarget,
  stored: StoredBatch,
  absent: readonly StoredSpan[],
): Promise<void> {
  const batch = new Batch(stored.id, stored.owner, stored.dataset, 'file', { body: EMPTY });
  const rebuilt: Rebuilt[] = [];
  for (const [first, ...continued] of inEvents(stored.spans)) {
    const owner = options.source(first.source);
    if (owner) rebuilt.push(...(await rebuild(options.slot, target, first, continued, owner)));
  }
  for (const { made } of rebuilt) batch.append(made);
  const { spans } = batch.toStored();
  const unchanged =
    spans.length === stored.spans.length && stored.spans.every((span, index) => isSame(span, spans[index]!));
  const row = unchanged ? stored : renewed(options, stored, stored.id, spans);
  if (!unchanged) {
    options.log.warn(
      {
        sink: sinkOfOwner(stored.owner),
        batch: stored.key,
        newKey: row.key,
        events: stored.events,
        sources: [...new Set(stored.spans.map((span) => span.source))],
      },
      stored.spans.some(isMadeOnce)
        ? 'a batch of a transform that is not deterministic was not in the disk buffer yet when the last process ended; its events are rebuilt under a new key'
        : 'a batch was under way when the last process ended, and its files or its configuration changed since; it is sent under a new key, which may store events twice',
    );
    const rows = absent.length > 0 ? [row, renewed(options, stored, options.state.ledger.nextId(), absent)] : [row];
    const gone = rebuilt.flatMap(({ lost }) => lost ?? []);
    await replace(options, stored.id, rows, gone);
    // Not before the loss is on disk: the next process would count it once more.
    for (const each of rebuilt) noteLost(options, each);
  }
  const body = Buffer.concat(rebuilt.flatMap((each) => each.body));
  while (!target.budget.take(body.length))
    await target.budget.wait(
      () => true,
      () => target.budget.fits(body.length),
    );

  if (spans.some(isMadeOnce)) batch.origin = 'once';
  batch.payload.body = body;
  batch.payload.memory = body.length;
  batch.key = row.key;
  batch.isCommitted = true;
  for (const { accounting, invalidCharacters } of rebuilt) accounting.invalidCharacters += invalidCharacters;
  for (const span of batch.spans) {
    span.firstEvent = span.accounting.accepted;
    span.accounting.accept(span.events, 1);
  }
  target.budget.takeAnyway(batch.withheld.bytes);
  // Such an event is alone in its batch.
  if (batch.accepted !== 1) batch.refusal = undefined;
  if (batch.origin === 'once' && target.queue) target.queue.note(batch, 'write');
  else target.delivery.enqueue(batch, unchanged ? options.state.ledger.partsOf(stored.id) : []);
}

/** A batch of these spans in place of one whose key is retired. */
function renewed(
  { state }: RestoreOptions,
  stored: StoredBatch,
  id: number,
  spans: readonly StoredSpan[],
): StoredBatch {
  return {
    ...stored,
    id,
    key: keyOf(stored.owner, stored.dataset, spans, state.run, stored.key),
    events: countIn(spans),
    spans,
  };
}

/** Tries until the disk takes it: nothing is sent under a key that is not on disk. Rejects with `E_STOPPED` when the agent stops first. */
async function replace(options: RestoreOptions, ...given: Parameters<State['replace']>): Promise<void> {
  const persistence = { ...options, signal: options.stopping };
  const [, [batch]] = given;
  const refused = 'cannot save the new key of a batch, so it is not sent yet';
  const isKept = await persist(
    () => options.state.replace(...given),
    persistence,
    { sink: batch && sinkOfOwner(batch.owner) },
    refused,
  );
  if (!isKept) throw new TailraceError('E_STOPPED', 'the agent stops; the batch is restored by the next one');
}

function countIn(spans: readonly StoredSpan[]): number {
  return spans.reduce((sum, { events }) => sum + events, 0);
}

function noteLost({ log }: RestoreOptions, { lost, source }: Rebuilt): void {
  if (!lost) return;
  const { from, to, bytes = to - from, reads = [] } = lost;
  const [readFrom, readTo] = [reads[0], reads.at(-1)].map((read) => read && new Date(read.atMs).toISOString());
  // The state has it already.
  countLost(
    { source: source.id, streams: { lose: () => {} }, stats: source.stats },
    { firstPath: '' },
    bytes,
    undefined,
    'not_there_again',
  );
  log.error(
    { source: source.id, from, to, lostBytes: bytes, readFrom, readTo },
    'bytes that were read and not known to be delivered are gone: their file or journal was removed or changed while no agent ran; they are counted in source_lost_bytes_total',
  );
}

function isSame(stored: StoredSpan, now: StoredSpan): boolean {
  const isSameBehind = stored.groups?.after.sum === now.groups?.after.sum;
  return (
    stored.events === now.events &&
    stored.sum === now.sum &&
    isSameBehind &&
    stored.digest === now.digest &&
    !isMadeOnce(stored)
  );
}
