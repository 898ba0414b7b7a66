/** Journals as `systemd-journal-remote` makes them, and the entries that are put into them. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';

const REMOTE = ['/lib/systemd/systemd-journal-remote', '/usr/lib/systemd/systemd-journal-remote'].find((file) =>
  existsSync(file),
);

/** Why suites that need a journal are skipped; undefined where they are not. */
export const lacksJournal = REMOTE === undefined ? 'apt-get install systemd-journal-remote' : undefined;

export const BOOT = '0123456789abcdef0123456789abcdef';
/** 2025-11-26T23:33:20Z, in microseconds. */
export const FIRST_US = 1_764_200_000_000_000n;

/** A field of an entry: text, or bytes, which come with their length before them. */
export type FieldValue = string | Buffer;
export type EntryFields = Readonly<Record<string, FieldValue | readonly FieldValue[]>>;

/** A field as the export format has it. */
export function exportField(name: string, value: FieldValue): Buffer {
  if (typeof value === 'string' && !/[\n\0]/.test(value)) return Buffer.from(`${name}=${value}\n`);
  const bytes = Buffer.from(value as string);
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(bytes.length));
  return Buffer.concat([Buffer.from(`${name}\n`), length, bytes, Buffer.from('\n')]);
}

export function exportEntry(fields: EntryFields): Buffer {
  const parts = Object.entries(fields).flatMap(([name, value]) =>
    (Array.isArray(value) ? (value as readonly FieldValue[]) : [value as FieldValue]).map((each) =>
      exportField(name, each),
    ),
  );
  return Buffer.concat([...parts, Buffer.from('\n')]);
}

/** A journal in a folder of its own. */
export class Journal {
  readonly folder: string;
  #written = 0;
  readonly #file: string;

  constructor(folder: string, file = 'system') {
    mkdirSync(folder, { recursive: true });
    this.folder = folder;
    this.#file = file;
  }

  get path(): string {
    return join(this.folder, `${this.#file}.journal`);
  }

  /** Adds entries, a microsecond apart unless they bring their own times. */
  add(...entries: readonly EntryFields[]): void {
    const texts = entries.map((entry) => {
      this.#written += 1;
      const time = String(FIRST_US + BigInt(this.#written));
      return exportEntry({
        __REALTIME_TIMESTAMP: time,
        __MONOTONIC_TIMESTAMP: String(1_000_000 + this.#written),
        _BOOT_ID: BOOT,
        _HOSTNAME: 'web-1',
        ...entry,
      });
    });
    const { status, stderr } = spawnSync(REMOTE!, ['-o', this.path, '-'], { input: Buffer.concat(texts) });
    if (status !== 0) throw new Error(`systemd-journal-remote: ${String(stderr)}`);
  }
}
