/**
 * Reads files and standard input as a connection would bring them to a syslog source: a message a line, or with octet counts. Promises:
 * a message is taken once the one before was handed over, so that each event belongs to a known message.
 */
import type { Readable } from 'node:stream';
import type { SyslogConfig } from './syslog-type.ts';
import { systemClock } from '../../core/time/clock.ts';
import { newStats, type SourceStats } from '../../core/source.ts';
import type { PreviewReader, PreviewTools } from '../common/source-type.ts';
import type { StreamPosition } from './intake/collector.ts';
import { createIntake, type OpenIntake } from './intake/create-intake.ts';
import type { MessageFrame } from './message/frame.ts';
import { Framer } from './receive/framing.ts';
import { formatPeer } from './listen/addresses.ts';
import { suffixOf } from './message/sender.ts';

export class MessageReader implements PreviewReader {
  readonly stats: readonly SourceStats[];
  readonly #source: SyslogConfig;
  readonly #intake: OpenIntake;
  #current: Buffer = Buffer.alloc(0);
  /** Does not move while a message is on its way. */
  #nowMs = 0;

  constructor(source: SyslogConfig, { kernel, lane, restart }: PreviewTools) {
    this.#source = source;
    const stats = newStats();
    this.stats = [stats];
    this.#intake = createIntake(source, {
      lane,
      clock: { ...systemClock, now: () => this.#nowMs },
      kernel,
      stats,
      reserve: restart(),
      lost() {},
      freed() {},
    });
  }

  /** The message whose event is being handed over. */
  textOf(): string {
    return this.#intake.decode(this.#current);
  }

  async read(input: Readable = process.stdin): Promise<void> {
    await this.#intake.loadCharset();
    const { maxEventBytes, onOversize } = this.#source;
    const framer = new Framer(maxEventBytes, onOversize === 'split');
    const cursor: StreamPosition = { stream: '0'.repeat(32), offset: 0 };
    const suffix = suffixOf(this.#intake.form.endingOf({ peer: formatPeer(undefined, undefined) }));
    for await (const chunk of input) {
      framer.held.push(chunk as Buffer);
      for (let frame = framer.next(); frame; frame = framer.next()) await this.#take(cursor, suffix, frame);
    }
    framer.end();
    for (let frame = framer.next(); frame; frame = framer.next()) await this.#take(cursor, suffix, frame);
  }

  async #take(cursor: StreamPosition, suffix: Buffer, frame: MessageFrame): Promise<void> {
    const { intake, collector } = this.#intake;
    this.#current = frame.bytes;
    this.#nowMs = systemClock.now();
    intake.takeFrame(cursor, suffix, frame);
    await Promise.race([collector.idle(), collector.failed]);
  }
}
