/**
 * Writes the current event as a program changes it, by the rule of src/shaping/events/splice.ts. A value keeps its bytes only if they are
 * canonical.
 */
import { canonicalEnd, forgetKeys } from './canonical';
import { BEHIND, close, count, found, MEMBER_BYTES, members, repeated, SLOT, SLOT_BYTES, VALUE } from './members';
import { isEqual } from './scan';
import { mayHold } from './screen';
import { beginWithout, copy, copyWithout, hasRemoved, isOdd, isUnsure, useNames } from './without';

/** The edits of a slot, u32 each, after its name's address and length: its flags. */
const FLAGS: usize = 8;
/** Which slot's value it gets. */
const SOURCE: usize = 12;
/** The constant that it gets: address and length of its JSON text. */
const JSON_AT: usize = 16;
const JSON_LENGTH: usize = 20;
/** A bit for each name with dots (without.ts) that may lead below it. */
const BELOW: usize = 24;
/** Its member's text up to the value: `,"name":`. */
const TEXT_AT: usize = 28;
const TEXT_LENGTH: usize = 32;
/** The screen for its text (screen.ts). */
const SCREEN_AT: usize = 36;

/** It goes. */
const REMOVED: u32 = 1;
/** It stays where others go. */
const KEPT: u32 = 2;
/** It gets the constant. */
const CONSTANT: u32 = 4;
/** It gets the value of another, where that is there. */
const RENAMED: u32 = 8;
/** It goes, where it is there, as its value gets another name. */
const MOVED: u32 = 16;
/** It stays as long as its text is one that the screen lets through. */
const SCREENED: u32 = 32;

/** Longer numbers are left to those who read them. */
const MOST_NUMBER_BYTES: usize = 32;

let slots: usize = 0;
let slotCount: u32 = 0;
/** Members without a slot go. */
let keepsOnly: bool = false;
/** Slots with constants in the order in which they are added, u32 each. */
let constants: usize = 0;
let constantCount: u32 = 0;

export function useEdits(
  slotsAt: usize,
  slotsIn: u32,
  keeps: bool,
  namesAt: usize,
  constantsAt: usize,
  constantsIn: u32,
): void {
  slots = slotsAt;
  slotCount = slotsIn;
  keepsOnly = keeps;
  useNames(namesAt);
  constants = constantsAt;
  constantCount = constantsIn;
}

/** The edit of the current member. */
const KEEP: u32 = 0;
const REMOVE: u32 = 1;
const REPLACE: u32 = 2;
const UNSURE: u32 = 3;
/** The bytes that a member that is replaced gets. */
let from: usize = 0;
let length: usize = 0;

/** Where the slot's constant, or the value it is given, is taken from. False where it is given none. */
function isGiven(slot: usize, flags: u32): bool {
  if (flags & CONSTANT) {
    from = <usize>load<u32>(slot, JSON_AT);
    length = <usize>load<u32>(slot, JSON_LENGTH);
    return true;
  }
  const source = <usize>load<u32>(found + ((<usize>load<u32>(slot, SOURCE)) << 2));
  if ((flags & RENAMED) == 0 || source == 0) return false;
  from = <usize>load<u32>(source, VALUE);
  length = <usize>load<u32>(source, BEHIND) - from;
  return true;
}

function isCanonical(from: usize, end: usize): bool {
  forgetKeys();
  return canonicalEnd(from) == end;
}

function fateOf(member: usize): u32 {
  const index = load<i32>(member, SLOT);
  if (index < 0) return keepsOnly ? REMOVE : KEEP;
  const slot = slots + <usize>index * SLOT_BYTES;
  const flags = load<u32>(slot, FLAGS);
  if (flags == 0 && load<u32>(slot, BELOW) == 0) return keepsOnly ? REMOVE : KEEP;
  if ((repeated >> <u32>index) & 1) return UNSURE;
  if (flags & (REMOVED | MOVED)) return REMOVE;
  const value = <usize>load<u32>(member, VALUE);
  const behind = <usize>load<u32>(member, BEHIND);
  if (flags & SCREENED) {
    const isClean = load<u8>(value) == 0x22 && !mayHold(<usize>load<u32>(slot, SCREEN_AT), value + 1, behind - 1);
    return isClean ? KEEP : UNSURE;
  }
  if (isGiven(slot, flags)) {
    if (!isCanonical(value, behind) || ((flags & RENAMED) != 0 && !isCanonical(from, from + length))) return UNSURE;
    return behind - value == length && isEqual(value, from, length) ? KEEP : REPLACE;
  }
  // A number that no double holds is no value at all.
  const c = <u32>load<u8>(value);
  if ((c == 0x2d || c - 0x30 < 10) && isLargeNumber(value, behind)) return UNSURE;
  return keepsOnly && (flags & KEPT) == 0 ? REMOVE : KEEP;
}

function isLargeNumber(p: usize, end: usize): bool {
  if (end - p > MOST_NUMBER_BYTES) return true;
  for (; p < end; p++) if ((<u32>load<u8>(p) | 0x20) == 0x65) return true;
  return false;
}

/** Writes the event that begins at `start`; returns its end, or 0 if writing it takes its values. */
export function writeEdited(o: usize, start: usize): usize {
  const begin = o;
  store<u8>(o++, 0x7b);
  let isEmpty = true;
  let isChanged = false;
  /** The start of the next copy; 0 after a removed member. */
  let copied: usize = 0;
  /** Behind the value before. */
  let before: usize = 0;
  let member = members;
  for (let i: u32 = 0; i < count; i++, member += MEMBER_BYTES) {
    const fate = fateOf(member);
    if (fate == UNSURE) return 0;
    const behind = <usize>load<u32>(member, BEHIND);
    if (fate == REMOVE) {
      if (copied) o = copy(o, copied, before);
      copied = 0;
      before = behind;
      isChanged = true;
      continue;
    }
    const key = <usize>load<u32>(member);
    if (isEmpty) o = copy(o, start + 1, <usize>load<u32>(members));
    if (copied == 0) copied = isEmpty ? key : before;
    isEmpty = false;
    before = behind;
    const value = <usize>load<u32>(member, VALUE);
    if (fate == REPLACE) {
      o = copy(o, copied, value);
      o = copy(o, from, from + length);
      copied = behind;
      isChanged = true;
      continue;
    }
    const index = load<i32>(member, SLOT);
    const below = index < 0 ? 0 : load<u32>(slots + <usize>index * SLOT_BYTES, BELOW);
    if (below == 0 || load<u8>(value) != 0x7b) continue;
    const end = copy(o, copied, value);
    beginWithout();
    const written = copyWithout(end, value, <usize>load<u32>(slots + <usize>index * SLOT_BYTES, 4) + 1, below, 0);
    if (isUnsure || (hasRemoved && isOdd)) return 0;
    if (!hasRemoved) continue;
    o = written;
    copied = behind;
    isChanged = true;
  }
  if (!isEmpty) o = copy(o, copied ? copied : before, close);
  const added = addMissing(o, isEmpty);
  if (added == 0) return 0;
  if (added == o && !isChanged) {
    o = copy(begin, start, close + 1);
    store<u8>(o, 0x0a);
    return o + 1;
  }
  store<u16>(added, 0x0a7d);
  return added + 2;
}

/** Members that the event has not: those that get a value of another name, in its order, then the constants. */
function addMissing(o: usize, isEmpty: bool): usize {
  let member = members;
  for (let i: u32 = 0; i < count; i++, member += MEMBER_BYTES) {
    const index = load<i32>(member, SLOT);
    if (index < 0) continue;
    const moved = slots + <usize>index * SLOT_BYTES;
    if ((load<u32>(moved, FLAGS) & MOVED) == 0) continue;
    const target = load<u32>(moved, SOURCE);
    if (load<u32>(found + ((<usize>target) << 2))) continue;
    const value = <usize>load<u32>(member, VALUE);
    const behind = <usize>load<u32>(member, BEHIND);
    if (!isCanonical(value, behind)) return 0;
    const c = <u32>load<u8>(value);
    if ((c == 0x2d || c - 0x30 < 10) && behind - value > MOST_NUMBER_BYTES) return 0;
    o = copyText(o, slots + <usize>target * SLOT_BYTES, isEmpty);
    o = copy(o, value, behind);
    isEmpty = false;
  }
  for (let i: u32 = 0; i < constantCount; i++) {
    const index = load<u32>(constants + ((<usize>i) << 2));
    if (load<u32>(found + ((<usize>index) << 2))) continue;
    const slot = slots + <usize>index * SLOT_BYTES;
    o = copyText(o, slot, isEmpty);
    const json = <usize>load<u32>(slot, JSON_AT);
    o = copy(o, json, json + <usize>load<u32>(slot, JSON_LENGTH));
    isEmpty = false;
  }
  return o;
}

/** `,"name":`, of the first member without the comma. */
function copyText(o: usize, slot: usize, isFirst: bool): usize {
  const text = <usize>load<u32>(slot, TEXT_AT);
  return copy(o, isFirst ? text + 1 : text, text + <usize>load<u32>(slot, TEXT_LENGTH));
}
