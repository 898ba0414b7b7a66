/** The content of an archive's file, and of what it unpacks to: bounded, and never through a link. */
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gunzip, zstdDecompress } from 'node:zlib';
import { codeOf } from '../../../core/errors.ts';
import { LINK } from './folders.ts';
import { MAX_ARCHIVED_BYTES } from './limits.ts';

const LF = 0x0a;

/** Rejects unless it is a regular file. */
export async function openPlain(path: string): Promise<FileHandle> {
  let file: FileHandle;
  try {
    // A pipe would wait for its writer.
    file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    throw codeOf(error) === 'ELOOP' ? new Error(LINK) : error;
  }
  if ((await file.stat()).isFile()) return file;
  await file.close();
  throw new Error('it is no regular file');
}

/** The file's bytes as they are, at most as many as it had when it was opened. */
export async function readPlain(path: string, expectedBytes?: number): Promise<Buffer> {
  const file = await openPlain(path);
  try {
    const { size } = await file.stat();
    if (expectedBytes !== undefined && size !== expectedBytes)
      throw new Error(`it has ${size} bytes, the manifest says ${expectedBytes}`);
    if (size > MAX_ARCHIVED_BYTES)
      throw new Error(`it has ${size} bytes, and no batch has more than ${MAX_ARCHIVED_BYTES}`);
    const content = Buffer.alloc(size);
    for (let at = 0; at < size;) {
      const { bytesRead } = await file.read(content, at, size - at, at);
      if (bytesRead === 0) throw new Error('it was cut off while it was read');
      at += bytesRead;
    }
    return content;
  } finally {
    await file.close();
  }
}

/** What it unpacks to, by its name. */
export async function unpack(name: string, content: Buffer): Promise<Buffer> {
  const limit = { maxOutputLength: MAX_ARCHIVED_BYTES };
  if (name.endsWith('.zst')) return promisify(zstdDecompress)(content, limit);
  return name.endsWith('.gz') ? promisify(gunzip)(content, limit) : content;
}

/** An event a line, each with its end. */
export function countEvents(text: Buffer): number {
  let events = 0;
  for (let at = text.indexOf(LF); at >= 0; at = text.indexOf(LF, at + 1)) events += 1;
  return events;
}
