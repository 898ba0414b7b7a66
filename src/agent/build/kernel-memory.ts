/** How much of the kernel's memory a configuration needs: it is sized once, at the start. */
import type { Config, SourceConfig } from '../../config/model.ts';
import { codeOf } from '../../core/errors.ts';
import { READ_CHUNK_BYTES } from '../../sources/framing/limits.ts';
import { SYSLOG_KERNEL_BYTES, SYSLOG_PARTS_BYTES } from '../../sources/syslog/limits.ts';
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
  const windows = config.sources.reduce((sum, source) => sum + windowBytesOf(source), 0);
  const slots = config.sinks.reduce((sum, sink) => sum + (memoryOf(sink).slots + 1) * (memoryOf(sink).slotBytes + 1024), 0);
  // A reload may bring the first transform.
  const shaping = SHAPING_SCRATCH_BYTES + 1024;
  return windows + slots + shaping + scratchBytesOf(config) + 1024 * 1024;
}

/**
 * A window to read into, and one to make events in that are not the lines as they are read: twice, as deleted files are read
 * beside the others, and a third time for compressed files.
 */
function windowBytesOf(source: SourceConfig): number {
  const { type, maxEventBytes } = source;
  const readers = type === 'file' && source.readCompressed ? 3 : 2;
  // Events of groups are made apart from their lines.
  const grouped = type !== 'syslog' && source.group ? READ_CHUNK_BYTES + 2 * maxEventBytes : 0;
  return (
    readers * (2 * READ_CHUNK_BYTES + 3 * maxEventBytes + grouped) +
    1024 * 1024 +
    (type === 'syslog' ? SYSLOG_KERNEL_BYTES + 2 * SYSLOG_PARTS_BYTES : 0)
  );
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
