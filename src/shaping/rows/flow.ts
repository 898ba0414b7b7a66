/** Stages that pass some of the events: by a hash of their position, or by the events before them. */
import type { Node } from '../../language/plan/tree.ts';
import type { Of, RowScope } from './call/call.ts';
import { compile, compileText } from './expressions.ts';
import { typeName } from '../../language/functions/conversions/rows.ts';

/** Groups that throttle and dedupe know at a time; of more the oldest is forgotten. */
const MOST_KEYS = 10_000;

/** A text that only equal values share. */
function keyOf(by: readonly Node[]): Of<string> {
  const parts = by.map((node) => ({ value: compile(node), text: compileText(node) }));
  return (scope) => parts.map(({ value, text }) => `${typeName(value(scope))} ${text(scope) ?? ''}`).join('\0');
}

/** A number from 0 up to 1 that follows from the text alone (MurmurHash3, 32 bits). */
function fractionOf(text: string): number {
  let hash = 0x9747_b28c;
  for (let at = 0; at < text.length; at++) {
    let unit = Math.imul(text.charCodeAt(at), 0xcc9e_2d51);
    unit = (unit << 15) | (unit >>> 17);
    hash ^= Math.imul(unit, 0x1b87_3593);
    hash = (hash << 13) | (hash >>> 19);
    hash = (Math.imul(hash, 5) + 0xe654_6b64) | 0;
  }
  hash ^= text.length;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85eb_ca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2_ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}

export function sample(fraction: number, by: readonly Node[]): Of<boolean> {
  const place = ({ context }: RowScope): string => `${context.stream} ${context.offset} ${context.sub}`;
  const key = by.length === 0 ? place : keyOf(by);
  return (scope) => fractionOf(key(scope)) < fraction;
}

/** Remembers values by keys; the key that was set longest ago goes first. */
class Recent<T> {
  readonly #values = new Map<string, T>();

  get(key: string): T | undefined {
    return this.#values.get(key);
  }

  set(key: string, value: T): void {
    this.#values.delete(key);
    this.#values.set(key, value);
    if (this.#values.size > MOST_KEYS) this.#values.delete(this.#values.keys().next().value!);
  }
}

/** Windows are counted from 1970, by the time of the read. */
export function throttle(count: number, windowNs: bigint, by: readonly Node[]): Of<boolean> {
  const key = keyOf(by);
  const windowMs = Number(windowNs) / 1e6;
  const seen = new Recent<{ readonly window: number; readonly count: number }>();
  return (scope) => {
    const window = Math.floor(scope.context.readAtMs / windowMs);
    const id = key(scope);
    const before = seen.get(id);
    const used = before?.window === window ? before.count : 0;
    if (used >= count) return false;
    seen.set(id, { window, count: used + 1 });
    return true;
  };
}

/** The window begins with the event that went through. */
export function dedupe(windowNs: bigint, by: readonly Node[]): Of<boolean> {
  const key = keyOf(by);
  const windowMs = Number(windowNs) / 1e6;
  const seen = new Recent<number>();
  return (scope) => {
    const id = key(scope);
    const before = seen.get(id);
    const now = scope.context.readAtMs;
    if (before !== undefined && now - before < windowMs) return false;
    seen.set(id, now);
    return true;
  };
}
