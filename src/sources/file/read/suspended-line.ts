/** The line over the limit in which an earlier turn of a file ended, of which only length and checksum were kept. */
import type { SuspendedLine } from '../../framing/long-line.ts';
import type { TrackedFile } from '../known/tracked-file.ts';
import type { FileSystem } from '../scan/file-system.ts';
import { readBefore } from '../scan/peek.ts';

/** The line, unless the open file was cut back into it since. Throws system errors. */
export function stillSuspended(fileSystem: FileSystem, { stream, disk }: TrackedFile): SuspendedLine | undefined {
  const { suspended } = stream;
  if (!suspended) return undefined;
  const { recent, length } = suspended;
  if (!readBefore(fileSystem, disk.fd!, stream.offset + length, recent.length).equals(recent))
    stream.suspended = undefined;
  return stream.suspended;
}

/** Reads the kept beginning of the line back: another turn read it first. */
export async function refill(fileSystem: FileSystem, file: TrackedFile, kept: Buffer, position: number): Promise<void> {
  for (let at = 0; at < kept.length;) {
    const count = await fileSystem.read(file.disk.fd!, kept.subarray(at), position + at);
    if (count === 0) throw new Error('file was truncated while a long line was read');
    at += count;
  }
}
