/** `manifest.ndjson` of an hour: a line for each file. */
import { hash } from 'node:crypto';
import { open, readdir, readFile, rm, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf } from '../../core/errors.ts';
import { countEvents, readPlain, unpack } from './reading/content.ts';
import { isTemporary, keyOf, MANIFEST, type ManifestEntry, parseEntry } from './reading/names.ts';

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

/** The entries of an hour; leaves out lines that a crash cut off or others wrote. */
export async function readManifest(
  folder: string,
): Promise<{ readonly entries: ManifestEntry[]; readonly wholeBytes: number; readonly isCutOff: boolean }> {
  const text = (await readIfThere(join(folder, MANIFEST))) ?? Buffer.alloc(0);
  const wholeBytes = text.lastIndexOf(LF) + 1;
  const lines = text.toString('utf8', 0, wholeBytes).split('\n').slice(0, -1);
  return { entries: lines.flatMap((line) => parseEntry(line) ?? []), wholeBytes, isCutOff: text.length > wholeBytes };
}

/** Adds the line, whole or not at all, and fsyncs it. */
export async function addEntry(folder: string, entry: ManifestEntry): Promise<void> {
  const file = await open(join(folder, MANIFEST), 'a');
  try {
    const { size } = await file.stat();
    try {
      await file.writeFile(`${JSON.stringify(entry)}\n`);
      await file.sync();
    } catch (error) {
      await file.truncate(size);
      throw error;
    }
  } finally {
    await file.close();
  }
}

/** Makes the manifest complete where a crash came between a file and its line; the bytes of the hour's files. */
export async function healManifest(folder: string): Promise<number> {
  const { entries, wholeBytes, isCutOff } = await readManifest(folder);
  const known = new Map(entries.map(({ file, bytes }) => [file, bytes]));
  const names = await readdir(folder);
  if (isCutOff) await truncate(join(folder, MANIFEST), wholeBytes);
  for (const name of names) {
    if (isTemporary(name)) await rm(join(folder, name));
    const key = keyOf(name);
    if (key === undefined || known.has(name)) continue;
    const entry = await describeFile(folder, name, key);
    if (!entry) continue;
    await addEntry(folder, entry);
    known.set(name, entry.bytes);
  }
  return [...known.values()].reduce((sum, bytes) => sum + bytes, 0);
}

/** Undefined for a file that is not whole: others made it, as the sink's own are whole before they have their names. */
async function describeFile(folder: string, name: string, key: string): Promise<ManifestEntry | undefined> {
  try {
    const content = await readPlain(join(folder, name));
    return entryOf(name, key, countEvents(await unpack(name, content)), content);
  } catch {
    return undefined;
  }
}
