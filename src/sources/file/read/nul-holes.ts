/**
 * NULs that a reader comes to. Those at the end of a file are not there yet: a program made the file larger than its text. A run of
 * GAP_BYTES and more before text is a hole, which may be filled: it is waited for, then passed over. Fewer belong to their line.
 */
import type { SourceStats } from '../../../core/source.ts';
import { READ_CHUNK_BYTES } from '../../framing/limits.ts';
import type { WindowBlock } from '../../framing/byte-window.ts';
import type { Lines } from '../../framing/lines.ts';
import type { NulGaps } from '../known/nul-gap.ts';
import { findNulsEnd, tailBeforeNuls } from '../known/nul-runs.ts';
import { NO_NULS } from '../known/stream.ts';
import type { TrackedFile } from '../known/tracked-file.ts';
import { GAP_BYTES, TURN_BYTES } from '../limits.ts';
import { type FileSystem, readHead } from '../scan/file-system.ts';

/**
 * `end`: the file ends in them. `more`: the search goes on with the next turn. `waits`: they may be filled. Before text: `line`, they belong
 * to it; `hole`, they are passed over.
 */
export type NulsAhead =
  | { readonly kind: 'end' | 'line' | 'hole'; readonly to: number }
  | { readonly kind: 'more' | 'waits' };

/** What the NULs at `at` are, in a file of code units of `unitBytes`. The file is open. Throws system errors. */
export function judgeNuls(
  fileSystem: FileSystem,
  gaps: NulGaps,
  file: TrackedFile,
  at: number,
  lines: Lines,
): NulsAhead {
  const { stream } = file;
  const { unitBytes } = lines.encoding;
  const isFinal = file.flushLineAt === Infinity || file.passNulsAt >= 0;
  const { from, to, isFinal: wasFinal } = stream.nuls.last;
  // A preallocated file is not searched whole for each line.
  const isKnown = from <= at && at <= to && (wasFinal || !isFinal);
  const begin = isKnown ? Math.max(at, to - READ_CHUNK_BYTES) : at;
  let found = findNulsEnd(fileSystem, file.disk.fd!, begin, begin + TURN_BYTES);
  // It ends sooner than before.
  if (found.by === 'file' && found.end === begin) found = findNulsEnd(fileSystem, file.disk.fd!, at, at + TURN_BYTES);
  if (found.by !== 'text') {
    stream.nuls.last = { from: at, to: found.end, isFinal };
    return found.by === 'file' ? { kind: 'end', to: found.end } : { kind: 'more' };
  }
  stream.nuls.last = NO_NULS;
  const end = found.end - (found.end % unitBytes);
  if (end - at < GAP_BYTES) return { kind: 'line', to: end };
  if (!gaps.isSettled(file, end)) return { kind: 'waits' };
  return { kind: lines.lineBytes === 0 ? 'hole' : 'line', to: end };
}

/** Passes over the NULs from the lines' offset to `to`, where no byte waits: they settle with the bytes before them. */
export async function passNuls(
  {
    lines,
    fileSystem,
    stats,
  }: { readonly lines: Lines; readonly fileSystem: FileSystem; readonly stats?: SourceStats },
  fd: number,
  to: number,
  offer: (block: WindowBlock) => Promise<void>,
): Promise<void> {
  const length = to - lines.offset;
  const tail = tailBeforeNuls(lines.recent(), length);
  const given = lines.giveNuls(length);
  const block = { ...given, single: { ...given.single!, tail } };
  const recent = lines.recent();
  const { header } = lines;
  await offer(block);
  if (stats) stats.nulBytes = (stats.nulBytes ?? 0) + length;
  lines.reset(to, recent, readHead(fileSystem, fd, lines.headBytes), lines.rest);
  if (header !== undefined) lines.learn(header);
}
