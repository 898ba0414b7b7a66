/** JSON in a message (`… INFO {"a":1}`): its members become fields, which overwrite nothing. */
import { parseExactObject } from './exact-json.ts';
import { emptyFields, type EventFields } from './fields.ts';

/** Places in a message where an object may begin that are tried. */
const MAX_TRIES = 4;

/** The event with the members of the object that its message is, or ends in; `isTaken` names the keys that others give it. */
export function withMessageJson(event: EventFields, isTaken: (key: string) => boolean): EventFields {
  const { message } = event;
  const found = typeof message === 'string' ? objectAtEnd(message.trim()) : undefined;
  if (!found) return event;
  const fields = Object.assign(emptyFields(), event);
  for (const [key, value] of Object.entries(found)) if (!Object.hasOwn(event, key) && !isTaken(key)) fields[key] = value;
  return fields;
}

function objectAtEnd(text: string): EventFields | undefined {
  if (!text.endsWith('}')) return undefined;
  let at = text.indexOf('{');
  for (let tries = 0; at !== -1 && tries < MAX_TRIES; at = text.indexOf('{', at + 1)) {
    if (at > 0 && !/[\s:=\]]/.test(text[at - 1]!)) continue;
    const found = parseExactObject(text.slice(at));
    if (found) return found;
    tries += 1;
  }
  return undefined;
}
