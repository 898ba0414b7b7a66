/** Reads the small files that a configuration names (tokens, certificates), and detects changes of them. */
import { closeSync, constants, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { codeOf, messageOf, TailraceError } from '../../core/errors.ts';

export interface SmallFile {
  readonly path: string;
  /** `token file`: what messages call it. */
  readonly what: string;
  readonly maxBytes: number;
  /** Code of its errors. */
  readonly code: string;
}

/** The file's bytes. Throws `TailraceError` with the given code when it cannot be read, is no regular file or too large. */
export function readSmallFile({ path, what, maxBytes, code }: SmallFile): Buffer {
  const fail = (problem: string, fix: string) => new TailraceError(code, `the ${what} "${path}" ${problem}`, { fix });
  let fd: number | undefined;
  try {
    // Never waits for the writer of a FIFO.
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const status = fstatSync(fd);
    if (!status.isFile()) throw fail('is not a regular file', 'name a file');
    // Some file systems say 0 for every file.
    const buffer = Buffer.alloc((status.size > 0 ? Math.min(status.size, maxBytes) : maxBytes) + 1);
    let length = 0;
    for (let got = -1; got !== 0 && length < buffer.length; length += got)
      got = readSync(fd, buffer, length, buffer.length - length, length);
    if (length > maxBytes)
      throw fail(`is larger than ${maxBytes / 1024} KiB`, `name the file that holds the ${what.split(' ')[0]} alone`);
    return buffer.subarray(0, length);
  } catch (error) {
    if (error instanceof TailraceError || codeOf(error) === '') throw error;
    throw new TailraceError(code, `cannot read the ${what} "${path}": ${messageOf(error)}`, {
      fix: 'check the path, and that the user that runs tailrace may read it',
      cause: error,
    });
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

/** Text that changes when the file's content does; a file that is not there has one, too. Costs a stat. */
export function stampOf(path: string): string {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = statSync(path, { bigint: true });
    return `${dev} ${ino} ${size} ${mtimeNs} ${ctimeNs}`;
  } catch (error) {
    return codeOf(error);
  }
}
