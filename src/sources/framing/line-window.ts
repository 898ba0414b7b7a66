/**
 * Bytes come in, blocks of whole events go out: owns where lines and events begin and end in the window that a source reads
 * into. Promises, whatever the sizes of the reads: the same events; an unfinished line, or one that may be followed by more
 * lines of its event, waits; a line over `maxEventBytes` is cut, split or refused with flat memory, and the next one comes;
 * offsets count every byte.
 *
 * Use: `commit(read(free()))`, then `next()` until it returns undefined, each time awaiting `accept` before the next call;
 * at the end of the input `flush()` until it returns undefined.
 */
import type { Region } from '../../core/block.ts';
import { type TextEncoding, utf8 } from '../../parsers/text/encoding.ts';
import type { Grouping } from '../../parsers/text/grouping.ts';
import { ByteWindow, type WindowBlock, windowBytes } from './byte-window.ts';
import { LineGroups } from './line-groups.ts';
import { type RestRules, Rests, type RestState } from './rests.ts';
import { LongLine, type LongLineRules, type SuspendedLine } from './long-line.ts';

export interface LineRules extends LongLineRules, RestRules {
  readonly encoding?: TextEncoding;
  /** Which lines are joined to one event; undefined where each line is one. */
  readonly grouping?: Grouping | undefined;
}

export class LineWindow {
  readonly #window: ByteWindow;
  readonly #rules: LineRules;
  /** A line of no more than this fits whatever its text takes as UTF-8. */
  readonly #safeBytes: number;
  /** The line over the limit; its `suspend` gives what `resume` needs to go on in it. */
  readonly long: LongLine;
  readonly #groups: LineGroups | undefined;
  /** The end of the whole lines that are known, where that is after the head; none of `[#linesEnd, #scanned)` is a newline. */
  #linesEnd = 0;
  #scanned = 0;
  readonly #rests: Rests;

  /** `region` has at least `windowBytes(maxEventBytes)`. */
  constructor(region: Region, rules: LineRules) {
    if (region.bytes.length < windowBytes(rules.maxEventBytes))
      throw new RangeError('the window is too small for its lines');
    this.#rules = rules;
    this.#window = new ByteWindow(region, rules.encoding ?? utf8);
    this.#safeBytes = Math.floor(rules.maxEventBytes / 6) * 2;
    this.long = new LongLine(this.#window, rules);
    this.#rests = new Rests(rules);
    this.#groups = rules.grouping && new LineGroups(this.#window, rules.grouping);
  }

  /** The stream offset of the first byte that was not handed out. */
  get offset(): number {
    return this.#window.offset;
  }

  /** Bytes of the stream that were read and not handed out: an unfinished event. */
  get pendingBytes(): number {
    const { fill, head, bom } = this.#window;
    return this.long.skippedBytes ?? fill - head + (bom?.length ?? 0);
  }

  /** True where whole lines wait for possible further lines of their event. */
  get hasOpenEvent(): boolean {
    return this.#groups?.isOpen ?? false;
  }

  /** True where only whole lines of an event that may go on are waiting. */
  get endsInOpenEvent(): boolean {
    return this.hasOpenEvent && this.#groups!.linesEnd === this.#window.fill;
  }

  /** Whether what comes behind whole lines goes on with them. */
  get rest(): RestState {
    return this.#rests.next;
  }

  /** The bytes that wait, as a view. */
  get waiting(): Buffer {
    return this.#window.bytes.subarray(this.#window.head, this.#window.fill);
  }

  /** The byte order mark before the waiting bytes that was not handed out. */
  get bom(): Buffer | undefined {
    return this.#window.bom;
  }

  /** True inside a line of which only the beginning is kept: `reset` would forget it. */
  get isSkipping(): boolean {
    return this.long.skippedBytes !== undefined;
  }

  /** True where a line over the limit comes in parts. */
  get splitsLines(): boolean {
    return this.#rules.onOversize === 'split';
  }

  /** The stream's encoding, as far as it is known. */
  get encoding(): TextEncoding {
    return this.#window.encoding;
  }

  /** The byte order mark that the stream begins with. */
  get streamBom(): Buffer | undefined {
    return this.#window.streamBom;
  }

  /**
   * Moves to another position and drops all waiting bytes. `before`: the known bytes just before `offset`; `first`: the
   * first three bytes of the stream, if it has them. `rest`: whether what comes is the rest of a text that may be a JSON object.
   */
  reset(offset: number, before: Buffer, first: Buffer, rest: RestState = false): void {
    this.#rests.next = rest;
    this.#window.reset(offset, before, first);
    this.long.reset();
    this.#groups?.restart();
    this.#linesEnd = this.#scanned = 0;
  }

  /** A copy of the last bytes (up to TAIL_BYTES) that were handed out or passed over. */
  recent(): Buffer {
    return Buffer.from(this.#window.recent);
  }

  /**
   * Goes back into a line over the limit at `offset`; the next byte to commit is the one at `offset + line.length`. The
   * block that ends a skipped one has room for its `kept` bytes from its `start` on, which the caller must put there; where
   * they are to be decoded, the caller must put them into the result at once.
   */
  resume(offset: number, line: SuspendedLine, first: Buffer): Buffer | undefined {
    this.reset(offset, line.recent, first);
    this.#window.settleEncoding();
    this.long.resume(line);
    const { bytes, head } = this.#window;
    return line.kind === 'skipped' && this.encoding !== utf8 ? bytes.subarray(head, head + line.kept) : undefined;
  }

  /** Hands out nothing for the next `length` bytes, which are NULs, where no byte waits; `reset` must follow. */
  giveNuls(length: number): WindowBlock {
    if (this.pendingBytes > 0) throw new Error('NULs are passed over in the middle of a line');
    this.#window.giveBack();
    return this.#window.giveNuls(length);
  }

  /** Where to read into next: 1 to READ_CHUNK_BYTES bytes. Ends the life of the blocks handed out. */
  free(): Buffer {
    this.#window.giveBack();
    const shift = this.#window.compact();
    this.#linesEnd -= shift;
    this.#scanned -= shift;
    this.long.shift(shift);
    this.#groups?.shift(shift);
    return this.#window.room();
  }

  /** Says that `count` bytes were read into `free()`. */
  commit(count: number): void {
    this.#window.fill += count;
  }

  /** The next block, or undefined when more bytes are needed. Its bytes stay until the next call of `next`, `free` or `flush`. */
  next(): WindowBlock | undefined {
    return this.#noted(this.#next());
  }

  #next(): WindowBlock | undefined {
    const window = this.#window;
    window.giveBack();
    if (this.long.isUnderWay) return this.#goOn(this.long.next(false));
    if (!window.passBom(false)) return undefined;
    const isTooLong = this.#findWholeLines();
    const block = this.#groups ? this.#nextGroups(this.#groups, isTooLong) : this.#nextLines();
    return block ?? (isTooLong ? this.#goOn(this.long.begin(false, this.#rests.isNext)) : undefined);
  }

  /** At the end of the input, after `next` returned undefined: the rest, block by block; if it goes on, without a character that is not whole. */
  flush(isFinal = true): WindowBlock | undefined {
    return this.#noted(this.#flush(isFinal));
  }

  #flush(isFinal: boolean): WindowBlock | undefined {
    const window = this.#window;
    window.giveBack();
    if (!isFinal) {
      if (!this.long.isUnderWay && !window.passBom(false)) return undefined;
      window.fill -= this.encoding.unfinishedBytes(window.bytes, this.long.nextAt, window.fill);
    }
    if (this.long.isUnderWay) return this.#goOn(this.long.next(true));
    if (window.head === window.fill && window.bom === undefined) return undefined;
    window.passBom(true);
    if (this.#groups?.isOpen) return this.#giveGroup(this.#groups, this.#groups.endAtEnd());
    if (!this.#fits(window.head, window.fill)) return this.#goOn(this.long.begin(true, this.#rests.isNext));
    return window.give(window.fill, { isUnfinished: true });
  }

  /** Hands out the whole lines that wait for more of their event; undefined where none do. */
  flushOpenEvent(): WindowBlock | undefined {
    this.#window.giveBack();
    return this.#noted(this.#groups?.isOpen ? this.#giveGroup(this.#groups, this.#groups.linesEnd) : undefined);
  }

  /**
   * How many of the bytes that wait are the first event of joined lines; undefined while it may go on. `isEnd`: it does not go
   * on behind the whole lines that are here.
   */
  measureEvent(isEnd: boolean): number | undefined {
    const groups = this.#groups;
    if (!groups || !this.#window.passBom(false)) return undefined;
    const { head } = this.#window;
    const isTooLong = this.#findWholeLines();
    const [first] = groups.scan(Math.max(head, this.#linesEnd), isTooLong);
    if (first !== undefined) return first - head;
    return isEnd ? groups.linesEnd - head : undefined;
  }

  /** Hands out the first `length` bytes that wait, lines of one event, alone. */
  giveEvent(length: number): WindowBlock {
    return this.#rests.note(this.#giveGroup(this.#groups!, this.#window.head + length), this.encoding);
  }

  #nextLines(): WindowBlock | undefined {
    const window = this.#window;
    if (this.#linesEnd <= window.head) return undefined;
    // A byte order mark is not part of the first line's text, which is then given alone.
    return window.give(
      window.bom ? this.encoding.firstLineEnd(window.bytes, window.head, this.#linesEnd) : this.#linesEnd,
    );
  }

  #nextGroups(groups: LineGroups, isTooLong: boolean): WindowBlock | undefined {
    const window = this.#window;
    const ends = groups.scan(Math.max(window.head, this.#linesEnd), isTooLong);
    const [first] = ends;
    if (first === undefined) return undefined;
    if (window.bom || !this.#fits(window.head, first)) return this.#giveGroup(groups, first);
    const misfit = ends.findIndex((end, n) => !this.#fits(ends[n - 1] ?? window.head, end));
    const given = misfit === -1 ? ends : ends.slice(0, misfit);
    const block = window.give(given.at(-1)!, { ends: Uint32Array.from(given) });
    if (misfit !== -1) groups.restart();
    return block;
  }

  /** Hands out `[head, end)`, lines of one event, alone. */
  #giveGroup(groups: LineGroups, end: number): WindowBlock {
    const window = this.#window;
    const isUnfinished = end > groups.linesEnd;
    const block = this.#fits(window.head, end)
      ? window.give(end, { ends: Uint32Array.of(end), isUnfinished })
      : this.long.giveJoined(end);
    groups.restart();
    return block;
  }

  #noted(block: WindowBlock | undefined): WindowBlock | undefined {
    return block && this.#rests.note(block, this.encoding);
  }

  /** Nothing is known of what follows a line over the limit; it is the first line of an event. */
  #goOn(block: WindowBlock | undefined): WindowBlock | undefined {
    if (!this.long.isUnderWay) {
      this.#linesEnd = this.#scanned = this.#window.head;
      this.#groups?.restart();
    }
    return block;
  }

  /**
   * Finds the end of the last whole line before any that is over the limit; true where there is one. Looks at the newlines
   * that are `#safeBytes` apart, not at each one: what lies between two of them cannot hold a longer line. Lines that are
   * longer are looked at one by one.
   */
  #findWholeLines(): boolean {
    const { firstLineEnd, lastLineEnd, unitBytes } = this.encoding;
    const { bytes, head } = this.#window;
    const fill = head + this.#window.waitingUnits;
    for (let line = Math.max(head, this.#linesEnd); ;) {
      this.#linesEnd = line;
      const near = Math.min(fill, line + this.#safeBytes);
      const from = Math.max(line, this.#scanned);
      const found = from < near ? lastLineEnd(bytes, from, near) : -1;
      if (found !== -1) {
        line = found;
        continue;
      }
      // Its text, a CR and a newline.
      const limit = Math.min(fill, line + this.#rules.maxEventBytes + 2 * unitBytes);
      const end = firstLineEnd(bytes, Math.max(from, near), limit);
      if (end === -1) {
        this.#scanned = limit;
        return limit - line >= this.#rules.maxEventBytes + 2 * unitBytes;
      }
      if (!this.#fits(line, end)) return true;
      line = end;
    }
  }

  /** True when the text of the bytes `[from, to)`, their line ending left out, is not over the limit. */
  #fits(from: number, to: number): boolean {
    if (to - from <= this.#safeBytes) return true;
    const { bytes } = this.#window;
    const text = bytes.subarray(from, to - this.encoding.endingBytes(bytes, to));
    return text.length <= this.#rules.maxEventBytes && this.encoding.textBytes(text) <= this.#rules.maxEventBytes;
  }
}
