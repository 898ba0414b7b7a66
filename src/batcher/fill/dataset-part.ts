/** What of shaped events goes to one dataset: all others count there as filtered, and have their outcome where they go. */
import { ByteWriter } from '../../core/bytes/byte-writer.ts';
import { type Shaped, DISPOSITIONS } from '../../core/shaping.ts';

const FILTERED = DISPOSITIONS.indexOf('filtered');

/** The number of the sink's own dataset, where events that are not sent at all are settled, too. */
export const OWN = 0;

/** Makes parts in memory that it uses again: new memory for each part of a chunk would be most of the garbage. */
export class DatasetPart {
  readonly #bytes = new ByteWriter();
  #ends = new Uint32Array(0);
  #sent = new Uint32Array(0);
  #dispositions = new Uint8Array(0);

  /** The part of dataset `number`, valid until the next call: those of the events that are sent; absent where all go to the sink's own. */
  of(shaped: Shaped, number: number, part: readonly number[] | undefined): Shaped {
    const { routes, bytes } = shaped;
    if (number === OWN && !(routes && part)) return shaped;
    const events = shaped.sent.length;
    if (this.#ends.length < events)
      [this.#ends, this.#sent, this.#dispositions] = [
        new Uint32Array(events),
        new Uint32Array(events),
        new Uint8Array(events),
      ];
    const [ends, sent, dispositions] = [
      this.#ends.subarray(0, events),
      this.#sent.subarray(0, events),
      this.#dispositions.subarray(0, events),
    ];
    this.#bytes.clear();
    sent.fill(0);
    if (number === OWN)
      for (let event = 0; event < events; event++) dispositions[event] = shaped.dispositions[event]! || FILTERED;
    else dispositions.fill(FILTERED);
    // What one dataset does not get is most of the events: nothing is done for each of them.
    let next = 0;
    for (const n of part ?? []) {
      const event = routes!.origins[n]!;
      ends.fill(this.#bytes.length, next, event);
      this.#bytes.copy(bytes, n === 0 ? 0 : routes!.ends[n - 1]!, routes!.ends[n]!);
      ends[event] = this.#bytes.length;
      next = event + 1;
      sent[event]! += 1;
      dispositions[event] = number === OWN ? shaped.dispositions[event]! : 0;
    }
    ends.fill(this.#bytes.length, next, events);
    const own = number === OWN ? {} : { withheld: [], errors: 0 };
    const { all: _, ...others } = shaped;
    return { ...others, ...own, bytes: this.#bytes.bytes, ends, sent, dispositions };
  }
}
