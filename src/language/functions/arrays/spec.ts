/** Functions of arrays. Positions count from 0; where an argument is no array, the result is null. */
import { SERVICE_QUERY_MADE_ROWS } from '../../limits.ts';
import type { FunctionTable } from '../../function-spec.ts';

const MOST = SERVICE_QUERY_MADE_ROWS.toLocaleString('en-US');

export const ARRAYS = {
  array_length: { syntax: 'array_length(array)', doc: 'Counts the items of the array.', args: ['any'], returns: 'int' },
  len: { syntax: 'len(value)', doc: 'Counts the characters of a text or the items of an array.', args: ['any'], returns: 'int' },
  isarray: { syntax: 'isarray(value)', doc: 'True if the value is an array.', args: ['any'], returns: 'bool' },
  pack_array: { syntax: 'pack_array(a, b, …)', columns: true, doc: 'Makes an array of the values, with `*` of all columns, in queries only.', args: ['any'], rest: 'any', returns: 'dynamic' },
  range: { syntax: 'range(1, 10, 2)', doc: `Makes an array of the values from the first to the second, at most ${MOST}: numbers in steps of 1, times in steps of 1h, or of the given step.`, args: ['any', 'any', 'any'], optional: 1, returns: 'dynamic' },
  array_concat: { syntax: 'array_concat(a, b, …)', doc: 'Joins arrays.', args: ['any'], rest: 'any', returns: 'dynamic' },
  array_slice: { syntax: 'array_slice(array, first, last)', doc: 'Returns the items from the first to the last position, both included; negative positions count from the end.', args: ['any', 'int', 'int'], returns: 'dynamic' },
  array_split: { syntax: 'array_split(array, dynamic([2, 4]))', doc: 'Splits the array before these positions, or before one, into an array of arrays; negative positions count from the end.', args: ['any', 'any'], returns: 'dynamic' },
  array_sort_asc: { syntax: 'array_sort_asc(array)', doc: 'Sorts the items in ascending order: numbers, texts, truth values, the rest; nulls last. Returns an empty array for anything but an array.', args: ['any'], returns: 'dynamic' },
  array_sort_desc: { syntax: 'array_sort_desc(array)', doc: 'Sorts the items in descending order: numbers, texts, truth values, the rest; nulls last. Returns an empty array for anything but an array.', args: ['any'], returns: 'dynamic' },
  array_reverse: { syntax: 'array_reverse(array)', doc: 'Reverses the order of the items.', args: ['any'], returns: 'dynamic' },
  array_rotate_left: { syntax: 'array_rotate_left(array, count)', doc: 'Moves the items that many positions to the left; those that leave come back at the end.', args: ['any', 'int'], returns: 'dynamic' },
  array_rotate_right: { syntax: 'array_rotate_right(array, count)', doc: 'Moves the items that many positions to the right; those that leave come back at the start.', args: ['any', 'int'], returns: 'dynamic' },
  array_shift_left: { syntax: 'array_shift_left(array, count, default)', doc: 'Moves the items that many positions to the left and fills the end with the default, or null.', args: ['any', 'int', 'any'], optional: 1, returns: 'dynamic' },
  array_shift_right: { syntax: 'array_shift_right(array, count, default)', doc: 'Moves the items that many positions to the right and fills the start with the default, or null.', args: ['any', 'int', 'any'], optional: 1, returns: 'dynamic' },
  array_index_of: { syntax: 'array_index_of(array, value, start)', doc: 'Finds the first item that equals the value, from start on, and returns its position; -1 if there is none.', args: ['any', 'any', 'int'], optional: 1, returns: 'int' },
  array_extract: { syntax: "array_extract(array, '$[*].name')", doc: 'Takes what a path leads to out of an array or object, as an array of texts: `.name` or `[\'name\']` is a key, `[0]` an item, `[*]` each item. Null where there is neither array nor object.', args: ['any', 'constant string'], returns: 'dynamic' },
  array_iff: { aliases: ['array_iif'], syntax: 'array_iff(conditions, a, b)', doc: 'Chooses for each condition in an array: the item of a at its position if it is true or not 0, else that of b. A and b may be single values.', args: ['any', 'any', 'any'], returns: 'dynamic' },
  array_sum: { syntax: 'array_sum(array)', doc: 'Adds up the items; null if one is no number, or there is none.', args: ['any'], returns: 'real' },
  array_select_dict: { syntax: "array_select_dict(array, 'key', value)", doc: 'Returns the first object in the array that has the value under the key; null if there is none.', args: ['any', 'string', 'any'], returns: 'dynamic' },
  strcat_array: { syntax: "strcat_array(array, ',')", doc: 'Joins the items as one text, with a delimiter between them; null counts as empty.', args: ['any', 'constant string'], returns: 'string' },
  zip: { syntax: 'zip(a, b, …)', doc: 'Groups the items at the same position of each array, as an array of arrays; null where one is shorter.', args: ['any', 'any'], rest: 'any', returns: 'dynamic' },
} satisfies FunctionTable; // prettier-ignore

/** The steps of a path such as `$[*].a['b c'][0]`, each a key, a place or, with neither, each item; undefined if invalid. */
export function pathSteps(text: string): readonly { readonly key?: string; readonly place?: number }[] | undefined {
  const STEP = /\.([^.[\]]+)|\['([^']*)'\]|\["([^"]*)"\]|\[(\d{1,9})\]|\[\*\]/gy;
  if (!text.startsWith('$')) return undefined;
  STEP.lastIndex = 1;
  const steps = [];
  let end = 1;
  for (let found = STEP.exec(text); found; found = STEP.exec(text)) {
    const [, plain, single, double, place] = found;
    const key = plain ?? single ?? double;
    steps.push({ ...(key !== undefined && { key }), ...(place !== undefined && { place: Number(place) }) });
    end = STEP.lastIndex;
  }
  return end === text.length ? steps : undefined;
}

export const PATH_WANTED = "a path such as $[*].name, $.list[0] or $['a b']";
