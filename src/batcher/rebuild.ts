/**
 * The events of one span, read again from its file: exactly those bytes, by the rules that are in force now. A span whose last
 * event goes on in other files is read together with those.
 */
import { crc32 } from 'node:zlib';
import type { Block, Lane, Region } from '../core/block.ts';
import type { Log } from '../core/log.ts';
import type { Source } from '../core/source.ts';
import type { Kernel } from '../kernel/kernel.ts';
import type { StoredSpan } from '../state/stored.ts';
import { digestContinued } from './batch.ts';
import type { Batcher } from './batcher.ts';
import { endsFrom, eventEndAt, streamBytes, streamRange } from './block-events.ts';
import type { Books } from './books.ts';

export interface RebuildOptions {
  readonly kernel: Kernel;
  readonly log: Log;
  /** Kernel memory for one slot. */
  readonly scratch: Region;
}

export interface RebuildTarget {
  readonly batcher: Batcher;
  readonly limits: { readonly maxBytes: number };
}

export interface Owner {
  readonly source: Source;
  readonly books: Books;
}

export interface Rebuilt {
  readonly span: StoredSpan;
  readonly books: Books;
  readonly events: Buffer[];
  readonly invalidCharacters?: number;
  readonly refusal?: string | undefined;
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
  if (continued.length === 0) return [await rebuildOne(options, target, span, owner)];
  const lane = new RestoreLane(options.kernel, target, options.scratch);
  if (span.events > 0 && (await owner.source.reread?.(span, lane, continued)) === true) {
    const { books } = owner;
    const followers = continued.map((each, n) => ({ span: { ...each, crc: lane.continued[n] ?? 0 }, books, events: [] }));
    return [{ ...lane.rebuilt(span), books }, ...followers];
  }
  const apart = [await rebuildOne(options, target, span, owner)];
  for (const each of continued)
    apart.push(await rebuildOne(options, target, { ...each, events: 1, digest: digestContinued(each)! }, owner));
  return apart;
}

/** Reads one span again. A span whose bytes are gone comes back without events. */
async function rebuildOne(options: RebuildOptions, target: RebuildTarget, span: StoredSpan, { source, books }: Owner): Promise<Rebuilt> {
  // Gone already at an earlier start, and counted then.
  if (span.events === 0) return { span, books, events: [] };
  const lane = new RestoreLane(options.kernel, target, options.scratch);
  const found = source.reread ? await source.reread(span, lane) : false;
  if (!found) {
    source.stats.lostBytes += span.to - span.from;
    options.log.error(
      { source: span.source, from: span.from, to: span.to, events: span.events },
      'bytes that were read and not yet delivered are gone: their file was removed or changed while no agent ran; they are counted in source_lost_bytes_total',
    );
    return { span: { ...span, events: 0 }, books, events: [] };
  }
  return { ...lane.rebuilt(span), books };
}

/** Collects the events of one span as bytes of their own. */
class RestoreLane implements Lane {
  readonly chunks: Buffer[] = [];
  events = 0;
  invalidCharacters = 0;
  crc = 0;
  digest = '';
  /** Of the last block: why its one event is not to be sent, … */
  refusal: string | undefined;
  /** … and the checksums of the other streams' bytes in it. */
  continued: readonly number[] = [];
  readonly #kernel: Kernel;
  readonly #target: RebuildTarget;
  readonly #scratch: Region;

  constructor(kernel: Kernel, target: RebuildTarget, scratch: Region) {
    this.#kernel = kernel;
    this.#target = target;
    this.#scratch = scratch;
  }

  /** The span as it was read again. */
  rebuilt(span: StoredSpan): Omit<Rebuilt, 'books'> {
    const now = { events: this.events, crc: this.crc, tail: span.tail, digest: this.digest };
    const { invalidCharacters, refusal } = this;
    return { span: { ...span, ...now }, events: this.chunks, invalidCharacters, refusal };
  }

  accept(block: Block): Promise<void> {
    const { template } = this.#target.batcher.compile(block.shape);
    const { single } = block;
    this.digest = this.#target.batcher.digestOf(block);
    this.refusal = single?.refusal;
    this.continued = (block.continued ?? []).map(({ crc }) => crc);
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
      if (result.written > 0) this.chunks.push(Buffer.from(this.#scratch.bytes.subarray(0, result.written)));
      this.events += result.events;
      this.invalidCharacters += result.replaced;
      start += result.consumed;
      if (result.stop !== 'too_large') continue;
      const end = eventEndAt(block, start);
      const large = this.#kernel.wrapLarge(template, block.readAtMs, block.window, start, end, single?.marks, block.ends !== undefined);
      this.chunks.push(large.event);
      this.events += 1;
      this.invalidCharacters += large.replaced;
      start += large.consumed;
    }
    const { from, to } = streamRange(block, block.start, block.end);
    this.crc = single ? single.crc : crc32(streamBytes(block, from, to), this.crc);
    return Promise.resolve();
  }
}
