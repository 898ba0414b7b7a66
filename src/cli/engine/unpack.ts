/**
 * Unpacks a package of the npm registry: regular files, and nothing outside of the folder. Promises: an entry that is not a plain file, has a path
 * that leads elsewhere, comes twice or is cut off is refused; at most MAX_FILES files and MAX_BYTES are written.
 */
import { mkdir, open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { TailraceError } from '../../core/errors.ts';

const BLOCK = 512;
const MAX_FILES = 10_000;
const MAX_BYTES = 4 * 1024 ** 3;

/** `archive`: the tar file's bytes, decompressed. The folder must be new. */
export async function unpack(archive: AsyncIterable<Buffer>, folder: string): Promise<void> {
  const bytes = new ByteReader(archive);
  let files = 0;
  let total = 0;
  for (;;) {
    const header = await bytes.take(BLOCK);
    if (header.every((byte) => byte === 0)) return;
    const { path, size, type } = readHeader(header);
    if (type === '5' && size === 0) continue;
    if (type !== '0' && type !== '\0') throw refused(`"${path}" is no regular file (type ${JSON.stringify(type)})`);
    if ((files += 1) > MAX_FILES) throw refused(`it holds more than ${MAX_FILES} files`);
    if ((total += size) > MAX_BYTES) throw refused(`it holds more than ${MAX_BYTES} bytes`);
    await writeFile(bytes, join(folder, withoutFirst(path)), size);
    await bytes.take((BLOCK - (size % BLOCK)) % BLOCK);
  }
}

async function writeFile(bytes: ByteReader, path: string, size: number): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o755 });
  // Never over a file, never through a link.
  const file = await open(path, 'wx', 0o644).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'EEXIST' ? refused(`"${path}" comes twice`) : error;
  });
  try {
    for (let left = size; left > 0;) {
      const chunk = await bytes.some(left);
      await file.writeFile(chunk);
      left -= chunk.length;
    }
    await file.sync();
  } finally {
    await file.close();
  }
}

function readHeader(header: Buffer): { path: string; size: number; type: string } {
  const text = (from: number, to: number): string => {
    const end = header.indexOf(0, from);
    return header.toString('utf8', from, end < 0 || end > to ? to : end);
  };
  const octal = (from: number, to: number): number => {
    const digits = text(from, to).trim();
    if (!/^[0-7]+$/.test(digits)) throw refused(`its header has ${JSON.stringify(digits)} where a number belongs`);
    return Number.parseInt(digits, 8);
  };
  const sum = header.reduce((total, byte, at) => total + (at >= 148 && at < 156 ? 32 : byte), 0);
  if (octal(148, 156) !== sum) throw refused('a checksum in it is wrong');
  const prefix = text(257, 262) === 'ustar' ? text(345, 500) : '';
  const name = text(0, 100);
  return {
    path: prefix === '' ? name : `${prefix}/${name}`,
    size: octal(124, 136),
    type: String.fromCharCode(header[156]!),
  };
}

/** Packages have everything in one folder, mostly `package/`. */
function withoutFirst(path: string): string {
  const [first, ...rest] = path.split('/');
  const isPlain = (part: string | undefined): boolean =>
    part !== undefined && !/^\.{0,2}$/.test(part) && !/[\\\p{Cc}]/u.test(part);
  if (rest.length === 0 || ![first, ...rest].every(isPlain))
    throw refused(`the path ${JSON.stringify(path)} leads out of the package`);
  return join(...rest);
}

function refused(reason: string): TailraceError {
  return new TailraceError('E_ENGINE_ARCHIVE', `the archive is refused: ${reason}`, {
    fix: 'try another registry with --registry',
  });
}

/** Bytes of a stream in the pieces that are asked for. */
class ByteReader {
  readonly #source: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(source: AsyncIterable<Buffer>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /** From 1 to `most` bytes. */
  async some(most: number): Promise<Buffer> {
    while (this.#rest.length === 0) {
      const next = await this.#source.next();
      if (next.done) throw refused('it is cut off');
      this.#rest = next.value;
    }
    const part = this.#rest.subarray(0, most);
    this.#rest = this.#rest.subarray(part.length);
    return part;
  }

  /** Exactly `count` bytes: a header or padding. */
  async take(count: number): Promise<Buffer> {
    const parts: Buffer[] = [];
    for (let left = count; left > 0;) {
      const part = await this.some(left);
      parts.push(part);
      left -= part.length;
    }
    return Buffer.concat(parts, count);
  }
}
