/** `data_dir/former-secrets`: which files were secrets of the configuration, so that no hard link to one is read as a log after a restart. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeDurably } from './descriptors.ts';

const NAME = 'former-secrets';

/** A hard link keeps it while another file took its place. */
export interface FormerSecret {
  readonly device: string;
  readonly inode: string;
  /** Another file with its inode was made at another time. */
  readonly bornMs: number;
}

/** Empty if the file is missing or unreadable. */
export function readFormerSecrets(folder: string): readonly FormerSecret[] {
  try {
    const secrets: unknown = JSON.parse(readFileSync(join(folder, NAME), 'utf8'));
    return Array.isArray(secrets) ? (secrets as FormerSecret[]) : [];
  } catch {
    return [];
  }
}

/** Durable once it returns; where the disk refuses, they are known to this process alone. */
export function writeFormerSecrets(folder: string, secrets: readonly FormerSecret[]): void {
  try {
    writeDurably(folder, NAME, Buffer.from(`${JSON.stringify(secrets)}\n`));
  } catch {
    // The next new secret is another try.
  }
}
