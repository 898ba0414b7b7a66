/**
 * Follows what of the text that is handed out goes on with text before it: the rest of an unfinished line, a piece of a container's message whose
 * beginning was sent alone, and joined lines that a limit or a pause parted from their beginning. Where that may be an object, the events are noted as
 * such: by themselves they do not look like one.
 */
import { hasOpenObjectLine } from '../../core/bytes/object-text.ts';
import type { TextEncoding } from '../../parsers/text/encoding.ts';
import type { WindowBlock } from './byte-window.ts';

const OPEN = 0x7b;

/**
 * Whether the line `bytes[start, end)` is a piece of a message that goes on in the next one; `isUnread`: it is cut, or continues such a
 * line.
 */
export type GoesOn = (bytes: Buffer, start: number, end: number, isUnread: boolean) => boolean;

/** Whether the text of the line `bytes[start, end)` begins an event of joined lines. */
export type BeginsEvent = (bytes: Buffer, start: number, end: number, encoding: TextEncoding) => boolean;

export interface RestRules {
  readonly goesOn?: GoesOn | undefined;
  readonly begins?: BeginsEvent | undefined;
  /** Whether a text is an object of its own. */
  readonly isWhole?: ((text: string) => boolean) | undefined;
}

/** Whether an event goes on with the text before it; `joined`: unless its first line begins an event. */
export type RestState = boolean | 'joined';

export class Rests {
  readonly #goesOn: GoesOn | undefined;
  readonly #begins: BeginsEvent | undefined;
  readonly #isWhole: RestRules['isWhole'];
  /** Of the next event. */
  next: RestState = false;

  constructor({ goesOn, begins, isWhole }: RestRules) {
    this.#goesOn = goesOn;
    this.#begins = begins;
    this.#isWhole = isWhole;
  }

  /** Whether the next event surely goes on with the text before it. */
  get isNext(): boolean {
    return this.next === true;
  }

  /** The block with its events noted that are rests. It is the next one, with its bytes in place. */
  note(block: WindowBlock, encoding: TextEncoding): WindowBlock {
    const unread = [...(block.unread ?? [])];
    let { start } = block;
    const { bytes } = block.window;
    for (const end of (this.#goesOn || this.#begins) && block.ends ? block.ends : [block.end]) {
      const isRest = this.next === true || (this.next === 'joined' && !this.#beginsEvent(bytes, start, end, encoding));
      if (isRest && !unread.includes(start) && !this.#standsAlone(block, start, encoding)) unread.push(start);
      const isUnread = unread.includes(start);
      if (this.#begins) this.next = isUnread || this.#holdsObject(bytes, start, end, encoding) ? 'joined' : false;
      else this.next = this.#endsInPiece(bytes, start, end, encoding, isUnread);
      start = end;
    }
    return unread.length > 0 ? { ...block, unread } : block;
  }

  #beginsEvent(bytes: Buffer, start: number, end: number, encoding: TextEncoding): boolean {
    const line = encoding.firstLineEnd(bytes, start, end);
    const lineEnd = line === -1 ? end : line;
    return this.#begins!(bytes, start, lineEnd - encoding.endingBytes(bytes, lineEnd), encoding);
  }

  #holdsObject(bytes: Buffer, start: number, end: number, encoding: TextEncoding): boolean {
    const text = bytes.subarray(start, end);
    return text.includes(OPEN) && hasOpenObjectLine(encoding.decode(text));
  }

  #endsInPiece(bytes: Buffer, start: number, end: number, encoding: TextEncoding, isUnread: boolean): boolean {
    if (!this.#goesOn) return false;
    const textEnd = end - encoding.endingBytes(bytes, end);
    const before = encoding.lastLineEnd(bytes, start, textEnd);
    return this.#goesOn(bytes, before === -1 ? start : before, textEnd, isUnread);
  }

  /** A line's end alone is no event, and tells nothing of the next one. An object is read by itself: nothing was written behind the text before it. */
  #standsAlone({ window: { bytes }, end, single }: WindowBlock, start: number, encoding: TextEncoding): boolean {
    const lineEnd = encoding.firstLineEnd(bytes, start, end);
    if (lineEnd === -1 || single?.marks) return false;
    const text = bytes.subarray(start, lineEnd - encoding.endingBytes(bytes, lineEnd));
    return text.length === 0 || this.#isWhole?.(encoding.decode(text)) === true;
  }
}
