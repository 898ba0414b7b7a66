/** Evaluates a program's condition over the members found. docs/query.md defines how null counts in it. */
import { valueOf } from './members';
import { isEqual, isEscaped, skipSpaces, stringEnd, valueEnd } from './scan';

/** Results; UNDECIDED: only the values themselves can tell. */
export const FALSE: u32 = 0;
export const TRUE: u32 = 1;
const NULL: u32 = 2;
export const UNDECIDED: u32 = 3;

/** Kinds of nodes, in their first u32. */
const AND: u32 = 0;
const OR: u32 = 1;
const NOT: u32 = 2;

/** AND, OR and NOT, u32 each: the number of children, then their addresses. */
const CHILDREN: usize = 8;
/** A test, u32 each: operator, type of the literal; its text's address and length, or its value as f64; number of reads; the reads. */
const OPERATOR: usize = 4;
const TYPE: usize = 8;
const LITERAL: usize = 16;
const READS: usize = 24;
const FIRST_READ: usize = 32;
/** A read, u32 each: the slot, address and length of the name below it, which may be empty. */
const READ_BYTES: usize = 12;

const EQUAL: u32 = 0;
const NOT_EQUAL: u32 = 1;
const LESS: u32 = 2;
const LESS_OR_EQUAL: u32 = 3;
const GREATER: u32 = 4;

const STRING: u32 = 0;
const NUMBER: u32 = 1;

const SURE_DIGITS: usize = 15;

/** A key with escapes was met on the way to a nested field, or a number that is not sure to be read exactly. */
let isUnsure: bool = false;

export function evaluate(node: usize): u32 {
  const kind = load<u32>(node);
  if (kind > NOT) return test(node);
  const count = load<u32>(node, 4);
  if (kind == NOT) {
    const result = evaluate(<usize>load<u32>(node, CHILDREN));
    return result > TRUE ? result : 1 - result;
  }
  const decisive = kind == AND ? FALSE : TRUE;
  let result: u32 = 1 - decisive;
  for (let i: u32 = 0, child = node + CHILDREN; i < count; i++, child += 4) {
    const one = evaluate(<usize>load<u32>(child));
    if (one == decisive || one == UNDECIDED) return one;
    if (one == NULL) result = NULL;
  }
  return result;
}

function test(node: usize): u32 {
  isUnsure = false;
  const value = fieldOf(node);
  if (isUnsure) return UNDECIDED;
  const operator = load<u32>(node, OPERATOR);
  const type = load<u32>(node, TYPE);
  const c = value ? <u32>load<u8>(value) : 0;
  let order: i32 = 0;
  if (type == STRING && c == 0x22) {
    order = compareText(value + 1, node);
  } else if (type == NUMBER && (c == 0x2d || c - 0x30 < 10)) {
    const number = readNumber(value);
    const literal = load<f64>(node, LITERAL);
    order = number < literal ? -1 : number > literal ? 1 : 0;
  } else if (type > NUMBER && (c == 0x74 || c == 0x66) && operator <= NOT_EQUAL) {
    order = (c == 0x74) == (load<f64>(node, LITERAL) != 0) ? 0 : 1;
  } else {
    // Absent, null, or a value of another type.
    return operator == EQUAL ? FALSE : operator == NOT_EQUAL ? TRUE : NULL;
  }
  if (isUnsure) return UNDECIDED;
  if (operator == EQUAL) return order == 0 ? TRUE : FALSE;
  if (operator == NOT_EQUAL) return order == 0 ? FALSE : TRUE;
  if (operator == LESS) return order < 0 ? TRUE : FALSE;
  if (operator == LESS_OR_EQUAL) return order <= 0 ? TRUE : FALSE;
  return operator == GREATER ? (order > 0 ? TRUE : FALSE) : order >= 0 ? TRUE : FALSE;
}

/** The start of the field's value, flat or nested; 0 without one. */
function fieldOf(node: usize): usize {
  const reads = load<u32>(node, READS);
  for (let i: u32 = 0, read = node + FIRST_READ; i < reads; i++, read += READ_BYTES) {
    let value = valueOf(load<u32>(read));
    const length = <usize>load<u32>(read, 8);
    if (value && length) value = load<u8>(value) == 0x7b ? inside(value, <usize>load<u32>(read, 4), length) : 0;
    if (value) return value;
  }
  return 0;
}

/** The value of that name in the object at `object`, as `readInside` of src/shaping/rows/values/paths.ts finds it. */
function inside(object: usize, name: usize, length: usize): usize {
  let value = keyIn(object, name, length);
  if (value) return value;
  for (let dot = length - 1; dot > 0; dot--) {
    if (load<u8>(name + dot) != 0x2e || dot == length - 1) continue;
    value = keyIn(object, name, dot);
    if (value && load<u8>(value) == 0x7b) {
      value = inside(value, name + dot + 1, length - dot - 1);
      if (value) return value;
    }
  }
  return 0;
}

/** The last value under the key, as a parser takes it. */
function keyIn(object: usize, name: usize, length: usize): usize {
  let result: usize = 0;
  let p = skipSpaces(object + 1);
  while (load<u8>(p) != 0x7d) {
    const end = stringEnd(p + 1);
    if (isEscaped) isUnsure = true;
    const isIt = end - p - 1 == length && isEqual(p + 1, name, length);
    p = skipSpaces(skipSpaces(end + 1) + 1);
    if (isIt) result = p;
    p = skipSpaces(valueEnd(p));
    if (load<u8>(p) == 0x2c) p = skipSpaces(p + 1);
  }
  return result;
}

/** By the bytes, which is the order of code points. */
function compareText(p: usize, node: usize): i32 {
  const length = stringEnd(p) - p;
  if (isEscaped) isUnsure = true;
  const literal = <usize>load<u32>(node, LITERAL);
  const wanted = <usize>load<u32>(node, LITERAL + 4);
  if (load<u32>(node, OPERATOR) <= NOT_EQUAL && length != wanted) return 1;
  const common = length < wanted ? length : wanted;
  for (let i: usize = 0; i < common; i++) {
    const difference = <i32>load<u8>(p + i) - <i32>load<u8>(literal + i);
    if (difference) return difference;
  }
  return length < wanted ? -1 : length > wanted ? 1 : 0;
}

/** So few digits, with a point or not, are read exactly by one division. */
function readNumber(p: usize): f64 {
  const isNegative = load<u8>(p) == 0x2d;
  if (isNegative) p++;
  const begin = p;
  let digits: i64 = 0;
  let c = <u32>load<u8>(p);
  for (; c - 0x30 < 10; c = <u32>load<u8>(++p)) digits = 10 * digits + <i64>(c - 0x30);
  let length = p - begin;
  let scale: f64 = 1;
  if (c == 0x2e) {
    c = <u32>load<u8>(++p);
    for (; c - 0x30 < 10 && length <= SURE_DIGITS; c = <u32>load<u8>(++p), length++) {
      digits = 10 * digits + <i64>(c - 0x30);
      scale *= 10;
    }
  }
  if (length > SURE_DIGITS || (c | 0x20) == 0x65) isUnsure = true;
  const number = <f64>digits / scale;
  return isNegative ? -number : number;
}
