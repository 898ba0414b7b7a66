/**
 * Lets root run commands on the data folder of another user's agent: files that root creates get the owner of their folder, and no
 * permission that the folder lacks, so that the agent can still use them. Where a file system or container does not let root change
 * owners, the files stay root's.
 */
import {
  closeSync,
  fchmodSync,
  fchownSync,
  lchownSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { codeOf, TailraceError } from '../core/errors.ts';

interface Owner {
  readonly uid: number;
  readonly gid: number;
  /** Permission bits of the folder. */
  readonly mode: number;
}

/** The folder's owner where root works in another user's folder; else undefined. */
function foreignOwner(folder: string): Owner | undefined {
  if (process.geteuid?.() !== 0) return undefined;
  const stat = statSync(folder, { throwIfNoEntry: false });
  return stat === undefined || stat.uid === 0 ? undefined : { uid: stat.uid, gid: stat.gid, mode: stat.mode & 0o777 };
}

/** Makes a folder, and those above it that are missing. */
export function makeFolder(path: string, mode = 0o750): void {
  const parent = dirname(path);
  if (parent !== path && statSync(parent, { throwIfNoEntry: false }) === undefined) makeFolder(parent, mode);
  try {
    mkdirSync(path, mode & (foreignOwner(parent)?.mode ?? 0o777));
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return;
    throw error;
  }
  giveToOwner(path);
}

/** Opens a new file for writing; removes one of its name, such as the rest of a write that a kill cut off. */
export function createFile(path: string, mode = 0o640): number {
  let fd: number;
  try {
    // Exclusive, so that root never writes through another user's link.
    fd = openSync(path, 'wx', mode);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
    rmSync(path);
    fd = openSync(path, 'wx', mode);
  }
  giveOpenFile(fd, path, mode);
  return fd;
}

/** For a file that this process has just created at `path`. */
export function giveOpenFile(fd: number, path: string, mode: number): void {
  const owner = foreignOwner(dirname(path));
  if (owner === undefined) return;
  give(() => {
    fchownSync(fd, owner.uid, owner.gid);
    fchmodSync(fd, mode & owner.mode);
  });
}

/** Makes an empty file where root would else have SQLite make one that is root's. */
export function prepareFile(path: string): void {
  if (foreignOwner(dirname(path)) === undefined || statSync(path, { throwIfNoEntry: false }) !== undefined) return;
  closeSync(createFile(path, 0o644));
}

/** For a file made in another way, such as a socket. */
export function giveToOwner(path: string): void {
  const owner = foreignOwner(dirname(path));
  if (owner !== undefined) give(() => lchownSync(path, owner.uid, owner.gid));
}

function give(change: () => void): void {
  try {
    change();
  } catch (error) {
    if (!['EPERM', 'EINVAL', 'ENOSYS', 'ENOTSUP'].includes(codeOf(error))) throw error;
  }
}

/**
 * For commands whose files are made by an engine, which cannot give them away: throws `E_DATA_DIR` with the line to type where
 * root would work in another user's folder.
 */
export function refuseForeignFolder(folder: string, args: readonly string[] = process.argv.slice(2)): void {
  const owner = foreignOwner(folder);
  if (owner === undefined) return;
  const name = userName(owner.uid);
  throw new TailraceError(
    'E_DATA_DIR',
    `the folder "${folder}" belongs to ${name ?? `user ${owner.uid}`}, who could not use what root leaves in it`,
    {
      fix: `run the command as that user: ${name === undefined ? `setpriv --reuid=${owner.uid} --regid=${owner.gid} --clear-groups` : `runuser -u ${name} --`} tailrace ${args.map(shellWord).join(' ')}`,
    },
  );
}

/** The fix after a refusal for lack of rights in the data folder: the command as its owner; or for one `file` in it, who gives it back. */
export function ownerFix(folder: string, file?: string, args: readonly string[] = process.argv.slice(2)): string {
  const uid = ownerOf(folder);
  if (uid === process.geteuid?.()) {
    if (file === undefined || ownerOf(file) === uid) return 'check the permissions of data_dir';
    return `as root: chown --reference=${shellWord(folder)} ${shellWord(file)}`;
  }
  const user = uid === 0 ? '' : ` -u ${userName(uid) ?? `'#${uid}'`}`;
  return `run it as the owner of data_dir: sudo${user} tailrace ${args.map(shellWord).join(' ')}`;
}

/** Where this user cannot look at it, of the innermost folder above it that can be. */
function ownerOf(path: string): number {
  try {
    return statSync(path).uid;
  } catch {
    return dirname(path) === path ? 0 : ownerOf(dirname(path));
  }
}

function userName(uid: number): string | undefined {
  try {
    const lines = readFileSync('/etc/passwd', 'utf8').split('\n');
    return lines.map((line) => line.split(':')).find(([, , id]) => id === String(uid))?.[0];
  } catch {
    return undefined;
  }
}

/** The word as a shell takes it. */
export function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
