/** Which files may be logs: in folders that are named, in well-known places, and what running processes hold open for writing. */
import { orElse } from '../output/or-else.ts';
import { type Dirent, readdirSync, statSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { codeOf, messageOf, UsageError } from '../../core/errors.ts';
import { isCompressedName, rotatedFrom } from '../../sources/file/scan/rotated-names.ts';
import { type NoLog, type OpenPath, openerOf, whoMayRead } from './look-into.ts';
import { findOpenFiles } from './open-files.ts';

const MAX_CANDIDATES = 20_000;
const MAX_DEPTH = 16;

export interface Candidate {
  readonly path: string;
  /** Why it was checked. */
  readonly why: string;
  /** A user named it, or a folder above it. */
  readonly isNamed: boolean;
  /** It takes more than a likely name: its lines must be recognised. */
  readonly isUnlikely: boolean;
}

export interface Candidates {
  readonly files: readonly Candidate[];
  readonly skipped: readonly NoLog[];
  /** Rotated files, which the agent finds by the file that they come from. */
  readonly rotated: number;
  readonly isCut: boolean;
  readonly open: OpenPath;
}

/** Searched when no path is given. Container folders come first: the links elsewhere lead to them. */
const PLACES = ['/var/log/pods', '/var/lib/docker/containers', '/var/log', '/opt', '/srv'];

/** Throws `UsageError` for a missing path. */
export function listCandidates(paths: readonly string[]): Candidates {
  const list = new CandidateList(paths.length > 0);
  const named = paths.map((each) => resolve(each));
  for (const path of named) list.addGiven(path);
  if (paths.length === 0) {
    for (const { path, by } of findOpenFiles())
      if (isLikely(path, false)) list.add(path, `held open for writing by ${by}`, false);
    for (const place of PLACES) list.addFolder(place, `in ${place}`, 0, !/^\/(opt|srv)$/.test(place));
  }
  return { ...list.result(), open: openerOf(named.length > 0 ? named : PLACES) };
}

class CandidateList {
  readonly #isNamed: boolean;
  readonly #files = new Map<string, Candidate>();
  /** Device and inode: a link and its target are one file. */
  readonly #seen = new Set<string>();
  readonly #skipped: NoLog[] = [];

  constructor(isNamed: boolean) {
    this.#isNamed = isNamed;
  }

  addGiven(path: string): void {
    let isFolder: boolean;
    try {
      isFolder = statSync(path).isDirectory();
    } catch (error) {
      if (codeOf(error) === 'EACCES') return void this.#skipped.push(denied(path));
      throw new UsageError('E_INIT', `cannot look into "${path}": ${messageOf(error)}`, {
        fix: 'name log files, or folders that hold some',
      });
    }
    if (isFolder) this.addFolder(path, 'in a folder that was named', 0, false);
    else this.add(path, 'named', false);
  }

  /** `isLogFolder`: any file in it is likely a log. */
  addFolder(folder: string, why: string, depth: number, isLogFolder: boolean): void {
    let entries: Dirent[];
    try {
      entries = readdirSync(folder, { withFileTypes: true });
    } catch (error) {
      if (codeOf(error) === 'EACCES') this.#skipped.push(denied(folder));
      return;
    }
    const isLog = isLogFolder || /^logs?$/i.test(basename(folder));
    for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      if (this.#files.size >= MAX_CANDIDATES) return;
      const path = join(folder, entry.name);
      if (entry.isDirectory()) {
        if (depth < MAX_DEPTH && !/^(?:\..*|node_modules|journal|tailrace-data)$/.test(entry.name))
          this.addFolder(path, why, depth + 1, isLog);
      } else if ((entry.isFile() || isLinkToFile(entry, path)) && !isNoLog(entry.name)) {
        const likely = isLikely(path, isLog);
        if (likely || depth < 4) this.add(path, why, !likely);
      }
    }
  }

  add(path: string, why: string, isUnlikely: boolean): void {
    if (this.#files.has(path) || this.#files.size >= MAX_CANDIDATES) return;
    try {
      const { dev, ino } = statSync(path, { bigint: true });
      if (this.#seen.has(`${dev}:${ino}`)) return;
      this.#seen.add(`${dev}:${ino}`);
    } catch {
      // Reading it reports why.
    }
    this.#files.set(path, { path, why, isNamed: this.#isNamed, isUnlikely });
  }

  result(): Omit<Candidates, 'open'> {
    const files = [...this.#files.values()].filter(({ path, why }) => why === 'named' || !this.#isRotated(path));
    return {
      files,
      skipped: this.#skipped,
      rotated: this.#files.size - files.length,
      isCut: this.#files.size >= MAX_CANDIDATES,
    };
  }

  /** `app.log.1`, `app.log-20261121.gz` beside `app.log`. */
  #isRotated(path: string): boolean {
    let name: string | undefined = isCompressedName(path) ? path.replace(/\.[^.]+$/, '') : path;
    while ((name = rotatedFrom(name)) !== undefined) if (this.#files.has(name)) return true;
    return isCompressedName(path) && this.#files.has(path.replace(/\.[^.]+$/, ''));
  }
}

function denied(path: string): NoLog {
  return { kind: 'skipped', path, reason: 'permission denied', fix: whoMayRead(path) };
}

function isLinkToFile(entry: Dirent, path: string): boolean {
  return entry.isSymbolicLink() && orElse(false, () => statSync(path).isFile());
}

const SYSTEM_NAMES = /^(?:messages|secure|cron|dmesg|debug|kern|user|daemon|boot)$/;

/** `app.log`, `app.log.1`, `error_log`, `syslog`, and whatever is in a folder of logs. */
function isLikely(path: string, isLogFolder: boolean): boolean {
  const name = basename(path);
  if (isNoLog(name)) return false;
  return (
    isLogFolder ||
    /\.(?:log|out|err)(?:[._-]|$)/i.test(name) ||
    /log$/i.test(name) ||
    SYSTEM_NAMES.test(name) ||
    /\/logs?\//i.test(path)
  );
}

const OTHER_EXTENSIONS =
  /\.(?:journal~?|db|sqlite3?|pid|lock|sock|so|rpm|deb|py|pyc|js|ts|html|css|md|ya?ml|toml|conf|cfg|ini|png|jpg|woff2?)$/i;

/** Files with records of their own kind, and what programs keep beside their logs. */
function isNoLog(name: string): boolean {
  return /^(?:[wb]tmp|lastlog|faillog|README|LICENSE|\..*)$/.test(name) || OTHER_EXTENSIONS.test(name);
}
