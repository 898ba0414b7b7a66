/** The packages of this checkout, as `npm run package -- --fast` writes them. The first file of a run that asks builds them for all. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inject } from 'vitest';
import { tryNode } from './run-node.ts';
import { until } from './until.ts';

const SCRIPT = join(import.meta.dirname, '../../scripts/package/main.ts');
/** Packing takes minutes beside busy programs. */
const WITHIN_MS = 600_000;

export interface Packages {
  readonly folder: string;
  /** The paths of the Debian package, and of the single executable. */
  readonly deb: string;
  readonly executable: string;
}

/** Rejects with what the script said where it failed. Nobody writes into the folder. */
export async function sharedPackages(): Promise<Packages> {
  const [folder, failed] = ['packages', 'packages-failed'].map((name) => join(inject('runFolder'), name)) as [
    string,
    string,
  ];
  if (isFirst()) {
    const said = await buildPackages(folder);
    if (said !== '') writeFileSync(failed, said);
  }
  // The checksums are written last.
  await until('the packages of this run', () => existsSync(join(folder, 'SHA256SUMS')) || existsSync(failed), {
    withinMs: WITHIN_MS,
    everyMs: 100,
  });
  if (existsSync(failed)) throw new Error(readFileSync(failed, 'utf8'));
  const path = (pattern: RegExp): string =>
    join(
      folder,
      readdirSync(folder).find((name) => pattern.test(name))!,
    );
  return { folder, deb: path(/\.deb$/), executable: path(new RegExp(`-linux-${process.arch}$`)) };
}

/** Builds them anew; resolves with why that failed, else with nothing. */
export async function buildPackages(out: string): Promise<string> {
  const { code, stderr } = await tryNode([SCRIPT, '--fast', '--arch', process.arch, '--out', out], {
    SOURCE_DATE_EPOCH: '1790000000',
  });
  return code === 0 ? '' : `the packages could not be built: ${stderr}`;
}

function isFirst(): boolean {
  try {
    mkdirSync(join(inject('runFolder'), 'packages-begun'));
    return true;
  } catch {
    return false;
  }
}
