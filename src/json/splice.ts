/**
 * Writes an event anew: members that were not changed are copied with the bytes between them, the others printed. By this rule
 * every way of shaping writes events, so all of them agree byte for byte:
 *
 * - A changed member keeps its key's bytes and its place. Of a repeated key the first place counts and the
 *   others go, unless nothing about it changes.
 * - A removed member goes with the comma and the spaces before it.
 * - New members follow the others, before the closing brace.
 */
import { ByteWriter } from '../core/bytes/byte-writer.ts';
import type { Members } from './members.ts';

/** The edit of a member: it stays as it is, goes, or gets this JSON text as its value. */
export type Edit = 'keep' | 'remove' | { readonly json: string };

const OPEN = 0x7b;
const CLOSE = 0x7d;
const COMMA = 0x2c;
const NEWLINE = 0x0a;

const inner = new ByteWriter();

/** The text of an object with these edits. */
export function spliced(
  members: Members,
  edits: readonly Edit[],
  added: Iterable<readonly [string, string]> = [],
): string {
  inner.clear();
  writeSpliced(inner, members, edits, added);
  return inner.bytes.toString('utf8');
}

/** Writes the object as a line: with a newline. */
export function writeSplicedLine(
  out: ByteWriter,
  members: Members,
  edits: readonly Edit[],
  added: Iterable<readonly [string, string]>,
): void {
  writeSpliced(out, members, edits, added);
  out.byte(NEWLINE);
}

/** Writes the object. `edits` by member; `added` are names with JSON text. */
export function writeSpliced(
  out: ByteWriter,
  members: Members,
  edits: readonly Edit[],
  added: Iterable<readonly [string, string]>,
): void {
  const { bytes, keyFrom, valueFrom, valueTo, count, close } = members;
  out.byte(OPEN);
  let isEmpty = true;
  /** The start of the next copy, which takes neighbours that stay in one piece; negative after a removed member. */
  let from = -1;
  for (let n = 0; n < count; n++) {
    const edit = edits[n]!;
    if (edit === 'remove') {
      if (from >= 0) out.copy(bytes, from, valueTo[n - 1]!);
      from = -1;
      continue;
    }
    if (isEmpty) out.copy(bytes, members.from + 1, keyFrom[0]!);
    if (from < 0) from = isEmpty ? keyFrom[n]! : valueTo[n - 1]!;
    isEmpty = false;
    if (edit === 'keep') continue;
    out.copy(bytes, from, valueFrom[n]!);
    out.text(edit.json);
    from = valueTo[n]!;
  }
  if (!isEmpty) out.copy(bytes, from < 0 ? valueTo[count - 1]! : from, close);
  for (const [name, json] of added) {
    if (!isEmpty) out.byte(COMMA);
    isEmpty = false;
    out.text(`${JSON.stringify(name)}:${json}`);
  }
  out.byte(CLOSE);
}
