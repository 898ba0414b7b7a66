/** Which texts of a source may be JSON objects, and whether what was made of one still holds the object as text: then no field in it can be hidden. */
import type { LineConfig } from '../../config/model.ts';
import type { EventShape, JsonValue } from '../../core/block.ts';
import { hasObjectLine, mayBeginObject } from '../../core/bytes/object-text.ts';
import type { ReadLineHead } from '../../parsers/formats/container-line.ts';
import { parseExactObject } from '../../json/numbers.ts';
import type { GoesOn } from './rests.ts';

export interface ObjectRules {
  /** As the shape has it. */
  readonly objects: EventShape['objects'];
  readonly mayBeginObject: ((head: string) => boolean) | undefined;
  /** Whether the line is a piece of a message that goes on; undefined where no message in pieces may be an object. */
  readonly goesOn: GoesOn | undefined;
  /** Whether the event, which a parser made of the text, holds an object that was not read. */
  readonly isCut: (text: string, event: Readonly<Record<string, JsonValue>>) => boolean;
}

export function objectRules({ format, formats, parseJson, isShaped }: LineConfig, readHead: ReadLineHead | undefined): ObjectRules {
  const isLine = formats.length > 0 ? formats.some((each) => each.format === 'json') : ['auto', 'json', 'docker'].includes(format);
  if (!isLine && !parseJson) return { objects: 'none', mayBeginObject: undefined, goesOn: undefined, isCut: () => false };
  const prefix = format === 'cri' ? 'cri' : 'none';
  return {
    objects: format === 'cri' ? 'cri' : undefined,
    mayBeginObject: (head) => mayBeginObject(head, prefix),
    goesOn: readHead && parseJson && isShaped ? (bytes, start, end) => readHead(bytes, start, end)?.isPartial === true : undefined,
    isCut(text, event) {
      const { message } = event;
      if (typeof message !== 'string' || !hasObjectLine(message, prefix)) return false;
      if (Object.hasOwn(event, 'parse_error') || Object.hasOwn(event, 'truncated')) return true;
      return parseJson ? parseExactObject(message.trim()) === undefined : message === text;
    },
  };
}
