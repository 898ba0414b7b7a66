/**
 * The line window that a source reads through. Lines of a stream that is not UTF-8, or of a format with a parser, are made into
 * events on their way out; plain lines pass unchanged.
 */
import type { Behind, ReadTime, Region, SpanGroups } from '../../core/block.ts';
import type { SourceStats } from '../../core/source.ts';
import { TAIL_BYTES } from '../../core/limits.ts';
import type { Clock } from '../../core/time/clock.ts';
import { READ_CHUNK_BYTES } from './limits.ts';
import { type TextEncoding, utf8 } from '../../parsers/text/encoding.ts';
import type { LineParser } from '../../parsers/formats/line-parser.ts';
import { findBom, LONGEST_BOM_BYTES, type WindowBlock, windowBytes } from './byte-window.ts';
import type { ObjectRules } from './cut-object.ts';
import type { LineShaping } from './line-shaping.ts';
import { LineWindow } from './line-window.ts';
import type { LongLineRules } from './long-line.ts';
import { MadeEvents } from './made-events.ts';
import type { RestState } from './rests.ts';

export interface LinesOptions {
  readonly rules: LongLineRules;
  readonly shaping: LineShaping;
  readonly stats: SourceStats;
  /** Reserves kernel memory. */
  readonly reserve: (bytes: number) => Region;
  readonly clock: Pick<Clock, 'now'>;
}

/** When bytes that wait were read: up to `to`. */
export interface HeldReads {
  readonly reads: readonly ReadTime[];
  readonly to: number;
}

/** Facts about the lines after a position, besides their bytes. */
export interface GroupsState {
  readonly behind: Behind | undefined;
  readonly held: HeldReads;
  /** No event has lines on both sides of these positions. */
  readonly cuts: readonly number[];
}

/** Bytes of the region that events are made in. */
export function madeBytes(maxEventBytes: number): number {
  return READ_CHUNK_BYTES + 2 * maxEventBytes;
}

/** The block's bytes of the stream, where it is no `single`. */
export function streamBytesOf({ made, window, start, end }: WindowBlock): Buffer {
  return made?.from ?? window.bytes.subarray(start, end);
}

/** How many bytes of the stream the last `remainingBytes` of the block's window came from; all of a `single`. */
export function streamBytesIn({ single, made, ends, end }: WindowBlock, remainingBytes: number): number {
  if (single) return single.length;
  if (!made || !ends) return remainingBytes;
  const used = made.used[ends.indexOf(end - remainingBytes)] ?? 0;
  return made.from.length - used;
}

export class Lines extends LineWindow {
  readonly #shaping: LineShaping;
  readonly #parser: LineParser | undefined;
  readonly #made: MadeEvents;
  /** A block of which a part is still to be made into events, from `at` on. */
  #rest: { readonly block: WindowBlock; readonly at: number } | undefined;
  /** The last bytes before `#rest`. */
  #recent: Buffer = Buffer.alloc(0);
  readonly #clock: Pick<Clock, 'now'>;
  /** The original read time of bytes that are read again. */
  #readBefore: number | undefined;
  #readAtMs = 0;

  constructor({ rules, shaping, stats, reserve, clock }: LinesOptions) {
    const { maxEventBytes } = rules;
    const { encoding, grouping } = shaping;
    super(reserve(windowBytes(maxEventBytes)), { ...rules, ...shaping.objects, encoding, grouping: grouping?.() });
    this.#shaping = shaping;
    this.#clock = clock;
    this.#parser = shaping.parser?.(stats);
    this.#made = new MadeEvents({
      region: reserve(madeBytes(maxEventBytes)),
      parser: this.#parser,
      stats,
      isCut: shaping.objects.isCut,
    });
  }

  override get offset(): number {
    return super.offset - this.#restBytes;
  }

  /** When the bytes of the last block were read: its events depend on it. */
  get readAtMs(): number {
    return this.#readAtMs;
  }

  /** The next bytes were first read at this time; undefined: they are read now. */
  setReadAt(ms: number | undefined): void {
    this.#readBefore = ms;
  }

  override get pendingBytes(): number {
    return super.pendingBytes + this.#restBytes;
  }

  /** Those of them that are no whole line. */
  get lineBytes(): number {
    return this.pendingBytes;
  }

  /** After `reset`: facts about the lines that follow, where they are joined by keys. */
  goOn(_state: GroupsState): void {}

  /** After `reset` to the beginning of a span that is read again. */
  replay(_groups: SpanGroups, _to: number, _reads: readonly ReadTime[], _behind: Behind): void {}

  /** Whose lines wait, and up to where they were read, until `reset`. */
  kept: { readonly stream: object; readonly to: number } | undefined;

  /** The last bytes that were read, where lines are joined by keys. */
  lastRead(): Buffer {
    return Buffer.alloc(0);
  }

  /** Of the lines that wait, where they are joined by keys. */
  get heldReads(): HeldReads | undefined {
    return undefined;
  }

  /** False while a part of a block is left. */
  override get endsInOpenEvent(): boolean {
    return this.#rest === undefined && super.endsInOpenEvent;
  }

  /** How many bytes of a stream's beginning `reset` needs where it moves to the stream's middle. */
  get headBytes(): number {
    return Math.max(LONGEST_BOM_BYTES, this.#shaping.headBytes);
  }

  /** Where it moves to the stream's middle, `reset` needs the last header before that in place of the first bytes. */
  get hasLaterHeaders(): boolean {
    return this.#shaping.hasLaterHeaders;
  }

  /** Of a stream with these first bytes. */
  encodingOf(head: Buffer): TextEncoding {
    return findBom(head)?.encoding ?? this.#shaping.encoding;
  }

  /** Which texts may be JSON objects. */
  get objects(): ObjectRules {
    return this.#shaping.objects;
  }

  /** `before`: the known bytes just before `offset`; `head`: the stream's first `headBytes`. */
  override reset(offset: number, before: Buffer, head: Buffer, rest: RestState = false): void {
    this.#rest = this.kept = undefined;
    super.reset(offset, before, head, rest);
    const parser = this.#parser;
    if (offset === 0) parser?.restart?.();
    else
      parser?.learn?.(this.encoding.decode(head.subarray(Math.min(head.length, this.streamBom?.length ?? 0), offset)));
  }

  /** The header in force behind the last block, of a format where another may come. */
  get header(): string | undefined {
    return this.#parser?.header?.();
  }

  /** Goes on under this header, after `reset` or `resume`. */
  learn(header: string): void {
    this.#parser?.learn?.(header);
  }

  override recent(): Buffer {
    return this.#rest ? this.#recent : super.recent();
  }

  override giveEvent(length: number): WindowBlock {
    return this.#take(() => super.giveEvent(length))!;
  }

  override giveNuls(length: number): WindowBlock {
    this.#readAtMs = this.#readBefore ?? this.#clock.now();
    return super.giveNuls(length);
  }

  override next(): WindowBlock | undefined {
    return this.#rest ? this.#makeRest() : this.#take(() => super.next());
  }

  override flush(isFinal = true): WindowBlock | undefined {
    return this.#rest ? this.#makeRest() : this.#take(() => super.flush(isFinal));
  }

  override flushOpenEvent(): WindowBlock | undefined {
    return this.#rest ? this.#makeRest() : this.#take(() => super.flushOpenEvent());
  }

  get #restBytes(): number {
    return this.#rest ? this.#rest.block.end - this.#rest.at : 0;
  }

  #take(from: () => WindowBlock | undefined): WindowBlock | undefined {
    this.#readAtMs = this.#readBefore ?? this.#clock.now();
    if (this.#parser === undefined && this.encoding === utf8) {
      const block = from();
      // The stream's first bytes may have changed the encoding.
      if (block === undefined || this.encoding === utf8) return block;
      this.#recent = Buffer.alloc(0);
      return this.#make(block, block.start);
    }
    this.#recent = super.recent();
    const block = from();
    if (block === undefined) return undefined;
    return block.single?.marks && this.encoding === utf8 ? block : this.#make(block, block.start);
  }

  #makeRest(): WindowBlock {
    const { block, at } = this.#rest!;
    return this.#make(block, at);
  }

  #make(raw: WindowBlock, start: number): WindowBlock {
    const { encoding, streamBom, header } = this;
    const { block, next } = this.#made.make(
      raw,
      start,
      encoding,
      this.#readAtMs,
      raw.offset === 0 ? streamBom : undefined,
    );
    this.#rest = next < raw.end ? { block: raw, at: next } : undefined;
    if (this.#rest)
      this.#recent = Buffer.concat([this.#recent, raw.window.bytes.subarray(start, next)]).subarray(-TAIL_BYTES);
    return header === undefined || raw.single?.marks ? block : { ...block, header };
  }
}
