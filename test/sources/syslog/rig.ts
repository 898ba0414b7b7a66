/** The way from bytes to events without sockets, and the same in plain JavaScript, which is its oracle. */
import type { Region } from '../../../src/core/block.ts';
import { type Clock, systemClock } from '../../../src/core/time/clock.ts';
import { newStats } from '../../../src/core/source.ts';
import type { SourceStats } from '../../../src/core/source.ts';
import { createKernel } from '../../../src/kernel/kernel.ts';
import { createMessageTable, type MessageTable, tableBytes } from '../../../src/kernel/message-table.ts';
import { Collector, collectorBytes } from '../../../src/sources/syslog/intake/collector.ts';
import type { StreamPosition } from '../../../src/sources/syslog/intake/collector.ts';
import { cutFrame } from '../../../src/sources/syslog/message/frame.ts';
import { Framer } from '../../../src/sources/syslog/receive/framing.ts';
import type { MessageFrame } from '../../../src/sources/syslog/message/frame.ts';
import { MessageIntake } from '../../../src/sources/syslog/intake/intake.ts';
import type { ParseBody } from '../../../src/sources/syslog/message/bodies.ts';
import type { ParseJson } from '../../../src/sources/syslog/message/message-json.ts';
import { MessageStream } from '../../../src/sources/syslog/receive/message-stream.ts';
import { encodeEvent } from '../../../src/sources/syslog/message/parse.ts';
import { suffixOf } from '../../../src/sources/syslog/message/sender.ts';
import { createZone } from '../../../src/core/time/zone.ts';
import { LaneDouble } from '../lane-double.ts';
import { ORIGIN, RECEIVED_AT, TIMEZONE } from './receipt.ts';
import { createReference } from './reference.ts';

const suffix = suffixOf(ORIGIN);
const zone = createZone(TIMEZONE);
const receipt = { receivedAtMs: Date.parse(RECEIVED_AT), ending: ORIGIN, zone, parseJson: 'none' as ParseJson };
const reference = createReference(() => receipt.receivedAtMs);
const outOfStep = (): void => {};
const clock = { ...systemClock, now: () => receipt.receivedAtMs };

/** What the clock of all rigs says from now on. */
export function receiveAt(time: string): void {
  receipt.receivedAtMs = Date.parse(time);
}

export interface Rig {
  readonly stats: SourceStats;
  readonly lane: LaneDouble;
  readonly input: Region;
  isFull(): boolean;
  /** Calls `resume` when there is room again. */
  onRoom(resume: () => void): void;
  /** A stream whose bytes the caller puts into the input. */
  open(timer?: Clock): MessageStream;
  /** The events since the last time. */
  events(): Promise<string[]>;
  /** `message` of the events since the last time. */
  messages(): Promise<unknown[]>;
  /** The events of messages, each taken as a datagram, or as one of a stream. */
  take(messages: readonly Buffer[], kind: 'datagram' | 'framed'): Promise<string[]>;
  /** The events of a stream that comes in these reads, and then ends. */
  stream(reads: readonly Buffer[]): Promise<string[]>;
}

export function createRig(
  maxEventBytes = 10_000,
  parseJson: ParseJson = 'none',
  onOversize: 'truncate' | 'split' | 'dead_letter' = 'truncate',
  decode?: (bytes: Buffer) => string,
  parse: ParseBody = 'none',
): Rig {
  const kernel = createKernel(24 * 1024 * 1024);
  const lane = new LaneDouble();
  const stats = newStats();
  let resume = (): void => {};
  const collector = new Collector({
    lane,
    window: kernel.reserve(collectorBytes(maxEventBytes, onOversize === 'split')),
    maxEventBytes,
    shape: { format: 'auto', wrapFields: {}, fields: {} },
    clock,
    lost() {},
    freed: () => resume(),
  });
  const reserve = (bytes: number): Region => kernel.reserve(bytes);
  const intake = new MessageIntake({
    kernel,
    collector,
    maxEventBytes,
    onOversize,
    zone,
    parseJson,
    parse,
    decode,
    clock,
    stats,
    reserve,
  });
  const input = reserve(64 * 1024);
  const place = reserve(1024 * 1024);
  const table: MessageTable = createMessageTable(reserve(tableBytes(10_000)));
  const cursor: StreamPosition = { stream: '1'.padStart(32, '0'), offset: 0 };

  async function events(): Promise<string[]> {
    await collector.idle();
    return lane.blocks.splice(0).flatMap(({ lines }) => lines.map((line) => line.toString()));
  }

  function open(timer: Clock = clock): MessageStream {
    return new MessageStream({
      intake,
      framer: new Framer(maxEventBytes, onOversize === 'split'),
      input,
      suffix,
      mint: () => cursor,
      outOfStep,
      clock: timer,
    });
  }

  return {
    stats,
    lane,
    input,
    open,
    events,
    isFull: () => intake.isFull,
    onRoom: (listener) => (resume = listener),
    messages: async () => (await events()).map((event) => (JSON.parse(event) as { message: unknown }).message),
    async take(messages, kind) {
      table.clear();
      place.bytes.set(suffix, 0);
      table.addSuffix(place.at, suffix.length);
      let at = suffix.length;
      for (const message of messages) {
        place.bytes.set(message, at);
        if (kind === 'datagram') table.addDatagram(place.at + at, message.length);
        else table.addFramed(place.at + at, message.length);
        at += message.length;
      }
      const before = Buffer.from(place.bytes.subarray(0, at));
      for (let entry = 0; entry < table.count;) {
        entry = intake.takeTable(cursor, table, entry);
        if (intake.isFull) await collector.idle();
      }
      if (!before.equals(place.bytes.subarray(0, at))) throw new Error('the input was changed');
      return events();
    },
    async stream(reads) {
      const messages = open();
      for (const read of reads) {
        messages.take(read.copy(input.bytes));
        input.bytes.fill(0xaa);
        while (messages.isWaiting) {
          await collector.idle();
          messages.resume();
        }
      }
      if (intake.isFull) await collector.idle();
      messages.end();
      while (messages.isWaiting) {
        await collector.idle();
        messages.resume();
      }
      return events();
    },
  };
}

/** The event of one message. */
export function eventOf(
  frame: MessageFrame,
  maxEventBytes = 10_000,
  parseJson: ParseJson = 'none',
  decode?: (bytes: Buffer) => string,
): string {
  const own = { ...receipt, parseJson, readHeader: reference, decode: decode ?? ((bytes: Buffer) => bytes.toString()) };
  return encodeEvent(frame, own, maxEventBytes, maxEventBytes + 128 * 1024 - 1).json;
}

/** What `take` must give. */
export function eventsOf(
  messages: readonly Buffer[],
  kind: 'datagram' | 'framed',
  maxEventBytes = 10_000,
  parseJson: ParseJson = 'none',
  decode?: (bytes: Buffer) => string,
): string[] {
  return messages.flatMap((message) => {
    const bytes = kind === 'datagram' ? datagramOf(message) : message;
    return bytes.length === 0 ? [] : [eventOf(cutFrame(bytes, maxEventBytes), maxEventBytes, parseJson, decode)];
  });
}

/** What `stream` must give. */
export function eventsOfReads(reads: readonly Buffer[], maxEventBytes = 10_000): string[] {
  const framer = new Framer(maxEventBytes);
  const events: string[] = [];
  const take = (): void => {
    for (let frame = framer.next(); frame !== undefined; frame = framer.next())
      events.push(eventOf(frame, maxEventBytes));
  };
  for (const read of reads) {
    framer.held.push(read);
    take();
  }
  framer.end();
  take();
  return events;
}

/** A datagram is one message, without its trailers. Some senders write the octet count there too: one that fits exactly is dropped. */
function datagramOf(datagram: Buffer): Buffer {
  let end = datagram.length;
  while (end > 0 && [0, 10, 13].includes(datagram[end - 1]!)) end -= 1;
  const match = /^([1-9]\d{0,6}) </.exec(datagram.toString('latin1', 0, 10));
  const start =
    match !== null && Number(match[1]) === datagram.length - match[1]!.length - 1 ? match[1]!.length + 1 : 0;
  return datagram.subarray(Math.min(start, end), end);
}
