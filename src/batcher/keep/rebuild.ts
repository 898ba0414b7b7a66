/**
 * The events of one span, read again from its file: exactly those bytes, by the rules that are in force now. A span whose last
 * event goes on in other files is read together with those.
 */
import type { Block, Lane, Region } from '../../core/block.ts';
import type { Log } from '../../core/log.ts';
import type { Shaper, Withheld } from '../../core/shaping.ts';
import type { Source } from '../../core/source.ts';
import { addSums, subtractSums } from '../../core/sums.ts';
import { tailOf } from '../../core/tail.ts';
import { contentSum } from '../../kernel/content-sum.ts';
import type { Kernel } from '../../kernel/kernel.ts';
import type { StoredSpan } from '../../state/database/stored.ts';
import { digestContinued, ONCE } from '../span.ts';
import type { Batcher } from '../fill/batcher.ts';
import { endsFrom, eventEndAt, streamBytes, streamRange, streamTail } from '../block-events.ts';
import type { Books } from '../books.ts';
import { Fates } from '../fates.ts';
import { fatesOf, shapeChunk } from '../fill/shape-chunk.ts';

export interface RebuildOptions {
  readonly kernel: Kernel;
  readonly log: Log;
  /** Kernel memory for one slot. */
  readonly scratch: Region;
}

export interface RebuildTarget {
  readonly batcher: Batcher;
  readonly limits: { readonly maxBytes: number };
  /** What shapes the events of a source on their way to the sink. */
  shaperOf?(source: string): Shaper | undefined;
}

export interface Owner {
  readonly source: Source;
  readonly books: Books;
}

export interface Rebuilt extends Owner {
  readonly span: StoredSpan;
  readonly events: readonly Buffer[];
  readonly shaped?: Reshaped | undefined;
  readonly invalidCharacters?: number;
  readonly refusal?: string | undefined;
  /** Its bytes are gone, and nobody counted them yet. */
  readonly isLost?: boolean;
}

/** What shaping made of the events of a span, which are numbered from the span's first. */
export interface Reshaped {
  readonly sent: number;
  readonly fates: Fates;
  readonly withheld: readonly Withheld[];
  readonly isRepeatable: boolean;
}

/** The spans, each with those in which its last event goes on. */
export function inEvents(spans: readonly StoredSpan[]): [StoredSpan, ...StoredSpan[]][] {
  const found: [StoredSpan, ...StoredSpan[]][] = [];
  for (const span of spans) {
    if (digestContinued(span) !== undefined) found.at(-1)?.push(span);
    else found.push([span]);
  }
  return found;
}

/** Reads a span again, and those in which its event goes on. Where that cannot be put together any more, each is read by itself. */
export async function rebuild(
  options: RebuildOptions,
  target: RebuildTarget,
  span: StoredSpan,
  continued: readonly StoredSpan[],
  owner: Owner,
): Promise<Rebuilt[]> {
  if (continued.length === 0) return await rebuildOne(options, target, span, owner);
  const lane = new RestoreLane(options, target, span.source);
  if (span.events > 0 && (await owner.source.reread?.(span, lane, continued)) === span.to) {
    const followers = continued.map((each, n) => ({ ...owner, span: { ...each, sum: lane.continued[n] ?? 0 }, events: [] }));
    return [...lane.rebuilt(span, owner), ...followers];
  }
  const apart = await rebuildOne(options, target, span, owner);
  for (const each of continued)
    apart.push(...(await rebuildOne(options, target, { ...each, events: 1, digest: digestContinued(each)! }, owner)));
  return apart;
}

/** Reads one span again. What is gone of it comes back as a span without events. */
async function rebuildOne(options: RebuildOptions, target: RebuildTarget, span: StoredSpan, owner: Owner): Promise<Rebuilt[]> {
  // Gone already at an earlier start, and counted then.
  if (span.events === 0) return [{ ...owner, span, events: [] }];
  const lane = new RestoreLane(options, target, span.source);
  const end = owner.source.reread ? await owner.source.reread(span, lane) : span.from;
  if (end === span.from) return [{ ...owner, span: { ...span, events: 0 }, events: [], isLost: true }];
  const parts = lane.rebuilt(span, owner);
  if (end === span.to) return parts;
  const read = parts.reduce((sum, part) => addSums(sum, part.span.sum), 0);
  const rest = { ...span, from: end, events: 0, sum: subtractSums(span.sum, read) };
  return [...parts, { ...owner, span: rest, events: [], isLost: true }];
}

/** What was found of a span: all of it as a rule. An unfinished or oversize line is a part of its own, as it is in a batch. */
interface Part {
  readonly span: Pick<StoredSpan, 'from' | 'to' | 'events' | 'sum' | 'tail' | 'digest'>;
  readonly events: readonly Buffer[];
  readonly shaped: Reshaped | undefined;
  readonly invalidCharacters: number;
  /** Why its one event is not to be sent. */
  readonly refusal: string | undefined;
  readonly isSingle: boolean;
}

/** Collects the events of one span as bytes of their own. */
class RestoreLane implements Lane {
  readonly #parts: Part[] = [];
  /** Of the last block: the checksums of the other streams' bytes in it. */
  continued: readonly number[] = [];
  readonly #kernel: Kernel;
  readonly #target: RebuildTarget;
  readonly #scratch: Region;
  readonly #source: string;
  readonly #shaper: Shaper | undefined;

  constructor({ kernel, scratch }: RebuildOptions, target: RebuildTarget, source: string) {
    this.#kernel = kernel;
    this.#target = target;
    this.#scratch = scratch;
    this.#source = source;
    this.#shaper = target.shaperOf?.(source);
  }

  /** The span as it was read again. */
  rebuilt(span: StoredSpan, owner: Owner): Rebuilt[] {
    if (this.#parts.length === 0) return [{ ...owner, span: { ...span, events: 0, sum: 0 }, events: [] }];
    return this.#parts.map(({ span: part, events, shaped, invalidCharacters, refusal }) => {
      // The tail of the whole may begin before the span.
      const tail = part.to === span.to ? span.tail : part.tail;
      return { ...owner, span: { ...span, ...part, tail }, events, shaped, invalidCharacters, refusal };
    });
  }

  async accept(block: Block): Promise<void> {
    this.continued = (block.continued ?? []).map(({ sum }) => sum);
    if (this.#shaper) await this.#shape(block, this.#shaper);
    else this.#wrap(block);
  }

  async #shape(block: Block, shaper: Shaper): Promise<void> {
    const { template } = this.#target.batcher.compile(block.shape, shaper);
    const options = { kernel: this.#kernel, scratch: this.#scratch };
    const chunks: Buffer[] = [];
    const fates = new Fates();
    const withheld: Withheld[] = [];
    let [count, sent, invalidCharacters] = [0, 0, 0];
    let isRepeatable = true;
    for (let start = block.start; start < block.end;) {
      const chunk = await shapeChunk(options, template, shaper, this.#source, block, start, block.end);
      const { events, shaped } = chunk;
      chunks.push(Buffer.from(shaped.bytes.subarray(0, shaped.ends.at(-1) ?? 0)));
      const own = fatesOf(shaped, 0, events);
      if (own) fates.append(own);
      else fates.add(events, 1, 'none');
      withheld.push(...shaped.withheld.map((each) => ({ ...each, event: count + each.event })));
      isRepeatable &&= shaped.isRepeatable;
      sent += shaped.sent.reduce((sum, each) => sum + each, 0);
      count += events;
      invalidCharacters += chunk.replaced;
      start = chunk.end;
    }
    this.#add(block, { events: chunks, count, invalidCharacters, shaped: { sent, fates, withheld, isRepeatable } });
  }

  #wrap(block: Block): void {
    const { template } = this.#target.batcher.compile(block.shape);
    const { single } = block;
    const chunks: Buffer[] = [];
    let events = 0;
    let invalidCharacters = 0;
    let start = block.start;
    while (start < block.end) {
      const result = this.#kernel.wrap(
        template,
        block.readAtMs,
        block.window,
        start,
        block.end,
        this.#scratch,
        0,
        this.#target.limits.maxBytes,
        2 ** 31 - 1,
        single?.marks,
        endsFrom(block, start),
      );
      if (result.written > 0) chunks.push(Buffer.from(this.#scratch.bytes.subarray(0, result.written)));
      events += result.events;
      invalidCharacters += result.replaced;
      start += result.consumed;
      if (result.stop !== 'too_large') continue;
      const end = eventEndAt(block, start);
      const large = this.#kernel.wrapLarge(template, block.readAtMs, block.window, start, end, single?.marks, block.ends !== undefined);
      chunks.push(large.event);
      events += 1;
      invalidCharacters += large.replaced;
      start += large.consumed;
    }
    this.#add(block, { events: chunks, count: events, invalidCharacters, shaped: undefined });
  }

  #add(block: Block, made: Pick<Part, 'events' | 'shaped' | 'invalidCharacters'> & { readonly count: number }): void {
    const { single, offset } = block;
    const { from, to } = streamRange(block, block.start, block.end);
    const sum = single?.sum ?? contentSum(streamBytes(block, from, to), offset + from);
    const tail = single?.tail ?? tailOf(streamTail(block, to));
    const digest =
      this.#target.batcher.digestOf(block, block.start, block.end, this.#shaper) + (made.shaped?.isRepeatable === false ? ONCE : '');
    const last = this.#parts.at(-1);
    const joins = last && !last.isSingle && !single && last.span.digest === digest;
    const before = joins
      ? this.#parts.pop()!
      : { span: { from: offset + from, events: 0, sum: 0 }, events: [], shaped: undefined, invalidCharacters: 0 };
    this.#parts.push({
      span: {
        from: before.span.from,
        to: offset + to,
        events: before.span.events + made.count,
        sum: addSums(before.span.sum, sum),
        tail,
        digest,
      },
      events: [...before.events, ...made.events],
      shaped: joinShaped(before.shaped, before.span.events, made.shaped),
      invalidCharacters: before.invalidCharacters + made.invalidCharacters,
      refusal: single?.refusal,
      isSingle: single !== undefined,
    });
  }
}

function joinShaped(before: Reshaped | undefined, events: number, next: Reshaped | undefined): Reshaped | undefined {
  if (!before || !next) return next;
  before.fates.append(next.fates);
  const withheld = next.withheld.map((each) => ({ ...each, event: each.event + events }));
  const isRepeatable = before.isRepeatable && next.isRepeatable;
  return { sent: before.sent + next.sent, fates: before.fates, withheld: [...before.withheld, ...withheld], isRepeatable };
}
