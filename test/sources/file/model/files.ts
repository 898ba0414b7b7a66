/**
 * The files of a schedule: does to them what applications and logrotate do, and tells the model. Each line is two tokens,
 * `<n>:a <n>:b`, and may be written in two goes between them. Every file
 * begins like the others: some as far as the head goes that identifies a file, some a little less far; lines of these end alike.
 */
import {
  appendFileSync,
  closeSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { gzipSync } from 'node:zlib';
import { HEAD_BYTES, TAIL_BYTES } from '../../../../src/core/limits.ts';
import { GAP_BYTES } from '../../../../src/sources/file/limits.ts';
import type { Promised } from './promise.ts';

/** How many rotated files are kept of each. */
const KEPT = 3;
/** The half line of a copy: its writer finishes it elsewhere. */
const NOBODY = 0;
/** More than GAP_BYTES. */
const RESERVED_BYTES = 3000;
const BANNER = 'x'.repeat(HEAD_BYTES - 100);
const LONG_BANNER = 'x'.repeat(HEAD_BYTES + 100);
/** Lines that end alike, at the same places. */
const PAD = 'x'.repeat(TAIL_BYTES);
/** Numbers of one width. */
const FIRST_LINE = 1000;

/** The file has the same first KiB as any other one. */
export function beginsAlike(path: string): boolean {
  return path.includes('app1');
}

export class Files {
  readonly #promised: Promised;
  /** The half written line of a file, by its number. */
  readonly #halves = new Map<string, number>();
  /** Where the text ends of a file that its writer made larger. */
  readonly #reserved = new Map<string, number>();
  readonly #readsCompressed: boolean;
  #lines = FIRST_LINE;

  constructor(promised: Promised, readsCompressed: boolean) {
    this.#promised = promised;
    this.#readsCompressed = readsCompressed;
  }

  /** Writes whole lines to the end, or the position, after the rest of one that is half written; then half a line if `isCut`. */
  append(path: string, lines: number, isCut = false, position?: number): void {
    const half = this.#halves.get(path);
    this.#halves.delete(path);
    let text = '';
    if (position !== undefined) this.#promised.gap(path, position);
    let lead = this.#promised.isEmpty(path) ? (beginsAlike(path) ? LONG_BANNER : BANNER) : half === NOBODY ? '\n' : '';
    const write = (name: string, end: string): void => {
      this.#promised.write(path, name, (lead + name + end).length);
      text += lead + name + end;
      lead = '';
    };
    // Behind a gap nothing else would tell generations apart.
    const lineEnd = beginsAlike(path) || this.#promised.hasGap(path) ? '\n' : `${PAD}\n`;
    if (half !== undefined && half !== NOBODY) write(`${half}:b`, lineEnd);
    for (let line = 0; line < lines; line += 1) {
      this.#lines += 1;
      write(`${this.#lines}:a`, ' ');
      write(`${this.#lines}:b`, lineEnd);
    }
    if (isCut) {
      this.#lines += 1;
      write(`${this.#lines}:a`, ' ');
      this.#halves.set(path, this.#lines);
    }
    const end = this.#reserved.get(path);
    if (end !== undefined) this.#reserved.set(path, end + text.length);
    position ??= end;
    if (position === undefined) return appendFileSync(path, text);
    const fd = openSync(path, 'r+');
    writeSync(fd, text, position);
    closeSync(fd);
  }

  /** The writer makes the file larger than its text, and writes on where that ends. */
  reserve(path: string): void {
    const { size } = statSync(path);
    if (!this.#reserved.has(path)) this.#reserved.set(path, size);
    truncateSync(path, size + RESERVED_BYTES);
  }

  /** All writers close their files. */
  closeAll(): void {
    for (const path of this.#reserved.keys()) this.close(path);
  }

  /** The writer closes the file, and cuts it to its text. */
  close(path: string): void {
    const end = this.#reserved.get(path);
    if (end === undefined) return;
    truncateSync(path, end);
    this.#reserved.delete(path);
  }

  /** `path` becomes `path.1`, the former one `path.2`, and so on; the oldest one is deleted. */
  rename(path: string): void {
    this.close(path);
    this.#shift(path);
    this.#move(path, `${path}.1`, path);
  }

  /** The same by copying; `lines` are written between the copy and the truncation. The writer goes on where it was in its line. */
  copyTruncate(path: string, lines: number): void {
    this.beginCopy(path);
    this.endCopy(path);
    this.cut(path, lines);
  }

  /** The first half of `path.1` is there. */
  beginCopy(path: string): void {
    this.close(path);
    this.#shift(path);
    const bytes = readFileSync(path);
    writeFileSync(`${path}.1`, bytes.subarray(0, bytes.length / 2));
    this.#promised.copy(path, `${path}.1`);
    if (this.#halves.has(path)) this.#halves.set(`${path}.1`, NOBODY);
  }

  /** All of it is. */
  endCopy(path: string): void {
    const bytes = readFileSync(path);
    appendFileSync(`${path}.1`, bytes.subarray(bytes.length / 2));
  }

  cut(path: string, lines: number): void {
    if (lines > 0) this.append(path, lines);
    truncateSync(path, 0);
    this.#promised.truncate(path, `${path}.1`);
  }

  /** `copytruncate` under a writer that does not append: it goes on behind a hole. */
  regrow(path: string): void {
    this.close(path);
    while (statSync(path).size < GAP_BYTES) this.append(path, 1);
    const { size } = statSync(path);
    this.copyTruncate(path, 0);
    this.append(path, 1, false, size);
  }

  /** `copytruncate`, and as many lines again at once. */
  refill(path: string): void {
    this.close(path);
    const lines = readFileSync(path, 'latin1').split('\n').length - 1;
    this.copyTruncate(path, 0);
    this.append(path, lines);
  }

  truncate(path: string): void {
    truncateSync(path, 0);
    this.#halves.delete(path);
    this.#reserved.delete(path);
    this.#promised.truncate(path);
  }

  delete(path: string): void {
    rmSync(path);
    this.#halves.delete(path);
    this.#reserved.delete(path);
    this.#promised.delete(path);
  }

  /** The file's content moves into a compressed file that does not change, where those are read, in place of one before. */
  compress(path: string): void {
    const compressed = `${path}.gz`;
    if (this.#promised.has(compressed)) {
      rmSync(compressed);
      this.#promised.deleteCompressed(compressed);
    }
    writeFileSync(compressed, gzipSync(this.#readsCompressed ? readFileSync(path) : 'compressed'));
    utimesSync(compressed, 1, 1);
    if (this.#readsCompressed) this.#promised.compress(path, compressed);
    this.delete(path);
  }

  /** The rotated file that was made last. Makes one if need be. */
  rotated(path: string): string {
    const names = Array.from({ length: KEPT }, (_, n) => `${path}.${n + 1}`);
    const there = names.find((name) => this.#promised.has(name));
    if (there === undefined) this.rename(path);
    return there ?? names[0]!;
  }

  #shift(path: string): void {
    if (this.#promised.has(`${path}.${KEPT}`)) this.delete(`${path}.${KEPT}`);
    for (let n = KEPT - 1; n > 0; n -= 1)
      if (this.#promised.has(`${path}.${n}`)) this.#move(`${path}.${n}`, `${path}.${n + 1}`, path);
  }

  #move(from: string, to: string, of: string): void {
    renameSync(from, to);
    const half = this.#halves.get(from);
    this.#halves.delete(from);
    if (half !== undefined) this.#halves.set(to, half);
    this.#promised.rename(from, to, of);
  }
}
