/** Edits the text of a JSON object: values that changed are printed anew, or go with their comma; every other byte stays. */
import type { JsonValue } from '../core/block.ts';
import { Members } from './members.ts';
import { type Edit, spliced } from './splice.ts';

const OPEN_OBJECT = 0x7b;

type Fields = Readonly<Record<string, JsonValue>>;
type KeyPath = readonly string[];

/**
 * `object` has the values of the valid text, except for those changed or removed since; `changed` has the keys that lead to each of them.
 * Of a repeated key the first place counts, the others go.
 */
export function editJson(text: string, object: Fields, changed: readonly KeyPath[]): string {
  const members = membersOf(text);
  const { bytes, from, close } = members;
  return bytes.toString('utf8', 0, from) + edited(members, object, changed) + bytes.toString('utf8', close + 1);
}

function edited(members: Members, object: Fields, changed: readonly KeyPath[]): string {
  const printed = new Set<string>();
  const edits = Array.from({ length: members.count }, (_, n): Edit => {
    const name = members.nameOf(n);
    const keys = changed.filter(([first]) => first === name);
    if (keys.some(({ length }) => length === 1)) {
      if (printed.has(name) || !Object.hasOwn(object, name)) return 'remove';
      printed.add(name);
      return { json: JSON.stringify(object[name]) };
    }
    if (keys.length === 0 || members.bytes[members.valueFrom[n]!] !== OPEN_OBJECT) return 'keep';
    const inside = new Members();
    inside.scan(members.bytes, members.valueFrom[n]!);
    const rests = keys.map((each) => each.slice(1));
    return { json: edited(inside, object[name] as Fields, rests) };
  });
  const { bytes, from, close } = members;
  return edits.every((edit) => edit === 'keep') ? bytes.toString('utf8', from, close + 1) : spliced(members, edits);
}

/** A member of an object, with its bytes: `json` is key, colon and value, on one line. */
export interface RawMember {
  readonly name: string;
  readonly json: string;
}

/** The members of the valid object in the text, in their order, repeated keys included. */
export function rawMembers(text: string): RawMember[] {
  const members = membersOf(text);
  const { bytes, keyFrom, keyTo, valueFrom, valueTo } = members;
  return Array.from({ length: members.count }, (_, n) => ({
    name: members.nameOf(n),
    json: `${bytes.toString('utf8', keyFrom[n], keyTo[n])}:${onOneLine(bytes.toString('utf8', valueFrom[n], valueTo[n]))}`,
  }));
}

/** Valid JSON without line breaks, which occur only between its parts. */
export const onOneLine = (json: string): string => json.replaceAll(/[\r\n]/g, ' ');

function membersOf(text: string): Members {
  const bytes = Buffer.from(text);
  const members = new Members();
  members.scan(bytes, bytes.indexOf('{'));
  return members;
}
