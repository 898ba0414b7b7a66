/** Null checks and conditionals. */
import type { FunctionTable } from '../../function-spec.ts';
import { branches, cases, commonType } from '../../result-types.ts';

export const CONDITIONALS = {
  iff: { aliases: ['iif'], syntax: 'iff(condition, a, b)', doc: 'Returns a if the condition is true, else b.', args: ['bool', 'any', 'any'], returns: branches },
  case: { syntax: 'case(condition, a, …, b)', doc: 'Returns the value behind the first condition that is true, else the last value.', args: ['bool', 'any', 'any'], rest: 'any', returns: cases },
  coalesce: { syntax: 'coalesce(a, b, …)', doc: 'Returns the first value that is neither null nor an empty text.', args: ['any'], rest: 'any', returns: commonType },
  column_ifexists: { syntax: "column_ifexists('name', default)", doc: 'Returns the field of that name, or the default if no event of the dataset ever had it; in a transform, if the event does not have it.', args: ['constant string', 'any'], returns: commonType, keepsName: true },
  ensure_field: { syntax: "ensure_field('name', typeof(string))", doc: 'Returns the field of that name, or null of that type if no event of the dataset ever had it.', args: ['constant string', 'constant'], returns: commonType, keepsName: true },
  isnull: { syntax: 'isnull(value)', doc: 'True if the value is null.', args: ['any'], returns: 'bool' },
  isnotnull: { syntax: 'isnotnull(value)', doc: 'True if the value is not null.', args: ['any'], returns: 'bool' },
  isempty: { syntax: 'isempty(value)', doc: 'True if the value is null or an empty text.', args: ['any'], returns: 'bool' },
  isnotempty: { syntax: 'isnotempty(value)', doc: 'True if the value is neither null nor an empty text.', args: ['any'], returns: 'bool' },
  isbool: { syntax: 'isbool(value)', doc: 'True if the value is a truth value.', args: ['any'], returns: 'bool' },
  isstring: { syntax: 'isstring(value)', doc: 'True if the value is a text.', args: ['any'], returns: 'bool' },
  isreal: { syntax: 'isreal(value)', doc: 'True if the value is a float.', args: ['any'], returns: 'bool' },
  not: { syntax: 'not(condition)', doc: 'Negates a condition.', args: ['bool'], returns: 'bool' },
} satisfies FunctionTable; // prettier-ignore
