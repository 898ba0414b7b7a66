/** Which files may be copies (`copytruncate`) of which others, by their names: a copy has a longer name than its original. */
import type { CopyComparison } from './content.ts';
import { isUnread, type TrackedFile } from './tracked-file.ts';

/** A copy candidate: the streams to compare it with, the present one first. */
export interface CopyCandidate {
  /** Followed on its own account, not only as a copy candidate. */
  wasFollowed: boolean;
  readonly originals: TrackedFile[];
  /** These, and those that it turned out to be no copy of. */
  readonly compared: Set<TrackedFile>;
  check: CopyComparison | undefined;
  /** It is a copy of the first of them, made before the last of it was read. */
  isShort: boolean;
}

/** The candidate of this size may be a copy of this one, too. */
export function addOriginal(entry: CopyCandidate, original: TrackedFile, size: number): void {
  const { originals, compared } = entry;
  if (compared.has(original)) return;
  compared.add(original);
  const before = originals.findIndex((each) => comesBefore(original, each, size));
  originals.splice(before === -1 ? originals.length : before, 0, original);
  if (before === 0) Object.assign(entry, { check: undefined, isShort: false });
}

/** An unread original is like everything that begins as it did: compared last. Of two, a copy has the more that was seen of its own. */
function comesBefore(one: TrackedFile, other: TrackedFile, size: number): boolean {
  if (!isUnread(other)) return false;
  const seen = ({ sureSize }: TrackedFile): number => (sureSize <= size ? sureSize : -1);
  return !isUnread(one) || seen(one) > seen(other);
}

/** What the name of a copy extends: the path that the file had first, as matched and without links, or has now, if rotation did not give it. */
export function basesOf({ stream: { firstPath, realPath }, disk: { path } }: TrackedFile): string[] {
  const first = realPath === firstPath ? [firstPath] : [firstPath, realPath];
  return first.some((base) => path.startsWith(base)) ? first : [...first, path];
}

/** The path may be a copy's of this one. */
export function isNamedAfter(path: string, original: TrackedFile): boolean {
  return basesOf(original).some((base) => extendsName(path, base));
}

export function extendsName(path: string, base: string): boolean {
  return path.length > base.length && path.startsWith(base);
}
