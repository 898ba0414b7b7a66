/** What the addresses that bodies go to are known to store, shared by all sinks of a process and asked anew once a day. */
import type { Encoding } from '../../core/sink.ts';
import { ENCODINGS_KNOWN_MS } from '../limits.ts';

export interface KnownEncodings {
  /** In which a body was stored. */
  readonly stored: Set<Encoding>;
  /** In which a body was refused that was stored in another. */
  readonly refused: Set<Encoding>;
}

export class AddressEncodings {
  readonly #known = new Map<string, KnownEncodings & { readonly sinceMs: number }>();

  /** `nowMs` is monotonic. */
  of(address: string, nowMs: number): KnownEncodings {
    const known = this.#known.get(address);
    if (known && nowMs - known.sinceMs < ENCODINGS_KNOWN_MS) return known;
    const made = { stored: new Set<Encoding>(), refused: new Set<Encoding>(), sinceMs: nowMs };
    this.#known.set(address, made);
    return made;
  }
}
