/** JSON in a message, by the rules of `parse_json`: after the cookie `@cee:`, or as the message itself. */

import { onOneLine } from '../../../json/edit.ts';

export type ParseJson = 'none' | 'cee' | 'all' | 'fields';

const BEFORE = /^(?: *(@cee:))?[ \t\r\n]*(?=\{)/;

/** The object's text for an event's line, digits and order as they were sent; undefined without one. */
export function jsonOf(message: string, which: ParseJson): string | undefined {
  if (which === 'none') return undefined;
  const before = BEFORE.exec(message);
  if (before === null || (which === 'cee' && before[1] === undefined)) return undefined;
  const text = message.slice(before[0].length).trimEnd();
  try {
    JSON.parse(text);
    // A line break between two members would end the event's line.
    return onOneLine(text);
  } catch {
    return undefined;
  }
}
