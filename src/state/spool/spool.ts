/**
 * The spool of one sink: the disk buffer, one fsynced file a batch. The folder is the index; names sort by age. A file
 * that cannot be trusted is set aside alone, under `broken/`, and counted.
 */
import { closeSync } from 'node:fs';
import { readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf, messageOf, TailraceError } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import { makeFolder } from '../keep-owner.ts';
import { noNames } from '../list-folder.ts';
import { create, move, remove, sync, syncPath, writeAll } from '../descriptors.ts';
import { decodeSpoolFile, encodeHead, type SpoolContent, type SpoolHeader } from './spool-file.ts';

export interface SpoolEntry {
  /** The file's name; sorts by age. */
  readonly name: string;
  readonly size: number;
  readonly header: SpoolHeader;
}

/** A sequence number, and the beginning of the batch's key. */
const NAME = /^\d{12}-[^/]{1,8}\.batch$/;

export class Spool {
  readonly #folder: string;
  readonly #log: Log;
  readonly #sizes = new Map<string, number>();
  #next = 1;
  #bytes = 0;
  #lastSync: Promise<void> = Promise.resolve();
  #nextSync: Promise<void> | undefined;
  /** Files set aside by this process. */
  brokenFiles = 0;

  constructor(folder: string, log: Log) {
    this.#folder = folder;
    this.#log = log;
  }

  /** Bytes of all files. */
  get bytes(): number {
    return this.#bytes;
  }

  get files(): number {
    return this.#sizes.size;
  }

  /**
   * Reads every file whole, sets aside untrusted ones, and gives the rest one by one, oldest first, without their bodies: all of them may
   * be more than memory holds. Throws `E_DATA_DIR`.
   */
  async *recover(): AsyncGenerator<SpoolEntry> {
    const names = await readdir(this.#folder).catch((error: unknown) => noNames(this.#folder, error));
    for (const name of names.sort()) {
      // A leftover does no harm.
      if (name.endsWith('.tmp')) await rm(join(this.#folder, name), { force: true }).catch(() => undefined);
      if (!NAME.test(name)) continue;
      this.#next = Math.max(this.#next, Number.parseInt(name, 10) + 1);
      const entry = await this.#recoverFile(name);
      if (entry) yield entry;
    }
  }

  async #recoverFile(name: string): Promise<SpoolEntry | undefined> {
    const file = join(this.#folder, name);
    try {
      const content = decodeSpoolFile(await readFile(file));
      if (content.ok) {
        const { size } = await stat(file);
        this.#note(name, size);
        return { name, size, header: content.header };
      }
      await this.#setAside(name, content.reason);
    } catch (error) {
      this.#log.error(
        { file, reason: messageOf(error) },
        'a file of the disk buffer cannot be read now; it stays where it is, and the next start tries it again',
      );
    }
    return undefined;
  }

  /**
   * Writes a batch durably and returns its file's name. `bodyCrc`: the body's checksum, if known. Throws the disk's error; then it leaves
   * nothing.
   */
  async write(header: SpoolHeader, body: Uint8Array, bodyCrc?: number): Promise<string> {
    const name = `${String(this.#next++).padStart(12, '0')}-${header.key.slice(0, 8)}.batch`;
    try {
      await this.#writeAs(name, encodeHead(header, body, bodyCrc), body);
    } catch (error) {
      // Its folder could not be synced: the batch will be written again, under another name.
      if (this.#sizes.has(name)) await this.remove(name);
      throw error;
    }
    return name;
  }

  /** Writes a batch again under its name: its parts changed. */
  async rewrite(name: string, header: SpoolHeader, body: Uint8Array): Promise<void> {
    await this.#writeAs(name, encodeHead(header, body), body);
  }

  /**
   * A batch as its file has it. Throws `E_SPOOL_BROKEN` when the file is gone or cannot be trusted any more (it is set
   * aside then), or what the disk says.
   */
  async read(name: string): Promise<{ readonly header: SpoolHeader; readonly body: Buffer }> {
    let content: SpoolContent;
    try {
      content = decodeSpoolFile(await readFile(join(this.#folder, name)));
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw error;
      this.#forget(name);
      throw new TailraceError('E_SPOOL_BROKEN', `the spool file "${name}" was removed by someone else`, {
        cause: error,
      });
    }
    if (content.ok) return content;
    await this.#setAside(name, content.reason);
    throw new TailraceError('E_SPOOL_BROKEN', `the spool file "${name}" cannot be trusted: ${content.reason}`, {
      fix: 'it is kept under broken/',
    });
  }

  /** Removes a settled batch's file. A file that cannot be removed now is sent again after a restart, under its key. */
  async remove(name: string): Promise<void> {
    this.#forget(name);
    try {
      await remove(join(this.#folder, name));
    } catch (error) {
      this.#log.warn(
        { file: name, reason: messageOf(error) },
        'a delivered spool file cannot be removed; its batch is sent again after a restart, under the same key',
      );
    }
  }

  async #writeAs(name: string, head: Buffer, body: Uint8Array): Promise<void> {
    const temporary = join(this.#folder, `${name}.tmp`);
    try {
      const fd = await this.#create(temporary);
      try {
        await writeAll(fd, [head, body]);
        await sync(fd);
      } finally {
        closeSync(fd);
      }
      await move(temporary, join(this.#folder, name));
    } catch (error) {
      await rm(temporary, { force: true }).catch(() => undefined);
      throw error;
    }
    this.#note(name, head.length + body.length);
    await this.#syncNames();
  }

  /** Writers that come during a sync of the folder share the next one: their names may be too late for this one. */
  #syncNames(): Promise<void> {
    this.#nextSync ??= this.#lastSync.then(() => {
      this.#nextSync = undefined;
      const sync = syncPath(this.#folder);
      this.#lastSync = sync.catch(() => {});
      return sync;
    });
    return this.#nextSync;
  }

  /** A new file; its folder is made where it is missing. */
  async #create(path: string): Promise<number> {
    try {
      return await create(path, 0o640);
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw error;
      makeFolder(this.#folder);
      return create(path, 0o640);
    }
  }

  async #setAside(name: string, reason: string): Promise<void> {
    this.#forget(name);
    this.brokenFiles += 1;
    const aside = join(this.#folder, 'broken');
    try {
      makeFolder(aside);
      await rename(join(this.#folder, name), join(aside, name));
    } catch (error) {
      // A full disk has no space for a folder.
      this.#log.error(
        { file: join(this.#folder, name), reason, refused: messageOf(error) },
        'a file of the disk buffer is torn or damaged and cannot be set aside; it stays where it is, the others are not touched',
      );
      return;
    }
    this.#log.error(
      { file: join(aside, name), reason },
      'a file of the disk buffer is torn or damaged and was set aside; the others are not touched',
    );
  }

  #note(name: string, size: number): void {
    this.#forget(name);
    this.#sizes.set(name, size);
    this.#bytes += size;
  }

  #forget(name: string): void {
    this.#bytes -= this.#sizes.get(name) ?? 0;
    this.#sizes.delete(name);
  }
}
