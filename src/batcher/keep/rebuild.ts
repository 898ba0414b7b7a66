/**
 * Rebuilds the events of one span from exactly its bytes in the file, through a batcher of its own. A span whose last event continues
 * in other files is read together with those.
 */
import type { Block, Lane, Region } from '../../core/block.ts';
import type { Shaper } from '../../core/shaping.ts';
import type { Source } from '../../core/source.ts';
import { addSums, subtractSums } from '../../core/sums.ts';
import type { LostSpan, StoredSpan } from '../../state/database/stored-batch.ts';
import { Batch } from '../batch.ts';
import type { Accounting } from '../accounting.ts';
import type { Batcher } from '../fill/batcher.ts';
import { MadeBatches } from '../fill/made-batches.ts';
import { digestContinued, type HeldSpan } from '../span.ts';
import { EMPTY } from './spooled-batch.ts';

export interface RebuildTarget {
  readonly batcher: Batcher;
  /** What shapes the events of a source on their way to the sink. */
  shaperOf?(source: string): Shaper | undefined;
}

export interface RebuildSource {
  readonly source: Source;
  readonly accounting: Accounting;
}

/** The rest of a span. */
export interface Rebuilt extends RebuildSource {
  /** Its events, but for their bytes; without events where all of them are gone. */
  readonly made: Batch;
  readonly body: readonly Buffer[];
  readonly invalidCharacters: number;
  /** Bytes that are gone, and that nobody counted yet. */
  readonly lost: LostSpan | undefined;
}

/** Groups each span with those that continue its last event. */
export function inEvents(spans: readonly StoredSpan[]): [StoredSpan, ...StoredSpan[]][] {
  const found: [StoredSpan, ...StoredSpan[]][] = [];
  for (const span of spans) {
    if (digestContinued(span) !== undefined) found.at(-1)?.push(span);
    else found.push([span]);
  }
  return found;
}

/**
 * Reads a span again, with the spans that continue its event; if they no longer form one event, each alone. `slot` is kernel
 * memory for one batch.
 */
export async function rebuild(
  slot: Region,
  target: RebuildTarget,
  span: StoredSpan,
  continued: readonly StoredSpan[],
  owner: RebuildSource,
): Promise<Rebuilt[]> {
  if (continued.length > 0 && span.events > 0) {
    const lane = new RestoreLane(slot, target, owner);
    if ((await lane.reread(span, continued)) === span.to) return [lane.rebuilt(span)];
  }
  const parts = [await rebuildOne(slot, target, span, owner)];
  for (const each of continued)
    parts.push(await rebuildOne(slot, target, { ...each, events: 1, digest: digestContinued(each)! }, owner));
  return parts;
}

async function rebuildOne(
  slot: Region,
  target: RebuildTarget,
  span: StoredSpan,
  owner: RebuildSource,
): Promise<Rebuilt> {
  const lane = new RestoreLane(slot, target, owner);
  // A span without events was gone already at an earlier start, and counted then.
  const end = span.events === 0 ? span.to : await lane.reread(span);
  const { made, ...rebuilt } = lane.rebuilt(span);
  const lost = lostOf(span, end, made);
  if (end === span.to) {
    if (made.spans.length === 0)
      made.spans.push(withoutEvents(span.events === 0 ? span : { ...span, sum: 0 }, owner.accounting));
    return { ...rebuilt, made, lost };
  }
  const read = made.spans.reduce((sum, part) => addSums(sum, part.sum), 0);
  made.spans.push(withoutEvents({ ...span, from: end, sum: subtractSums(span.sum, read) }, owner.accounting));
  return { ...rebuilt, made, lost };
}

/**
 * The lost part of a span that was read up to `end`. A journal may lose any entry; each counts as one byte at least, because a changed
 * shape hides its size.
 */
function lostOf(span: StoredSpan, end: number, { accepted, spans }: Batch): LostSpan | undefined {
  if (span.bytes === undefined) return end === span.to ? undefined : { ...span, from: end };
  const missing = span.events - accepted;
  const found = spans.reduce((sum, { bytes = 0 }) => sum + bytes, 0);
  return missing > 0 ? { ...span, bytes: Math.max(missing, span.bytes - found) } : undefined;
}

function withoutEvents(span: StoredSpan, accounting: Accounting): HeldSpan {
  return { ...span, events: 0, reads: span.reads && [...span.reads], accounting, firstEvent: 0, closed: true };
}

/** Collects the events of one span as a live batcher makes them. */
class RestoreLane implements Lane {
  readonly #owner: RebuildSource;
  readonly #batcher: Batcher;
  readonly #shaper: Shaper | undefined;
  readonly #made = new Batch(0, '', '', 'file', { body: EMPTY });
  readonly #body: Buffer[] = [];
  #invalidCharacters = 0;

  constructor(slot: Region, target: RebuildTarget, owner: RebuildSource) {
    this.#owner = owner;
    this.#shaper = target.shaperOf?.(owner.accounting.source);
    const made = new MadeBatches(slot, (batch) => {
      this.#body.push(Buffer.from(batch.payload.body));
      this.#made.append(batch);
    });
    this.#batcher = target.batcher.rebuilder(made);
  }

  /** Up to where the source has the span's bytes. Rejects with `E_UNREADABLE`. */
  async reread(span: StoredSpan, continued?: readonly StoredSpan[]): Promise<number> {
    try {
      return (await this.#owner.source.reread?.(span, this, continued)) ?? span.from;
    } finally {
      this.#batcher.open.flush();
    }
  }

  async accept(block: Block): Promise<void> {
    await this.#batcher.take({
      accounting: this.#owner.accounting,
      block,
      dataset: '',
      isTracked: true,
      isRereadable: () => true,
      start: block.start,
      end: block.end,
      firstEvent: this.#made.accepted,
      shaper: this.#shaper,
      taken: (_, { replaced }) => void (this.#invalidCharacters += replaced),
      waited: () => {},
    });
    this.#batcher.open.flush();
  }

  /** The batch made from the span. */
  rebuilt(span: StoredSpan): Rebuilt {
    const made = this.#made;
    // The tail of the whole may begin before the span.
    made.spans = made.spans.map((part) => ({
      ...part,
      tail: part.stream === span.stream && part.to === span.to ? span.tail : part.tail,
      reads: digestContinued(part) === undefined ? span.reads && [...span.reads] : undefined,
      closed: true,
    }));
    return { ...this.#owner, made, body: this.#body, invalidCharacters: this.#invalidCharacters, lost: undefined };
  }
}
