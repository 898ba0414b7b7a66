/** `manifest.ndjson` of an hour: a line for each file. */
import { hash } from 'node:crypto';
import { open, readdir, readFile, rm, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzip, zstdDecompress } from 'node:zlib';
import { codeOf } from '../../core/errors.ts';

export const MANIFEST = 'manifest.ndjson';

export interface ManifestEntry {
  readonly file: string;
  readonly key: string;
  readonly events: number;
  /** Of the file, and its checksum. */
  readonly bytes: number;
  readonly sha256: string;
}

const FILE = /^([\w-]+)\.ndjson(?:\.zst|\.gz)?$/;
const LF = 0x0a;

export function entryOf(file: string, key: string, events: number, content: Uint8Array): ManifestEntry {
  return { file, key, events, bytes: content.length, sha256: hash('sha256', content) };
}

export async function readIfThere(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** The entries of an hour; a line that a crash cut off is none. */
export async function readManifest(folder: string): Promise<{ readonly entries: ManifestEntry[]; readonly wholeBytes: number }> {
  const text = (await readIfThere(join(folder, MANIFEST))) ?? Buffer.alloc(0);
  const wholeBytes = text.lastIndexOf(LF) + 1;
  const lines = text.toString('utf8', 0, wholeBytes).split('\n').slice(0, -1);
  return { entries: lines.map((line) => JSON.parse(line) as ManifestEntry), wholeBytes };
}

/** Adds the line, whole or not at all, and fsyncs it. */
export async function addEntry(folder: string, entry: ManifestEntry): Promise<void> {
  const file = await open(join(folder, MANIFEST), 'a');
  const { size } = await file.stat();
  try {
    await file.writeFile(`${JSON.stringify(entry)}\n`);
    await file.sync();
  } catch (error) {
    await file.truncate(size);
    throw error;
  } finally {
    await file.close();
  }
}

/** Makes the manifest complete where a crash came between a file and its line; the bytes of the hour's files. */
export async function healManifest(folder: string): Promise<number> {
  const { entries, wholeBytes } = await readManifest(folder);
  const known = new Set(entries.map(({ file }) => file));
  let bytes = entries.reduce((sum, entry) => sum + entry.bytes, 0);
  const names = await readdir(folder);
  if (names.includes(MANIFEST)) await truncate(join(folder, MANIFEST), wholeBytes);
  for (const name of names) {
    if (name.startsWith('.') && name.endsWith('.tmp')) await rm(join(folder, name));
    const key = FILE.exec(name)?.[1];
    if (key === undefined || name === MANIFEST || known.has(name)) continue;
    const content = await readFile(join(folder, name));
    const events = (await plainOf(name, content)).toString('latin1').split('\n').length - 1;
    await addEntry(folder, entryOf(name, key, events, content));
    bytes += content.length;
  }
  return bytes;
}

function plainOf(name: string, content: Buffer): Promise<Buffer> {
  if (name.endsWith('.zst')) return promisify(zstdDecompress)(content);
  return name.endsWith('.gz') ? promisify(gunzip)(content) : Promise.resolve(content);
}
