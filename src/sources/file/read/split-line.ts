/**
 * Finds the way back into a line that is sent in parts (`on_oversize: split`): which part comes next at an offset is not
 * kept anywhere but found by cutting the line again from its beginning, so that a part has the same number whenever it is read.
 */
import type { WindowBlock } from '../../framing/byte-window.ts';
import { LINE_HEAD_BYTES } from '../../framing/long-line.ts';
import type { Lines } from '../../framing/lines.ts';
import type { RestState } from '../../framing/rests.ts';
import type { FileSystem } from '../scan/file-system.ts';
import { hasOpenObjectLine } from '../../../core/bytes/object-text.ts';
import { findLineStart, readBefore, readHead } from '../scan/peek.ts';
import { TAIL_BYTES } from '../../../core/limits.ts';

/**
 * Takes the lines to `offset`, as `reset` does, but as into the middle of a line's parts where it is one; the stream begins at `startAt`.
 * Throws system errors.
 */
export async function resetInLine(lines: Lines, fileSystem: FileSystem, fd: number, offset: number, startAt: number): Promise<void> {
  const before = Buffer.from(readBefore(fileSystem, fd, offset, TAIL_BYTES));
  const head = readHead(fileSystem, fd, offset === 0 ? 0 : lines.headBytes);
  const encoding = lines.encodingOf(head);
  const isInLine = offset > startAt && encoding.endingBytes(before, before.length) === 0;
  const rest = offset > startAt ? restAt(lines, fileSystem, fd, offset, head, startAt, isInLine) : false;
  const parts = isInLine && lines.splitsLines ? await countParts(lines, fileSystem, fd, offset, head, startAt) : 0;
  if (parts > 0) lines.resume(offset, { kind: 'split', parts, length: 0, recent: before, isObject: rest === true }, head);
  else lines.reset(offset, before, head, rest);
}

type Place = readonly [lines: Lines, fileSystem: FileSystem, fd: number, offset: number, head: Buffer, startAt: number];

function restAt(...[lines, fileSystem, fd, offset, head, startAt, isInLine]: [...Place, isInLine: boolean]): RestState {
  const place: Place = [lines, fileSystem, fd, offset, head, startAt];
  if (isInLine) return isInObject(...place) || isBehindObject(...place);
  if (lines.objects.begins) return isBehindObject(...place) && 'joined';
  return isBehindPiece(...place);
}

/** Bytes before a place in which its line's beginning is searched: one that begins further away may be an object. */
const MAX_LOOK_BACK_BYTES = 16 * 1024 * 1024;

/** The longest line that is looked at as a piece of a container's message; runtimes write 16 KiB, which JSON may make six times as much. */
const MAX_PIECE_BYTES = 256 * 1024;

/** Whether the line around `offset` may be a JSON object, by its beginning. */
function isInObject(...[lines, fileSystem, fd, offset, head, startAt]: Place): boolean {
  const { mayBeginObject } = lines.objects;
  if (!mayBeginObject) return false;
  const encoding = lines.encodingOf(head);
  const lineStart = findLineStart(fileSystem, fd, offset, MAX_LOOK_BACK_BYTES, encoding, startAt);
  const last = readBefore(fileSystem, fd, lineStart, TAIL_BYTES);
  const isFound = lineStart === startAt || encoding.endingBytes(last, last.length) > 0;
  const length = Math.min(LINE_HEAD_BYTES, offset - lineStart);
  return !isFound || mayBeginObject(encoding.decode(readHead(fileSystem, fd, length - (length % encoding.unitBytes), lineStart)));
}

/** Whether the line before `offset` is a piece of a message that goes on. */
function isBehindPiece(...[lines, fileSystem, fd, offset, head, startAt]: Place): boolean {
  const { goesOn } = lines.objects;
  if (!goesOn) return false;
  const encoding = lines.encodingOf(head);
  const before = readBefore(fileSystem, fd, offset, TAIL_BYTES);
  const lineEnd = offset - encoding.endingBytes(before, before.length);
  const lineStart = findLineStart(fileSystem, fd, lineEnd, MAX_PIECE_BYTES, encoding, startAt);
  return goesOn(readHead(fileSystem, fd, lineEnd - lineStart, lineStart), 0, lineEnd - lineStart);
}

/** Bytes before a place in which the beginning of its joined lines is searched: most are short, and some fill an event. */
const JOINED_LOOK_BACK_BYTES = [4096, 64 * 1024, 1024 * 1024];

/** Whether the joined lines before `offset`, from the last that begins an event, hold an object that may go on there. */
function isBehindObject(...[lines, fileSystem, fd, offset, head, startAt]: Place): boolean {
  const { begins } = lines.objects;
  if (!begins) return false;
  const encoding = lines.encodingOf(head);
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
    if (from === startAt) break;
  }
  return hasOpenObjectLine(encoding.decode(known));
}

/** Parts of the line around `offset` that end there or before; 0 where none ends just there. */
async function countParts(
  lines: Lines,
  fileSystem: FileSystem,
  fd: number,
  offset: number,
  head: Buffer,
  startAt: number,
): Promise<number> {
  let position = findLineStart(fileSystem, fd, offset, offset, lines.encodingOf(head), startAt);
  lines.reset(position, Buffer.alloc(0), head);
  while (lines.offset < offset) {
    const count = await fileSystem.read(fd, lines.free(), position);
    if (count === 0) return 0;
    lines.commit(count);
    position += count;
    while (lines.offset < offset && lines.next());
  }
  const line = lines.offset === offset ? lines.suspend() : undefined;
  return line?.kind === 'split' ? line.parts : 0;
}

/**
 * The bytes `[from, to)` as a part of a line that goes on behind them; undefined when they are none: whole lines, or an
 * unfinished one. The lines must be reset after that.
 */
export async function readPart(
  lines: Lines,
  fileSystem: FileSystem,
  fd: number,
  from: number,
  to: number,
  startAt: number,
): Promise<WindowBlock | undefined> {
  if (!lines.splitsLines) return undefined;
  const last = readBefore(fileSystem, fd, to, TAIL_BYTES);
  if (lines.encodingOf(readHead(fileSystem, fd, lines.headBytes)).endingBytes(last, last.length) > 0) return undefined;
  await resetInLine(lines, fileSystem, fd, from, startAt);
  for (let position = from; ;) {
    const count = await fileSystem.read(fd, lines.free(), position);
    if (count === 0) return undefined;
    lines.commit(count);
    position += count;
    const block = lines.next();
    if (block) return lines.offset === to ? block : undefined;
  }
}
