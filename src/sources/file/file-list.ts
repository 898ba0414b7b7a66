/** The files that a source knows, for people to look at: first what is in trouble or behind. */
import type { ListedFile } from '../../core/source.ts';
import { lagOf, stateOf, type TrackedFile } from './known/tracked-file.ts';

/** At most `limit` of them, and how many there are. */
export function listTrackedFiles(
  files: ReadonlySet<TrackedFile>,
  limit: number,
): { readonly total: number; readonly files: readonly ListedFile[] } {
  const all = [...files].map((file) => ({ file, lagBytes: file.isUndecided ? 0 : lagOf(file) }));
  all.sort((a, b) => Number(b.file.disk.failure !== undefined) - Number(a.file.disk.failure !== undefined) || b.lagBytes - a.lagBytes);
  return { total: all.length, files: all.slice(0, limit).map(({ file, lagBytes }) => describe(file, lagBytes)) };
}

function describe(file: TrackedFile, lagBytes: number): ListedFile {
  const { disk, stream, size, isUndecided } = file;
  const { path, failure } = disk;
  const state = isUndecided ? 'undecided' : stateOf(file);
  return { path, state, offset: stream.offset, size, lagBytes, ...(failure ? { problem: failure.reason } : {}) };
}
