/** Reads a configuration file as UTF-8 text, bounded, or says in one problem why it cannot be. */
import { isUtf8 } from 'node:buffer';
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { MAX_CONFIG_BYTES } from '../limits.ts';
import { codeOf, messageOf } from '../../core/errors.ts';
import type { Position } from '../yaml/line-index.ts';

export interface TextFile {
  readonly text: string;
  /** Permission bits. */
  readonly mode: number;
}

export interface Unreadable extends Position {
  readonly message: string;
  readonly fix: string;
}

/** Never waits: a pipe or device in the file's place is refused before it is read. */
export function readTextFile(path: string): TextFile | Unreadable {
  let fd: number | undefined;
  try {
    // Without O_NONBLOCK, opening a FIFO waits for a writer.
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const { mode } = stat(fd);
    return { text: decode(readBounded(fd)), mode };
  } catch (error) {
    return error instanceof ReadRefusal ? error.reason : { ...top, ...systemProblem(error) };
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

const top: Position = { line: 1, column: 1 };

class ReadRefusal extends Error {
  readonly reason: Unreadable;

  constructor(message: string, fix: string, position: Position = top) {
    super(message);
    this.reason = { message, fix, ...position };
  }
}

function stat(fd: number): { mode: number } {
  const found = fstatSync(fd);
  if (found.isDirectory()) throw new ReadRefusal('is a directory, not a configuration file', 'name a file in it');
  if (!found.isFile()) throw new ReadRefusal('is not a regular file', 'write the configuration to a file');
  return found;
}

function readBounded(fd: number): Buffer {
  const buffer = Buffer.allocUnsafe(MAX_CONFIG_BYTES + 1);
  let length = 0;
  for (;;) {
    const read = readSync(fd, buffer, length, buffer.length - length, null);
    if (read === 0) return buffer.subarray(0, length);
    length += read;
    if (length > MAX_CONFIG_BYTES)
      throw new ReadRefusal('is larger than 1 MiB', 'is it a configuration? Name another file');
  }
}

function decode(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString('utf8').replace(/^\uFEFF/, '');
  const utf16 = (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff);
  throw new ReadRefusal(
    utf16 ? 'is UTF-16 text' : 'is not valid UTF-8 here',
    'save it as UTF-8',
    utf16 ? top : firstInvalid(bytes),
  );
}

/** A line feed is never inside a UTF-8 sequence, so each line is valid or not by itself. */
function firstInvalid(bytes: Buffer): Position {
  let start = 0;
  for (let line = 1; ; line++) {
    const end = bytes.indexOf(0x0a, start);
    const slice = bytes.subarray(start, end < 0 ? bytes.length : end);
    if (!isUtf8(slice)) return { line, column: validColumns(slice) + 1 };
    if (end < 0) return top;
    start = end + 1;
  }
}

function validColumns(line: Buffer): number {
  const text = line.toString('utf8');
  let [from, bytes] = [0, 0];
  for (let at = text.indexOf('\uFFFD'); at >= 0; at = text.indexOf('\uFFFD', from)) {
    bytes += Buffer.byteLength(text.slice(from, at));
    // A U+FFFD in the file itself is valid.
    if (line[bytes] !== 0xef || line[bytes + 1] !== 0xbf || line[bytes + 2] !== 0xbd) return at;
    from = at + 1;
    bytes += 3;
  }
  return text.length;
}

function systemProblem(error: unknown): { message: string; fix: string } {
  switch (codeOf(error)) {
    case 'ENOENT':
    case 'ENOTDIR':
      return { message: 'there is no such file', fix: 'check the path, or start from config.example.yaml' };
    case 'EACCES':
    case 'EPERM':
      return { message: 'cannot be read: permission denied', fix: 'let the user that runs tailrace read it' };
    case 'ERR_INVALID_ARG_VALUE':
      return { message: 'is not a valid path', fix: 'check the path' };
    case 'ENXIO':
      return { message: 'is not a regular file', fix: 'write the configuration to a file' };
    default:
      if (codeOf(error) === '') throw error;
      return { message: `cannot be read: ${messageOf(error)}`, fix: 'check the path and the disk' };
  }
}
