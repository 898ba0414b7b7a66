/** Functions of arrays. Positions count from 0; where an argument is no array, the result is null. */
import { SERVICE_QUERY_MADE_ROWS } from '../../limits.ts';
import type { FunctionTable } from '../../function-spec.ts';

const MOST = SERVICE_QUERY_MADE_ROWS.toLocaleString('en-US');

export const ARRAYS = {
  array_length: { syntax: 'array_length(array)', doc: 'How many items the array has.', args: ['any'], returns: 'int' },
  len: { syntax: 'len(value)', doc: 'How many characters a text has, or how many items an array.', args: ['any'], returns: 'int' },
  isarray: { syntax: 'isarray(value)', doc: 'The value is an array.', args: ['any'], returns: 'bool' },
  pack_array: { syntax: 'pack_array(a, b, …)', doc: 'The values as an array.', args: ['any'], rest: 'any', returns: 'dynamic' },
  range: { syntax: 'range(1, 10, 2)', doc: `The values from the first up to the second, as an array of at most ${MOST}: numbers by 1 or the step, times by 1h or the step.`, args: ['any', 'any', 'any'], optional: 1, returns: 'dynamic' },
  array_concat: { syntax: 'array_concat(a, b, …)', doc: 'The items of the arrays one behind the other.', args: ['any'], rest: 'any', returns: 'dynamic' },
  array_slice: { syntax: 'array_slice(array, first, last)', doc: 'The items from the first to the last place, both included; below 0 they count from the end.', args: ['any', 'int', 'int'], returns: 'dynamic' },
  array_split: { syntax: 'array_split(array, dynamic([2, 4]))', doc: 'The array cut before these places, or before one, as an array of arrays; below 0 they count from the end.', args: ['any', 'any'], returns: 'dynamic' },
  array_sort_asc: { syntax: 'array_sort_asc(array)', doc: 'The items in ascending order: numbers, texts, truth values, the rest; null last.', args: ['any'], returns: 'dynamic' },
  array_sort_desc: { syntax: 'array_sort_desc(array)', doc: 'The items in descending order: numbers, texts, truth values, the rest; null last.', args: ['any'], returns: 'dynamic' },
  array_reverse: { syntax: 'array_reverse(array)', doc: 'The items in reverse order.', args: ['any'], returns: 'dynamic' },
  array_rotate_left: { syntax: 'array_rotate_left(array, count)', doc: 'The items that many places to the left; those that leave come back at the end.', args: ['any', 'int'], returns: 'dynamic' },
  array_rotate_right: { syntax: 'array_rotate_right(array, count)', doc: 'The items that many places to the right; those that leave come back at the start.', args: ['any', 'int'], returns: 'dynamic' },
  array_shift_left: { syntax: 'array_shift_left(array, count, default)', doc: 'The items that many places to the left, with null or the default behind them.', args: ['any', 'int', 'any'], optional: 1, returns: 'dynamic' },
  array_shift_right: { syntax: 'array_shift_right(array, count, default)', doc: 'The items that many places to the right, with null or the default before them.', args: ['any', 'int', 'any'], optional: 1, returns: 'dynamic' },
  array_index_of: { syntax: 'array_index_of(array, value, start)', doc: 'The place of the first item that equals the value, from the start on; -1 where there is none.', args: ['any', 'any', 'int'], optional: 1, returns: 'int' },
  array_iff: { aliases: ['array_iif'], syntax: 'array_iff(conditions, a, b)', doc: 'For each item of an array of truth values or numbers the item of a at its place where it is true or not 0, else that of b; a and b may be single values.', args: ['any', 'any', 'any'], returns: 'dynamic' },
  array_sum: { syntax: 'array_sum(array)', doc: 'The sum of the items; null where one is no number.', args: ['any'], returns: 'real' },
  array_select_dict: { syntax: "array_select_dict(array, 'key', value)", doc: 'The first item that is an object with that value under the key; null where there is none.', args: ['any', 'string', 'any'], returns: 'dynamic' },
  strcat_array: { syntax: "strcat_array(array, ',')", doc: 'The texts of the items with the delimiter between them; null counts as empty.', args: ['any', 'constant string'], returns: 'string' },
  zip: { syntax: 'zip(a, b, …)', doc: 'An array of the items at the same place of each, as arrays; null where one is shorter.', args: ['any', 'any'], rest: 'any', returns: 'dynamic' },
} satisfies FunctionTable; // prettier-ignore
