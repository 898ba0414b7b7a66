/**
 * Walks a path link by link and tells who made each symbolic link, and whom that belongs to what it leads to. On Linux each step is held open
 * while it is looked at, so that nobody can put another file in its place meanwhile.
 */
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  openSync,
  readlinkSync,
  type Stats,
  statSync,
} from 'node:fs';
import { codeOf } from '../../../core/errors.ts';
import { nativeLibrary } from '../../native/library.ts';
import { MAX_LINKS } from '../limits.ts';

export interface TracedLink {
  readonly path: string;
  /** User number of its maker. */
  readonly owner: number;
  /** The owner of its target; undefined where it leads nowhere, or cannot be examined. */
  readonly targetOwner: number | undefined;
}

export interface Trace {
  readonly links: readonly TracedLink[];
  /** What the path leads to in the end; undefined for nothing. */
  readonly end: { readonly device: number | bigint; readonly inode: number | bigint } | undefined;
  /** The system error that ended the walk. */
  readonly error?: Error;
}

/** Linux only: a descriptor that leads to a place, even to a link itself, and reads nothing. */
const O_PATH = 0o10000000;

/** A place on the way. */
interface TraceStep {
  /** A path that leads to it, whatever its own path leads to by now. */
  readonly ref: string;
  readonly fd: number | undefined;
  readonly stat: Stats;
}

/** Where a link's text has been walked. */
interface LinkEnd {
  readonly path: string;
  readonly owner: number;
}

/** The links behind `base`, which is a part of `path` and is followed. Never throws. */
export function traceLinks(path: string, base: string): Trace {
  const links: TracedLink[] = [];
  const open: LinkEnd[] = [];
  let step: TraceStep | undefined;
  /** The links on whose text the walk is. */
  const unresolved = (): TracedLink[] => open.map((link) => ({ ...link, targetOwner: undefined }));
  try {
    step = stepAt(base);
    let at = base;
    let followed = 0;
    const rest: (string | LinkEnd)[] = namesOf(path.slice(base.length));
    for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
      if (typeof next !== 'string') {
        open.splice(open.indexOf(next), 1);
        links.push({ ...next, targetOwner: step.stat.uid });
        continue;
      }
      const child: TraceStep = stepInto(step, next);
      const childPath = `${at === '/' ? '' : at}/${next}`;
      if (!child.stat.isSymbolicLink()) {
        leave(step);
        [step, at] = [child, childPath];
        continue;
      }
      const text = textOf(child);
      const owner = child.stat.uid;
      leave(child);
      if ((followed += 1) > MAX_LINKS)
        throw Object.assign(new Error('ELOOP: too many symbolic links'), { code: 'ELOOP' });
      const link = { path: childPath, owner };
      open.push(link);
      rest.push(link, ...namesOf(text));
      if (!text.startsWith('/')) continue;
      leave(step);
      [step, at] = [stepAt('/'), '/'];
    }
    const { dev: device, ino: inode } = step.stat;
    const end = Number.isSafeInteger(device) && Number.isSafeInteger(inode) ? { device, inode } : exactEnd(step);
    return { links, end };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const isNothing = ['ENOENT', 'ENOTDIR'].includes(codeOf(error));
    return { links: [...links, ...unresolved()], end: undefined, ...(isNothing ? {} : { error }) };
  } finally {
    if (step) leave(step);
  }
}

function namesOf(path: string): string[] {
  return path
    .split('/')
    .filter((name) => name !== '' && name !== '.')
    .reverse();
}

let canHold: boolean | undefined;

/** Links of the path itself are followed. */
function stepAt(path: string): TraceStep {
  canHold ??= nativeLibrary() !== undefined && existsSync('/proc/self/fd');
  return canHold ? held(openSync(path, O_PATH)) : { ref: path, fd: undefined, stat: statSync(path) };
}

/** A link is not followed. */
function stepInto({ ref, fd }: TraceStep, name: string): TraceStep {
  const path = `${ref}/${name}`;
  return fd === undefined
    ? { ref: path, fd, stat: lstatSync(path) }
    : held(openSync(path, O_PATH | constants.O_NOFOLLOW));
}

function held(fd: number): TraceStep {
  return { ref: `/proc/self/fd/${fd}`, fd, stat: fstatSync(fd) };
}

function leave({ fd }: TraceStep): void {
  if (fd !== undefined) closeSync(fd);
}

/** A link's text. That of the very link: another one may be in its place by now. */
function textOf({ ref, fd }: TraceStep): string {
  const library = nativeLibrary();
  if (fd === undefined || !library) return readlinkSync(ref);
  const text = Buffer.alloc(4096);
  const length = Number(library.functions.readlinkat(fd, '', text, BigInt(text.length)));
  if (length < 0) throw library.lastError('readlinkat');
  return text.toString('utf8', 0, length);
}

function exactEnd({ fd, ref }: TraceStep): Trace['end'] {
  const { dev: device, ino: inode } =
    fd === undefined ? statSync(ref, { bigint: true }) : fstatSync(fd, { bigint: true });
  return { device, inode };
}
