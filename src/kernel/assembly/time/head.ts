/** What may stand before the time of a line: `[`, or a level as in `[INFO] `, `WARN: ` or `ERROR [`. */

// As u64, in small letters, the first in the lowest byte.
const TRACE: u64 = 0x6563617274;
const DEBUG: u64 = 0x6775626564;
const INFO: u64 = 0x6f666e69;
const NOTICE: u64 = 0x656369746f6e;
const WARN: u64 = 0x6e726177;
const WARNING: u64 = 0x676e696e726177;
const ERR: u64 = 0x727265;
const ERROR: u64 = 0x726f727265;
const CRIT: u64 = 0x74697263;
const CRITICAL: u64 = 0x6c61636974697263;
const SEVERE: u64 = 0x657265766573;
const FATAL: u64 = 0x6c61746166;
const ALERT: u64 = 0x7472656c61;
const PANIC: u64 = 0x63696e6170;

function isLetter(c: u32): bool {
  return (c | 0x20) - 0x61 < 26;
}

function isLevel(word: u64): bool {
  return (
    word == INFO ||
    word == WARN ||
    word == ERROR ||
    word == DEBUG ||
    word == WARNING ||
    word == TRACE ||
    word == NOTICE ||
    word == ERR ||
    word == CRIT ||
    word == CRITICAL ||
    word == SEVERE ||
    word == FATAL ||
    word == ALERT ||
    word == PANIC
  );
}

/** Behind up to four spaces and tabs. */
function skipBlanks(p: usize): usize {
  for (let n = 0; n < 4; n++) {
    const c = <u32>load<u8>(p);
    if (c != 0x20 && c != 0x09) break;
    p++;
  }
  return p;
}

/** Where the time of the line at `p` begins, if it has one. */
export function skipHead(p: usize): usize {
  if (load<u8>(p) == 0x5b) p++;
  // Neither a letter, nor two of them: most lines end here.
  if (!isLetter(load<u8>(p)) || !isLetter(load<u8>(p, 1))) return p;
  let length: usize = 2;
  while (length < 9 && isLetter(load<u8>(p + length))) length++;
  if (length == 9) return p;
  const word = (load<u64>(p) | 0x2020202020202020) & (u64.MAX_VALUE >> (64 - ((<u64>length) << 3)));
  if (!isLevel(word)) return p;
  p = skipBlanks(p + length);
  if (load<u8>(p) == 0x5d) p++;
  if (load<u8>(p) == 0x3a) p++;
  p = skipBlanks(p);
  return load<u8>(p) == 0x5b ? p + 1 : p;
}
