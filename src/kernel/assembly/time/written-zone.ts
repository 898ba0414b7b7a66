/** Reads the zone after a clock: an offset, an abbreviation, an IANA name. The copy in JavaScript is core/time/written-zone.ts. */
import { isDigit, pair } from '../digits';
import { abbreviation, findZone, NONE, UNKNOWN } from './zone-names';

/** The last zone found: its offset in seconds, or the address of its table of offsets, else 0. */
export let offset: i64 = 0;
export let named: usize = 0;
/** The event's time precedes an unknown zone. */
export let isUnknown: bool = false;
/** The IANA name that JavaScript is to look up first, or 0. */
export let wantedAt: usize = 0;
export let wantedLength: usize = 0;

export function beginZones(): void {
  isUnknown = false;
  wantedAt = 0;
}

export function isAlphanumeric(c: u32): bool {
  return c - 0x30 < 10 || (c | 0x20) - 0x61 < 26;
}

function isLetter(c: u32): bool {
  return (c | 0x20) - 0x61 < 26;
}

function isSign(c: u32): bool {
  return c == 0x2b || c == 0x2d;
}

function setOffset(hours: u32, minutes: u32, sign: u32): void {
  const seconds = <i64>(hours * 3600 + minutes * 60);
  offset = sign == 0x2d ? -seconds : seconds;
}

/** Returns the end of the attached offset whose sign is at `p`: `+01:00`, `+0100`, `+01`; or 0. */
function attachedEnd(p: usize): usize {
  const hours = pair(p + 1);
  if (hours > 23) return 0;
  let minutes: u32 = 0;
  let q = p + 3;
  if (isDigit(q)) {
    minutes = pair(q);
    q += 2;
  } else if (load<u8>(q) == 0x3a && isDigit(q + 1)) {
    minutes = pair(q + 1);
    q += 3;
  }
  if (minutes > 59 || isAlphanumeric(load<u8>(q))) return 0;
  setOffset(hours, minutes, load<u8>(p));
  return q;
}

/** The minutes of `+0100` or `+01:00`, whose hours are at `p`; 255 without minutes. Sets `behindMinutes`. */
let behindMinutes: usize = 0;
function minutesOf(p: usize): u32 {
  const at = load<u8>(p, 2) == 0x3a ? p + 3 : p + 2;
  behindMinutes = at + 2;
  return pair(at);
}

/** Returns the end of the offset whose sign is at `p`, after a space (two digits may be another number), or 0. */
function spacedEnd(p: usize): usize {
  const hours = pair(p + 1);
  if (hours > 99) return 0;
  const minutes = minutesOf(p + 1);
  if (minutes < 100 && isBehindNumber(behindMinutes)) {
    if (hours > 23 || minutes > 59) return 0;
    setOffset(hours, minutes, load<u8>(p));
    return behindMinutes;
  }
  if (hours > 14 || !isBehindNumber(p + 3)) return 0;
  setOffset(hours, 0, load<u8>(p));
  return p + 3;
}

function isBehindNumber(p: usize): bool {
  const c = <u32>load<u8>(p);
  return !isAlphanumeric(c) && !((c == 0x2e || c == 0x3a) && isDigit(p + 1));
}

/** Returns the end of the bracketed offset that opens at `p`, or 0. */
function bracketedEnd(p: usize): usize {
  if (!isSign(load<u8>(p, 1))) return 0;
  const hours = pair(p + 2);
  const minutes = minutesOf(p + 2);
  const close: u32 = load<u8>(p) == 0x5b ? 0x5d : 0x29;
  if (hours > 23 || minutes > 59 || load<u8>(behindMinutes) != close) return 0;
  setOffset(hours, minutes, load<u8>(p, 1));
  return behindMinutes + 1;
}

/** Returns the end of the offset of `UTC+2`, `GMT+02:00` or `UTC-0530`, whose sign is at `p`, or 0. */
function fromUtcEnd(p: usize): usize {
  let n: usize = 0;
  while (n < 5 && isDigit(p + 1 + n)) n++;
  if (n > 4) return 0;
  const first: usize = n < 3 ? n : n - 2;
  let hours: u32 = <u32>load<u8>(p, 1) - 0x30;
  if (first == 2) hours = pair(p + 1);
  let minutes: u32 = n > 2 ? pair(p + 1 + first) : 0;
  let q = p + 1 + n;
  if (n < 3 && load<u8>(q) == 0x3a && pair(q + 1) < 100 && !isAlphanumeric(load<u8>(q, 3))) {
    minutes = pair(q + 1);
    q += 3;
  }
  if (hours > 23 || minutes > 59 || isAlphanumeric(load<u8>(q))) return 0;
  setOffset(hours, minutes, load<u8>(p));
  return q;
}

/** Whether `p` is at an area of the tz database and a slash; `areaLength` is its length then. */
let areaLength: usize = 0;
function isArea(p: usize): bool {
  let n: usize = 0;
  while (n < 11 && isLetter(load<u8>(p + n))) n++;
  if (n < 2 || n > 10 || load<u8>(p + n) != 0x2f) return false;
  areaLength = n;
  const word = n < 8 ? load<u64>(p) & (u64.MAX_VALUE >> (64 - ((<u64>n) << 3))) : load<u64>(p);
  switch (<u32>n) {
    case 2:
      return word == 0x5355;
    case 3:
      return word == 0x637445;
    case 4:
      return word == 0x61697341;
    case 5:
      return word == 0x656c696843;
    case 6:
      return (
        word == 0x616369726641 ||
        word == 0x636974637241 ||
        word == 0x6c697a617242 ||
        word == 0x6164616e6143 ||
        word == 0x65706f727545 ||
        word == 0x6e6169646e49 ||
        word == 0x6f636978654d
      );
    case 7:
      return word == 0x61636972656d41 || word == 0x63696669636150;
    case 8:
      return word == 0x6369746e616c7441;
    case 9:
      return word == 0x696c617274737541 && load<u8>(p, 8) == 0x61;
    default:
      return word == 0x6974637261746e41 && load<u16>(p, 8) == 0x6163;
  }
}

function isOfName(c: u32): bool {
  return isAlphanumeric(c) || c == 0x5f || c == 0x2b || c == 0x2d || c == 0x2f;
}

/** Behind the IANA name at `p`, or 0. */
function nameEnd(p: usize): usize {
  if (!isArea(p)) return 0;
  const from = p + areaLength + 1;
  let n: usize = 0;
  while (n < 33 && isOfName(load<u8>(from + n))) n++;
  return n > 0 && n < 33 ? from + n : 0;
}

/** Returns the end of the bracketed name whose `[` is at `p`, or 0. */
function bracketedNameEnd(p: usize): usize {
  let q: usize = 0;
  const word = load<u32>(p, 1);
  if (isUtc(word & 0xffffff)) q = p + 4;
  else if ((word & 0xff) == 0x5a) q = p + 2;
  else q = nameEnd(p + 1);
  return q && load<u8>(q) == 0x5d ? q + 1 : 0;
}

const UTC: u32 = 0x435455;
const GMT: u32 = 0x544d47;

function isUtc(word: u32): bool {
  return word == UTC || word == GMT;
}

/** `end` where the zone of the name in `[from, to)` is known, else 0. */
function useName(from: usize, to: usize, end: usize): usize {
  named = findZone(from, to - from);
  if (named && load<u32>(named, 4)) return end;
  if (named == 0) {
    wantedAt = from;
    wantedLength = to - from;
  } else isUnknown = true;
  named = 0;
  return 0;
}

/** Behind an offset: a name that tells where it comes from. */
function behindOffset(p: usize): usize {
  if (p == 0 || load<u8>(p) != 0x5b) return p;
  const q = bracketedNameEnd(p);
  return q ? q : p;
}

/** Returns the end of the zone at `p`; `p` itself without one, 0 if no such zone exists or it is unknown. Sets `offset` and `named`. */
export function zoneEnd(p: usize): usize {
  named = 0;
  offset = 0;
  const c = <u32>load<u8>(p);
  if ((c | 0x20) == 0x7a) return behindOffset(p + 1);
  if (isSign(c)) return isDigit(p + 1) ? behindOffset(attachedEnd(p)) : p;
  if (c == 0x5b) {
    const end = bracketedNameEnd(p);
    if (end == 0) return p;
    return load<u8>(p, 2) == 0x5d || isUtc(load<u32>(p, 1) & 0xffffff) ? end : useName(p + 1, end - 1, end);
  }
  if (c != 0x20) return p;
  const next = <u32>load<u8>(p, 1);
  if (next - 0x41 < 26) return spacedNameEnd(p, p + 1);
  let q: usize = 0;
  if (isSign(next)) q = spacedEnd(p + 1);
  else if (next == 0x5b || next == 0x28) {
    q = bracketedEnd(p + 1);
    if (q == 0 && next == 0x28) {
      q = wordEnd(p + 2);
      if (q && load<u8>(q) == 0x29) return abbreviationEnd(p, p + 2, q, q + 1);
      q = 0;
    }
  }
  return q ? q : p;
}

/** Behind up to five capitals at `p`, or 0 where there are more. */
function wordEnd(p: usize): usize {
  let n: usize = 0;
  while (n < 6 && <u32>load<u8>(p + n) - 0x41 < 26) n++;
  return n > 0 && n < 6 ? p + n : 0;
}

/** Behind the name at `p`, which follows the space at `from`. */
function spacedNameEnd(from: usize, p: usize): usize {
  if (isUtc(load<u32>(p) & 0xffffff) && isSign(load<u8>(p, 3)) && isDigit(p + 4))
    return behindOffset(fromUtcEnd(p + 3));
  const word = wordEnd(p);
  const next = word ? <u32>load<u8>(word) : 0;
  if (word && next != 0x2f && next != 0x5f && !isAlphanumeric(next)) return abbreviationEnd(from, p, word, word);
  const name = nameEnd(p);
  return name ? useName(p, name, name) : from;
}

/** `end` if the word `[p, to)` is an abbreviation, `from` if it is another word, 0 if its offset is ambiguous. */
function abbreviationEnd(from: usize, p: usize, to: usize, end: usize): usize {
  const length = to - p;
  if (length == 1) return load<u8>(p) == 0x5a ? end : from;
  const found = abbreviation(load<u64>(p) & (u64.MAX_VALUE >> (64 - ((<u64>length) << 3))));
  if (found == UNKNOWN) {
    isUnknown = true;
    return 0;
  }
  if (found == NONE) return from;
  offset = found;
  return end;
}
