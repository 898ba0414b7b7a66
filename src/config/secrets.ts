/** Reads a token where it is used, so that a file that changes takes effect. Promises: no message ever holds the secret. */
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { codeOf, messageOf, TailraceError } from '../core/errors.ts';
import { MAX_SECRET_BYTES } from '../core/limits.ts';
import type { Secret } from './model.ts';

/**
 * The token itself: visible ASCII, one trailing line break of a file removed. Throws `TailraceError` `E_SECRET` when the
 * file cannot be read, is empty or holds anything else.
 */
export function readSecret(secret: Secret): string {
  const value = secret.kind === 'value' ? secret.value : readSecretFile(secret.path);
  const where = secret.kind === 'value' ? 'the configured token' : `the token file "${secret.path}"`;
  if (value === '') throw new TailraceError('E_SECRET', `${where} is empty`, { fix: 'write the token into it' });
  // A header could not carry it; a space or line break inside is a copying mistake.
  if (!/^[\x21-\x7e]+$/.test(value)) {
    throw new TailraceError('E_SECRET', `${where} holds a space, a line break or a character outside ASCII`, {
      fix: 'write the token alone, on one line',
    });
  }
  return value;
}

function readSecretFile(path: string): string {
  let fd: number | undefined;
  try {
    // Never waits for the writer of a FIFO.
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    if (!fstatSync(fd).isFile())
      throw new TailraceError('E_SECRET', `the token file "${path}" is not a regular file`, { fix: 'name a file' });
    const buffer = Buffer.alloc(MAX_SECRET_BYTES + 1);
    const length = readSync(fd, buffer, 0, buffer.length, 0);
    if (length > MAX_SECRET_BYTES)
      throw new TailraceError('E_SECRET', `the token file "${path}" is larger than 64 KiB`, {
        fix: 'name the file that holds the token alone',
      });
    return buffer.toString('latin1', 0, length).replace(/\r?\n$/, '');
  } catch (error) {
    if (error instanceof TailraceError || codeOf(error) === '') throw error;
    throw new TailraceError('E_SECRET', `cannot read the token file "${path}": ${messageOf(error)}`, {
      fix: 'check the path, and that the user that runs tailrace may read it',
      cause: error,
    });
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}
