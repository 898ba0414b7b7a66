/**
 * Shapes of recently accepted objects, so that a similar one is compared instead of parsed (docs/adr/0019). A program writes its lines from
 * a
 * few places, each with the same keys in the same order, so the bytes between two values repeat.
 *
 * Shapes are a tree of such stretches. A node holds up to 16 bytes and the kind of value after them; its child follows that value, its
 * `other` is the alternative to it. Every path from the root to an END was once an object that the grammar (json.ts) accepted. An object on
 * the same path differs from it only in values of the same kind, checked by the same rules: it is valid, too, and has the same keys. An
 * object without a path is left to the grammar; if that accepts it, its shape is learnt.
 */
import { someDigits } from './digits';
import { acceptShape, beginShape, repairs, stringEnd } from './json';
import { literalEnd, numberEnd, skipSpaces } from './scalars';
import { careMask } from './text';
import { keyOfValue, noteTimeValue } from './time-keys';

/**
 * Layout of a node: its bytes (16), then u32 each: a mask of them, their count, the kind, the addresses of `other` and of the child, or 0.
 */
const BITS: usize = 16;
const LENGTH: usize = 20;
const KIND: usize = 24;
const OTHER: usize = 28;
const CHILD: usize = 32;
/** In a TIME_STRING or TIME_NUMBER: which of the time's keys it is. */
const TIME_KEY: usize = 36;
/** In an END, u64: the marks of its known keys. */
const MARKS: usize = 40;
const NODE_BYTES: usize = 48;

/** More of the stretch. */
const BYTES: u32 = 0;
/** The inside of a string: its quotes belong to the stretches around it. */
const STRING: u32 = 1;
const NUMBER: u32 = 2;
const LITERAL: u32 = 3;
/** Behind the object. */
const END: u32 = 4;
/** A string and a number whose place is noted. */
const TIME_STRING: u32 = 5;
const TIME_NUMBER: u32 = 6;

/** Most bytes of a node. */
const MOST_BYTES: usize = 16;
const MOST_NODES: usize = 256;
/** Most alternatives in one place: of nodes with a value, and of nodes of bytes alone. */
const MOST_OTHERS: u32 = 4;
/** Longer objects are not learnt. */
const MOST_LEARNT_BYTES: usize = 16 * 1024;
/**
 * Bound the cost of failed look-ups and of learning. Each byte of a matched object adds 1 to the trust, up to this maximum; each byte that
 * was compared without a match, or learnt, subtracts DISTRUST.
 */
const MOST_TRUST: i32 = 256 * 1024;
const DISTRUST: i32 = 4;
/** Without trust, nothing is compared or learnt for this many bytes of objects, and for those owed. Then the tree starts empty. */
const PAUSE_BYTES: i32 = 4 * 1024 * 1024;

/** The address of the root's address; the nodes follow it. */
let tree: usize = 0;
/** Behind the last node. */
let free: usize = 0;
/** Below 0 during a pause, which ends at 0. */
let trust: i32 = MOST_TRUST;

export function setUpShapes(at: usize): void {
  tree = at;
  forgetShapes();
}

/** Call it before the known keys change: the shapes hold their marks. The trust stays, as sources may take turns. */
export function forgetShapes(): void {
  store<u32>(tree, 0);
  free = tree + 16;
}

/** Pays for bytes that were compared without a match, or learnt. */
function pay(bytes: usize): void {
  trust -= DISTRUST * <i32>bytes;
  if (trust < 0) trust -= PAUSE_BYTES;
}

/** Behind the number at `p`, or 0. As `numberEnd`, which takes over where there is a sign, an exponent or a lot of digits. */
function plainNumberEnd(p: usize): usize {
  let length = someDigits(p);
  if (length == 8) length += someDigits(p + 8);
  // Also taken when `length` is 0.
  if (length - 1 >= 15 || (length > 1 && load<u8>(p) == 0x30)) return numberEnd(p);
  let c = <u32>load<u8>(p + length);
  if (c == 0x2e) {
    const fraction = someDigits(p + length + 1);
    if (fraction - 1 >= 7) return numberEnd(p);
    length += 1 + fraction;
    c = load<u8>(p + length);
  }
  return (c | 0x20) == 0x65 ? numberEnd(p) : p + length;
}

/** From inside a string to its closing quote, or 0. */
function plainStringEnd(p: usize): usize {
  let care = careMask(v128.load(p));
  while (care == 0) {
    p += 16;
    care = careMask(v128.load(p));
  }
  p += <usize>ctz<i32>(care);
  return load<u8>(p) == 0x22 ? p : stringEnd(p);
}

/** Behind the object at `p` when it has a known shape, or 0. Sets `present`, `isEmpty`, `repairs` and `growth` of json.ts. */
export function shapeEnd(p: usize): usize {
  if (trust < 0) return 0;
  beginShape();
  const begin = p;
  let node = <usize>load<u32>(tree);
  while (node) {
    const same = <u32>i8x16.bitmask(i8x16.eq(v128.load(p), v128.load(node)));
    if ((~same & load<u32>(node, BITS)) == 0) {
      const kind = load<u32>(node, KIND);
      let q = p + <usize>load<u32>(node, LENGTH);
      if (kind == STRING) q = plainStringEnd(q);
      else if (kind == NUMBER) q = plainNumberEnd(q);
      else if (kind == LITERAL) q = literalEnd(q);
      else if (kind == END) {
        acceptShape(load<u64>(node, MARKS));
        trust = min(MOST_TRUST, trust + <i32>(q - begin));
        return q;
      } else if (kind == TIME_STRING) {
        noteTimeValue(load<u32>(node, TIME_KEY), q - 1);
        q = plainStringEnd(q);
      } else if (kind == TIME_NUMBER) {
        noteTimeValue(load<u32>(node, TIME_KEY), q);
        q = plainNumberEnd(q);
      }
      if (q) {
        p = q;
        node = load<u32>(node, CHILD);
        continue;
      }
    }
    node = load<u32>(node, OTHER);
  }
  pay(p - begin);
  return 0;
}

/** Where the address of the next node goes while a shape is learnt; 0 when the nodes ran out. */
let place: usize = 0;

function isEqual(a: usize, b: usize, length: usize): bool {
  for (let i: usize = 0; i < length; i++) if (load<u8>(a + i) != load<u8>(b + i)) return false;
  return true;
}

/** Moves to the node for `length` bytes at `from` and the kind, adding it if missing. Returns it, or 0. */
function step(from: usize, length: usize, kind: u32): usize {
  if (place == 0) return 0;
  let node = <usize>load<u32>(place);
  // Nodes of bytes alone come last: they may begin like one with a value, and the search never goes back.
  for (let tried: u32 = 0; node && (kind == BYTES || load<u32>(node, KIND) != BYTES); tried++) {
    if (load<u32>(node, KIND) == kind && <usize>load<u32>(node, LENGTH) == length && isEqual(node, from, length)) {
      place = node + CHILD;
      return node;
    }
    if (tried + 1 == MOST_OTHERS) return (place = 0);
    place = node + OTHER;
    node = load<u32>(place);
  }
  if (free == tree + 16 + MOST_NODES * NODE_BYTES) return (place = 0);
  const made = free;
  free += NODE_BYTES;
  memory.copy(made, from, length);
  store<u32>(made, (1 << (<u32>length)) - 1, BITS);
  store<u32>(made, <u32>length, LENGTH);
  store<u32>(made, kind, KIND);
  store<u32>(made, <u32>node, OTHER);
  store<u32>(made, 0, CHILD);
  store<u32>(place, <u32>made);
  place = made + CHILD;
  return made;
}

/** The same for a value at `p`, which may be a time. */
function stretchToValue(from: usize, to: usize, p: usize, kind: u32, timed: u32): void {
  const key = keyOfValue(p);
  const node = stretch(from, to, key < 0 ? kind : timed);
  if (node && key >= 0) store<u32>(node, key, TIME_KEY);
}

/** The last node of the stretch `[from, to)`. */
function stretch(from: usize, to: usize, kind: u32): usize {
  while (to - from > MOST_BYTES) {
    step(from, MOST_BYTES, BYTES);
    from += MOST_BYTES;
  }
  return step(from, to - from, kind);
}

/** Learns the object in `[from, close)`, which is not empty and which the grammar has just accepted with these marks. */
export function learnShape(from: usize, close: usize, marks: u64): void {
  const bytes = close - from;
  if (trust < 0) {
    // The end of a pause.
    if ((trust += <i32>bytes) >= 0) {
      forgetShapes();
      trust = MOST_TRUST;
    }
    return;
  }
  if (repairs || bytes > MOST_LEARNT_BYTES) return;
  pay(bytes);
  place = tree;
  let p = from;
  while (p < close && place) {
    const c = <u32>load<u8>(p);
    if (c == 0x22) {
      const end = stringEnd(p + 1);
      const behind = skipSpaces(end + 1);
      if (load<u8>(behind) == 0x3a) {
        p = behind;
        continue;
      }
      stretchToValue(from, p + 1, p, STRING, TIME_STRING);
      from = end;
      p = end + 1;
    } else if (c == 0x2d || c - 0x30 < 10) {
      stretchToValue(from, p, p, NUMBER, TIME_NUMBER);
      from = p = numberEnd(p);
    } else if (c == 0x74 || c == 0x66 || c == 0x6e) {
      stretch(from, p, LITERAL);
      from = p = literalEnd(p);
    } else p++;
  }
  const end = stretch(from, close, END);
  if (end) store<u64>(end, marks, MARKS);
}
