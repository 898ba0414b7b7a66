/** From one type to another. */
import type { FunctionTable } from '../../function-spec.ts';

export const CONVERSIONS = {
  toint: { aliases: ['tolong'], syntax: 'toint(value)', doc: 'The value as an integer: floats lose their fraction, times are ns since 1970, timespans ns; null where a text is none.', args: ['any'], returns: 'int', keepsName: true },
  todouble: { aliases: ['toreal'], syntax: 'todouble(value)', doc: 'The value as a float; null where a text is none.', args: ['any'], returns: 'real', keepsName: true },
  tobool: { aliases: ['toboolean'], syntax: 'tobool(value)', doc: 'The value as a truth value: numbers that are not 0, the texts 1, t, true, 0, f, false.', args: ['any'], returns: 'bool', keepsName: true },
  todatetime: { syntax: 'todatetime(value)', doc: 'The value as a time: texts of ISO 8601 and its relatives, numbers as ns since 1970.', args: ['any'], returns: 'datetime', keepsName: true },
  totimespan: { aliases: ['totime'], syntax: 'totimespan(value)', doc: 'The value as a timespan: texts such as 1h30m, numbers as ns.', args: ['any'], returns: 'timespan', keepsName: true },
  tostring: { syntax: 'tostring(value)', doc: 'The value as text; null becomes the empty text.', args: ['any'], returns: 'string', keepsName: true },
  parse_json: { aliases: ['todynamic'], syntax: 'parse_json(text)', doc: 'What the JSON text says, null when it is none.', args: ['any'], returns: 'dynamic' },
  dynamic_to_json: { syntax: 'dynamic_to_json(value)', doc: 'The value as JSON text.', args: ['any'], returns: 'string' },
  gettype: { syntax: 'gettype(value)', doc: 'The type of the value: string, long, real, bool, datetime, timespan, array, dictionary or null.', args: ['any'], returns: 'string' },
} satisfies FunctionTable; // prettier-ignore
