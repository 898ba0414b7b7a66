/**
 * Turns the bytes of one connection into events: whole messages go to the intake, an unfinished one waits in the framer, and bytes
 * that do not fit the window wait unchanged. Promises: every message once, in order, however the bytes are cut into reads; keeps no
 * reference to the read buffer once a call returns.
 */
import type { Region } from '../../../core/block.ts';
import type { Cursor } from '../intake/collector.ts';
import type { Framer } from './framing.ts';
import type { Intake } from '../intake/intake.ts';

const EMPTY = Buffer.alloc(0);

export interface MessageStreamOptions {
  readonly intake: Intake;
  readonly framer: Framer;
  /** Where bytes are read into, by all connections of the source. */
  readonly input: Region;
  readonly suffix: Buffer;
  /** Makes the stream that positions count in; may throw. */
  readonly mint: () => Cursor;
}

export class MessageStream {
  readonly #options: MessageStreamOptions;
  #cursor: Cursor | undefined;
  /** Bytes received while the window was full. */
  #left = EMPTY;

  constructor(options: MessageStreamOptions) {
    this.#options = options;
  }

  /** Undefined while nothing has come. */
  get stream(): string | undefined {
    return this.#cursor?.stream;
  }

  /** True while bytes wait for the window. */
  get isWaiting(): boolean {
    return this.#left.length > 0;
  }

  /** Takes `length` bytes from the beginning of the input. */
  take(length: number): void {
    const { intake, framer, input } = this.#options;
    if (this.isWaiting) return void (this.#left = Buffer.concat([this.#left, input.bytes.subarray(0, length)]));
    const cursor = (this.#cursor ??= this.#options.mint());
    let at = 0;
    if (framer.isInside && !intake.isFull) {
      framer.push(input.bytes.subarray(0, length));
      const frame = framer.next();
      if (frame === undefined) return;
      at = length - framer.release();
      intake.takeFrame(cursor, this.#options.suffix, frame);
    }
    if (!intake.isFull) at = intake.takeStream(cursor, this.#options.suffix, framer, input, at, length);
    if (at === length) return;
    const rest = input.bytes.subarray(at, length);
    if (intake.isFull) {
      this.#left = Buffer.from(rest);
    } else {
      framer.push(rest);
      framer.next();
    }
  }

  /** Takes the waiting bytes; called when the window has space again. */
  resume(): void {
    const { input, intake } = this.#options;
    while (this.isWaiting && !intake.isFull) {
      const left = this.#left;
      this.#left = EMPTY;
      const length = left.copy(input.bytes);
      this.take(length);
      if (length < left.length) this.#left = Buffer.concat([this.#left, left.subarray(length)]);
    }
  }

  /** Gives back what the framer holds. */
  release(): void {
    this.#options.framer.end();
  }

  /** Ends the stream, whose last message needs no delimiter. Called when no bytes wait and the window has space. */
  end(): void {
    const { intake, framer, suffix } = this.#options;
    const frame = framer.end();
    if (frame !== undefined) intake.takeFrame((this.#cursor ??= this.#options.mint()), suffix, frame);
  }
}
