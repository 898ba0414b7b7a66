/** The fields of one event under construction. */
import type { JsonValue } from '../../core/block.ts';

export type EventFields = Record<string, JsonValue>;

/** Values that could not be converted to their type. `SourceStats` has these. */
export interface ValueErrors {
  timeErrors?: number;
  typeErrors?: number;
}

/** The event of a text that cannot be parsed. */
export function unparsed(text: string, reason: string): EventFields {
  return { message: text, parse_error: reason };
}

/** An object for keys that come from outside: none of them has a meaning of its own. */
export function emptyFields(): EventFields {
  return Object.create(null) as EventFields;
}

/** Adds a value; a name that comes again gets a list. */
export function addField(fields: EventFields, name: string, value: JsonValue): void {
  const before = fields[name];
  if (before === undefined) fields[name] = value;
  else if (Array.isArray(before)) before.push(value);
  else fields[name] = [before, value];
}
