/**
 * UTF-8 as TextDecoder reads it (WHATWG Encoding, Unicode's "maximal subpart"): how many bytes the sequence at an
 * address takes, and whether it is one. Bytes past a line are never taken: its newline is no continuation byte.
 */

/** True for 80…BF, a continuation byte. */
function continues(p: usize): bool {
  return (load<u8>(p) & 0xc0) == 0x80;
}

/**
 * Checks the sequence that starts with the byte at `p`, 80 or more: returns its length 2…4 if it is valid, else minus the 1…3 bytes that
 * one U+FFFD replaces.
 */
export function sequence(p: usize): i32 {
  const c = <u32>load<u8>(p);
  if (c < 0xe0) {
    if (c < 0xc2) return -1;
    return continues(p + 1) ? 2 : -1;
  }
  const d = <u32>load<u8>(p + 1);
  if (c < 0xf0) {
    // E0 wants A0…BF (else overlong), ED wants 80…9F (else a surrogate).
    const least: u32 = c == 0xe0 ? 0xa0 : 0x80;
    const most: u32 = c == 0xed ? 0x9f : 0xbf;
    if (d < least || d > most) return -1;
    return continues(p + 2) ? 3 : -2;
  }
  if (c > 0xf4) return -1;
  // F0 wants 90…BF (else overlong), F4 wants 80…8F (else past U+10FFFF).
  const least: u32 = c == 0xf0 ? 0x90 : 0x80;
  const most: u32 = c == 0xf4 ? 0x8f : 0xbf;
  if (d < least || d > most) return -1;
  if (!continues(p + 2)) return -2;
  return continues(p + 3) ? 4 : -3;
}

/**
 * Counts the valid UTF-8 among the 16 bytes from the start of a sequence on, up to the end of a whole sequence: 0 with a fault anywhere, or
 * with only a part of a sequence. The check is Keiser and Lemire's ("Validating UTF-8 in less than one instruction per byte", 2021): three
 * looked-up nibbles say which rules each pair of bytes could break, and where a third or fourth byte must follow. The bits: 1 too short, 2
 * too long, 4 overlong of 3, 8 and 40 too large, 10 a surrogate, 20 overlong of 2, 40 also overlong of 4, 80 two continuation bytes.
 */
export function wellFormed(v: v128): usize {
  const low = i8x16.splat(0x0f);
  const zero = i8x16.splat(0);
  const one = i8x16.shuffle(zero, v, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30);
  const two = i8x16.shuffle(zero, v, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29);
  const three = i8x16.shuffle(zero, v, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28);
  const byFirst = i8x16.swizzle(
    i8x16(2, 2, 2, 2, 2, 2, 2, 2, -128, -128, -128, -128, 0x21, 1, 0x15, 0x49),
    i8x16.shr_u(one, 4),
  );
  const byFirstLow = i8x16.swizzle(
    i8x16(-25, -93, -125, -125, -117, -53, -53, -53, -53, -53, -53, -53, -53, -37, -53, -53),
    v128.and(one, low),
  );
  const bySecond = i8x16.swizzle(i8x16(1, 1, 1, 1, 1, 1, 1, 1, -26, -82, -70, -70, 1, 1, 1, 1), i8x16.shr_u(v, 4));
  const faults = v128.and(v128.and(byFirst, byFirstLow), bySecond);
  const due = v128.or(i8x16.sub_sat_u(two, i8x16.splat(0x60)), i8x16.sub_sat_u(three, i8x16.splat(0x70)));
  if (v128.any_true(v128.xor(v128.and(due, i8x16.splat(-128)), faults))) return 0;
  // A sequence that goes on after the 16 bytes is left for the next step.
  if (i8x16.extract_lane_u(v, 15) >= 0xc0) return 15;
  if (i8x16.extract_lane_u(v, 14) >= 0xe0) return 14;
  if (i8x16.extract_lane_u(v, 13) >= 0xf0) return 13;
  return 16;
}

/** Writes U+FFFD at `to`. Four bytes are overwritten, three of them count. */
export function putReplacement(to: usize): void {
  store<u32>(to, 0xbdbfef);
}

/** Copies `length` bytes, 32 at a time: up to 31 bytes past both ends are touched. */
export function copyOver(to: usize, from: usize, length: usize): void {
  const stop = from + length;
  while (from < stop) {
    const a = v128.load(from);
    const b = v128.load(from, 16);
    v128.store(to, a);
    v128.store(to, b, 16);
    from += 32;
    to += 32;
  }
}

/** Copies an object's bytes with U+FFFD for invalid UTF-8; returns the end of the copy. */
export function copyRepaired(o: usize, from: usize, to: usize): usize {
  while (from < to) {
    const c = load<u8>(from);
    if (c < 0x80) {
      store<u8>(o++, c);
      from++;
      continue;
    }
    const n = sequence(from);
    if (n > 0) {
      store<u32>(o, load<u32>(from));
      o += n;
      from += n;
    } else {
      putReplacement(o);
      o += 3;
      from += -n;
    }
  }
  return o;
}
