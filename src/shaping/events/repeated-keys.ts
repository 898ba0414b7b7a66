/**
 * If a key on the way to a hidden field repeats, only the last one counts for steps and for most readers: the others go before any step
 * runs, so that a secret in one of them does not leave. Keys elsewhere may repeat as before.
 */
import type { NamePattern } from '../../language/plan/tree.ts';
import { matchesPattern } from '../../language/plan/tree.ts';
import { itemsPath, leadsTo, topLevelNames } from '../rows/values/paths.ts';
import { itemsOf, Members } from '../../json/members.ts';
import { NameIndex } from './name-index.ts';
import { type Edit, spliced } from '../../json/splice.ts';

const OPEN_OBJECT = 0x7b;
const OPEN_LIST = 0x5b;

export class RepeatedKeys {
  readonly #patterns: readonly NamePattern[];
  /** Indexes the event's own keys; undefined where any may be on the way. */
  readonly #index: NameIndex | undefined;
  readonly #leads: (path: string) => boolean;

  /** `patterns`: the names that steps hide. */
  constructor(patterns: readonly NamePattern[]) {
    this.#patterns = patterns;
    this.#leads = (path) => patterns.some((pattern) => leadsTo(pattern, path));
    const isOpen = patterns.some(({ prefix }) => prefix);
    this.#index = isOpen ? undefined : new NameIndex(new Set(patterns.flatMap(({ text }) => topLevelNames(text))));
  }

  /** The event with a newline; undefined where nothing has to go. */
  without(event: Members): Buffer | undefined {
    const edits = this.#editsOf(event, '', (n) => (this.#index ? this.#index.slotOf(event, n) >= 0 : true));
    if (!edits) return undefined;
    return Buffer.from(`${spliced(event, edits)}\n`);
  }

  #editsOf(members: Members, path: string, isWanted: (n: number) => boolean): readonly Edit[] | undefined {
    const lastOf = new Map<string, number>();
    const edits = Array.from({ length: members.count }, (): Edit => 'keep');
    let isChanged = false;
    for (let n = 0; n < members.count; n++) {
      if (!isWanted(n)) continue;
      const name = members.nameOf(n);
      const inside = path === '' ? name : `${path}.${name}`;
      const leads = this.#leads(inside);
      if (!leads && !this.#patterns.some((pattern) => matchesPattern(pattern, inside))) continue;
      const [from, to] = [members.valueFrom[n]!, members.valueTo[n]!];
      const json = leads ? this.#valueWithout(members.bytes, from, to, inside) : undefined;
      if (json !== undefined) edits[n] = { json };
      const before = lastOf.get(name);
      if (before !== undefined) edits[before] = 'remove';
      lastOf.set(name, n);
      isChanged ||= json !== undefined || before !== undefined;
    }
    return isChanged ? edits : undefined;
  }

  /** Undefined where nothing has to go. */
  #valueWithout(bytes: Buffer, from: number, to: number, path: string): string | undefined {
    if (bytes[from] === OPEN_LIST) return this.#listWithout(bytes, from, to, itemsPath(path));
    if (bytes[from] !== OPEN_OBJECT) return undefined;
    const members = new Members();
    members.scan(bytes, from);
    const edits = this.#editsOf(members, path, () => true);
    if (!edits) return undefined;
    return spliced(members, edits);
  }

  #listWithout(bytes: Buffer, from: number, to: number, path: string): string | undefined {
    if (!this.#leads(path)) return undefined;
    let text = '';
    let at = from;
    for (const item of itemsOf(bytes, from)) {
      const json = this.#valueWithout(bytes, item.from, item.to, path);
      if (json === undefined) continue;
      text += bytes.toString('utf8', at, item.from) + json;
      at = item.to;
    }
    return at === from ? undefined : text + bytes.toString('utf8', at, to);
  }
}
