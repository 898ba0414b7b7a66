/**
 * UTF-8 as TextDecoder reads it (WHATWG Encoding, Unicode's "maximal subpart"): how many bytes the sequence at an
 * address takes, and whether it is one. Bytes past a line are never taken: its newline is no continuation byte.
 */

/** True for 80…BF, a continuation byte. */
function continues(p: usize): bool {
  return (load<u8>(p) & 0xc0) == 0x80;
}

/**
 * The sequence that starts with the byte at `p`, which is 80 or more: its length 2…4 when it is valid, else minus the
 * 1…3 bytes that one U+FFFD stands for.
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
