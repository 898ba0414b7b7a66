/**
 * What a parser must have read of a file to go on in its middle: its beginning, or the last line with `#Fields` before the place, with the lines of
 * the header above it. What was searched of a stream is remembered, so that going on from file to file costs the bytes that were read since.
 */
import type { Lines } from '../../framing/lines.ts';
import { findBom } from '../../framing/byte-window.ts';
import { MAX_HEADER_SEARCH_BYTES } from '../limits.ts';
import type { FileSystem } from '../scan/file-system.ts';
import { readHead } from '../scan/peek.ts';

const CHUNK_BYTES = 64 * 1024;
/** Of a header: its lines above `#Fields`, and that line. */
const ABOVE_BYTES = 1024;
const MARKS = ['\n#Fields', '\n#fields'];
const MARK_BYTES = MARKS[0]!.length;

interface Searched {
  readonly to: number;
  readonly header: Buffer | undefined;
}

const searched = new WeakMap<object, Searched>();

/** `stream`: the same object for the same stream. Throws system errors. */
export function headBefore(
  lines: Pick<Lines, 'headBytes' | 'hasLaterHeaders'>,
  fileSystem: Pick<FileSystem, 'peek'>,
  fd: number,
  offset: number,
  stream: object,
): Buffer {
  const head = readHead(fileSystem, fd, offset === 0 ? 0 : lines.headBytes);
  if (!lines.hasLaterHeaders || offset <= head.length) return head;
  const before = searched.get(stream);
  const from = before && before.to <= offset ? Math.max(0, before.to - MARK_BYTES) : 0;
  const found = lastHeader(fileSystem, fd, Math.max(from, offset - MAX_HEADER_SEARCH_BYTES), offset);
  const header = found ?? (from > 0 ? before?.header : undefined);
  if (offset >= (before?.to ?? 0)) searched.set(stream, { to: offset, header });
  return header ? Buffer.concat([findBom(head)?.bytes ?? Buffer.alloc(0), header]) : head;
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
