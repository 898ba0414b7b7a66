/** What is there and what is not, and choosing between values. */
import type { FunctionTable } from '../../function-spec.ts';
import { branches, cases, commonType } from '../../result-types.ts';

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
