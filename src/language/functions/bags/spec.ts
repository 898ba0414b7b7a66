/** Functions of objects, and of arrays as sets, whose items are the same when their JSON is; null where an argument is neither. */
import type { FunctionTable } from '../../function-spec.ts';

export const BAGS = {
  bag_pack: { aliases: ['pack', 'pack_dictionary'], syntax: "bag_pack('key', value, …)", doc: 'An object of the keys and values.', args: ['constant string', 'any'], rest: 'any', returns: 'dynamic' },
  bag_keys: { syntax: 'bag_keys(object)', doc: 'The keys of the object, as an array.', args: ['any'], returns: 'dynamic' },
  bag_has_key: { syntax: "bag_has_key(object, 'key')", doc: 'The object has the key.', args: ['any', 'string'], returns: 'bool' },
  bag_merge: { syntax: 'bag_merge(a, b, …)', doc: 'The objects as one; of a key that several have the first value.', args: ['any', 'any'], rest: 'any', returns: 'dynamic' },
  bag_remove_keys: { syntax: "bag_remove_keys(object, dynamic(['key']))", doc: 'The object without these keys.', args: ['any', 'any'], returns: 'dynamic' },
  set_union: { syntax: 'set_union(a, b, …)', doc: 'The different items of all the arrays.', args: ['any', 'any'], rest: 'any', returns: 'dynamic' },
  set_intersect: { syntax: 'set_intersect(a, b, …)', doc: 'The different items that all the arrays have.', args: ['any', 'any'], rest: 'any', returns: 'dynamic' },
  set_difference: { syntax: 'set_difference(a, b, …)', doc: 'The different items of the first array that no other has.', args: ['any', 'any'], rest: 'any', returns: 'dynamic' },
  set_has_element: { syntax: 'set_has_element(array, value)', doc: 'The array has the value.', args: ['any', 'any'], returns: 'bool' },
} satisfies FunctionTable; // prettier-ignore
