/** From one type to another. */
import type { FunctionTable } from '../../function-spec.ts';

export const CONVERSIONS = {
  toint: { aliases: ['tolong'], syntax: 'toint(value)', doc: 'Converts to an integer: floats lose their fraction, datetimes become ns since 1970, timespans ns; texts may be hexadecimal, such as 0xff. Null if a text holds no integer.', args: ['any'], returns: 'int', keepsName: true },
  todouble: { aliases: ['toreal'], syntax: 'todouble(value)', doc: 'Converts to a float. Null if a text holds no number.', args: ['any'], returns: 'real', keepsName: true },
  tobool: { aliases: ['toboolean'], syntax: 'tobool(value)', doc: 'Converts to a truth value: numbers are true unless 0; of texts 1, t, true and yes are true, 0, f, false and no are false.', args: ['any'], returns: 'bool', keepsName: true },
  todatetime: { syntax: 'todatetime(value)', doc: 'Converts to a datetime: texts in ISO 8601 and similar forms, numbers as ns since 1970.', args: ['any'], returns: 'datetime', keepsName: true },
  totimespan: { aliases: ['totime'], syntax: 'totimespan(value)', doc: 'Converts to a timespan: texts such as 1h30m, numbers as ns.', args: ['any'], returns: 'timespan', keepsName: true },
  tostring: { syntax: 'tostring(value)', doc: 'Converts to text; null becomes an empty text.', args: ['any'], returns: 'string', keepsName: true },
  parse_json: { syntax: 'parse_json(text)', doc: 'Parses JSON text; text that is no JSON stays as it is.', args: ['any'], returns: 'dynamic' },
  todynamic: { syntax: 'todynamic(text)', doc: 'Parses JSON text; null if it is invalid.', args: ['any'], returns: 'dynamic' },
  dynamic_to_json: { syntax: 'dynamic_to_json(value)', doc: 'Writes the value as JSON text.', args: ['any'], returns: 'string' },
  gettype: { syntax: 'gettype(value)', doc: 'Returns the type of the value: string, long, real, bool, datetime, timespan, array, dictionary or null.', args: ['any'], returns: 'string' },
} satisfies FunctionTable; // prettier-ignore
