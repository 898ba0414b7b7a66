/**
 * Finds where messages begin and end in a stream's bytes (RFC 6587): each message may use octet counting or a delimiter.
 * The rules are those of sources/syslog/receive/framing.ts, which takes over where a message is incomplete or a count is doubtful.
 */

/** The message that `nextFrame` found, without its trailers, and where the next one begins. */
export let frameAt: usize = 0;
export let frameEnd: usize = 0;
export let behindFrame: usize = 0;
/** The last message was counted: then a number is a count even without a PRI after it. */
export let isCounting: bool = false;

const MAX_DIGITS: usize = 10;
/** Between two messages. */
const MAX_TRAILERS: usize = 8;

/** The count that follows the last message, so that it is read once: its address, where its text begins, and how long that is. */
let knownAt: usize = 0;
let knownText: usize = 0;
let knownOctets: u64 = 0;

/** Begins other bytes. */
export function setCounting(value: bool): void {
  isCounting = value;
  knownAt = 0;
}

/** Behind the CR, LF and NUL at `p`. */
export function skipTrailers(p: usize, end: usize): usize {
  while (p < end) {
    const c = <u32>load<u8>(p);
    if (c != 0x0a && c != 0x0d && c != 0) break;
    p++;
  }
  return p;
}

/** Where `[p, end)` ends without the CR, LF and NUL at its end. */
export function trim(p: usize, end: usize): usize {
  while (end > p) {
    const c = <u32>load<u8>(end - 1);
    if (c != 0x0a && c != 0x0d && c != 0) break;
    end--;
  }
  return end;
}

/** The first LF or NUL from `p` on, or `end`. */
function delimiter(p: usize, end: usize): usize {
  const newline = i8x16.splat(0x0a);
  while (p < end) {
    const v = v128.load(p);
    const mask = i8x16.bitmask(v128.or(i8x16.eq(v, newline), i8x16.eq(v, i8x16.splat(0))));
    if (mask) {
      const at = p + <usize>ctz<i32>(mask);
      return at < end ? at : end;
    }
    p += 16;
  }
  return end;
}

/** The number that `countEnd` read. */
let octets: u64 = 0;

/** Returns the address after the number at `p` and its space; `end` if they are cut off there, 0 without a number. */
function countEnd(p: usize, end: usize): usize {
  octets = 0;
  let at = p;
  while (at < end) {
    const digit = <u32>load<u8>(at) - 0x30;
    if (digit > 9) break;
    if (at - p == MAX_DIGITS) return 0;
    octets = octets * 10 + <u64>digit;
    at++;
  }
  if (at == end) return end;
  return load<u8>(at) == 0x20 && octets > 0 ? at + 1 : 0;
}

/** Finds the message that begins at `p`, which is not a trailer; false when it is incomplete, or the next bytes make its count doubtful. */
export function nextFrame(p: usize, end: usize): bool {
  if (p == knownAt) return countedFrame(knownText, knownOctets, end);
  if (<u32>load<u8>(p) - 0x30 < 10) {
    const text = countEnd(p, end);
    if (text == 0) return lineFrame(p, end);
    if (text == end || (!isCounting && load<u8>(text) != 0x3c)) return text != end && lineFrame(p, end);
    return countedFrame(text, octets, end);
  }
  return lineFrame(p, end);
}

function countedFrame(text: usize, length: u64, end: usize): bool {
  if (length > <u64>(end - text)) return false;
  const behind = text + <usize>length;
  if (!isFollowed(behind, end)) return false;
  isCounting = true;
  frameAt = text;
  behindFrame = behind;
  frameEnd = trim(text, behind);
  return true;
}

/** Behind the few CR, LF and NUL at `p`. */
function skipSome(p: usize, end: usize): usize {
  return skipTrailers(p, p + MAX_TRAILERS < end ? p + MAX_TRAILERS : end);
}

/** Whether a counted message is followed by nothing, or by another count and its PRI; JavaScript judges anything else. */
function isFollowed(p: usize, end: usize): bool {
  const at = skipSome(p, end);
  if (at == end) return true;
  const text = countEnd(at, end);
  if (text == 0 || text >= end || load<u8>(text) != 0x3c) return false;
  let priority = text + 1;
  while (priority < end && priority - text < 4 && <u32>load<u8>(priority) - 0x30 < 10) priority++;
  if (priority == text + 1 || priority >= end || load<u8>(priority) != 0x3e) return false;
  knownAt = at;
  knownText = text;
  knownOctets = octets;
  // The message may end within the number: then that number must fit, too.
  if (<u32>load<u8>(at - 1) - 0x30 > 9 || octets >= <u64>(end - text)) return true;
  const next = skipSome(text + <usize>octets, end);
  return next == end || countEnd(next, end) != 0;
}

function lineFrame(p: usize, end: usize): bool {
  // A line of a sender that counts may be the rest of a message.
  if (isCounting) return false;
  const at = delimiter(p, end);
  if (at == end) return false;
  isCounting = false;
  frameAt = p;
  frameEnd = trim(p, at);
  behindFrame = at + 1;
  return true;
}

/** A message that was framed elsewhere. */
export function setFrame(p: usize, end: usize): void {
  frameAt = p;
  frameEnd = end;
}

/** The datagram `[p, end)` as a message: some senders write an octet count there, too; one that fits exactly is dropped. */
export function datagramFrame(p: usize, end: usize): void {
  frameAt = p;
  frameEnd = trim(p, end);
  if (load<u8>(p) - 0x31 >= 9) return;
  let count: usize = 0;
  let at = p;
  while (at < end && <u32>load<u8>(at) - 0x30 < 10 && at - p < 8) count = count * 10 + <usize>(load<u8>(at++) - 0x30);
  if (at + 1 >= end || load<u16>(at) != 0x3c20 || count != end - at - 1) return;
  frameAt = at + 1;
}
