/** What functions of objects and sets give. */
import type { FunctionCases } from '../function-cases.ts';
import type { BAGS } from '../../../src/language/functions/bags/spec.ts';

export const BAGS_CASES: FunctionCases<typeof BAGS> = {
  bag_pack: [['"a", 1, "b", "x"', { a: 1, b: 'x' }], ['pack("a\\"b", dynamic([1]))', { 'a"b': [1] }],
    ['pack_dictionary("t", 1m, "n", dynamic(null))', { t: '1m0s', n: null }], ['bag_pack("a", bag_pack("b", 2)).a.b', 2],
    ['pack("a", sqrt(-1))', { a: null }]],
  bag_keys: [['dynamic({"b":1, "a":{"c":2}})', ['b', 'a']], ['dynamic({})', []], ['dynamic([1])', null], ['"x"', null]],
  bag_has_key: [['dynamic({"a":{"b":1}}), "$.a.b"', true], ['dynamic({"a":{"b":1}}), "$.a.c"', false], ['dynamic({"$.a":1}), "$.a"', true],
    ['dynamic({"a":null}), "a"', true], ['dynamic({"a":{"b":1}}), "b"', false], ['dynamic(["a"]), "a"', null],
    ['dynamic({"a":1}), string(null)', null], ['dynamic({"a":1}), "toString"', false]],
  bag_merge: [['dynamic({"a":1}), dynamic({"a":2,"b":3})', { a: 1, b: 3 }],
    ['dynamic({}), dynamic({"x":[1]}), dynamic({"y":"z"})', { x: [1], y: 'z' }], ['dynamic({"a":1}), 5', null]],
  bag_remove_keys: [['dynamic({"a":{"b":1,"c":2},"d":3}), dynamic(["$.a.b", "d"])', { a: { c: 2 } }],
    ['dynamic({"a":1,"b":2,"c":3}), dynamic(["a", "c", "x"])', { b: 2 }], ['dynamic({"5":1}), dynamic([5])', {}],
    ['dynamic({"a":1}), dynamic([])', { a: 1 }], ['dynamic({"a":1}), "a"', null], ['"x", dynamic([])', null]],
  bag_zip: [['dynamic(["a", "b", "c"]), dynamic([1, [2]])', { a: 1, b: [2] }, { source: 'APL: up to the shorter one' }], ['dynamic(["a", 5, "a"]), dynamic([1, 2, 3, 4])', { a: 1 }],
    ['dynamic(["a"]), "x"', null], ['dynamic([]), dynamic([1])', {}]],
  set_union: [['dynamic([1, 2, 2]), dynamic([3, 1])', [1, 2, 3]],
    ['dynamic([1]), dynamic(["1"]), dynamic([1.5, null, null])', [1, '1', 1.5, null]], ['dynamic([]), 5', null]],
  set_intersect: [['dynamic([3, 1, 3, 2]), dynamic([2, 3])', [3, 2]], ['dynamic([1, 2, 3]), dynamic([3, 2, 2]), dynamic([2])', [2]],
    ['dynamic([1]), dynamic([])', []], ['dynamic([[1], {"a":1}]), dynamic([{"a":1}])', [{ a: 1 }]]],
  set_difference: [['dynamic([1, 2, 2, 3]), dynamic([3])', [1, 2]], ['dynamic([1, 2, 3]), dynamic([3]), dynamic([1])', [2]],
    ['dynamic([]), dynamic([1])', []], ['"x", dynamic([1])', null]],
  set_has_element: [['dynamic([1, "a"]), "a"', true], ['dynamic([1, "a"]), "1"', false], ['dynamic([null]), dynamic(null)', true],
    ['"a", "a"', null]],
}; // prettier-ignore
