/** What becomes of the lines of one group: one event with the fields of all of them. */
import { parseExactObject } from '../../../json/numbers.ts';
import type { LineParser } from '../../../parsers/formats/line-parser.ts';
import { emptyFields, type EventFields } from '../../../parsers/values/fields.ts';
import type { GroupRule } from '../group-rule.ts';
import type { JoinedEvent } from '../made-events.ts';
import type { GroupRecord } from './group-table.ts';

export interface ParsedLine extends GroupRecord {
  readonly fields: readonly EventFields[];
  readonly isUnread: boolean;
}

export function parseLine(
  parser: LineParser,
  rule: GroupRule,
  text: string,
  readAtMs: number,
  isUnread: boolean,
): ParsedLine {
  const fields = parser.parse(text, readAtMs).map((event) => (typeof event === 'string' ? fieldsOf(event) : event));
  return { text, fields, isUnread, timeMs: rule.timeOf(fields[0] ?? emptyFields(), text, readAtMs) };
}

/** The first record that has a name wins; `type` is the list of all; the message is the lines. */
export function joinLines(records: readonly ParsedLine[]): Pick<JoinedEvent, 'text' | 'fields' | 'isUnread'> {
  const merged = emptyFields();
  const types: EventFields[string][] = [];
  for (const fields of records.flatMap((record) => record.fields)) {
    for (const [name, value] of Object.entries(fields)) {
      if (name === 'type') types.push(value);
      if (name !== 'message' && !Object.hasOwn(merged, name)) merged[name] = value;
    }
  }
  if (types.length > 0) merged['type'] = types;
  const text = records.map((record) => record.text).join('\n');
  merged['message'] = text;
  return { text, fields: merged, isUnread: records.some(({ isUnread }) => isUnread) };
}

/** Of a line that was read as JSON, or as it is. */
function fieldsOf(text: string): EventFields {
  return (text.trimStart().startsWith('{') ? parseExactObject(text.trim()) : undefined) ?? { message: text };
}
