/**
 * Reads an hour of an archive, file by file, and compares each with its line in the manifest. Writes nothing. Holds one file, and the names
 * of those that it has read.
 */
import { hash } from 'node:crypto';
import { access, lstat, opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { splitLines } from '../../../client/ingest/split-lines.ts';
import { codeOf, messageOf } from '../../../core/errors.ts';
import { openPlain, readPlain } from './content.ts';
import { MAX_TEMPORARY_FILES } from './limits.ts';
import { isTemporary, keyOf, MANIFEST, type ManifestEntry, parseEntry } from './names.ts';

export type HourPart =
  | {
      readonly kind: 'listed';
      readonly path: string;
      readonly key: string;
      readonly entry: ManifestEntry;
      readonly content: Buffer;
    }
  /** The manifest has no line for it: a crash came between, or the agent is about to write it. */
  | { readonly kind: 'unlisted'; readonly path: string; readonly key: string; readonly content: Buffer }
  /** Its batch is not delivered: an agent writes it now, or again when it starts. */
  | { readonly kind: 'unfinished'; readonly path: string }
  | { readonly kind: 'damaged'; readonly path: string; readonly why: string };

export async function* readHour(hour: string): AsyncGenerator<HourPart> {
  const seen = new Set<string>();
  const identity = await identityOf(hour);
  for await (const entry of entriesOf(hour)) {
    if ('kind' in entry) yield entry;
    else if (!seen.has(entry.file)) {
      const part = await readListed(join(hour, entry.file), entry);
      // The sink removed the hour meanwhile, and a late batch may have made it anew: its files are others.
      if (part.kind === 'damaged' && (identity !== (await identityOf(hour)) || !(await isThere(join(hour, MANIFEST)))))
        return;
      if (part.kind !== 'damaged' || (await isThere(part.path))) seen.add(entry.file);
      yield part;
    }
  }
  const temporary: string[] = [];
  try {
    for await (const { name } of await opendir(hour)) {
      const [key, path] = [keyOf(name), join(hour, name)];
      if (isTemporary(name) && temporary.length < MAX_TEMPORARY_FILES) temporary.push(path);
      else if (isTemporary(name)) yield { kind: 'unfinished', path };
      else if (key !== undefined && !seen.has(name)) yield await readUnlisted(path, key);
    }
  } catch (error) {
    if (codeOf(error) !== 'ENOENT')
      yield { kind: 'damaged', path: hour, why: `it cannot be listed: ${messageOf(error)}` };
  }
  for (const path of temporary) if (await isThere(path)) yield { kind: 'unfinished', path };
}

async function* entriesOf(hour: string): AsyncGenerator<ManifestEntry | Extract<HourPart, { kind: 'damaged' }>> {
  const path = join(hour, MANIFEST);
  const damaged = (why: string) => ({ kind: 'damaged' as const, path, why });
  const splitter = splitLines();
  let found: (ManifestEntry | ReturnType<typeof damaged>)[] = [];
  try {
    const file = await openPlain(path);
    // What a crash cut off at its end is no line.
    for await (const bytes of file.createReadStream()) {
      splitter.push(bytes as Buffer, ({ bytes: line, line: number }) =>
        found.push(parseEntry(line.toString()) ?? damaged(`its line ${number} does not describe a file`)),
      );
      yield* found;
      found = [];
    }
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') yield damaged(`it cannot be read: ${messageOf(error)}`);
  }
}

async function readListed(path: string, entry: ManifestEntry): Promise<HourPart> {
  try {
    const content = await readPlain(path, entry.bytes);
    if (hash('sha256', content) !== entry.sha256)
      return { kind: 'damaged', path, why: 'its content does not match its checksum in the manifest' };
    return { kind: 'listed', path, key: entry.key, entry, content };
  } catch (error) {
    const why = codeOf(error) === 'ENOENT' ? 'the manifest names it, and it is not there' : messageOf(error);
    return { kind: 'damaged', path, why };
  }
}

async function readUnlisted(path: string, key: string): Promise<HourPart> {
  try {
    return { kind: 'unlisted', path, key, content: await readPlain(path) };
  } catch (error) {
    return { kind: 'damaged', path, why: messageOf(error) };
  }
}

/** Tells one folder from another of its name; undefined without one. */
async function identityOf(folder: string): Promise<string | undefined> {
  try {
    const { ino, birthtimeNs } = await lstat(folder, { bigint: true });
    return `${ino} ${birthtimeNs}`;
  } catch {
    return undefined;
  }
}

/** Of a link: itself. */
async function isThere(path: string): Promise<boolean> {
  try {
    await (path.endsWith(MANIFEST) ? access(path) : lstat(path));
    return true;
  } catch {
    return false;
  }
}
