/**
 * The fixed bytes between an event's values. The wrapper (../../syslog.ts) writes them once into tables: an entry's last
 * byte is its length, and entries may be copied whole, because the next bytes overwrite the surplus.
 */

/** Entries of 32 bytes, in the order of the numbers below. */
let words: usize = 0;
/** An entry of 96 bytes for each priority from 0 to 191: its facility and severity as JSON members. */
let priorities: usize = 0;

export const TIME: usize = 0;
export const MESSAGE: usize = 1;
export const HOST: usize = 2;
export const APPNAME: usize = 3;
export const PROCID: usize = 4;
export const MSGID: usize = 5;
export const STRUCTURED_DATA: usize = 6;

export function setUpWords(wordsAt: usize, prioritiesAt: usize): void {
  words = wordsAt;
  priorities = prioritiesAt;
}

/** Writes a word at `o`; returns the address behind it. */
export function putWord(o: usize, word: usize): usize {
  const at = words + (word << 5);
  v128.store(o, v128.load(at));
  v128.store(o, v128.load(at, 16), 16);
  return o + <usize>load<u8>(at, 31);
}

/** Writes the members of a priority at `o`, each with its comma before it; returns the address behind them. */
export function putPriority(o: usize, priority: u32): usize {
  const at = priorities + <usize>(priority * 96);
  v128.store(o, v128.load(at));
  v128.store(o, v128.load(at, 16), 16);
  v128.store(o, v128.load(at, 32), 32);
  v128.store(o, v128.load(at, 48), 48);
  v128.store(o, v128.load(at, 64), 64);
  v128.store(o, v128.load(at, 80), 80);
  return o + <usize>load<u8>(at, 95);
}
