/**
 * The bytes that a parser must have read of a file to go on in its middle: its beginning, or the last line with `#Fields` before the place,
 * with the lines of the header above it. The headers read are saved with the stream, so that nothing is searched for twice, and a span gets
 * its own again.
 */
import type { FileIdentity, SavedHeader } from '../../../core/stream.ts';
import type { Lines } from '../../framing/lines.ts';
import { findBom, type WindowBlock } from '../../framing/byte-window.ts';
import { MAX_HEADER_SEARCH_BYTES, MAX_SAVED_HEADER_CHARACTERS, MAX_SAVED_HEADERS } from '../limits.ts';
import { type FileSystem, readHead } from '../scan/file-system.ts';

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
