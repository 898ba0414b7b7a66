/**
 * Finds the one line whose indentation breaks a text. YAML's own errors name later lines, several for one wrong blank: this moves each line
 * near the first error to the indentation of others, until the text can be read.
 */
import { MAX_CONFIG_DEPTH, MAX_INDENT_TRIES, MAX_INDENT_WORK } from '../limits.ts';
import { LineIndex } from './line-index.ts';

export interface WrongIndent {
  /** Counted from 0. */
  readonly line: number;
  /** Blanks that it has, and that it should have. */
  readonly has: number;
  readonly wants: number;
  /** The last line that moves with it; itself where it is absent. */
  readonly last?: number;
}

/** Where the line begins, how far it is indented, and what to do. */
export function describeMove(
  text: string,
  { line, has, wants, last = line }: WrongIndent,
): { at: number; blanks: string; fix: string } {
  const blanks = (count: number): string => `${count} blank${count === 1 ? '' : 's'}`;
  const way = wants < has ? 'left' : 'right';
  const by = `by ${blanks(Math.abs(wants - has))} to the ${way}`;
  const fix =
    last === line ? `move line ${line + 1} ${by}, to ${blanks(wants)}` : `move lines ${line + 1} to ${last + 1} ${by}`;
  return { at: new LineIndex(text).startOf(line) + has, blanks: blanks(has), fix };
}

interface Line extends Omit<WrongIndent, 'wants'> {
  /** A key whose value is below it. */
  readonly opens: boolean;
}

interface Suspect extends Line {
  /** How many lines, or levels, lie between it and the error. */
  readonly away: number;
}

/** Lines before and after an error among which its cause is searched. */
const LINES_BEFORE = 30;
const LINES_BEHIND = 8;
/** Characters of a line that may be a key. */
const MAX_KEY = 200;

/**
 * `errorLine`: of the first error, counted from 0. `problemsIn` counts the problems of a text; undefined if it is not YAML. Undefined if no
 * line alone explains the error.
 */
export function findWrongIndent(
  text: string,
  errorLine: number,
  problemsIn: (text: string) => number | undefined,
): WrongIndent | undefined {
  const lines = text.split('\n');
  const filled = lines.flatMap((each, line): Line[] => {
    const has = /^ *(?=[^ #\r])/.exec(each)?.[0].length;
    return has === undefined ? [] : [{ line, has, opens: /:\s*$/.test(each.slice(has, MAX_KEY)) }];
  });
  const counts = new Map<number, number>();
  for (const { has } of filled) counts.set(has, (counts.get(has) ?? 0) + 1);
  // Prefer the shortest move, then one away from an indentation of no other line, then one to an even number of blanks, then near the
  // error, then to the indentation of many lines.
  const rank = ({ has, wants, away }: WrongIndent & Suspect): readonly number[] => [
    Math.abs(wants - has),
    counts.get(has) === 1 ? 0 : 1,
    wants % 2,
    away,
    -counts.get(wants)!,
  ];
  const near = suspects(filled, errorLine);
  const indents = [...new Set(near.map(({ has }) => has))];
  const moves = near
    .flatMap((suspect) => indents.filter((wants) => wants !== suspect.has).map((wants) => ({ ...suspect, wants })))
    .map((move) => ({ move, ranks: rank(move) }))
    .sort(
      ({ ranks: a }, { ranks: b }) =>
        a.map((rank, place) => rank - b[place]!).find((difference) => difference !== 0) ?? 0,
    )
    .slice(0, Math.min(MAX_INDENT_TRIES, Math.floor(MAX_INDENT_WORK / text.length)));
  let best: { readonly move: WrongIndent; readonly problems: number } | undefined;
  for (const { move } of moves) {
    const moved = lines.with(move.line, ' '.repeat(move.wants) + lines[move.line]!.slice(move.has));
    const problems = problemsIn(moved.join('\n'));
    if (problems !== undefined && (best === undefined || problems < best.problems)) best = { move, problems };
    if (best?.problems === 0) break;
  }
  return best?.move;
}

/**
 * The block that begins with this line, if it belongs one level deeper: keys on the level of their own parent. `isRight` judges the text
 * with it moved.
 */
export function findFlatBlock(text: string, line: number, isRight: (text: string) => boolean): WrongIndent | undefined {
  if (text.length > MAX_INDENT_WORK / MAX_INDENT_TRIES) return undefined;
  const lines = text.split('\n');
  const blanksOf = (at: number): number | undefined => /^ *(?=[^ #\r])/.exec(lines[at] ?? '')?.[0].length;
  const has = blanksOf(line);
  const step = Math.min(...lines.map((_, at) => blanksOf(at) || Infinity));
  if (has === undefined || step === Infinity) return undefined;
  // The lines that belong to this one, then also the lines beside it.
  for (const least of [has + 1, has]) {
    const behind = lines.findIndex((_, at) => at > line && (blanksOf(at) ?? Infinity) < least);
    const block = lines.slice(line, behind === -1 ? undefined : behind);
    const last = line + block.findLastIndex((_, at) => blanksOf(line + at) !== undefined);
    const moved = [...lines];
    for (let at = line; at <= last; at += 1) moved[at] = ' '.repeat(step) + lines[at]!;
    if (last > line && isRight(moved.join('\n'))) return { line, last, has, wants: has + step };
  }
  return undefined;
}

/** Lines near the error, and those that lines before it belong to, however far away. */
function suspects(filled: readonly Line[], errorLine: number): Suspect[] {
  const behind = filled.filter(({ line }) => line >= errorLine).slice(0, LINES_BEHIND);
  const before = filled.filter(({ line }) => line < errorLine).toReversed();
  let least = Infinity;
  const parents = before.filter(({ has, opens }) => {
    const isParent = has < least || (has === least && opens);
    least = Math.min(least, has);
    return isParent;
  });
  const found = new Map<number, Suspect>();
  for (const lines of [behind, parents.slice(0, MAX_CONFIG_DEPTH), before.slice(0, LINES_BEFORE)])
    for (const [away, line] of lines.entries()) if (!found.has(line.line)) found.set(line.line, { ...line, away });
  return [...found.values()];
}
