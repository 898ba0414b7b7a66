/** A batch: the events of one request, from its first line to its settlement, and the spans that name them. */
import type { Block, Region, Span, StreamRange } from '../core/block.ts';
import { MAX_SPAN_GROUPS, MAX_SPAN_READS } from './limits.ts';
import { keyFrom } from '../core/requests.ts';
import { addSums, NO_TAIL, tailOf } from '../core/sums.ts';
import type { StoredBatch, StoredSpan } from '../state/database/stored-batch.ts';
import { groupsIn, positionsOf, streamRange, streamTail, sumOf } from './block-events.ts';
import type { Accounting } from './accounting.ts';
import { ShapingOutcomes } from './shaping-outcomes.ts';
import { Payload, WithheldEvents } from './payload.ts';
import { CONTINUES, type HeldSpan, joinGroups } from './span.ts';

/**
 * Where its bytes come from. `file`: its events can be made again from its spans. `once`: from files, but a transform may make other
 * events of them the next time. `orphan`: from a deleted file. `live`: from a source that sends once. All but `file` need the disk buffer.
 */
export type BatchOrigin = 'file' | 'once' | 'orphan' | 'live';

/**
 * `open`: takes events. `recovered`: of an earlier process, before older ones are read again. `writing`: until the disk buffer has it.
 * `waiting`: for a worker. `parked`: for the dead letters, or for a time. `unreadable`: for the next process, which rebuilds it from its files.
 */
export type BatchState =
  | 'open'
  | 'recovered'
  | 'writing'
  | 'waiting'
  | 'in_flight'
  | 'parked'
  | 'unreadable'
  | 'settled'
  | 'dropped';

export class Batch {
  readonly id: number;
  /** Whose marks it moves: a sink, or one of its datasets (core/checkpoint-owner). */
  readonly owner: string;
  readonly dataset: string;
  readonly payload: Payload;
  readonly withheld = new WithheldEvents();
  /** Turns from `file` to `orphan` when its file is deleted. */
  origin: BatchOrigin;
  /** Only the queue moves it. */
  state: BatchState = 'open';
  /** Its key and spans are in the database, or need not be. */
  isCommitted = false;
  /** While it is condensed, one for each run of events of a source, with counts alone. */
  spans: HeldSpan[] = [];
  #isCondensed = false;
  /** Events in the payload. */
  events = 0;
  /** Events that its spans count: those before shaping. */
  accepted = 0;
  /** When its first event was read, wall clock in milliseconds; undefined where nobody knows any more. */
  readAtMs: number | undefined;
  key = '';
  attempts = 0;
  /** Set when its one event is not to be sent: why it goes to the dead letters. */
  refusal: string | undefined;
  /** What shaping made of its events; undefined where each is sent as it was accepted. */
  outcomes: ShapingOutcomes | undefined;
  /** Events that went to the dead letters, once it is settled. */
  refusedEvents = 0;
  /** Its file in the disk buffer, once it is there. */
  spoolName: string | undefined;

  constructor(
    id: number,
    owner: string,
    dataset: string,
    origin: BatchOrigin,
    storage: { readonly body: Uint8Array; readonly slot?: Region | undefined },
  ) {
    this.id = id;
    this.owner = owner;
    this.dataset = dataset;
    this.origin = origin;
    this.payload = new Payload(storage);
  }

  /** Notes that `events` events and `consumed` window bytes from `start` on were added, numbered from `firstEvent`. `shaped`: what shaping made of them. */
  extend(
    accounting: Accounting,
    block: Block,
    digest: string,
    start: number,
    consumed: number,
    events: number,
    written: number,
    firstEvent: number,
    shaped?: { readonly sent: number; readonly outcomes: ShapingOutcomes | undefined },
  ): void {
    const { single } = block;
    this.readAtMs ??= block.readAtMs;
    const range = streamRange(block, start, start + consumed);
    const { from, to } = positionsOf(block, start, start + consumed);
    const last = this.spans.at(-1);
    const joins =
      last &&
      !last.closed &&
      last.stream === block.stream &&
      last.to === from &&
      last.digest === digest &&
      (last.reads?.length ?? 0) < MAX_SPAN_READS &&
      (last.groups?.untils.length ?? 0) < MAX_SPAN_GROUPS &&
      last.firstEvent + last.events === firstEvent;
    const span: HeldSpan =
      joins && !single
        ? last
        : {
            accounting,
            firstEvent,
            source: accounting.source,
            stream: block.stream,
            digest,
            from,
            to: from,
            events: 0,
            sum: 0,
            tail: NO_TAIL,
            reads: this.canBeRebuilt ? [] : undefined,
            closed: false,
          };
    if (span !== last) this.spans.push(span);
    span.to = to;
    span.events += events;
    if (block.positions) span.bytes = (span.bytes ?? 0) + consumed;
    if (span.reads && span.reads.at(-1)?.atMs !== block.readAtMs) span.reads.push({ from, atMs: block.readAtMs });
    // A block without a file is never compared: its stream's random id and the offsets name it.
    if (this.isTracked) span.sum = addSums(span.sum, single?.sum ?? sumOf(block, range.from, range.to));
    span.tail = single?.tail ?? tailOf(streamTail(block, range.to));
    const groups = this.isTracked ? groupsIn(block, start, start + consumed) : undefined;
    span.groups = span === last ? joinGroups(span.groups, groups) : groups;
    span.closed = single !== undefined || (block.groups?.endsInLine === true && start + consumed === block.end);
    for (const range of block.continued ?? []) this.#follow(span, range, firstEvent + events);
    this.#noteOutcomes(events, shaped?.outcomes);
    this.accepted += events;
    this.events += shaped?.sent ?? events;
    this.payload.bytes += written;
  }

  /** Adds the events of a batch, but for their bytes; spans that were cut between the two are one again. */
  append({ spans, events, accepted, payload, outcomes, withheld, readAtMs, refusal }: Batch): void {
    const before = this.accepted;
    if (withheld.isAny) this.withheld.add(withheld.events.map((each) => ({ ...each, event: before + each.event })));
    for (const span of spans) {
      const last = this.spans.at(-1);
      if (
        !last ||
        last.closed ||
        span.closed ||
        last.stream !== span.stream ||
        last.to !== span.from ||
        last.digest !== span.digest
      ) {
        this.spans.push(span);
        continue;
      }
      last.to = span.to;
      last.events += span.events;
      if (span.bytes !== undefined) last.bytes! += span.bytes;
      last.sum = addSums(last.sum, span.sum);
      last.tail = span.tail;
      last.groups = joinGroups(last.groups, span.groups);
    }
    this.readAtMs ??= readAtMs;
    this.refusal ??= refusal;
    this.#noteOutcomes(accepted, outcomes);
    this.accepted += accepted;
    this.events += events;
    this.payload.bytes += payload.bytes;
  }

  #noteOutcomes(events: number, outcomes: ShapingOutcomes | undefined): void {
    if (outcomes && !this.outcomes) {
      this.outcomes = new ShapingOutcomes();
      this.outcomes.add(this.accepted, 1, 'sent');
    }
    if (outcomes) this.outcomes!.append(outcomes);
    else this.outcomes?.add(events, 1, 'sent');
  }

  /** Adds bytes of another stream that continue the span's event; they are no events of their own. */
  #follow(
    { accounting, source, digest }: HeldSpan,
    { stream, from, to, sum, tail }: StreamRange,
    firstEvent: number,
  ): void {
    const content = { from, to, events: 0, sum: this.canBeRebuilt ? sum : 0, tail };
    this.spans.push({
      accounting,
      firstEvent,
      source,
      stream,
      digest: `${digest}${CONTINUES}`,
      ...content,
      closed: true,
    });
  }

  /** Gives back the memory that it takes. */
  release(budget: { release(bytes: number, slot: Region | undefined): void }): void {
    this.payload.release(budget);
    this.withheld.release(budget);
  }

  /**
   * Keeps of its spans only what the accounting needs, one run of events a source: its file knows the rest, and connections that send by
   * turns make a span of each line. Not where its events differ: some were refused, shaping left some out, or its marks are to move.
   */
  condense(): void {
    if (this.isTracked || this.attempts > 0 || this.outcomes) return;
    const runs = new Map<Accounting, HeldSpan>();
    const condensed: HeldSpan[] = [];
    for (const { accounting, firstEvent, source, events } of this.spans) {
      const run = runs.get(accounting);
      if (run && run.firstEvent + run.events === firstEvent) {
        run.events += events;
        continue;
      }
      const next = {
        accounting,
        firstEvent,
        source,
        stream: '',
        digest: '',
        from: 0,
        to: 0,
        events,
        sum: 0,
        tail: NO_TAIL,
        closed: true,
      };
      runs.set(accounting, next);
      condensed.push(next);
    }
    this.spans = condensed;
    this.#isCondensed = true;
  }

  /** Brings its spans back, as its file has them. */
  recall(stored: readonly StoredSpan[]): void {
    if (!this.#isCondensed) return;
    const runs = Map.groupBy(this.spans, ({ source }) => source);
    this.spans = stored.map((span) => {
      const ofSource = runs.get(span.source)!;
      const run = ofSource.find(({ events }) => events > 0) ?? ofSource.at(-1)!;
      const { accounting, firstEvent } = run;
      run.firstEvent += span.events;
      run.events -= span.events;
      return { ...span, reads: undefined, accounting, firstEvent, closed: true };
    });
    this.#isCondensed = false;
  }

  /** Set where its events are safe elsewhere until it is settled (a replayed dead letter): called then. */
  whenSettled: (() => void) | undefined;

  /** True when its events survive this process: its positions are in the database, or it is in the disk buffer, or safe elsewhere. */
  get isDurable(): boolean {
    if (this.canBeRebuilt) return this.isCommitted;
    return this.spoolName !== undefined || this.whenSettled !== undefined;
  }

  /** True when its spans are enough to have its events again. */
  get canBeRebuilt(): boolean {
    return this.origin === 'file';
  }

  /** True when it moves checkpoints: its spans are of files, be they still there or not. */
  get isTracked(): boolean {
    return this.origin !== 'live';
  }

  /** True when its events are dead letters that are sent again. */
  get isReplay(): boolean {
    return this.whenSettled !== undefined;
  }

  /** Its row in the database. */
  toStored(): StoredBatch {
    const spans = this.spans.map(
      ({ source, stream, from, to, events, bytes, sum, tail, digest, reads, groups }): StoredSpan => ({
        source,
        stream,
        from,
        to,
        events,
        sum,
        tail,
        digest,
        ...(bytes === undefined ? {} : { bytes }),
        ...(reads ? { reads: [...reads] } : {}),
        ...(groups ? { groups } : {}),
      }),
    );
    return { id: this.id, key: this.key, owner: this.owner, dataset: this.dataset, events: this.events, spans };
  }
}

/**
 * The Idempotency-Key of a batch: a hash of everything that names its events. Stream ids are random and belong to one
 * generation of a file, so the same offsets of another generation give another key. `run` is of the process that made the batch: where
 * files and data folder go back to a snapshot, the same place may be read again at another time, which makes other events of it.
 */
export function keyOf(
  sink: string,
  dataset: string,
  spans: readonly (Span & { digest: string })[],
  run = '',
  retired = '',
): string {
  const named = spans.map((span) => [span.source, span.stream, span.from, span.to, span.events, span.sum, span.digest]);
  return keyFrom([sink, dataset, named, run, retired]);
}
