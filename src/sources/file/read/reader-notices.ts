/** What a reader logs about a file's text, and counts as lost of its end. */
import { guessUtf16, utf8 } from '../../../parsers/text/encoding.ts';
import type { Lines } from '../../framing/lines.ts';
import { countLost, type Losing } from '../../../core/source.ts';
import { isUntouched } from '../known/content.ts';
import type { TrackedFile } from '../known/tracked-file.ts';
import type { FileSystem } from '../scan/file-system.ts';
import { LOWER_BOUND, type Notices } from '../scan/notices.ts';

/** Says where UTF-16 is about to be read as UTF-8: its lines would come with a NUL beside each character. */
export function noteCharset(notices: Notices, lines: Lines, { disk: { path } }: TrackedFile, head: Buffer): void {
  const guess = lines.encodingOf(head) === utf8 ? guessUtf16(head) : undefined;
  const text = 'file looks like UTF-16 without a byte order mark; `charset` names it';
  if (guess) notices.event('warn', { path, charset: guess.name }, text);
}

export function noteCutLine(
  notices: Notices,
  { disk: { path } }: TrackedFile,
  offset: number,
  lineBytes: number,
  beginsWithNul: boolean,
): void {
  const text = 'line is longer than max_event_bytes, and was cut';
  // A program that does not append writes on at its old position, after a NUL gap.
  const cause =
    '; it begins with NUL bytes, as a log does that was truncated under a program which did not open it for appending: have it append, or rotate without copytruncate';
  notices.event('warn', { path, offset, lineBytes }, beginsWithNul ? `${text}${cause}` : text);
}

/**
 * The file ends at `end`, before its size as seen: unless it is growing right now, a part of its unfinished line was cut off.
 * Where all of it was, the next turn begins a new generation, and looks for the rest of this one in copies.
 */
export function noteCutEnd(
  options: Losing & { readonly fileSystem: FileSystem; readonly notices: Notices },
  file: TrackedFile,
  end: number,
  nulsBefore = file.stream.nuls.last,
): void {
  const { fileSystem, notices } = options;
  const { path, fd } = file.disk;
  if (fd === undefined || fileSystem.fstat(fd).size > end || !isUntouched(fileSystem, fd, file.stream)) return;
  const lostBytes = Math.max(0, file.stream.endIn(file.sureSize, nulsBefore) - end);
  countLost(options, file.stream, lostBytes, end + lostBytes, 'cut_off');
  const text = `the end of a file was cut off before it was read${LOWER_BOUND}`;
  if (lostBytes > 0) notices.event('warn', { path, size: end, lostBytes }, text);
  file.size = file.sureSize = end;
}
