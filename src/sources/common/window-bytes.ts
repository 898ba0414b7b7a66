/** How much of the kernel's memory a source takes. */
import { READ_CHUNK_BYTES } from '../framing/limits.ts';

/** For each reader a window to read into, and one to make events in that are not the lines as they are read. */
export function windowBytesFor(
  readers: number,
  { maxEventBytes, group }: { readonly maxEventBytes: number; readonly group?: object | undefined },
): number {
  // Events of groups are made apart from their lines.
  const grouped = group ? READ_CHUNK_BYTES + 2 * maxEventBytes : 0;
  return readers * (2 * READ_CHUNK_BYTES + 3 * maxEventBytes + grouped) + 1024 * 1024;
}
