/** The links through which the source of a schedule reads its files, each in another folder, with two targets that take turns. */
import { mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { basename, join } from 'node:path';

export class ModelLinks {
  readonly #folder: string;
  /** By number of the file: how often its link was pointed elsewhere. */
  readonly #turns = [0, 0];
  readonly #isThere = [true, true];

  constructor(folder: string) {
    this.#folder = folder;
    mkdirSync(join(folder, 'links'));
    for (const file of this.#turns.keys()) this.#make(file);
  }

  /** Where the file's link leads, or led last. */
  targetOf(file: number): string {
    return join(this.#folder, 'logs', `app${file}-${this.#turns[file]! % 2}.log`);
  }

  leadsTo(path: string): boolean {
    return this.#isThere.some((isThere, file) => isThere && this.targetOf(file) === path);
  }

  unlink(file: number): void {
    rmSync(this.#linkOf(file), { force: true });
    this.#isThere[file] = false;
  }

  retarget(file: number): void {
    this.unlink(file);
    this.#turns[file]! += 1;
    this.#isThere[file] = true;
    this.#make(file);
  }

  #linkOf(file: number): string {
    return join(this.#folder, 'links', `app${file}.log`);
  }

  #make(file: number): void {
    symlinkSync(join('..', 'logs', basename(this.targetOf(file))), this.#linkOf(file));
  }
}
