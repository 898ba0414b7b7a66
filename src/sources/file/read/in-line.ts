/**
 * The way back into a line: whether the text at a place goes on with a line, or message, that began before it, and which part of it. The fields in
 * such a rest cannot be hidden one by one, so it fares as its beginning did. Which part of a line that is sent in parts (`on_oversize: split`)
 * comes next is not kept but found by cutting the line again from its beginning, so that a part has the same number whenever it is read.
 * A parser must also have read the file's beginning, or the last line with `#Fields` before the place, with the lines of the header above it:
 * the headers read are saved with the stream, so that nothing is searched for twice, and a span gets its own again.
 */
import { contentSum } from '../../../kernel/content-sum.ts';
import { hasOpenObjectLine } from '../../../core/bytes/object-text.ts';
import { TAIL_BYTES } from '../../../core/limits.ts';
import type { TextEncoding } from '../../../parsers/text/encoding.ts';
import type { FileIdentity, SavedHeader } from '../../../core/stream.ts';
import { findBom, type WindowBlock } from '../../framing/byte-window.ts';
import type { ObjectRules } from '../../framing/cut-object.ts';
import type { Lines } from '../../framing/lines.ts';
import { LINE_HEAD_BYTES, type SuspendedLine } from '../../framing/long-line.ts';
import type { RestState } from '../../framing/rests.ts';
import type { Stream } from '../known/stream.ts';
import type { TrackedFile } from '../known/tracked-file.ts';
import { MAX_HEADER_SEARCH_BYTES, MAX_SAVED_HEADER_CHARACTERS, MAX_SAVED_HEADERS } from '../limits.ts';
import { type FileSystem, findLineStart, readBefore, readHead } from '../scan/file-system.ts';

/** A place in an open file. */
export interface TextPlace {
  readonly objects: ObjectRules;
  readonly encoding: TextEncoding;
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

/** What a stream's rests depend on. */
export type StreamStart = Pick<Stream, 'startAt' | 'identity'>;

/** Takes the lines to `offset` of the stream, as `reset` does, but as into the middle of a line's parts where it is one. Throws system errors. */
export async function resetInLine(
  lines: Lines,
  fileSystem: FileSystem,
  fd: number,
  offset: number,
  stream: StreamStart,
): Promise<void> {
  const { startAt, identity } = stream;
  const before = Buffer.from(readBefore(fileSystem, fd, offset, TAIL_BYTES));
  const head = headBefore(lines, fileSystem, fd, offset, stream);
  const encoding = lines.encodingOf(head);
  const beginsInLine = identity.beginsInLine === true;
  const rest = restAt({ objects: lines.objects, encoding, fileSystem, fd, offset, startAt, beginsInLine });
  const isInLine = offset > startAt && encoding.endingBytes(before, before.length) === 0;
  const parts = isInLine && lines.splitsLines ? await countParts(lines, fileSystem, fd, offset, head, startAt) : 0;
  if (parts > 0)
    lines.resume(offset, { kind: 'split', parts, length: 0, recent: before, isObject: rest === true }, head);
  else lines.reset(offset, before, head, rest);
  learnSaved(lines, identity, offset);
}

/** Takes the lines to `offset` of the stream as `Lines.resume` does. Throws system errors. */
export function resumeLine(
  lines: Lines,
  fileSystem: FileSystem,
  fd: number,
  offset: number,
  stream: StreamStart,
  line: SuspendedLine,
): Buffer | undefined {
  const kept = lines.resume(offset, line, headBefore(lines, fileSystem, fd, offset, stream));
  learnSaved(lines, stream.identity, offset);
  return kept;
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
  const line = lines.offset === offset ? lines.long.suspend() : undefined;
  return line?.kind === 'split' ? line.parts : 0;
}

/**
 * The bytes `[from, to)` as a part of a line that goes on after them; undefined for whole lines, or an unfinished one. The lines must be
 * reset after that.
 */
export async function readPart(
  lines: Lines,
  fileSystem: FileSystem,
  fd: number,
  from: number,
  to: number,
  stream: StreamStart,
): Promise<WindowBlock | undefined> {
  if (!lines.splitsLines) return undefined;
  const last = readBefore(fileSystem, fd, to, TAIL_BYTES);
  if (lines.encodingOf(readHead(fileSystem, fd, lines.headBytes)).endingBytes(last, last.length) > 0) return undefined;
  await resetInLine(lines, fileSystem, fd, from, stream);
  for (let position = from; ;) {
    const count = await fileSystem.read(fd, lines.free(), position);
    if (count === 0) return undefined;
    lines.commit(count);
    position += count;
    const block = lines.next();
    if (block) return lines.offset === to ? block : undefined;
  }
}

/** The line over the limit in which an earlier turn of the file ended, unless the open file was cut back into it since. Throws system errors. */
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

const CHUNK_BYTES = 64 * 1024;
/** Of a header: its lines above `#Fields`, and that line. */
const ABOVE_BYTES = 1024;
const MARKS = ['\n#Fields', '\n#fields'];
const MARK_BYTES = MARKS[0]!.length;

/** Throws system errors. */
export function headBefore(
  lines: Pick<Lines, 'headBytes' | 'hasLaterHeaders'>,
  fileSystem: Pick<FileSystem, 'peek'>,
  fd: number,
  offset: number,
  stream: { readonly identity: Pick<FileIdentity, 'headers'> },
): Buffer {
  const head = readHead(fileSystem, fd, offset === 0 ? 0 : lines.headBytes);
  if (!lines.hasLaterHeaders || offset <= head.length || savedHeader(stream.identity, offset) !== undefined)
    return head;
  const header = lastHeader(fileSystem, fd, Math.max(0, offset - MAX_HEADER_SEARCH_BYTES), offset);
  return header ? Buffer.concat([findBom(head)?.bytes ?? Buffer.alloc(0), header]) : head;
}

/** The one in force at this place; undefined where it is not known. */
export function savedHeader({ headers = [] }: Pick<FileIdentity, 'headers'>, offset: number): string | undefined {
  return headers.findLast(({ at }) => at <= offset)?.text;
}

/** Takes up the header of the place to which the lines were taken. */
export function learnSaved(lines: Lines, identity: Pick<FileIdentity, 'headers'>, offset: number): void {
  const header = offset === 0 ? undefined : savedHeader(identity, offset);
  if (header !== undefined) lines.learn(header);
}

/** The headers to save once this block of `length` bytes is given; undefined where nothing changes. */
export function headersWith(
  { headers = [] }: Pick<FileIdentity, 'headers'>,
  lines: Pick<Lines, 'header'>,
  block: WindowBlock,
  length: number,
): readonly SavedHeader[] | undefined {
  const end = block.offset + length;
  // A block has one header: others within it stood in text that is not there any more.
  const isGone = ({ at }: SavedHeader): boolean => block.header !== undefined && at > block.offset && at < end;
  let all = headers.some(isGone) ? headers.filter((each) => !isGone(each)) : headers;
  for (const [at, text] of [[block.offset, block.header] as const, [end, lines.header] as const]) {
    if (text === undefined || savedHeader({ headers: all }, at) === text) continue;
    all = [...all.filter((each) => each.at !== at), { at, text }]
      .sort((one, other) => one.at - other.at)
      .slice(-MAX_SAVED_HEADERS);
  }
  if (all === headers) return undefined;
  const charactersFrom = (from: number): number => all.slice(from).reduce((sum, { text }) => sum + text.length, 0);
  let first = 0;
  while (first < all.length - 1 && charactersFrom(first) > MAX_SAVED_HEADER_CHARACTERS) first += 1;
  return all.slice(first);
}

/** Between the two places, each of which may be within a line; undefined where none begins there. */
function lastHeader(fileSystem: Pick<FileSystem, 'peek'>, fd: number, from: number, to: number): Buffer | undefined {
  for (let end = to; end > from; end -= CHUNK_BYTES - MARK_BYTES) {
    const start = Math.max(from, end - CHUNK_BYTES);
    const chunk = readHead(fileSystem, fd, end - start, start);
    const at = Math.max(...MARKS.map((mark) => chunk.lastIndexOf(mark)));
    if (at < 0) continue;
    const line = start + at + 1;
    const text = readHead(fileSystem, fd, Math.min(to - line, CHUNK_BYTES), line);
    const lineEnd = text.indexOf('\n');
    const above = readHead(fileSystem, fd, Math.min(line, ABOVE_BYTES), Math.max(0, line - ABOVE_BYTES));
    // The first line may be cut.
    const whole = line > ABOVE_BYTES ? above.subarray(above.indexOf('\n') + 1) : above;
    return Buffer.concat([whole, text.subarray(0, lineEnd < 0 ? text.length : lineEnd + 1)]);
  }
  return undefined;
}

/** Gives the lines, which are at the stream's position, the facts about the bytes after it. Throws system errors. */
export function goOnInGroups(
  lines: Lines,
  fileSystem: Pick<FileSystem, 'peek'>,
  fd: number,
  { offset, groups }: Stream,
): void {
  const { behind, held, isSure } = groups;
  if (behind && !isSure && sumAt(fileSystem, fd, offset, behind.gate) !== behind.sum) groups.behind = undefined;
  groups.isSure = true;
  const cuts = groups.cuts.filter((cut) => cut > offset);
  lines.goOn({ behind: groups.behind, held: held && held.to >= offset ? held : { reads: [], to: offset }, cuts });
}

/** Has the file's next turn go on with the lines that wait: parsing them again each time would cost more than they do. */
export function keepLines(lines: Lines, stream: Stream, to: number): void {
  if (lines.heldReads && lines.hasOpenEvent && !lines.isSkipping) lines.kept = { stream, to };
}

/** Where to read on, if the lines still hold what waits of the file, and that is what the file holds. Throws system errors. */
export function readOnTo(lines: Lines, fileSystem: FileSystem, fd: number, stream: Stream): number | undefined {
  const { kept } = lines;
  lines.kept = undefined;
  if (kept?.stream !== stream || lines.offset !== stream.offset || lines.offset + lines.pendingBytes !== kept.to)
    return undefined;
  const last = lines.lastRead();
  return readBefore(fileSystem, fd, kept.to, last.length).equals(last) ? kept.to : undefined;
}

/** Content sum of what the file has of these bytes. */
export function sumAt(fileSystem: Pick<FileSystem, 'peek'>, fd: number, from: number, to: number): number {
  return contentSum(readHead(fileSystem, fd, Math.max(0, to - from), from), from);
}
