/**
 * Finds the way back into a line that is sent in parts (`on_oversize: split`): which part comes next at an offset is not
 * kept anywhere but found by cutting the line again from its beginning, so that a part has the same number whenever it is read.
 */
import type { WindowBlock } from '../../framing/byte-window.ts';
import type { Lines } from '../../framing/lines.ts';
import type { SuspendedLine } from '../../framing/long-line.ts';
import { restAt } from './in-line.ts';
import type { Stream } from '../known/stream.ts';
import type { FileSystem } from '../scan/file-system.ts';
import { findLineStart, readBefore, readHead } from '../scan/peek.ts';
import { headBefore, learnSaved } from './last-header.ts';
import { TAIL_BYTES } from '../../../core/limits.ts';

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
