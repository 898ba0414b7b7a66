/**
 * Whether the text at a place goes on with a line, or message, that began before it. The fields in such a rest cannot be hidden one by one, so it fares as
 * its beginning did.
 */
import { hasOpenObjectLine } from '../../../core/bytes/object-text.ts';
import { TAIL_BYTES } from '../../../core/limits.ts';
import type { Encoding } from '../../../parsers/text/encoding.ts';
import type { ObjectRules } from '../../framing/cut-object.ts';
import { LINE_HEAD_BYTES } from '../../framing/long-line.ts';
import type { RestState } from '../../framing/rests.ts';
import type { FileSystem } from '../scan/file-system.ts';
import { findLineStart, readBefore, readHead } from '../scan/peek.ts';

/** A place in an open file. */
export interface TextPlace {
  readonly objects: ObjectRules;
  readonly encoding: Encoding;
  readonly fileSystem: Pick<FileSystem, 'peek'>;
  readonly fd: number;
  readonly offset: number;
  /** Where the stream begins. */
  readonly startAt: number;
  /** The stream's first line began in another file. */
  readonly beginsInLine: boolean;
}

/** Bytes before a place in which its line's beginning is searched: one that begins further away may be an object. */
const MAX_LOOK_BACK_BYTES = 16 * 1024 * 1024;

/** The longest line that is looked at as a piece of a container's message; runtimes write 16 KiB, which JSON may make six times as much. */
const MAX_PIECE_BYTES = 256 * 1024;

/** Bytes before a place in which the beginning of its joined lines is searched: most are short, and some fill an event. */
const JOINED_LOOK_BACK_BYTES = [4096, 64 * 1024, 1024 * 1024];

/** Throws system errors. */
export function restAt(place: TextPlace): RestState {
  const { objects, offset, startAt, beginsInLine } = place;
  if (offset <= startAt) return beginsInLine && (objects.begins ? 'joined' : true);
  if (!endsLine(place, offset))
    return isInObject(place) || isBehindObject(place) || isBehindPiece({ ...place, offset: lineStartOf(place) });
  if (objects.begins) return isBehindObject(place) && 'joined';
  return isBehindPiece(place);
}

export function endsLine({ fileSystem, fd, encoding }: TextPlace, offset: number): boolean {
  const before = readBefore(fileSystem, fd, offset, TAIL_BYTES);
  return encoding.endingBytes(before, before.length) > 0;
}

/** Whether the line around `offset` may be a JSON object, by its beginning. */
function isInObject(place: TextPlace): boolean {
  const { objects, offset, startAt, beginsInLine } = place;
  if (!objects.mayBeginObject) return false;
  const lineStart = lineStartOf(place);
  if (lineStart === startAt ? beginsInLine : !endsLine(place, lineStart)) return true;
  return objects.mayBeginObject(headOf(place, lineStart, offset));
}

function lineStartOf({ encoding, fileSystem, fd, offset, startAt }: TextPlace): number {
  return findLineStart(fileSystem, fd, offset, MAX_LOOK_BACK_BYTES, encoding, startAt);
}

/** How a line begins. */
function headOf({ encoding, fileSystem, fd }: TextPlace, from: number, to: number): string {
  const length = Math.min(LINE_HEAD_BYTES, to - from);
  return encoding.decode(readHead(fileSystem, fd, length - (length % encoding.unitBytes), from));
}

/** Whether the line before `offset` is a piece of a message that goes on. */
function isBehindPiece(place: TextPlace): boolean {
  const { objects, encoding, fileSystem, fd, offset, startAt } = place;
  if (!objects.goesOn || offset <= startAt) return false;
  const before = readBefore(fileSystem, fd, offset, TAIL_BYTES);
  const lineEnd = offset - encoding.endingBytes(before, before.length);
  const lineStart = findLineStart(fileSystem, fd, lineEnd, MAX_PIECE_BYTES, encoding, startAt);
  const isUnread = objects.mayBeginObject?.(headOf(place, lineStart, lineEnd)) === true;
  return objects.goesOn(readHead(fileSystem, fd, lineEnd - lineStart, lineStart), 0, lineEnd - lineStart, isUnread);
}

/** Whether the joined lines before `offset`, from the last that begins an event, hold an object that may go on there. */
function isBehindObject({ objects, encoding, fileSystem, fd, offset, startAt, beginsInLine }: TextPlace): boolean {
  const { begins } = objects;
  if (!begins) return false;
  let known: Buffer = Buffer.alloc(0);
  for (const most of JOINED_LOOK_BACK_BYTES) {
    const from = Math.max(startAt, offset - most - ((offset - most) % encoding.unitBytes));
    known = readHead(fileSystem, fd, offset - from, from);
    for (let end = known.length; end > 0;) {
      const start = encoding.lastLineEnd(known, 0, end - encoding.endingBytes(known, end));
      if (start === -1 && from > startAt) break;
      const lineStart = Math.max(start, 0);
      if (begins(known, lineStart, end - encoding.endingBytes(known, end), encoding))
        return hasOpenObjectLine(encoding.decode(known.subarray(lineStart)));
      end = lineStart;
    }
    if (from === startAt) return beginsInLine || hasOpenObjectLine(encoding.decode(known));
  }
  return hasOpenObjectLine(encoding.decode(known));
}
