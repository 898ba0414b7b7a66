/** Looks into a file: its first and last lines where it is text, else why it cannot be shipped as it is. Reads little, never waits. */
import { isUtf8 } from 'node:buffer';
import { closeSync, fstatSync, readFileSync, readSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { codeOf, messageOf } from '../../core/errors.ts';
import { systemClock } from '../../core/time/clock.ts';
import { nodeFileSystem } from '../../sources/file/scan/file-system.ts';
import { guard } from '../../sources/file/scan/path-refusals.ts';
import { Links, refusalIn } from '../../sources/file/scan/links.ts';
import { isCompressedName } from '../../sources/file/scan/rotated-names.ts';
import { findBom } from '../../sources/framing/byte-window.ts';

const SAMPLE_BYTES = 64 * 1024;
const SAMPLE_LINES = 100;
const NEWLINE = 0x0a;
const ZSTD = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);

export type OpenPath = (path: string) => number;

/** Opens for reading what links lead to, as a source does: those in the paths that were named are the user's own. */
export function openerOf(named: readonly string[]): OpenPath {
  const links = new Links({ fixed: named, followLinks: 'safe', fileSystem: nodeFileSystem, clock: systemClock });
  const fileSystem = guard(nodeFileSystem, links, undefined);
  return (path) => fileSystem.open(path);
}

export interface LogFile {
  readonly kind: 'log';
  readonly path: string;
  readonly size: number;
  readonly mtimeMs: number;
  /** Whole lines at its beginning, and at its end if that is after them. In UTF-8, also for files of UTF-16 with a mark. */
  readonly head: Buffer;
  readonly tail: Buffer;
}

export interface NoLog {
  readonly kind: 'skipped';
  readonly path: string;
  readonly reason: string;
  readonly fix?: string | undefined;
}

/** `open`: as `openerOf` makes it. */
export function lookInto(path: string, open: OpenPath): LogFile | NoLog {
  const skip = (reason: string, fix?: string): NoLog => ({ kind: 'skipped', path, reason, fix });
  if (/\p{Cc}/u.test(path) || path.includes('\uFFFD'))
    return skip('a name that cannot stand in a configuration', 'rename it');
  if (isCompressedName(path)) return skip('compressed', 'the agent reads .gz and .zst with `read_compressed: true`');
  let fd: number | undefined;
  try {
    fd = open(path);
    const stat = fstatSync(fd);
    if (!stat.isFile()) return skip('not a regular file');
    const raw = readAt(fd, 0);
    const mark = findBom(raw);
    const isWide = mark?.encoding.unitBytes === 2;
    const beginning = mark && isWide ? Buffer.from(mark.encoding.decode(raw.subarray(mark.bytes.length))) : raw;
    if (beginning.length === 0) return skip('empty', 'name it once it has lines');
    const fault = findFault(beginning);
    if (fault !== undefined) return skip(fault);
    const head = wholeLines(beginning, stat.size <= raw.length);
    if (head.length === 0) return skip(`no line ends in its first ${SAMPLE_BYTES / 1024} KiB`);
    // The end of text in UTF-16 has no mark of its own.
    const end = stat.size > SAMPLE_BYTES && !isWide ? readAt(fd, stat.size - SAMPLE_BYTES) : beginning;
    const tail = end.subarray(end.indexOf(NEWLINE) + 1, end.lastIndexOf(NEWLINE) + 1);
    return { kind: 'log', path, size: stat.size, mtimeMs: stat.mtimeMs, head, tail: tail.length === 0 ? head : tail };
  } catch (error) {
    if (!/^E(?!RR_)/.test(codeOf(error))) throw error;
    const refusal = refusalIn(error);
    if (refusal)
      return skip(
        `${refusal.path === path ? '' : `${refusal.path}: `}${refusal.reason}`,
        'name the link itself, if its target is a log',
      );
    if (codeOf(error) !== 'EACCES') return skip(messageOf(error));
    return skip('permission denied', whoMayRead(path));
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

function readAt(fd: number, at: number): Buffer {
  const buffer = Buffer.alloc(SAMPLE_BYTES);
  return buffer.subarray(0, readSync(fd, buffer, 0, buffer.length, at));
}

function findFault(bytes: Buffer): string | undefined {
  const [first, second] = bytes;
  if ((first === 0x1f && second === 0x8b) || ZSTD.equals(bytes.subarray(0, ZSTD.length))) return 'compressed';
  if (bytes.includes(0)) return 'not text';
  // A character may be cut at the end.
  const isText = isUtf8(bytes.subarray(0, bytes.lastIndexOf(NEWLINE) + 1));
  let controls = 0;
  for (const byte of bytes)
    if (byte < 0x20 && byte !== NEWLINE && byte !== 0x0d && byte !== 0x09 && byte !== 0x1b) controls += 1;
  return controls * (isText ? 10 : 100) > bytes.length ? 'not text' : undefined;
}

/** With the unfinished last line where the file ends there. */
function wholeLines(bytes: Buffer, isWhole: boolean): Buffer {
  let end = 0;
  for (let lines = 0; lines < SAMPLE_LINES; lines++) {
    const newline = bytes.indexOf(NEWLINE, end);
    if (newline < 0) return isWhole ? bytes : bytes.subarray(0, end);
    end = newline + 1;
  }
  return bytes.subarray(0, end);
}

/** The group to join, where its members may read the file or folder. */
export function whoMayRead(path: string): string {
  for (let each = path; each !== '/'; each = dirname(each)) {
    try {
      const { gid, mode, uid } = statSync(each);
      const needed = each === path ? 0o040 : 0o010;
      if (uid === process.getuid?.() || (mode & (needed >> 3)) !== 0) continue;
      const group = (mode & needed) === 0 ? undefined : groupName(gid);
      if (group === undefined || gid === 0) break;
      return `join the group that may read it: usermod -aG ${group} USER, where USER runs the agent`;
    } catch {
      // A folder above is closed to this user: report that one.
    }
  }
  return 'only its owner may read it: docs/operations.md names the capability that the agent needs';
}

function groupName(gid: number): string {
  try {
    const line = readFileSync('/etc/group', 'utf8')
      .split('\n')
      .find((each) => each.split(':')[2] === String(gid));
    return line?.split(':')[0] ?? String(gid);
  } catch {
    return String(gid);
  }
}
