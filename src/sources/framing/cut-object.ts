/** Which texts of a source may be JSON objects, and whether what was made of one still holds the object as text: then no field in it can be hidden. */
import type { LineConfig } from '../../config/model.ts';
import type { EventShape } from '../../core/block.ts';
import { hasObjectLine, mayBeginObject } from '../../core/bytes/object-text.ts';
import type { ReadLineHead } from '../../parsers/formats/container-line.ts';
import { parseExactObject } from '../../json/numbers.ts';
import type { EventFields } from '../../parsers/values/fields.ts';
import { placeOf } from '../../parsers/values/place.ts';
import { beginsEvent, type MultilineRule } from '../../parsers/text/multiline.ts';
import { type Encoding, utf8 } from '../../parsers/text/encoding.ts';
import type { BeginsEvent, GoesOn } from './rests.ts';

export interface ObjectRules {
  /** As the shape has it. */
  readonly objects: EventShape['objects'];
  readonly mayBeginObject: ((head: string) => boolean) | undefined;
  /** Whether the line is a piece of a message that goes on; undefined where no message in pieces may be an object. */
  readonly goesOn: GoesOn | undefined;
  /** Whether a line begins an event of joined ones; undefined where none of them may be an object. */
  readonly begins: BeginsEvent | undefined;
  /** Whether the event, which a parser made of the text, holds an object that was not read; a string is an object's own text. */
  readonly isCut: (text: string, event: EventFields | string) => boolean;
}

/** `rule`: of lines that are joined; `readHead`: of a format whose messages come in pieces. */
export function objectRules(
  { format, formats, types, parseJson, isShaped }: LineConfig,
  rule: MultilineRule | undefined,
  readHead: ReadLineHead | undefined,
): ObjectRules {
  const isAmong = formats.some((each) => each.format === 'json');
  const isLine = formats.length > 0 ? isAmong : ['auto', 'json', 'docker'].includes(format);
  const values = isShaped ? Object.keys(types).filter((name) => types[name] === 'json') : [];
  const hasCutValue = (event: EventFields | string): boolean => values.length > 0 && holdsCutValue(event, values);
  if (!isLine && !parseJson)
    return { objects: 'none', mayBeginObject: undefined, goesOn: undefined, begins: undefined, isCut: (_, event) => hasCutValue(event) };
  const prefix = format === 'cri' ? 'cri' : 'none';
  return {
    objects: format === 'cri' ? 'cri' : undefined,
    mayBeginObject: (head) => mayBeginObject(head, prefix),
    goesOn: readHead && parseJson && isShaped ? (bytes, start, end) => readHead(bytes, start, end)?.isPartial === true : undefined,
    begins:
      rule && !readHead && isShaped ? (bytes, start, end, encoding) => beginsJoined(rule, bytes.subarray(start, end), encoding) : undefined,
    isCut(text, event) {
      if (hasCutValue(event)) return true;
      if (typeof event === 'string') return false;
      // Another of the formats took the object's text into its fields.
      if (isAmong && hasObjectLine(text) && parseExactObject(text.trim()) === undefined) return true;
      const { message } = event;
      if (typeof message !== 'string' || !hasObjectLine(message, prefix)) return false;
      if (Object.hasOwn(event, 'parse_error') || Object.hasOwn(event, 'truncated')) return true;
      return parseJson ? parseExactObject(message.trim()) === undefined : message === text;
    },
  };
}

/** Whether a value that is to become JSON is still the text of an object. */
function holdsCutValue(event: EventFields | string, names: readonly string[]): boolean {
  const fields = typeof event === 'string' ? parseExactObject(event.trim()) : event;
  if (!fields) return false;
  return names.some((name) => {
    const place = placeOf(fields, name);
    const value = place?.holder[place.key];
    return typeof value === 'string' && hasObjectLine(value);
  });
}

function beginsJoined(rule: MultilineRule, line: Buffer, encoding: Encoding): boolean {
  const text = encoding === utf8 ? line : Buffer.from(encoding.decode(line));
  return beginsEvent(rule, text, 0, text.length);
}
