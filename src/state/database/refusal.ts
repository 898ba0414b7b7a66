/** Why the state database refused a write, and what to do about it. Pure. */
import { codeOf, messageOf, TailraceError } from '../../core/errors.ts';

export interface StateRefusal {
  readonly error: unknown;
  readonly reason: string;
  readonly fix: string;
  /** Another process holds the database: nothing is wrong with the disk, and it may be free at any moment. */
  readonly isHeld: boolean;
}

/** SQLite's BUSY and LOCKED. */
const HELD_CODES: ReadonlySet<number> = new Set([5, 6]);

/** The fix for a disk that refuses. */
export const DISK_FIX = 'free space in data_dir or repair its disk; it retries by itself';

/** `file` is the database's. An error of SQLite that says that another process holds it becomes `E_STATE_HELD`. */
export function refusalOf(error: unknown, file: string): StateRefusal {
  const held = codeOf(error) === 'E_STATE_HELD' ? error : isHeld(error) ? heldBy(error, file) : undefined;
  const { fix = DISK_FIX } = held instanceof TailraceError ? held : {};
  return { error: held ?? error, reason: messageOf(held ?? error), fix, isHeld: held !== undefined };
}

/** True where SQLite gave up because of another connection. */
export function isHeld(error: unknown): boolean {
  const { errcode } = error as { errcode?: unknown };
  return typeof errcode === 'number' && HELD_CODES.has(errcode & 0xff);
}

export function heldBy(cause: unknown, file: string): TailraceError {
  return new TailraceError('E_STATE_HELD', `another process holds state.db (${messageOf(cause)})`, {
    fix: `end the transaction of that process, such as a shell or a backup: "fuser -v ${file}" names it; it retries by itself`,
    cause,
  });
}
