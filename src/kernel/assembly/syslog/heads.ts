/** Headers that begin with a word: the kernel would take them for text. */

/** Beginnings of headers that JavaScript reads, eight bytes each: four characters, and a mask of them; a mask of 0 ends them. */
let heads: usize = 0;

export function useHeads(at: usize): void {
  heads = at;
}

/** Whether a header of the table begins at `p`. */
export function isHandedOver(p: usize): bool {
  for (let head = heads; load<u32>(head, 4); head += 8) if ((load<u32>(p) & load<u32>(head, 4)) == load<u32>(head)) return true;
  return false;
}
