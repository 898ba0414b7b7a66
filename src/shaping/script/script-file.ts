/** Reads a transform script, and refuses one that others than the agent's own user and root may change: it runs with the agent's rights. */
import { createHash } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { codeOf, messageOf, TailraceError } from '../../core/errors.ts';
import { MAX_SCRIPT_BYTES } from '../limits.ts';

export interface ScriptFile {
  /** Absolute. */
  readonly path: string;
  readonly text: string;
  readonly sha256: string;
}

/** Throws `TailraceError` `E_SCRIPT`. */
export function readScript(path: string): ScriptFile {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    const reason = codeOf(error) === 'ENOENT' ? 'there is no such file' : messageOf(error);
    throw refusal(
      path,
      `cannot be read: ${reason}`,
      "check the path, which starts at the configuration file's folder",
      error,
    );
  }
  try {
    const { mode, uid, size } = fstatSync(fd);
    if ((mode & constants.S_IFMT) !== constants.S_IFREG) throw refusal(path, 'is not a regular file', 'name a file');
    if ((mode & 0o022) !== 0) throw refusal(path, 'can be changed by other users', `run \`chmod go-w ${path}\``);
    const own = process.geteuid?.();
    if (uid !== 0 && own !== undefined && uid !== own)
      throw refusal(path, 'belongs to another user, who can change it', `run \`chown root ${path}\``);
    if (size > MAX_SCRIPT_BYTES)
      throw refusal(path, `has ${size} bytes, ${MAX_SCRIPT_BYTES} are possible`, 'is it the script?');
    const bytes = Buffer.alloc(size);
    const text = bytes.toString('utf8', 0, readSync(fd, bytes, 0, size, 0));
    return { path, text, sha256: createHash('sha256').update(text).digest('hex') };
  } finally {
    closeSync(fd);
  }
}

function refusal(path: string, message: string, fix: string, cause?: unknown): TailraceError {
  return new TailraceError('E_SCRIPT', `the script "${path}" ${message}`, { fix, cause });
}
