/**
 * The JSON text of a value that a step changed inside: what did not change keeps its bytes, however deep it is (`1.10`, `1e400`, keys that stand there twice,
 * spaces). In objects by the rules of splice.ts; a list of another length is printed anew.
 */
import { writeJson } from '../../json/numbers.ts';
import { isObject, type JsonObject, type Value } from '../rows/values/value.ts';
import { itemsOf, Members } from '../../json/members.ts';
import { type Edit, spliced } from '../../json/splice.ts';

/** `bytes[from, to)` is JSON text that says `before`. */
export function editedJson(bytes: Buffer, from: number, to: number, before: Value | undefined, after: Value): string {
  if (isSame(before, after)) return bytes.toString('utf8', from, to);
  if (isObject(before) && isObject(after)) return editedObject(bytes, from, before, after);
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length) return editedList(bytes, from, to, before, after);
  return writeJson(after);
}

/** A number that no double holds, such as `1e400`, is null once JavaScript printed it. */
const isSame = (before: Value | undefined, after: Value): boolean =>
  before === after || (after === null && typeof before === 'number' && !Number.isFinite(before));

function editedObject(bytes: Buffer, from: number, before: JsonObject, after: JsonObject): string {
  const members = new Members();
  members.scan(bytes, from);
  const lastOf = new Map<string, number>();
  for (let n = 0; n < members.count; n++) lastOf.set(members.nameOf(n), n);
  const changes = new Map<string, Edit>();
  for (const [name, n] of lastOf) changes.set(name, editOf(members, n, before[name], Object.hasOwn(after, name) ? after[name] : undefined));
  const edits: Edit[] = [];
  for (let n = 0; n < members.count; n++) {
    const name = members.nameOf(n);
    const edit = changes.get(name)!;
    edits.push(edit);
    // Of a key that stands there several times the first place counts.
    if (typeof edit === 'object') changes.set(name, 'remove');
  }
  const added = Object.entries(after).flatMap(([name, value]) => (lastOf.has(name) ? [] : [[name, writeJson(value)] as const]));
  return spliced(members, edits, added);
}

function editOf({ bytes, valueFrom, valueTo }: Members, n: number, before: Value | undefined, after: Value | undefined): Edit {
  if (after === undefined) return 'remove';
  if (isSame(before, after)) return 'keep';
  const [from, to] = [valueFrom[n]!, valueTo[n]!];
  const json = editedJson(bytes, from, to, before, after);
  return json === bytes.toString('utf8', from, to) ? 'keep' : { json };
}

function editedList(bytes: Buffer, from: number, to: number, before: readonly Value[], after: readonly Value[]): string {
  let text = '';
  let at = from;
  for (const [n, item] of itemsOf(bytes, from).entries()) {
    text += bytes.toString('utf8', at, item.from) + editedJson(bytes, item.from, item.to, before[n], after[n]!);
    at = item.to;
  }
  return text + bytes.toString('utf8', at, to);
}
