/** Names to find among the keys of events: found by their bytes, so that the other keys are never made strings. */
import type { Members } from '../../json/members.ts';

export class NameIndex {
  readonly names: readonly string[];
  readonly #slots: ReadonlyMap<string, number>;
  /** By the length in bytes. */
  readonly #byLength: (readonly { readonly slot: number; readonly bytes: Buffer }[] | undefined)[] = [];

  constructor(names: Iterable<string>) {
    this.names = [...names];
    this.#slots = new Map(this.names.map((name, slot) => [name, slot]));
    for (const [slot, name] of this.names.entries()) {
      const bytes = Buffer.from(name);
      this.#byLength[bytes.length] = [...(this.#byLength[bytes.length] ?? []), { slot, bytes }];
    }
  }

  /** The slot of a member's name among the names, or -1. */
  slotOf(members: Members, member: number): number {
    if (members.isEscaped(member)) return this.#slots.get(members.nameOf(member)) ?? -1;
    const from = members.keyFrom[member]! + 1;
    const candidates = this.#byLength[members.keyTo[member]! - 1 - from];
    if (candidates) for (const { slot, bytes } of candidates) if (isAt(members.bytes, from, bytes)) return slot;
    return -1;
  }
}

function isAt(bytes: Buffer, from: number, wanted: Buffer): boolean {
  for (let n = 0; n < wanted.length; n++) if (bytes[from + n] !== wanted[n]) return false;
  return true;
}
