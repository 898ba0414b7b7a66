/** Reads the headers of every batch in the disk buffers, without the bodies: for read-only commands. */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf, messageOf } from '../../core/errors.ts';
import { listFolder } from '../list-folder.ts';
import { decodeHead, FIRST_LINE_BYTES, type SpoolHeader } from './spool-file.ts';

export interface SpoolHeaders {
  readonly headers: readonly SpoolHeader[];
  /** Files that cannot be trusted, each with why. A damaged body shows only to `tailrace buffer verify`. */
  readonly problems: readonly string[];
}

/** `root` is the folder of all disk buffers; a file that goes meanwhile is left out. Throws `E_DATA_DIR`. */
export function readSpoolHeaders(root: string): SpoolHeaders {
  const headers: SpoolHeader[] = [];
  const problems: string[] = [];
  for (const sink of listFolder(root)) {
    const folder = join(root, sink);
    const names = listFolder(folder).filter((name) => name.endsWith('.batch'));
    for (const name of listFolder(join(folder, 'broken')))
      problems.push(
        `${join(folder, 'broken', name)}: it was damaged, and set aside; what is in no file beside is lost. Remove it once you do not need it`,
      );
    for (const name of names.sort()) {
      const read = readHeader(join(folder, name));
      if (typeof read === 'string') problems.push(`${join(folder, name)}: ${read}`);
      else if (read) headers.push(read);
    }
  }
  return { headers, problems };
}

/** Why it cannot be had, as text; undefined for a file that is gone. */
function readHeader(file: string): SpoolHeader | string | undefined {
  let fd: number;
  try {
    fd = openSync(file, 'r');
  } catch (error) {
    return codeOf(error) === 'ENOENT' ? undefined : messageOf(error);
  }
  try {
    const first = Buffer.alloc(FIRST_LINE_BYTES);
    readSync(fd, first, 0, first.length, 0);
    const found = decodeHead(first, fstatSync(fd).size, (bytes) => {
      const json = Buffer.alloc(bytes);
      readSync(fd, json, 0, bytes, FIRST_LINE_BYTES);
      return json;
    });
    return found.ok ? found.header : found.reason;
  } catch (error) {
    return messageOf(error);
  } finally {
    closeSync(fd);
  }
}
