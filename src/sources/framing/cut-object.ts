/**
 * Which texts of a source may hold fields that only the whole text shows, as JSON objects do, and whether an event of such a text still
 * holds them as text: then none of them can be hidden.
 */
import type { LineConfig } from '../common/line-fields.ts';
import type { EventShape } from '../../core/block.ts';
import { hasObjectLine, mayBeginObject } from '../../core/bytes/object-text.ts';
import { parseExactObject } from '../../json/numbers.ts';
import type { EventFields } from '../../parsers/values/fields.ts';
import { locateField } from '../../parsers/values/field-location.ts';
import { beginsEvent, type MultilineRule } from '../../parsers/text/multiline.ts';
import { type TextEncoding, utf8 } from '../../parsers/text/encoding.ts';
import type { Pieces } from './line-format.ts';
import type { BeginsEvent, GoesOn } from './rests.ts';

export interface ObjectRules {
  /** As the shape has it. */
  readonly objects: EventShape['objects'];
  /** Whether a line that begins so, and is cut, may hold such fields; undefined where none does. */
  readonly mayBeginObject: ((head: string) => boolean) | undefined;
  /** Whether the line is a piece of a message that goes on; undefined where no message in pieces may be an object. */
  readonly goesOn: GoesOn | undefined;
  /** Whether a line begins an event of joined ones; undefined where none of them may be an object. */
  readonly begins: BeginsEvent | undefined;
  /** Somebody may hide fields of it: so it matters how files go on with each other. */
  readonly isFollowed: boolean;
  /** Whether the text is an object of its own, and so no rest of another one. */
  readonly isWhole: (text: string) => boolean;
  /** Whether the event, which a parser made of the text, holds fields that were not read; a string is an object's own text. */
  readonly isCut: (text: string, event: EventFields | string, isUnfinished: boolean) => boolean;
}

/** Formats whose lines are fields: cut, a line is a text that holds some of them. */
const FIELD_FORMATS: ReadonlySet<string> = new Set(['logfmt', 'csv', 'regex', 'combined']);
const isObjectText = (text: string): boolean => parseExactObject(text.trim()) !== undefined;

/** Of lines that are taken as they are. */
export const PLAIN_OBJECTS: ObjectRules = {
  objects: undefined,
  mayBeginObject: (head) => mayBeginObject(head),
  goesOn: undefined,
  begins: undefined,
  isFollowed: false,
  isWhole: isObjectText,
  isCut: () => false,
};

/** `rule`: of lines that are joined; `pieces`: of a format whose messages come in pieces. */
export function objectRules(
  { format, formats, types, parseJson, isShaped }: LineConfig,
  rule: MultilineRule | undefined,
  pieces: Pieces | undefined,
): ObjectRules {
  const isAmong = formats.some((each) => each.format === 'json');
  const isLine = formats.length > 0 ? isAmong : ['auto', 'json', 'docker'].includes(format);
  const values = isShaped ? Object.keys(types).filter((name) => types[name] === 'json') : [];
  const hasFields = [format, ...formats.map((each) => each.format)].some((each) => FIELD_FORMATS.has(each));
  const isUnreadFields = (text: string, event: EventFields | string, isUnfinished: boolean): boolean =>
    hasFields &&
    typeof event !== 'string' &&
    // Only an open quote joins rows, and a limit alone ends them before it is closed.
    (isUnfinished || Object.hasOwn(event, 'truncated') || (format === 'csv' && text.includes('\n'))) &&
    (Object.hasOwn(event, 'parse_error') || event['message'] === text);
  const hasUnread = (text: string, event: EventFields | string, isUnfinished: boolean): boolean =>
    isUnreadFields(text, event, isUnfinished) || (values.length > 0 && holdsCutValue(event, values));
  const prefix = format === 'cri' ? 'cri' : 'none';
  const isPlain = !isLine && !parseJson;
  const mayHoldFields = hasFields ? () => true : isPlain ? undefined : (head: string) => mayBeginObject(head, prefix);
  const isFollowed = isShaped && mayHoldFields !== undefined;
  const none = { goesOn: undefined, begins: undefined, isWhole: () => false };
  if (isPlain) return { ...none, objects: 'none', mayBeginObject: mayHoldFields, isFollowed, isCut: hasUnread };
  return {
    objects: format === 'cri' ? 'cri' : undefined,
    mayBeginObject: mayHoldFields,
    isFollowed,
    goesOn: pieces && isShaped ? goesOnBy(pieces, parseJson) : undefined,
    begins:
      rule && !pieces && isShaped
        ? (bytes, start, end, encoding) => beginsJoined(rule, bytes.subarray(start, end), encoding)
        : undefined,
    isWhole: pieces ? (text) => parseJson && isWholeMessage(pieces, text) : isObjectText,
    isCut(text, event, isUnfinished) {
      if (hasUnread(text, event, isUnfinished)) return true;
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

/** After a cut line, whose message may go on, the next one counts as going on. Texts go on after a cut alone. */
function goesOnBy({ readHead }: Pieces, parseJson: boolean): GoesOn {
  return (bytes, start, end, isUnread) => {
    const head = readHead(bytes, start, end);
    return head ? head.isPartial && (parseJson || isUnread) : isUnread;
  };
}

function isWholeMessage({ read }: Pieces, line: string): boolean {
  const found = read(line);
  return found !== undefined && !found.isPartial && isObjectText(found.content);
}

/** Whether a value that is to become JSON is still the text of an object. */
function holdsCutValue(event: EventFields | string, names: readonly string[]): boolean {
  const fields = typeof event === 'string' ? parseExactObject(event.trim()) : event;
  if (!fields) return false;
  return names.some((name) => {
    const place = locateField(fields, name);
    const value = place?.holder[place.key];
    return typeof value === 'string' && hasObjectLine(value);
  });
}

function beginsJoined(rule: MultilineRule, line: Buffer, encoding: TextEncoding): boolean {
  const text = encoding === utf8 ? line : Buffer.from(encoding.decode(line));
  return beginsEvent(rule, text, 0, text.length);
}
