/** A plan as the kernel runs it: an image of tables with addresses, laid out for src/kernel/assembly/transform. */
import { TRANSFORM_IMAGE_AT, TRANSFORM_IMAGE_BYTES } from '../../kernel/transform.ts';
import type { ByteCondition, ByteOperator } from '../analysis.ts';
import { splitsOf, topLevelNames } from '../rows/values/paths.ts';
import type { Screen } from '../redact/screens.ts';
import { type ByteEdits, type BytePlan, testedFields } from './byte-plan.ts';

const HEADER_BYTES = 48;
const SLOT_BYTES = 48;
/** The kernel has a bit for each. */
const MOST_SLOTS = 32;
const MOST_NAMES = 32;
const [REMOVED, KEPT, CONSTANT, RENAMED, MOVED, SCREENED] = [1, 2, 4, 8, 16, 32];
/** The bit that tells the cases of a letter apart. */
const FOLDING = 0x20;
const OPERATORS: readonly ByteOperator[] = ['==', '!=', '<', '<=', '>', '>='];
const [AND, OR, NOT, TEST] = [0, 1, 2, 3];
const NO_EDITS: ByteEdits = { kept: undefined, removed: [], renamed: [], added: [], screened: [] };

interface Slot {
  flags: number;
  source: number;
  below: number;
  json: string;
  /** Where it gets a value: the text before that. */
  text: string;
  screen: Screen | undefined;
}

/** Undefined for a plan that is larger than the kernel's tables. */
export function encodePlan({ conditions, edits }: BytePlan): Buffer | undefined {
  const { kept, removed, renamed, added, screened } = edits ?? NO_EDITS;
  const slots = new Map<string, Slot>();
  const indexOf = (name: string): number => {
    if (!slots.has(name)) slots.set(name, { flags: 0, source: 0, below: 0, json: '', text: '', screen: undefined });
    return [...slots.keys()].indexOf(name);
  };
  const mark = (name: string, flag: number, more: Partial<Slot> = {}): void => {
    indexOf(name);
    const slot = slots.get(name)!;
    Object.assign(slot, more, { flags: slot.flags | flag });
  };
  for (const field of conditions.flatMap(testedFields)) for (const name of topLevelNames(field)) indexOf(name);
  for (const name of kept ?? []) mark(name, KEPT);
  // Every event keeps its time.
  if (kept) mark('_time', KEPT);
  for (const [n, name] of removed.entries()) {
    mark(name, REMOVED);
    for (const [head] of splitsOf(name)) mark(head, 0, { below: ((slots.get(head)?.below ?? 0) | (1 << n)) >>> 0 });
  }
  for (const { from, to } of renamed) {
    mark(from, MOVED, { source: indexOf(to) });
    mark(to, RENAMED, { source: indexOf(from), text: `,${JSON.stringify(to)}:` });
  }
  for (const { name, json } of added) mark(name, CONSTANT, { json, text: `,${JSON.stringify(name)}:` });
  for (const { name, screen } of screened) mark(name, SCREENED, { screen });
  if (slots.size > MOST_SLOTS || removed.length > MOST_NAMES) return undefined;

  const image = new Image();
  const header = image.allocate(HEADER_BYTES);
  const slotsAt = image.allocate(SLOT_BYTES * slots.size);
  for (const [n, [name, slot]] of [...slots].entries()) {
    const at = slotsAt + SLOT_BYTES * n;
    image.put(
      at,
      ...image.text(name),
      slot.flags,
      slot.source,
      ...image.text(slot.json),
      slot.below,
      ...image.text(slot.text),
      slot.screen ? image.screen(slot.screen) : 0,
    );
  }
  const namesAt = image.allocate(8 * removed.length);
  for (const [n, name] of removed.entries()) image.put(namesAt + 8 * n, ...image.text(name));
  const constantsAt = image.allocate(4 * added.length);
  image.put(constantsAt, ...added.map(({ name }) => indexOf(name)));
  const condition = conditions.length === 0 ? 0 : image.condition({ kind: 'and', parts: conditions }, indexOf);
  const growth = [...slots.values()].reduce((sum, { json, text }) => sum + Buffer.byteLength(json + text), 0);
  const isUnchanging = !kept && [...slots.values()].every(({ flags, below }) => flags === 0 && below === 0);
  image.put(
    header,
    condition,
    edits ? 0 : 1,
    growth,
    slotsAt,
    slots.size,
    kept ? 1 : 0,
    namesAt,
    constantsAt,
    added.length,
    isUnchanging ? firstsOf([...slots.keys()]) : 0,
  );
  image.putBits(
    header + 40,
    [...slots.keys()].reduce((bits, name) => bits | filterBit(name), 0n),
  );
  return image.bytes;
}

/** Names that no escape but a numeric one spells, and that nothing but a key begins with. */
const PLAIN_NAME = /^[A-Za-z0-9_@$.-]+$/;

/** The first bytes of the names, at most two; 0 where more differ, or a name is not plain. */
function firstsOf(names: readonly string[]): number {
  const [first, second = first, ...others] = new Set(names.map((name) => name.charCodeAt(0)));
  return first === undefined || others.length > 0 || !names.every((name) => PLAIN_NAME.test(name))
    ? 0
    : first | (second! << 8);
}

/** As `slotOf` of members.ts finds them; an empty key's first byte is the quote that closes it. */
function filterBit(name: string): bigint {
  const bytes = Buffer.from(name);
  return 1n << BigInt((3 * bytes.length + (bytes[0] ?? 0x22)) % 64);
}

/** Bytes for a known address, in pieces. */
class Image {
  #bytes = Buffer.alloc(0);

  get bytes(): Buffer | undefined {
    return this.#bytes.length > TRANSFORM_IMAGE_BYTES ? undefined : this.#bytes;
  }

  /** The address of so many bytes, a multiple of eight. */
  allocate(length: number): number {
    const at = TRANSFORM_IMAGE_AT + this.#bytes.length;
    this.#bytes = Buffer.concat([this.#bytes, Buffer.alloc(8 * Math.ceil(length / 8))]);
    return at;
  }

  put(at: number, ...words: readonly number[]): void {
    for (const [n, word] of words.entries()) this.#bytes.writeUInt32LE(word, at - TRANSFORM_IMAGE_AT + 4 * n);
  }

  putBits(at: number, bits: bigint): void {
    this.#bytes.writeBigUInt64LE(bits, at - TRANSFORM_IMAGE_AT);
  }

  /** Address and length. */
  text(text: string): readonly [at: number, length: number] {
    const bytes = Buffer.from(text);
    const at = this.allocate(bytes.length);
    bytes.copy(this.#bytes, at - TRANSFORM_IMAGE_AT);
    return [at, bytes.length];
  }

  screen({ texts, folded, cardDigits }: Screen): number {
    const all = [...texts.map((text) => [text, 0] as const), ...folded.map((text) => [text, FOLDING] as const)];
    const at = this.allocate(8 + 12 * all.length);
    this.put(at, cardDigits ? 1 : 0, all.length, ...all.flatMap(([text, fold]) => [...this.text(text), fold]));
    return at;
  }

  condition(condition: ByteCondition, indexOf: (name: string) => number): number {
    if (condition.kind === 'test') return this.#test(condition, indexOf);
    const parts = condition.kind === 'not' ? [condition.part] : condition.parts;
    const at = this.allocate(8 + 4 * parts.length);
    const kind = { and: AND, or: OR, not: NOT }[condition.kind];
    this.put(at, kind, parts.length, ...parts.map((part) => this.condition(part, indexOf)));
    return at;
  }

  #test(
    { field, operator, literal }: ByteCondition & { readonly kind: 'test' },
    indexOf: (name: string) => number,
  ): number {
    const reads = [[field, ''] as const, ...splitsOf(field)];
    const at = this.allocate(32 + 12 * reads.length);
    const isText = typeof literal === 'string';
    this.put(at, TEST, OPERATORS.indexOf(operator), isText ? 0 : typeof literal === 'number' ? 1 : 2, 0);
    if (isText) this.put(at + 16, ...this.text(literal));
    else this.#bytes.writeDoubleLE(Number(literal), at + 16 - TRANSFORM_IMAGE_AT);
    this.put(at + 24, reads.length);
    for (const [n, [name, rest]] of reads.entries()) this.put(at + 32 + 12 * n, indexOf(name), ...this.text(rest));
    return at;
  }
}
