/**
 * Follows what of the text that is handed out goes on with text before it: the rest of an unfinished line, and a piece of a container's message whose
 * beginning was sent alone. Where that may be an object, the events are noted as such: by themselves they do not look like one.
 */
import type { Encoding } from '../../parsers/text/encoding.ts';
import type { WindowBlock } from './byte-window.ts';

/** Whether the line `bytes[start, end)` is a piece of a message that goes on in the next one. */
export type GoesOn = (bytes: Buffer, start: number, end: number) => boolean;

export class Rests {
  readonly #goesOn: GoesOn | undefined;
  /** The next event goes on with the text before it. */
  isNext = false;

  constructor(goesOn: GoesOn | undefined) {
    this.#goesOn = goesOn;
  }

  /** The block with its events noted that are rests. It is the next one, with its bytes in place. */
  note(block: WindowBlock, encoding: Encoding): WindowBlock {
    const unread = [...(block.unread ?? [])];
    let { start } = block;
    for (const end of this.#goesOn && block.ends ? block.ends : [block.end]) {
      if (this.isNext && !unread.includes(start) && !isEmpty(block, start, encoding)) unread.push(start);
      this.isNext = this.#endsInPiece(block.window.bytes, start, end, encoding);
      start = end;
    }
    return unread.length > 0 ? { ...block, unread } : block;
  }

  #endsInPiece(bytes: Buffer, start: number, end: number, encoding: Encoding): boolean {
    if (!this.#goesOn) return false;
    const textEnd = end - encoding.endingBytes(bytes, end);
    const before = encoding.lastLineEnd(bytes, start, textEnd);
    return this.#goesOn(bytes, before === -1 ? start : before, textEnd);
  }
}

/** A line's end alone is no event, and tells nothing of the next one. */
function isEmpty({ window: { bytes }, end }: WindowBlock, start: number, encoding: Encoding): boolean {
  const lineEnd = encoding.firstLineEnd(bytes, start, end);
  return lineEnd !== -1 && lineEnd - encoding.endingBytes(bytes, lineEnd) <= start;
}
