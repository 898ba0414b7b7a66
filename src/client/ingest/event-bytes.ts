/** Events as splitters find them in a stream of bytes, and the one whose end has not come yet. */
import { MAX_BATCH_BYTES } from '../../core/limits.ts';

export interface SplitEvent {
  /** Empty where there is a problem. */
  readonly bytes: Buffer;
  /** 1-based, where the event begins. */
  readonly line: number;
  /** Why it cannot be sent. */
  readonly problem?: string;
}

export type Take = (event: SplitEvent) => void;

/** Cuts a stream into events. Promises: it holds no more than one event that a service would take. */
export interface Splitter {
  push(bytes: Buffer, take: Take): void;
  /** What the end of the stream leaves. */
  end(take: Take): void;
}

/** Gathers one event from the pieces it comes in; of one that is too long, only its length. */
export class PartialEvent {
  #pieces: Buffer[] = [];
  #length = 0;

  get isEmpty(): boolean {
    return this.#length === 0;
  }

  add(piece: Buffer): void {
    this.#length += piece.length;
    if (this.#length > MAX_BATCH_BYTES) this.#pieces = [];
    else if (piece.length > 0) this.#pieces.push(piece);
  }

  /** The event, which begins at `line`; nothing is left of it here. */
  take(line: number): SplitEvent {
    const [pieces, length] = [this.#pieces, this.#length];
    this.#pieces = [];
    this.#length = 0;
    if (length > MAX_BATCH_BYTES)
      return {
        bytes: Buffer.alloc(0),
        line,
        problem: `it has ${length} bytes, and no service takes more than ${MAX_BATCH_BYTES}`,
      };
    return { bytes: pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces, length), line };
  }
}
