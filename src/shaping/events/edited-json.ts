/**
 * The JSON text of a value that a step changed inside: unchanged parts keep their bytes, however deep (`1.10`, `1e400`, repeated keys,
 * spaces). Objects follow the rules of splice.ts; a list of another length is printed anew.
 */
import { writeJson } from '../../json/numbers.ts';
import { isObject, type JsonObject, type RowValue } from '../rows/values/value.ts';
import { itemsOf, Members } from '../../json/members.ts';
import { itemsPath } from '../rows/values/paths.ts';
import { type Edit, spliced } from '../../json/splice.ts';

/** The text of a value that has come from elsewhere in the event; undefined for any other. Paths have dots. */
export type PrintJson = (path: string, value: RowValue) => string | undefined;

const NOWHERE: PrintJson = () => undefined;

/** `bytes[from, to)` is the JSON text of `before`, found at `path`. */
export function editedJson(
  bytes: Buffer,
  from: number,
  to: number,
  before: RowValue | undefined,
  after: RowValue,
  path = '',
  print: PrintJson = NOWHERE,
): string {
  if (isSame(before, after)) return bytes.toString('utf8', from, to);
  const moved = print(path, after);
  if (moved !== undefined) return moved;
  if (isObject(before) && isObject(after)) return editedObject(bytes, from, before, after, path, print);
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length)
    return editedList(bytes, from, to, before, after, path, print);
  return writeJson(after);
}

/** A number that no double holds, such as `1e400`, is null once JavaScript printed it. */
const isSame = (before: RowValue | undefined, after: RowValue): boolean =>
  before === after || (after === null && typeof before === 'number' && !Number.isFinite(before));

function editedObject(
  bytes: Buffer,
  from: number,
  before: JsonObject,
  after: JsonObject,
  path: string,
  print: PrintJson,
): string {
  const members = new Members();
  members.scan(bytes, from);
  const lastOf = new Map<string, number>();
  for (let n = 0; n < members.count; n++) lastOf.set(members.nameOf(n), n);
  const changes = new Map<string, Edit>();
  for (const [name, n] of lastOf) {
    const value = Object.hasOwn(after, name) ? after[name] : undefined;
    changes.set(name, editOf(members, n, before[name], value, `${path}.${name}`, print));
  }
  const edits: Edit[] = [];
  for (let n = 0; n < members.count; n++) {
    const name = members.nameOf(n);
    const edit = changes.get(name)!;
    edits.push(edit);
    // For a repeated key the first place counts.
    if (typeof edit === 'object') changes.set(name, 'remove');
  }
  const added = Object.entries(after).flatMap(([name, value]) =>
    lastOf.has(name) ? [] : [[name, print(`${path}.${name}`, value) ?? writeJson(value)] as const],
  );
  return spliced(members, edits, added);
}

function editOf(
  { bytes, valueFrom, valueTo }: Members,
  n: number,
  before: RowValue | undefined,
  after: RowValue | undefined,
  path: string,
  print: PrintJson,
): Edit {
  if (after === undefined) return 'remove';
  if (isSame(before, after)) return 'keep';
  const [from, to] = [valueFrom[n]!, valueTo[n]!];
  const json = editedJson(bytes, from, to, before, after, path, print);
  return json === bytes.toString('utf8', from, to) ? 'keep' : { json };
}

function editedList(
  bytes: Buffer,
  from: number,
  to: number,
  before: readonly RowValue[],
  after: readonly RowValue[],
  path: string,
  print: PrintJson,
): string {
  let text = '';
  let at = from;
  for (const [n, item] of itemsOf(bytes, from).entries()) {
    text +=
      bytes.toString('utf8', at, item.from) +
      editedJson(bytes, item.from, item.to, before[n], after[n]!, itemsPath(path), print);
    at = item.to;
  }
  return text + bytes.toString('utf8', at, to);
}
