/** How much was seen of streams whose copy was not found, for a while: a file that vanishes unopened may have been one of these copies. */
import { FORGET_AFTER_MS } from '../limits.ts';
import type { TrackedFile } from '../known/tracked-file.ts';
import { basesOf, extendsName, isNamedAfter } from '../observe/copy-matcher.ts';

export class LostSizes {
  /** By the path that a copy's name extends. */
  readonly #sizes = new Map<string, { readonly size: number; readonly atMs: number }>();

  add(generation: TrackedFile, nowMs: number): void {
    for (const base of basesOf(generation)) this.#sizes.set(base, { size: generation.size, atMs: nowMs });
  }

  forgetOld(nowMs: number): void {
    for (const [base, { atMs }] of this.#sizes) if (nowMs - atMs >= FORGET_AFTER_MS) this.#sizes.delete(base);
  }

  /** The most that was read, or counted as lost, of those that the path may be a copy's of, and of these detached streams. */
  of(path: string, detached: Iterable<TrackedFile>): number {
    let most = 0;
    for (const [base, { size }] of this.#sizes) if (extendsName(path, base)) most = Math.max(most, size);
    for (const each of detached)
      if (isNamedAfter(path, each)) most = Math.max(most, each.size, each.stream.offset + each.stream.offeredBytes);
    return most;
  }
}
