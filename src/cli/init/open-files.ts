/** Regular files that running processes hold open for writing, as far as this user may see. Reads /proc and changes nothing. */
import { orElse } from '../output/or-else.ts';
import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { join } from 'node:path';

const MAX_DESCRIPTORS = 100_000;
const ACCESS_MODE = 3;

export interface OpenFile {
  readonly path: string;
  /** `nginx (812)`. */
  readonly by: string;
}

/** Each path once, in the order of the processes. */
export function findOpenFiles(proc = '/proc'): OpenFile[] {
  const found = new Map<string, OpenFile>();
  let left = MAX_DESCRIPTORS;
  for (const pid of list(proc).filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)) {
    const folder = join(proc, pid);
    for (const fd of list(join(folder, 'fd'))) {
      if (left-- === 0) return [...found.values()];
      const path = writtenFile(folder, fd);
      if (path !== undefined && !found.has(path))
        found.set(path, { path, by: `${read(join(folder, 'comm')).trim() || 'process'} (${pid})` });
    }
  }
  return [...found.values()];
}

function writtenFile(folder: string, fd: string): string | undefined {
  try {
    const link = join(folder, 'fd', fd);
    const path = readlinkSync(link);
    if (!path.startsWith('/') || /^\/(?:proc|sys|dev|run)\//.test(path)) return undefined;
    const flags = /^flags:\s*(\d+)/m.exec(read(join(folder, 'fdinfo', fd)))?.[1];
    if (flags === undefined || (Number.parseInt(flags, 8) & ACCESS_MODE) === 0) return undefined;
    // In another mount namespace, or deleted, the path names another file or none.
    const [there, here] = [statSync(link), statSync(path)];
    return here.isFile() && there.dev === here.dev && there.ino === here.ino ? path : undefined;
  } catch {
    return undefined;
  }
}

const list = (folder: string): string[] => orElse([], () => readdirSync(folder));
const read = (path: string): string => orElse('', () => readFileSync(path, 'utf8'));
