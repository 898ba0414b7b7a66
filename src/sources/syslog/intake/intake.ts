/**
 * Received bytes to events in the collector's window: the kernel reads the messages (kernel/syslog.ts), and what it leaves to
 * JavaScript is read here, one by one and counted. Promises: each message becomes an event, in the order they came.
 */
import type { Region } from '../../../core/block.ts';
import type { Clock } from '../../../core/time/clock.ts';
import { SYSLOG_SINGLE_BYTES } from '../limits.ts';
import type { SourceStats } from '../../../core/source.ts';
import type { Kernel } from '../../../kernel/kernel.ts';
import { createMessageTable, type MessageTable, tableBytes } from '../../../kernel/message-table.ts';
import type { SyslogLoops, SyslogResult } from '../../../kernel/syslog.ts';
import type { Collector, StreamPosition } from './collector.ts';
import { cutFrame, splitFrame } from '../message/frame.ts';
import type { MessageFrame } from '../message/frame.ts';
import type { ParseBody } from '../message/bodies.ts';
import type { ParseJson } from '../message/message-json.ts';
import { encodeEvent } from '../message/parse.ts';
import { createHeaderReader, HEADS, type HeaderReader } from '../message/header.ts';
import { readLocalTime } from '../message/sent-time.ts';
import { endingOf } from '../message/sender.ts';
import { hasObjectLine } from '../../../core/bytes/object-text.ts';
import type { Zone } from '../../../core/time/zone.ts';

export interface IntakeOptions {
  readonly kernel: Kernel;
  readonly collector: Collector;
  readonly maxEventBytes: number;
  readonly onOversize: 'truncate' | 'split' | 'dead_letter';
  readonly zone: Zone;
  readonly parseJson: ParseJson;
  readonly parse?: ParseBody;
  /** Names of the fields that the agent gives events. */
  readonly fieldNames?: ReadonlySet<string>;
  /** Reads messages that are no UTF-8; absent: invalid bytes become U+FFFD. */
  readonly decode?: ((bytes: Buffer) => string) | undefined;
  readonly clock: Clock;
  readonly stats: SourceStats;
  /** Reserves kernel memory. */
  readonly reserve: (bytes: number) => Region;
}

/** Whether the last message of a stream was counted; kept up to date. */
export interface Framing {
  isCounting: boolean;
}

export class MessageIntake {
  readonly #options: IntakeOptions;
  readonly #loops: SyslogLoops;
  /** Where a single message is put for the kernel, and its table. */
  readonly #single: Region;
  readonly #table: MessageTable;
  readonly #readHeader: HeaderReader;

  constructor(options: IntakeOptions) {
    const { kernel, collector, maxEventBytes, parseJson, parse = 'none', decode, reserve, zone, clock } = options;
    this.#options = options;
    this.#loops = kernel.syslog(
      Math.min(maxEventBytes, collector.longestMessage),
      parse !== 'none' ? 'every' : parseJson === 'fields' ? 'all' : parseJson,
      decode !== undefined,
      HEADS,
    );
    this.#single = reserve(SYSLOG_SINGLE_BYTES);
    this.#table = createMessageTable(reserve(tableBytes(2)));
    this.#readHeader = createHeaderReader(this.#loops, this.#single, zone, clock);
  }

  /** True when the collector takes nothing now: then nothing below may be called. */
  get isFull(): boolean {
    return this.#options.collector.isFull;
  }

  /**
   * Takes a stream's whole messages in `input.bytes[start, end)`. Returns where it stopped: before the one that is not whole
   * or, once `isFull`, before the next one.
   */
  takeStream(
    cursor: StreamPosition,
    suffix: Buffer,
    framing: Framing,
    input: Region,
    start: number,
    end: number,
  ): number {
    const { collector, clock } = this.#options;
    this.#loops.receive(clock.now());
    let at = start;
    while (!collector.isFull) {
      const { from, to } = collector.space;
      const result = this.#loops.stream(suffix, framing, input, at, end, collector.window, from, to);
      at = result.at;
      if (this.#note(cursor, result)) break;
    }
    return at;
  }

  /** The same for the messages of a table from entry `start` on. */
  takeTable(cursor: StreamPosition, table: MessageTable, start: number): number {
    const { collector, clock } = this.#options;
    this.#loops.receive(clock.now());
    let at = start;
    while (!collector.isFull) {
      const { from, to } = collector.space;
      const result = this.#loops.table(table, at, collector.window, from, to);
      at = result.at;
      if (this.#note(cursor, result)) break;
    }
    return at;
  }

  /** Takes one message: a datagram as it came, or one that was framed elsewhere, and perhaps cut. */
  takeFrame(cursor: StreamPosition, suffix: Buffer, frame: MessageFrame, isDatagram = false): void {
    const { collector, clock } = this.#options;
    if (!this.#putSingle(suffix, frame, isDatagram)) return this.#takeSlow(cursor, suffix, frame);
    this.#loops.receive(clock.now());
    for (let at = 0; at < 2;) {
      const result = this.#loops.table(this.#table, at, collector.window, collector.space.from, collector.hardLimit);
      if (result.stop === 'output') return this.#takeSlow(cursor, suffix, frame);
      at = result.at;
      this.#note(cursor, result);
    }
  }

  /** Counts the results of a call; true when its input is used up. */
  #note(cursor: StreamPosition, { written, events, stop }: SyslogResult): boolean {
    const { collector, clock, zone } = this.#options;
    if (events > 0) collector.wrote(cursor, written, events);
    if (stop === 'input') return true;
    if (stop === 'output') collector.close();
    else if (stop === 'time') this.#loops.learnTime(readLocalTime(this.#loops.unknownTime(), clock.now(), zone));
    else this.#takeWhole(cursor, this.#loops.suffix(), this.#loops.message());
    return false;
  }

  #takeWhole(cursor: StreamPosition, suffix: Buffer, message: Buffer): void {
    const { maxEventBytes, onOversize } = this.#options;
    if (onOversize !== 'split') return this.#takeSlow(cursor, suffix, cutFrame(message, maxEventBytes));
    for (const frame of splitFrame(message, maxEventBytes)) this.#takeSlow(cursor, suffix, frame);
  }

  #takeSlow(cursor: StreamPosition, suffix: Buffer, frame: MessageFrame): void {
    const { collector, maxEventBytes, onOversize, clock, zone, parseJson, parse, fieldNames, decode, stats } =
      this.#options;
    const own = { receivedAtMs: clock.now(), ending: endingOf(suffix), readHeader: this.#readHeader };
    const receipt = { ...own, zone, parseJson, ...(parse && { parse }), ...(fieldNames && { fieldNames }), decode };
    const event = encodeEvent(frame, receipt, maxEventBytes, collector.longestEvent);
    stats.slowPathEvents += 1;
    if (event.hasTimeError && (frame.part?.number ?? 1) === 1) stats.timeErrors = (stats.timeErrors ?? 0) + 1;
    if (event.isTruncated) stats.truncatedEvents += 1;
    if (frame.part?.isLast ?? (event.isTruncated && !event.isCutOff))
      stats.oversizeLines = (stats.oversizeLines ?? 0) + 1;
    const isRefused = onOversize === 'dead_letter' && event.isTruncated && !event.isCutOff;
    const { message } = frame.part?.message.head ?? {};
    const isPartOfObject = parseJson !== 'none' && typeof message === 'string' && hasObjectLine(message, 'cookie');
    // The fields of a cut message are in its text.
    const isUnread =
      isPartOfObject || frame.isRest === true || frame.isOutOfStep === true || (event.isUnparsed && isCut(frame));
    collector.append(cursor, event.json, isRefused ? refusalOf(frame, maxEventBytes) : undefined, isUnread);
  }

  /** Puts a message before the kernel; false when it is cut already, too long or none. */
  #putSingle(
    suffix: Buffer,
    { bytes, originalBytes, part, isOutOfStep, isRest }: MessageFrame,
    isDatagram: boolean,
  ): boolean {
    const { at, bytes: single } = this.#single;
    if (
      originalBytes !== undefined ||
      part !== undefined ||
      isOutOfStep ||
      isRest ||
      bytes.length + suffix.length > single.length
    )
      return false;
    bytes.copy(single, suffix.copy(single));
    this.#table.clear();
    this.#table.addSuffix(at, suffix.length);
    if (isDatagram) this.#table.addDatagram(at + suffix.length, bytes.length);
    else this.#table.addFramed(at + suffix.length, bytes.length);
    return true;
  }
}

const isCut = ({ originalBytes, part }: MessageFrame): boolean => originalBytes !== undefined || part !== undefined;

function refusalOf({ bytes, originalBytes }: MessageFrame, maxEventBytes: number): string {
  const length = originalBytes ?? bytes.length;
  const excess =
    length > maxEventBytes
      ? `, more than max_event_bytes (${maxEventBytes})`
      : ', which take more than max_event_bytes as UTF-8';
  return `the message has ${length} bytes${excess}; its beginning is kept`;
}
