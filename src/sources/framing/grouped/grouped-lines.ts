/**
 * Lines of a source with `group`: each line is parsed as it comes, and lines that carry the same key are handed out as one event once that is over.
 * The bytes from the first line that waits are kept, at most MAX_GROUP_BYTES and a read. A line over the limit ends all groups.
 */
import type { Behind, BlockGroups, ReadTime, SpanGroups } from '../../../core/block.ts';
import { TAIL_BYTES } from '../../../core/limits.ts';
import type { SourceStats } from '../../../core/source.ts';
import { contentSum } from '../../../kernel/content-sum.ts';
import { utf8 } from '../../../parsers/text/encoding.ts';
import type { LineParser } from '../../../parsers/formats/line-parser.ts';
import type { WindowBlock } from '../byte-window.ts';
import type { GroupRule } from '../group-rule.ts';
import { type OpenGroup, GroupTable } from './group-table.ts';
import { joinLines, type ParsedLine, parseLine } from './joined-event.ts';
import { WaitingBytes } from './waiting-bytes.ts';
import { MAX_GROUP_READS, MAX_GROUPS } from '../limits.ts';
import { type GroupsState, type HeldReads, Lines, type LinesOptions, madeBytes, streamBytesOf } from '../lines.ts';
import { decodeCounted, type JoinedEvent, MadeEvents } from '../made-events.ts';
import type { RestState } from '../rests.ts';

/** The lines of a source, as its configuration joins them. */
export function createLines(options: LinesOptions): Lines {
  const { group } = options.shaping;
  return group ? new GroupedLines(options, group) : new Lines(options);
}

export class GroupedLines extends Lines {
  readonly #rule: GroupRule;
  readonly #stats: SourceStats;
  readonly #parser: LineParser;
  readonly #table: GroupTable<ParsedLine>;
  readonly #events: MadeEvents;
  readonly #held = new WaitingBytes();
  /** A line over the limit, which comes behind the groups that it ended. */
  #long: WindowBlock | undefined;
  /** The last bytes before `offset`. */
  #before: Buffer = Buffer.alloc(0);
  #reads: ReadTime[] = [];
  /** Bytes before it were read earlier. */
  #readTo = 0;
  #blockReadAtMs = 0;
  /** Of a span that is read again. */
  #replayed: SpanGroups | undefined;
  /** The end of the span: bytes after it are not handed out. */
  #replayTo = Infinity;
  /** The last read ended inside a line. */
  #endsInLine = false;

  constructor(options: LinesOptions, rule: GroupRule) {
    const { rules, shaping, stats, reserve } = options;
    super({ ...options, shaping: { ...shaping, parser: undefined } });
    this.#rule = rule;
    this.#stats = stats;
    this.#parser = shaping.parser!(stats);
    this.#table = new GroupTable({ ...rule, maxEventBytes: rules.maxEventBytes });
    const region = reserve(madeBytes(rules.maxEventBytes));
    this.#events = new MadeEvents({ region, parser: undefined, stats, isCut: shaping.objects.isCut });
  }

  override get offset(): number {
    return this.#held.from;
  }

  override get readAtMs(): number {
    return this.#blockReadAtMs;
  }

  override get pendingBytes(): number {
    return this.lineBytes + this.#held.length + (this.#long?.single?.length ?? 0);
  }

  override get lineBytes(): number {
    return super.pendingBytes;
  }

  override get hasOpenEvent(): boolean {
    return this.#table.isOpen;
  }

  /** No event goes on in another file. */
  override get endsInOpenEvent(): boolean {
    return false;
  }

  override recent(): Buffer {
    return this.#before;
  }

  override reset(offset: number, before: Buffer, head: Buffer, rest: RestState = false): void {
    super.reset(offset, before, head, rest);
    this.#held.restart(offset);
    this.#table.reset();
    this.#long = this.#replayed = undefined;
    this.#replayTo = Infinity;
    this.#before = Buffer.from(before.subarray(-TAIL_BYTES));
    this.#reads = [];
    this.#readTo = offset;
    this.#endsInLine = false;
  }

  override goOn({ behind, held, cuts }: GroupsState): void {
    this.#table.reset(behind, cuts);
    this.#reads = [...held.reads];
    this.#readTo = held.to;
  }

  /** After `reset` to a span's beginning: its bytes follow, and those up to where its last event was closed. `behind`: of its end, as it is now. */
  override replay(groups: SpanGroups, to: number, reads: readonly ReadTime[], behind: Behind): void {
    this.#table.replay({ before: groups.before, untils: groups.untils, to });
    this.#reads = [...reads];
    this.#replayed = { ...groups, after: behind };
    this.#replayTo = to;
  }

  override get heldReads(): HeldReads {
    const { from, to } = this.#held;
    const first = this.#reads.findLastIndex((read) => read.from <= from);
    return { reads: this.#reads.slice(Math.max(0, first)), to: Math.max(to, this.#readTo) };
  }

  override lastRead(): Buffer {
    const held = this.#held.view(this.#held.from, this.#held.to);
    return Buffer.concat([this.#before, held.subarray(-TAIL_BYTES), this.waiting.subarray(-TAIL_BYTES)]).subarray(
      -TAIL_BYTES,
    );
  }

  override giveNuls(length: number): WindowBlock {
    const block = super.giveNuls(length);
    this.#blockReadAtMs = super.readAtMs;
    this.#before = super.recent();
    this.#held.restart(block.offset + length);
    return block;
  }

  override next(): WindowBlock | undefined {
    for (;;) {
      const given = this.#give();
      if (given) return given;
      const block = super.next();
      if (block) this.#add(block);
      // The reader must know the place of a line over the limit that is being read.
      else if (this.#table.isOpen && this.long.suspend() !== undefined) this.#table.closeAll(this.#held.to);
      else return this.#giveBlank();
    }
  }

  override flush(isFinal = true): WindowBlock | undefined {
    for (;;) {
      const given = this.#give();
      if (given) return given;
      const block = super.flush(isFinal);
      if (block) this.#add(block);
      else if (this.#table.isOpen) this.#table.closeAll(this.#held.to);
      else return this.#giveBlank();
    }
  }

  /** Closes all groups. */
  override flushOpenEvent(): WindowBlock | undefined {
    if (this.#table.closed.length === 0) this.#table.closeAll(this.#held.to);
    return this.#give();
  }

  #add(block: WindowBlock): void {
    const { window, single, made, start } = block;
    if (single?.marks) {
      this.#table.closeAll(block.offset);
      this.#long = block;
      return;
    }
    const bom = single && !made && block.offset === 0 ? (this.streamBom ?? NONE) : NONE;
    const own =
      single && !made ? window.bytes.subarray(start, start + single.length - bom.length) : streamBytesOf(block);
    this.#held.append(bom);
    this.#held.append(own);
    const { to } = this.#held;
    this.#endsInLine = this.encoding.endingBytes(own, own.length) === 0;
    const readNowMs = super.readAtMs;
    this.#noteRead(to, readNowMs);
    for (let at = start, place = block.offset, n = 0; at < block.end; n += 1) {
      const end = made ? block.ends![n]! : single ? block.end : utf8.firstLineEnd(window.bytes, at, block.end);
      const next = made ? block.offset + made.used[n]! : single ? to : place + end - at;
      const textEnd = end - utf8.endingBytes(window.bytes, end);
      const text = made
        ? window.bytes.toString('utf8', at, textEnd)
        : decodeCounted(window.bytes.subarray(at, textEnd), utf8, this.#stats);
      const isUnread = block.unread?.includes(at) === true;
      const line = { at: place, end: next, key: this.#rule.keyOf(text), text, readAtMs: this.#readAt(place) };
      if (text !== '')
        this.#table.add(line, (readAtMs) => parseLine(this.#parser, this.#rule, text, readAtMs, isUnread));
      at = end;
      place = next;
    }
  }

  /** The bytes before `to` are here; those that were read before keep their time. */
  #noteRead(to: number, atMs: number): void {
    if (this.#replayed || to <= this.#readTo) return;
    const last = this.#reads.at(-1);
    if (!last || this.#held.from === this.#readTo || atMs - last.atMs > this.#rule.withinMs / MAX_GROUP_READS)
      this.#reads.push({ from: this.#readTo, atMs });
    this.#readTo = to;
    if (this.#reads.length > 2 * MAX_GROUP_READS) this.#reads = this.heldReads.reads.slice(-MAX_GROUP_READS);
  }

  #readAt(position: number): number {
    return (this.#reads.findLast(({ from }) => from <= position) ?? this.#reads[0])?.atMs ?? super.readAtMs;
  }

  /** The next closed groups of one read time, as far as they fit, or the line over the limit behind them. */
  #give(): WindowBlock | undefined {
    const { closed } = this.#table;
    const [first] = closed;
    if (first) {
      const next = closed.slice(0, MAX_GROUPS);
      const other = next.findIndex(({ readAtMs }) => readAtMs !== first.readAtMs);
      const alike = other === -1 ? next : next.slice(0, other);
      return this.#make(
        alike.map((group, n) => this.#joined(group, closed[n + 1]?.begin ?? this.#table.begin ?? this.#end)),
      );
    }
    const long = this.#long;
    if (!long) return undefined;
    if (this.#held.length > 0) return this.#giveBlank();
    this.#long = undefined;
    this.#blockReadAtMs = super.readAtMs;
    this.#before = super.recent();
    this.#held.restart(long.offset + long.single!.length);
    return long;
  }

  /** Bytes that are no event's: empty lines, and lines of events that were sent before. */
  #giveBlank(): WindowBlock | undefined {
    if (this.#held.from >= this.#end || this.#table.isOpen) return undefined;
    return this.#make([]);
  }

  /** Of the bytes that are to be handed out. */
  get #end(): number {
    return Math.min(this.#held.to, this.#replayTo);
  }

  #joined({ records }: OpenGroup<ParsedLine>, end: number): JoinedEvent {
    return {
      ...joinLines(records),
      isUnfinished: this.#endsInLine && end === this.#held.to,
      used: end - this.#held.from,
    };
  }

  #make(joined: readonly JoinedEvent[]): WindowBlock {
    const offset = this.#held.from;
    const groups = this.#table.closed;
    this.#blockReadAtMs = groups[0]?.readAtMs ?? this.#readAt(offset);
    const { used, ...block } = this.#events.makeJoined(joined, offset, this.#blockReadAtMs, this.#end - offset);
    this.#table.pass(offset);
    const before = this.#table.earlierAt(offset);
    const given = groups.splice(0, Math.min(used.length, joined.length));
    const from = this.#held.takeTo(offset + used.at(-1)!);
    this.#before = Buffer.concat([this.#before, from.subarray(-TAIL_BYTES)]).subarray(-TAIL_BYTES);
    const endsInLine = this.#endsInLine && this.#held.length === 0;
    const afterAt = (n: number): Behind => this.#behindAt(offset + used[n]!, given[n]?.closedAt ?? this.#table.gate);
    return { ...block, made: { from, used }, groups: this.#groupsOf(before, given, afterAt, endsInLine) };
  }

  #groupsOf(
    before: BlockGroups['before'],
    given: readonly OpenGroup<ParsedLine>[],
    afterAt: (n: number) => Behind,
    endsInLine: boolean,
  ): BlockGroups {
    const known = new Map<number, Behind>();
    return {
      before,
      untils: given.length > 0 ? given.map(({ until }) => until) : [-1],
      endsInLine,
      after(n) {
        const after = known.get(n) ?? afterAt(n);
        known.set(n, after);
        return after;
      },
    };
  }

  #behindAt(position: number, closedAt: number): Behind {
    if (this.#replayed) return this.#replayed.after;
    const gate = Math.max(position, Math.min(closedAt, this.#held.to));
    return {
      gate,
      sum: contentSum(this.#held.view(position, gate), position),
      earlier: this.#table.earlierAt(position),
    };
  }
}

const NONE = Buffer.alloc(0);
