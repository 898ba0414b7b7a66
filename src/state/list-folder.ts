/** Lists a folder of the data folder. A missing one is empty; an unreadable one is a declared error. */
import { readdirSync } from 'node:fs';
import { codeOf, messageOf, TailraceError } from '../core/errors.ts';
import { ownerFix } from './keep-owner.ts';

/** Throws `E_DATA_DIR`. */
export function listFolder(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    return noNames(folder, error);
  }
}

/** Returns no names for a missing folder; throws `E_DATA_DIR` for any other error. */
export function noNames(folder: string, error: unknown): string[] {
  if (codeOf(error) === 'ENOENT') return [];
  throw new TailraceError('E_DATA_DIR', `cannot read the folder "${folder}": ${messageOf(error)}`, {
    fix: `${ownerFix(folder)}; and check that data_dir holds nothing of others`,
    cause: error,
  });
}
