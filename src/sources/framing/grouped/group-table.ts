/**
 * Which lines of interleaved events belong together: lines that carry the same key are one event. Only the oldest event is ever closed, so
 * that events come in the order of their first lines and each owns the bytes up to the next one's first byte. Rereading gives the same
 * events: it closes each where it took no more lines before (core/block), whatever closed it then.
 */
import { hash } from 'node:crypto';
import type { Behind, EarlierGroup } from '../../../core/block.ts';
import { MAX_JOINED_LINES } from '../limits.ts';

export interface GroupedLine {
  /** Where it begins and ends in the stream. */
  readonly at: number;
  readonly end: number;
  /** Undefined for a line that is an event of its own. */
  readonly key: string | undefined;
  readonly text: string;
  readonly readAtMs: number;
}

/** A line as an event has it. */
export interface GroupRecord {
  readonly text: string;
  /** Its own time, Unix milliseconds; undefined where it tells none. */
  readonly timeMs: number | undefined;
}

export interface OpenGroup<R> {
  readonly begin: number;
  readonly key: string | undefined;
  /** When its first line was read. */
  readonly readAtMs: number;
  readonly records: R[];
  /** Characters of its lines, with their newlines. */
  length: number;
  /** Where its last line begins. */
  lastAt: number;
  /** Where it takes no more lines; Infinity while nobody knows. */
  until: number;
  closedAt: number;
}

export interface GroupLimits {
  readonly withinMs: number;
  readonly maxGroups: number;
  /** From the first byte of the oldest group to the end of the line that is read. */
  readonly maxBytes: number;
  readonly maxEventBytes: number;
}

/** The events of a span that is read again: where each takes no more lines, and where the span ends. */
export interface GroupReplay {
  readonly before: readonly EarlierGroup[];
  readonly untils: readonly number[];
  readonly to: number;
}

export function hashOfKey(key: string): string {
  return hash('sha1', key).slice(0, 16);
}

export class GroupTable<R extends GroupRecord> {
  readonly #limits: GroupLimits;
  /** In the order of their first lines. */
  readonly #waiting: OpenGroup<R>[] = [];
  readonly #byKey = new Map<string, OpenGroup<R>>();
  readonly #closed: OpenGroup<R>[] = [];
  /** Closed groups that may have lines behind the next position. */
  #past: OpenGroup<R>[] = [];
  #earlier = new Map<string, number>();
  #gate = 0;
  #cuts: number[] = [];
  #replay: GroupReplay | undefined;
  #begun = 0;

  constructor(limits: GroupLimits) {
    this.#limits = limits;
  }

  /** Forgets all lines. `behind`: facts about the lines that follow; `cuts`: no event has lines on both sides of these positions. */
  reset(behind?: Behind, cuts: readonly number[] = []): void {
    this.#waiting.length = this.#closed.length = this.#begun = 0;
    this.#byKey.clear();
    this.#past = [];
    this.#earlier = new Map(behind?.earlier);
    this.#gate = behind?.gate ?? 0;
    this.#cuts = [...cuts];
    this.#replay = undefined;
  }

  /** The lines that follow are those of this span, up to where its last event was closed. */
  replay(span: GroupReplay): void {
    this.reset({ gate: 0, sum: 0, earlier: span.before });
    this.#replay = span;
  }

  get isOpen(): boolean {
    return this.#waiting.length > 0;
  }

  /** Groups that wait. */
  get count(): number {
    return this.#waiting.length;
  }

  /** Where the oldest group that waits begins. */
  get begin(): number | undefined {
    return this.#waiting[0]?.begin;
  }

  /** Closed groups, in order, which the caller takes out. */
  get closed(): OpenGroup<R>[] {
    return this.#closed;
  }

  /** Nothing behind the position is closed before this. */
  get gate(): number {
    return this.#gate;
  }

  /** `read` makes the record of the line by when its group was read first. */
  add(line: GroupedLine, read: (readAtMs: number) => R): void {
    while (this.#cuts[0] !== undefined && this.#cuts[0] <= line.at) this.closeAll(this.#cuts.shift()!);
    const firstReadAtMs = this.#open(line)?.readAtMs ?? line.readAtMs;
    const record = read(firstReadAtMs);
    if (line.at >= this.#gate) this.#closeWhile((oldest) => this.#isOver(oldest, line, record), line.at);
    const group = this.#groupOf(line);
    if (!group) return;
    group.records.push(group.readAtMs === firstReadAtMs ? record : read(group.readAtMs));
    group.length += line.text.length + 1;
    group.lastAt = line.at;
    if (line.end >= this.#gate) this.#closeWhile((oldest) => oldest.until <= line.end, line.end);
  }

  /** Closes every group: nothing that follows belongs to one. */
  closeAll(at: number): void {
    this.#closeWhile(() => true, at);
  }

  /** Of the events that begin before the position, those that have lines behind it. */
  earlierAt(position: number): EarlierGroup[] {
    const restored = [...this.#earlier].filter(([, until]) => until > position);
    const own = this.#past.filter(({ begin, lastAt }) => begin < position && lastAt >= position);
    return [...restored, ...own.map(({ key, until }): EarlierGroup => [hashOfKey(key!), until])];
  }

  /** Nobody asks about positions before this one any more. */
  pass(position: number): void {
    this.#past = this.#past.filter(({ lastAt }) => lastAt >= position);
  }

  /** The group that takes the line at this moment. */
  #open({ key, at }: GroupedLine): OpenGroup<R> | undefined {
    const group = key === undefined ? undefined : this.#byKey.get(key);
    return group && at < group.until ? group : undefined;
  }

  #isOver(oldest: OpenGroup<R>, line: GroupedLine, { timeMs }: GroupRecord): boolean {
    if (oldest.until <= line.at) return true;
    if (this.#replay) return false;
    if (line.end - oldest.begin > this.#limits.maxBytes) return true;
    if (this.#waiting.length >= this.#limits.maxGroups && !this.#open(line)) return true;
    const first = oldest.records[0]!.timeMs;
    const elapsedMs = timeMs === undefined || first === undefined ? line.readAtMs - oldest.readAtMs : timeMs - first;
    return elapsedMs > this.#limits.withinMs;
  }

  /** Undefined for a line of an earlier event, and for one behind a span that is read again. */
  #groupOf(line: GroupedLine): OpenGroup<R> | undefined {
    const { at, end, key, text, readAtMs } = line;
    const open = this.#open(line);
    if (open && (this.#replay || this.#fits(open, text))) return open;
    if (open) open.until = at;
    else if (key !== undefined && this.#earlier.size > 0 && at < (this.#earlier.get(hashOfKey(key)) ?? 0))
      return undefined;
    else if (this.#replay && at >= this.#replay.to) return undefined;
    const until = this.#replay?.untils[this.#begun] ?? (key === undefined ? end : Infinity);
    this.#begun += 1;
    const group = { begin: at, key, readAtMs, records: [], length: 0, lastAt: at, until, closedAt: Infinity };
    this.#waiting.push(group);
    if (key !== undefined) this.#byKey.set(key, group);
    return group;
  }

  #fits({ records, length }: OpenGroup<R>, text: string): boolean {
    return records.length < MAX_JOINED_LINES && length + text.length <= this.#limits.maxEventBytes;
  }

  #closeWhile(isOver: (oldest: OpenGroup<R>) => boolean, at: number): void {
    for (let oldest = this.#waiting[0]; oldest && isOver(oldest); oldest = this.#waiting[0]) {
      this.#waiting.shift();
      const { key } = oldest;
      if (key !== undefined && this.#byKey.get(key) === oldest) this.#byKey.delete(key);
      oldest.until = Math.min(oldest.until, at);
      oldest.closedAt = at;
      this.#gate = Math.max(this.#gate, at);
      this.#closed.push(oldest);
      if (key !== undefined) this.#past.push(oldest);
    }
  }
}
