/**
 * Turns the bytes of one connection into events: whole messages go to the intake, an unfinished one waits in the framer, and bytes
 * that do not fit the window wait unchanged. Promises: every message once, in order, however the bytes are cut into reads; keeps no
 * reference to the read buffer once a call returns.
 */
import type { Region } from '../../../core/block.ts';
import type { Clock } from '../../../core/time/clock.ts';
import type { StreamPosition } from '../intake/collector.ts';
import type { Framer } from './framing.ts';
import type { MessageIntake } from '../intake/intake.ts';

const EMPTY = Buffer.alloc(0);

export interface MessageStreamOptions {
  readonly intake: MessageIntake;
  readonly framer: Framer;
  /** Where bytes are read into, by all connections of the source. */
  readonly input: Region;
  readonly suffix: Buffer;
  readonly clock: Clock;
  /** Called with each part of the stream that no octet count agrees with. */
  readonly outOfStep: () => void;
  /** Makes the stream that positions count in; may throw. */
  readonly mint: () => StreamPosition;
}

export class MessageStream {
  readonly #options: MessageStreamOptions;
  #cursor: StreamPosition | undefined;
  /** Bytes received while the window was full. */
  #left = EMPTY;
  /** Whether the framer may have more messages, which found the window full. */
  #hasMore = false;
  #sinceMs: number | undefined;

  constructor(options: MessageStreamOptions) {
    this.#options = options;
  }

  /** Undefined while nothing has come. */
  get stream(): string | undefined {
    return this.#cursor?.stream;
  }

  /** When the first byte of the unfinished message came; undefined without one. */
  get sinceMs(): number | undefined {
    return this.#options.framer.isInside ? this.#sinceMs : undefined;
  }

  /** The sender waited for us: that time is not its message's. */
  restartTime(): void {
    this.#sinceMs = this.#options.clock.monotonic();
  }

  get heldBytes(): number {
    return this.#options.framer.held.length;
  }

  get messageBytes(): number {
    return this.#options.framer.messageBytes;
  }

  get mostBytes(): number {
    return this.#options.framer.mostBytes;
  }

  get isOutOfStep(): boolean {
    return this.#options.framer.isOutOfStep;
  }

  /** True while bytes wait for the window. */
  get isWaiting(): boolean {
    return this.#hasMore || this.#left.length > 0;
  }

  /** Takes `length` bytes from the beginning of the input. */
  take(length: number): void {
    const { input } = this.#options;
    if (this.isWaiting) this.#left = Buffer.concat([this.#left, input.bytes.subarray(0, length)]);
    else this.#take(length);
  }

  /** Takes the waiting bytes; called when the window has space again. */
  resume(): void {
    const { input, intake } = this.#options;
    while (this.isWaiting && !intake.isFull) {
      if (this.#hasMore) {
        this.#takeFrames(0);
        continue;
      }
      const left = this.#left;
      this.#left = EMPTY;
      const length = left.copy(input.bytes);
      this.#take(length);
      if (length < left.length) this.#left = Buffer.concat([this.#left, left.subarray(length)]);
    }
  }

  /**
   * Ends the message that is not whole, which needs no delimiter: the connection is at its end, or the message's time is over (`late`).
   * Called when no bytes wait and the window has space; until none wait, it is not done.
   */
  end(why: 'closed' | 'late' = 'closed'): void {
    this.#options.framer.end(why);
    this.#takeFrames(0);
  }

  #take(length: number): void {
    const { intake, framer, input, suffix } = this.#options;
    const cursor = this.#cursorOf();
    if (!framer.isInside) this.#sinceMs = this.#options.clock.monotonic();
    for (
      let at = (framer.isInside || framer.isBehindCut) && !intake.isFull ? this.#frame(0, length) : 0;
      at < length;
    ) {
      if (!intake.isFull) at = intake.takeStream(cursor, suffix, framer, input, at, length);
      if (at === length) return;
      if (intake.isFull) return void (this.#left = Buffer.from(input.bytes.subarray(at, length)));
      at = this.#frame(at, length);
    }
  }

  /** Gives the framer what the kernel does not take; returns from where on it may take more. */
  #frame(at: number, length: number): number {
    const { framer, input } = this.#options;
    framer.held.push(input.bytes.subarray(at, length));
    return length - this.#takeFrames(length - at);
  }

  /** Takes the framer's messages until the bytes behind them are among the `given` last ones; returns how many those are. */
  #takeFrames(given: number): number {
    const { intake, framer, suffix } = this.#options;
    this.#hasMore = false;
    for (;;) {
      const frame = framer.next();
      if (frame === undefined) return 0;
      // The bytes after it came just now.
      if (framer.isBetween) this.#sinceMs = this.#options.clock.monotonic();
      if (frame.isOutOfStep) this.#options.outOfStep();
      intake.takeFrame(this.#cursorOf(), suffix, frame);
      const left = framer.held.length;
      if (framer.isBetween && left <= given) {
        framer.release();
        return left;
      }
      if (intake.isFull) {
        this.#hasMore = true;
        return 0;
      }
    }
  }

  #cursorOf(): StreamPosition {
    return (this.#cursor ??= this.#options.mint());
  }
}
