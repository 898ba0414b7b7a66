/** The judge of a storm: the bytes written, those that the rotation itself destroyed, and those stored. */
import { lineAt, lineOf, seqOf, startsOf } from './storm-lines.ts';

/** A part of all that was written, in bytes from the first one. */
export interface Range {
  readonly from: number;
  readonly to: number;
}

export interface Stored {
  /** Whole lines by number, with how often each was stored. */
  readonly counts: ReadonlyMap<number, number>;
  /** Texts of events that are no whole lines. */
  readonly pieces: readonly string[];
}

export function countStored(events: readonly string[]): Stored {
  const counts = new Map<number, number>();
  const pieces: string[] = [];
  for (const event of events) {
    const seq = seqOf(event);
    if (seq === undefined) pieces.push((JSON.parse(event) as { message?: string }).message ?? event);
    else counts.set(seq, (counts.get(seq) ?? 0) + 1);
  }
  return { counts, pieces };
}

/** Numbers as ranges, for people. */
export function ranges(seqs: readonly number[]): string {
  const found: [number, number][] = [];
  for (const seq of seqs.toSorted((a, b) => a - b)) {
    const last = found.at(-1);
    if (last && last[1] === seq - 1) last[1] = seq;
    else found.push([seq, seq]);
  }
  return found.map(([from, to]) => `${from}–${to}`).join(', ');
}

/** The lines of a file in the order in which they were written. */
export interface WrittenFile {
  readonly lines: readonly number[];
  /** It is there no more. */
  readonly isRemoved: boolean;
  /** While one agent ran that had the time to save it. */
  readonly isSeen: boolean;
}

export interface Verdict {
  readonly missing: number[];
  /** Of files that were removed while no agent ran, or before it had saved them, or were never opened. */
  readonly excused: number[];
  /** Files that came and went between two scans. */
  readonly neverOpened: number;
  /** Times between two scans in which one or more did. */
  readonly gaps: number;
}

/**
 * Judges files in the order in which they were written. One of which nothing arrived, though it was removed under an agent's eyes, was never
 * opened; with `copies`, also one of which only the end is missing: its beginning was read in the original.
 */
export function judge(files: readonly WrittenFile[], isStored: (seq: number) => boolean, copies: boolean): Verdict {
  const verdict = { missing: [] as number[], excused: [] as number[], neverOpened: 0, gaps: 0 };
  let isInGap = false;
  for (const { lines, isRemoved, isSeen } of files) {
    const gone = lines.filter((seq) => !isStored(seq));
    const isWhole = gone.length === lines.length;
    const isEnd = gone.length > 0 && gone[0] === lines[lines.length - gone.length];
    if (gone.length === 0) isInGap = isInGap && isWhole;
    else if (!isSeen) verdict.excused.push(...gone);
    else if (isRemoved && isEnd && (isWhole || copies)) {
      verdict.excused.push(...gone);
      verdict.neverOpened += 1;
      if (!isInGap || !isWhole) verdict.gaps += 1;
      isInGap = true;
    } else verdict.missing.push(...gone);
  }
  return verdict;
}

/**
 * Lines that were stored more than once, and how many copies were read again: a copy that looks like a file of its own is read from its
 * beginning, so that all its lines up to some point are stored twice. `lines` are those outside such copies.
 */
export function repeatedWithoutCopies(
  files: readonly WrittenFile[],
  { counts }: Stored,
  isExcused: (seq: number) => boolean,
): { lines: number[]; copies: number } {
  const found = { lines: [] as number[], copies: 0 };
  for (const file of files) {
    const stored = file.lines.filter((seq) => counts.has(seq) && !isExcused(seq));
    const countOf = (seq: number): number => counts.get(seq) ?? 0;
    const twice = stored.filter((seq) => countOf(seq) === 2);
    const isCopy = twice.length > 0 && twice.at(-1) === stored[twice.length - 1];
    if (isCopy) found.copies += 1;
    found.lines.push(...stored.filter((seq) => countOf(seq) > (isCopy ? 2 : 1)));
  }
  return found;
}

/** Numbers of lines that were stored more than once. */
export function repeated({ counts }: Stored): number[] {
  return [...counts].filter(([, count]) => count > 1).map(([seq]) => seq);
}

/** Where the content of a file between two truncations begins in all that was written; undefined when it has no whole line to tell by. */
function placeOf(content: string, starts: Float64Array): number | undefined {
  const firstEnd = content.indexOf('\n') + 1;
  for (const begin of [0, firstEnd]) {
    const end = content.indexOf('\n', begin);
    const seq = end > begin ? seqOf(content.slice(begin, end)) : undefined;
    if (seq !== undefined && content.slice(begin, end) === lineOf(seq)) return starts[seq]! - begin;
  }
  return undefined;
}

/** The first place of a piece of a line, or of nothing, in the bytes written between two places. Throws when it is missing. */
function placeBetween(content: string, from: number, to: number, starts: Float64Array): number {
  const first = lineAt(starts, from);
  const lines = Array.from({ length: lineAt(starts, to) - first + 1 }, (_, index) => `${lineOf(first + index)}\n`);
  const at = lines.join('').indexOf(content, from - starts[first]!);
  if (at < 0 || starts[first]! + at + content.length > to)
    throw new Error(`${JSON.stringify(content)} was not written here`);
  return starts[first]! + at;
}

/** What a storm of copytruncate left: what each file held between two truncations, and what the truncations destroyed. */
export class Truncations {
  readonly starts: Float64Array;
  /** The file's content between truncations, as far as the copy has it, in order; the last is the file itself. */
  readonly held: readonly Range[];
  /** Between one copy's end and what came after the truncation: in no file any more. */
  readonly destroyed: readonly Range[];

  constructor(lines: number, contents: readonly string[]) {
    this.starts = startsOf(lines);
    const places = contents.map((content) => placeOf(content, this.starts));
    const held: Range[] = [];
    for (const [index, content] of contents.entries()) {
      const next = places.slice(index + 1).find((place) => place !== undefined) ?? this.starts.at(-1)!;
      const from = places[index] ?? placeBetween(content, held.at(-1)?.to ?? 0, next, this.starts);
      held.push({ from, to: from + content.length });
    }
    this.held = held;
    this.destroyed = this.held.slice(1).map(({ from }, index) => ({ from: this.held[index]!.to, to: from }));
  }

  /** Lines of which a truncation took a part, or the newline, or which it divided between two files. */
  touched(): Set<number> {
    const lines = new Set<number>();
    for (const { from, to } of this.destroyed) {
      if (from === to && this.starts[lineAt(this.starts, from)] === from) continue;
      const last = from === to ? lineAt(this.starts, from) : lineAt(this.starts, to - 1);
      for (let seq = lineAt(this.starts, from); seq <= last; seq += 1) lines.add(seq);
      // The rest of a line whose beginning is in the next file.
      if (this.starts[lineAt(this.starts, to)] !== to) lines.add(lineAt(this.starts, to));
    }
    return lines;
  }
}
