/**
 * Inodes as ext4 gives them, whatever the file system and other processes do: a new file gets the lowest number that no file has, and no agent
 * holds. Each new file is younger, and each change later, than all before it.
 */
import { closeSync, fstatSync, openSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import type { FileStat } from '../../../../src/sources/file/scan/file-system.ts';

const OLD_MS = 1000;

interface Known {
  /** Keeps the real inode from being given to another file. */
  readonly fd: number;
  readonly number: number;
  readonly bornMs: number;
  /** The file's content at the last look, and since when. */
  content: number;
  mtimeMs: number;
}

export class Inodes {
  readonly #folder: string;
  /** By real inode. */
  readonly #known = new Map<number, Known>();
  #nowMs = 0;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Looks at what came and went. `isHeld`: an agent has the real inode open. */
  sync(isHeld: (inode: number) => boolean): void {
    for (const [inode, { fd }] of this.#known) if (fstatSync(fd).nlink === 0 && !isHeld(inode)) this.#forget(inode, fd);
    for (const name of readdirSync(this.#folder).toSorted()) {
      const path = join(this.#folder, name);
      const { ino, mtimeMs } = statSync(path);
      const content = crc32(readFileSync(path));
      const known = this.#known.get(ino);
      if (known?.content === content) continue;
      this.#nowMs = Math.max(this.#nowMs + 1, Date.now());
      // Some are made to look old.
      const changed = { content, mtimeMs: mtimeMs <= OLD_MS ? mtimeMs : this.#nowMs };
      if (known) Object.assign(known, changed);
      else
        this.#known.set(ino, { fd: openSync(path, 'r'), number: this.#lowestFree(), bornMs: this.#nowMs, ...changed });
    }
  }

  /** The same, with the number and times that the file has here. */
  of<File extends Pick<FileStat, 'inode'> | undefined>(file: File): File {
    const known = file && this.#known.get(Number(file.inode));
    return known ? { ...file, inode: known.number, bornMs: known.bornMs, mtimeMs: known.mtimeMs } : file;
  }

  close(): void {
    for (const [inode, { fd }] of this.#known) this.#forget(inode, fd);
  }

  #forget(inode: number, fd: number): void {
    closeSync(fd);
    this.#known.delete(inode);
  }

  #lowestFree(): number {
    const taken = new Set([...this.#known.values()].map(({ number }) => number));
    let number = 1;
    while (taken.has(number)) number += 1;
    return number;
  }
}
