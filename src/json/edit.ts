/** Edits the text of a JSON object: values that changed are printed anew, or go with their comma; every other byte stays. */
import type { EventFields } from '../values/fields.ts';

/** The text in `[from, to)` gives way to `by`. */
interface Cut {
  readonly from: number;
  readonly to: number;
  readonly by: string;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const SPACE = 0x20;
const COMMA = 0x2c;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const NONE: readonly (readonly string[])[] = [];

/**
 * `event` is what the valid text says, but for values that were changed or removed since; `changed` has the keys that lead to each of
 * them. Of a key that stands there several times the first place counts, the others go.
 */
export function editJson(text: string, event: EventFields, changed: readonly (readonly string[])[]): string {
  const cuts: Cut[] = [];
  cutObject(text, text.indexOf('{'), event, changed, cuts);
  let edited = '';
  let at = 0;
  for (const { from, to, by } of cuts) {
    edited += text.slice(at, from) + by;
    at = to;
  }
  return edited + text.slice(at);
}

/** Finds the cuts in the object that begins at `open`. */
function cutObject(text: string, open: number, object: EventFields, changed: readonly (readonly string[])[], cuts: Cut[]): void {
  const printed = new Set<string>();
  /** Behind the value before. */
  let before = open + 1;
  /** Where the first member begins, while every one so far goes. */
  let goesFrom = -1;
  let staysAny = false;
  for (let at = skipSpaces(text, open + 1); text[at] !== '}';) {
    const nameFrom = at;
    at = stringEnd(text, at);
    const valueFrom = skipSpaces(text, skipSpaces(text, at) + 1);
    const valueTo = valueEnd(text, valueFrom);
    const name = headNamed(text, nameFrom, at, changed);
    const edits = name === undefined ? NONE : changed.filter(([head]) => head === name);
    const isChanged = edits.some(({ length }) => length === 1);
    const goes = name !== undefined && isChanged && (printed.has(name) || !Object.hasOwn(object, name));
    if (goes && staysAny) cuts.push({ from: before, to: valueTo, by: '' });
    else if (goes && goesFrom < 0) goesFrom = nameFrom;
    if (!goes) {
      if (goesFrom >= 0) cuts.push({ from: goesFrom, to: nameFrom, by: '' });
      goesFrom = -1;
      staysAny = true;
      if (name !== undefined && isChanged) {
        cuts.push({ from: valueFrom, to: valueTo, by: JSON.stringify(object[name]) });
        printed.add(name);
      } else if (name !== undefined && text[valueFrom] === '{') {
        const rests = edits.map((keys) => keys.slice(1));
        cutObject(text, valueFrom, object[name] as EventFields, rests, cuts);
      }
    }
    before = valueTo;
    at = skipSpaces(text, valueTo);
    if (text[at] === ',') at = skipSpaces(text, at + 1);
  }
  if (goesFrom >= 0) cuts.push({ from: goesFrom, to: before, by: '' });
}

/** A member of an object, with its bytes: `json` is key, colon and value, on one line. */
export interface RawMember {
  readonly name: string;
  readonly json: string;
}

/** The members of the valid object that the text is, in their order; a key that stands there twice is there twice. */
export function rawMembers(text: string): RawMember[] {
  const members: RawMember[] = [];
  for (let at = skipSpaces(text, text.indexOf('{') + 1); text[at] !== '}';) {
    const keyTo = stringEnd(text, at);
    const key = text.slice(at, keyTo);
    const valueFrom = skipSpaces(text, skipSpaces(text, keyTo) + 1);
    const valueTo = valueEnd(text, valueFrom);
    const name = key.includes('\\') ? (JSON.parse(key) as string) : key.slice(1, -1);
    members.push({ name, json: `${key}:${onOneLine(text.slice(valueFrom, valueTo))}` });
    at = skipSpaces(text, valueTo);
    if (text[at] === ',') at = skipSpaces(text, at + 1);
  }
  return members;
}

/** Valid JSON without line breaks, which stand between its parts alone. */
export const onOneLine = (json: string): string => json.replaceAll(/[\r\n]/g, ' ');

/** Which of the first keys the string in its quotes says, if any. */
function headNamed(text: string, from: number, to: number, changed: readonly (readonly string[])[]): string | undefined {
  for (let at = from; at < to; at++) {
    if (text.charCodeAt(at) !== BACKSLASH) continue;
    const name = JSON.parse(text.slice(from, to)) as string;
    return changed.find(([head]) => head === name)?.[0];
  }
  for (const [head] of changed) if (head!.length === to - from - 2 && text.startsWith(head!, from + 1)) return head;
  return undefined;
}

/** Behind the closing quote of the string that begins at `at`. */
function stringEnd(text: string, at: number): number {
  for (at += 1; ; at += 1) {
    const char = text.charCodeAt(at);
    if (char === QUOTE) return at + 1;
    if (char === BACKSLASH) at += 1;
  }
}

function skipSpaces(text: string, at: number): number {
  while (text.charCodeAt(at) <= SPACE) at += 1;
  return at;
}

function valueEnd(text: string, at: number): number {
  const first = text.charCodeAt(at);
  if (first === QUOTE) return stringEnd(text, at);
  if (first === OPEN_OBJECT || first === OPEN_LIST) return nestedEnd(text, at);
  for (;;) {
    const char = text.charCodeAt(at);
    if (char === COMMA || char === CLOSE_OBJECT || char === CLOSE_LIST || char <= SPACE) return at;
    at += 1;
  }
}

function nestedEnd(text: string, at: number): number {
  let depth = 0;
  for (;;) {
    const char = text.charCodeAt(at);
    at = char === QUOTE ? stringEnd(text, at) : at + 1;
    if (char === OPEN_OBJECT || char === OPEN_LIST) depth += 1;
    else if ((char === CLOSE_OBJECT || char === CLOSE_LIST) && --depth === 0) return at;
  }
}
