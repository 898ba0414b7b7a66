/** Reads a token where it is used, so that a file that changes takes effect. Promises: no message ever holds the secret. */
import { TailraceError } from '../../core/errors.ts';
import { MAX_KNOWN_SECRETS, MAX_SECRET_BYTES } from '../limits.ts';
import type { Secret } from '../values.ts';
import { readSmallFile, stampOf } from './small-file.ts';

/**
 * The token itself: visible ASCII, one trailing line break of a file removed. Throws `TailraceError` `E_SECRET_EMPTY` while the file is
 * empty or missing, `E_SECRET` when it cannot be read or holds anything else.
 */
export function readSecret(secret: Secret): string {
  const value = secret.kind === 'value' ? secret.value : readSecretFile(secret.path);
  const where = secret.kind === 'value' ? 'the configured token' : `the token file "${secret.path}"`;
  if (value === '') throw new TailraceError('E_SECRET_EMPTY', `${where} is empty`, { fix: fixOfEmpty(secret) });
  // A header could not carry it; a space or line break inside is a copying mistake.
  if (!/^[\x21-\x7e]+$/.test(value)) {
    throw new TailraceError('E_SECRET', `${where} holds a space, a line break or a character outside ASCII`, {
      fix: 'write the token alone, on one line',
    });
  }
  return value;
}

/** A credential's file is systemd's: it is the file that the unit names which wants the token. */
function fixOfEmpty(secret: Secret): string {
  const credentials = process.env['CREDENTIALS_DIRECTORY'];
  const isCredential = secret.kind === 'file' && credentials !== undefined && secret.path.startsWith(`${credentials}/`);
  return isCredential
    ? 'write the token into the file that LoadCredential= of the unit names, then restart the unit'
    : 'write the token into it';
}

function readSecretFile(path: string): string {
  const bytes = readSmallFile({ path, what: 'token file', maxBytes: MAX_SECRET_BYTES, code: 'E_SECRET' });
  return bytes.toString('latin1').replace(/\r?\n$/, '');
}

/** Reads a secret again only when its file has changed. */
export class SecretReader {
  readonly #secret: Secret;
  /** Values of late, the newest last. */
  readonly #values = new Set<string>();
  #known: { readonly stamp: string; readonly value: string } | undefined;
  /** The file's stamp at the last read, or at the last attempt. */
  #seenStamp = '';

  constructor(secret: Secret) {
    this.#secret = secret;
  }

  /** The token, as `readSecret` gives it; throws as it does. */
  read(): string {
    // Taken before the file is read: a change in between is seen the next time.
    const stamp = this.#secret.kind === 'file' ? stampOf(this.#secret.path) : '';
    if (this.#known?.stamp === stamp) return this.#known.value;
    this.#known = undefined;
    this.#seenStamp = stamp;
    const value = readSecret(this.#secret);
    this.#known = { stamp, value };
    this.#values.delete(value);
    this.#values.add(value);
    if (this.#values.size > MAX_KNOWN_SECRETS) this.#values.delete(this.#values.values().next().value!);
    return value;
  }

  /** The value and those before it, as far as they were read. */
  get known(): ReadonlySet<string> {
    return this.#values;
  }

  /** True if the file is another one than at the last `read`, also through symbolic links; false for a secret in no file. Costs a stat. */
  get hasChanged(): boolean {
    return this.#secret.kind === 'file' && stampOf(this.#secret.path) !== this.#seenStamp;
  }

  /** The next `read` reads the file even if its times are unchanged. */
  forget(): void {
    this.#known = undefined;
  }
}
