/** What a reader logs about a file's text. */
import { guessUtf16, utf8 } from '../../../parsers/text/encoding.ts';
import type { Lines } from '../../framing/lines.ts';
import type { TrackedFile } from '../known/tracked-file.ts';
import type { Notices } from '../scan/notices.ts';

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
