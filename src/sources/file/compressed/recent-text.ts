/** The last text of a content that is passed over or read: it tells whether what follows is the rest of a line, or message, that began in it. */
import type { TextEncoding } from '../../../parsers/text/encoding.ts';
import type { ObjectRules } from '../../framing/cut-object.ts';
import type { RestState } from '../../framing/rests.ts';
import { RECENT_TEXT_BYTES } from '../limits.ts';
import { withoutTrailingNuls } from '../known/nul-runs.ts';
import { restAt } from '../read/in-line.ts';

export class RecentText {
  readonly #objects: ObjectRules;
  #pieces: Buffer[] = [];
  #length = 0;
  /** The kept text may begin inside a line. */
  #beginsInLine: boolean;

  constructor(objects: ObjectRules, beginsInLine: boolean) {
    this.#objects = objects;
    this.#beginsInLine = beginsInLine;
  }

  pass(piece: Buffer): void {
    if (!this.#objects.isFollowed || piece.length === 0) return;
    this.#pieces.push(Buffer.from(piece));
    this.#length += piece.length;
    if (this.#length < 2 * RECENT_TEXT_BYTES) return;
    const all = Buffer.concat(this.#pieces);
    // Whole code units.
    this.#pieces = [all.subarray(all.length - RECENT_TEXT_BYTES - (all.length % 2))];
    this.#length = this.#pieces[0]!.length;
    this.#beginsInLine = true;
  }

  restBehind(encoding: TextEncoding): RestState {
    if (!this.#objects.isFollowed) return false;
    const all = Buffer.concat(this.#pieces);
    const peek = (_: number, into: Buffer, position: number): number => all.copy(into, 0, position);
    // NULs at the end are no text.
    const end = withoutTrailingNuls(all);
    const text = { fileSystem: { peek }, fd: 0, offset: end + (end % encoding.unitBytes), startAt: 0 };
    return restAt({ ...text, objects: this.#objects, encoding, beginsInLine: this.#beginsInLine });
  }
}
