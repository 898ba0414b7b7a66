/** How much of the kernel's memory a configuration needs: it is sized once, at the start. */
import type { Config } from '../../config/model.ts';
import { codeOf } from '../../core/errors.ts';
import { sourceTypeOf } from '../../sources/registry.ts';
import { createKernel, type Kernel } from '../../kernel/kernel.ts';
import { memoryOf } from './sink-pipeline.ts';

/** Address space for additions by reloads, as much of it as the system grants. */
const RELOAD_BYTES = [512 * 1024 * 1024, 128 * 1024 * 1024];

/** A kernel of `bytes` of memory, with address space for reloads. Throws `TailraceError`. */
export function createExpandableKernel(bytes: number): Kernel {
  for (const more of RELOAD_BYTES) {
    try {
      return createKernel(bytes + more);
    } catch (error) {
      if (codeOf(error) !== 'E_KERNEL_MEMORY') throw error;
    }
  }
  return createKernel(bytes);
}

/** Each source's window, each sink's slots with the reserve, one slot to restore into. Address space, not memory, until it is used. */
export function kernelBytesOf(config: Config): number {
  const windows = config.sources.reduce((sum, source) => sum + sourceTypeOf(source).windowBytes(source), 0);
  const slots = config.sinks.reduce(
    (sum, sink) => sum + (memoryOf(sink).slots + 1) * (memoryOf(sink).slotBytes + 1024),
    0,
  );
  // A reload may bring the first transform.
  const shaping = SHAPING_SCRATCH_BYTES + 1024;
  return windows + slots + shaping + scratchBytesOf(config) + 1024 * 1024;
}

/** The largest batch of any sink, to restore into. */
export function scratchBytesOf(config: Config): number {
  return Math.max(...config.sinks.map((sink) => memoryOf(sink).slotBytes));
}

/** Events of so many bytes are made at a time before they are shaped; a larger one is made alone. */
export const SHAPING_SCRATCH_BYTES = 256 * 1024;

export function hasTransforms({ sources, sinks, transform }: Config): boolean {
  return [...sources, ...sinks].some((each) => each.transform) || transform !== undefined;
}
