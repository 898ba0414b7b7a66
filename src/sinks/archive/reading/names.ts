/** What an archive is made of: hours, files, and the lines of a manifest. Pure. */
import { DATASET_NAME } from '../../../config/fields/kinds-special.ts';
import { MAX_ENTRY_CHARACTERS } from './limits.ts';

/** Of the folders `<dataset>/<YYYY-MM-DD>/<HH>`, from the outermost. */
export const LEVELS = [DATASET_NAME, /^\d{4}-\d\d-\d\d$/, /^\d\d$/] as const;
export const MANIFEST = 'manifest.ndjson';
export const KEY = /^[\w-]{1,128}$/;

const FILE = /^([\w-]{1,128})\.ndjson(?:\.zst|\.gz)?$/;
const TEMPORARY = /^\.[\w-]{1,128}\.ndjson(?:\.zst|\.gz)?\.tmp$/;
const SHA256 = /^[\da-f]{64}$/;

export interface ManifestEntry {
  readonly file: string;
  readonly key: string;
  readonly events: number;
  /** Of the file, and its checksum. */
  readonly bytes: number;
  readonly sha256: string;
}

/** `readAtMs`: wall clock. */
export function hourPath(dataset: string, readAtMs: number): string {
  const time = new Date(readAtMs).toISOString();
  return `${dataset}/${time.slice(0, 10)}/${time.slice(11, 13)}`;
}

/** `YYYY-MM-DD/HH`: sorts by time. */
export const hourTime = (hour: string): string => hour.slice(hour.indexOf('/') + 1);

/** The key of the batch that a file of this name holds; undefined for any other file. */
export const keyOf = (name: string): string | undefined => (name === MANIFEST ? undefined : FILE.exec(name)?.[1]);

export const isTemporary = (name: string): boolean => TEMPORARY.test(name);

/** Undefined for a line that the sink did not write. */
export function parseEntry(line: string): ManifestEntry | undefined {
  if (line.length > MAX_ENTRY_CHARACTERS) return undefined;
  try {
    const { file, key, events, bytes, sha256 } = JSON.parse(line) as Record<string, unknown>;
    if (typeof file !== 'string' || typeof key !== 'string' || keyOf(file) !== key) return undefined;
    if (!isCount(events) || !isCount(bytes) || typeof sha256 !== 'string' || !SHA256.test(sha256)) return undefined;
    return { file, key, events, bytes, sha256 };
  } catch {
    return undefined;
  }
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
