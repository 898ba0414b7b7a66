/** From one type to another, what is there and what is not, and choosing between values. */
import { branches, cases, commonType } from './result-types.ts';
import type { FunctionTable } from './spec.ts';

export const CONDITIONALS = {
  iff: { aliases: ['iif'], syntax: 'iff(condition, a, b)', doc: 'a where the condition is true, else b.', args: ['bool', 'any', 'any'], returns: branches },
  case: { syntax: 'case(condition, a, …, b)', doc: 'The result of the first condition that is true, else the last one.', args: ['bool', 'any', 'any'], rest: 'any', returns: cases },
  coalesce: { syntax: 'coalesce(a, b, …)', doc: 'The first value that is there and no empty text.', args: ['any'], rest: 'any', returns: commonType },
  column_ifexists: { syntax: "column_ifexists('name', default)", doc: 'The field of that name, or the default where no event of the dataset ever had it; in a transform where the event does not have it.', args: ['constant string', 'any'], returns: commonType, keepsName: true },
  isnull: { syntax: 'isnull(value)', doc: 'There is no value.', args: ['any'], returns: 'bool' },
  isnotnull: { syntax: 'isnotnull(value)', doc: 'There is a value.', args: ['any'], returns: 'bool' },
  isempty: { syntax: 'isempty(value)', doc: 'There is no value, or an empty text.', args: ['any'], returns: 'bool' },
  isnotempty: { syntax: 'isnotempty(value)', doc: 'There is a value other than the empty text.', args: ['any'], returns: 'bool' },
  isbool: { syntax: 'isbool(value)', doc: 'The value is a truth value.', args: ['any'], returns: 'bool' },
  isstring: { syntax: 'isstring(value)', doc: 'The value is a text.', args: ['any'], returns: 'bool' },
  isreal: { syntax: 'isreal(value)', doc: 'The value is a float.', args: ['any'], returns: 'bool' },
  not: { syntax: 'not(condition)', doc: 'True where the condition is false.', args: ['bool'], returns: 'bool' },
} satisfies FunctionTable; // prettier-ignore

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
