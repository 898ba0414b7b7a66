/** What of shaped events goes to one dataset: all others count there as filtered, and have their outcome where they go. */
import { ByteWriter } from '../../core/bytes/byte-writer.ts';
import { type Shaped, UNSENT } from '../../core/shaping.ts';

const FILTERED = UNSENT.indexOf('filtered');

/** The number of the sink's own dataset, where events that are not sent at all are settled, too. */
export const OWN = 0;

/** Makes parts in memory that it uses again: new memory for each part of a chunk would be most of the garbage. */
export class DatasetPart {
  readonly #bytes = new ByteWriter();
  #ends = new Uint32Array(0);
  #sent = new Uint32Array(0);
  #unsent = new Uint8Array(0);

  /**
   * The part of dataset `number`, valid until the next call; `numbers` has the one of each event that is sent, and is absent where all go
   * to the sink's own.
   */
  of(shaped: Shaped, number: number, numbers: readonly number[] | undefined): Shaped {
    const { routes, bytes } = shaped;
    if (number === OWN && !(routes && numbers)) return shaped;
    const events = shaped.sent.length;
    if (this.#ends.length < events)
      [this.#ends, this.#sent, this.#unsent] = [new Uint32Array(events), new Uint32Array(events), new Uint8Array(events)];
    const [ends, sent, unsent] = [this.#ends.subarray(0, events), this.#sent.subarray(0, events), this.#unsent.subarray(0, events)];
    this.#bytes.clear();
    for (let event = 0, n = 0; event < events; event++) {
      let count = 0;
      for (; routes?.origins[n] === event; n++) {
        if (numbers?.[n] !== number) continue;
        this.#bytes.copy(bytes, n === 0 ? 0 : routes.ends[n - 1]!, routes.ends[n]!);
        count += 1;
      }
      const fate = number === OWN ? shaped.unsent[event]! : 0;
      ends[event] = this.#bytes.length;
      sent[event] = count;
      unsent[event] = count === 0 && fate === 0 ? FILTERED : fate;
    }
    const own = number === OWN ? {} : { withheld: [], errors: 0 };
    return { ...shaped, ...own, bytes: this.#bytes.bytes, ends, sent, unsent };
  }
}
