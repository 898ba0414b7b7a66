/**
 * What every follower under comparison is: it follows one file and hands over lines, each with the position that its
 * user could save at that moment.
 */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';

/** Takes one line; a promise asks the follower to wait. `position` is what could be saved then. */
export type Deliver = (line: string, position: string) => void | Promise<void>;

/** Follows `file` from its beginning, or from where the positions that were saved, oldest first, leave off, until the process is killed. */
export type Follow = (file: string, saved: readonly string[], deliver: Deliver) => Promise<void>;

/** How the child is asked, as JSON in its first argument. */
export interface Job {
  readonly follower: string;
  readonly file: string;
  readonly out: string;
  /** Lines taken before each pause, and the pause: a slow consumer. */
  readonly slow?: { readonly lines: number; readonly pauseMs: number };
}

/** What the child writes beside its records, again and again. */
export interface Usage {
  readonly rssAtStart: number;
  readonly rssPeak: number;
}

/** Writes a file so that a reader, and whoever comes after a kill, finds the old text or the new one, never a part. */
export function replaceFile(path: string, text: string): void {
  writeFileSync(`${path}.next`, text);
  renameSync(`${path}.next`, path);
}

/** The number in a line that the comparison wrote. */
export function numberOf(line: string): number {
  return Number.parseInt(line.slice(0, 8), 10);
}

/** What a child has recorded so far: the lines' numbers and positions, in the order they came. */
export function readRecords(out: string): { readonly number: number; readonly position: string }[] {
  if (!existsSync(out)) return [];
  const lines = readFileSync(out, 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => {
    const [number = '', position = ''] = line.split('\t');
    return { number: Number(number), position };
  });
}
