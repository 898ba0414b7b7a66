/** Functions of objects, and of arrays as sets, whose items are the same when their JSON is; null where an argument is neither. */
import type { FunctionTable } from '../../function-spec.ts';
import { pathSteps } from '../arrays/spec.ts';

export const BAGS = {
  bag_pack: { aliases: ['pack', 'pack_dictionary'], syntax: "bag_pack('key', value, …)", columns: true, doc: 'Makes an object of keys and values; `bag_pack(*)` one of all columns, in queries only.', args: ['constant string', 'any'], rest: 'any', returns: 'dynamic' },
  bag_keys: { syntax: 'bag_keys(object)', doc: 'Returns the keys of the object as an array.', args: ['any'], returns: 'dynamic' },
  bag_has_key: { syntax: "bag_has_key(object, 'key')", doc: 'True if the object has the key, or what a path such as `$.a.b` leads to.', args: ['any', 'string'], returns: 'bool' },
  bag_merge: { syntax: 'bag_merge(a, b, …)', doc: 'Merges objects; of a key that several have the first value counts.', args: ['any', 'any'], rest: 'any', returns: 'dynamic' },
  bag_remove_keys: { syntax: "bag_remove_keys(object, dynamic(['key']))", doc: 'Removes keys from the object; `$.a.b` is b inside of a.', args: ['any', 'any'], returns: 'dynamic' },
  bag_zip: { syntax: 'bag_zip(keys, values)', doc: 'Makes an object of an array of keys and one of values, up to the end of the shorter one. What is no text is no key; of a key that comes twice the first value counts.', args: ['any', 'any'], returns: 'dynamic' },
  set_union: { syntax: 'set_union(a, b, …)', doc: 'Returns the distinct items of all arrays.', args: ['any', 'any'], rest: 'any', returns: 'dynamic' },
  set_intersect: { syntax: 'set_intersect(a, b, …)', doc: 'Returns the distinct items that all arrays have.', args: ['any', 'any'], rest: 'any', returns: 'dynamic' },
  set_difference: { syntax: 'set_difference(a, b, …)', doc: 'Returns the distinct items of the first array that no other array has.', args: ['any', 'any'], rest: 'any', returns: 'dynamic' },
  set_has_element: { syntax: 'set_has_element(array, value)', doc: 'True if the array has the value.', args: ['any', 'any'], returns: 'bool' },
} satisfies FunctionTable; // prettier-ignore

/** The keys on the way of a path such as `$.a['b.c']`; undefined for a plain key. */
export function pathOf(key: string): readonly string[] | undefined {
  const keys = pathSteps(key)?.map((step) => step.key);
  return keys?.length === 0 || keys?.includes(undefined) ? undefined : (keys as readonly string[] | undefined);
}
