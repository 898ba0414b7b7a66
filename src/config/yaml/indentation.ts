/**
 * Finds the one line whose indentation breaks a text. YAML's own errors name the lines behind it, several for one wrong blank: here each line near
 * the first error is moved to where others stand, until the text can be read.
 */
import { MAX_CONFIG_DEPTH, MAX_INDENT_TRIES, MAX_INDENT_WORK } from '../limits.ts';

export interface WrongIndent {
  /** Counted from 0. */
  readonly line: number;
  /** Blanks that it has, and that it should have. */
  readonly has: number;
  readonly wants: number;
}

type Line = Omit<WrongIndent, 'wants'>;

/** Lines before an error among which its cause is looked for, and behind it. */
const LINES_BEFORE = 30;
const LINES_BEHIND = 8;

/**
 * `errorLine`: of the first error, counted from 0. `problemsIn` counts what is wrong with a text; undefined where it is no YAML. Undefined where
 * no line alone explains the error.
 */
export function findWrongIndent(
  text: string,
  errorLine: number,
  problemsIn: (text: string) => number | undefined,
): WrongIndent | undefined {
  const lines = text.split('\n');
  const filled = lines.flatMap((each, line): Line[] => {
    const has = /^ *(?=[^ #\r])/.exec(each)?.[0].length;
    return has === undefined ? [] : [{ line, has }];
  });
  const counts = new Map<number, number>();
  for (const { has } of filled) counts.set(has, (counts.get(has) ?? 0) + 1);
  // The shortest way first, then from where few lines stand to where many do.
  const rank = ({ line, has, wants }: WrongIndent): readonly [number, number, number] => [
    Math.abs(wants - has),
    counts.get(has)! - counts.get(wants)!,
    Math.abs(line - errorLine),
  ];
  const near = suspects(filled, errorLine);
  const indents = [...new Set(near.map(({ has }) => has))];
  const moves = near
    .flatMap(({ line, has }) => indents.filter((wants) => wants !== has).map((wants) => ({ line, has, wants })))
    .map((move) => ({ move, ranks: rank(move) }))
    .sort(({ ranks: a }, { ranks: b }) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2])
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

/** Lines near the error, and those that lines before it belong to, however far away. */
function suspects(filled: readonly Line[], errorLine: number): Line[] {
  const behind = filled.filter(({ line }) => line >= errorLine).slice(0, LINES_BEHIND);
  const before = filled.filter(({ line }) => line < errorLine).toReversed();
  let least = Infinity;
  const parents = before.filter(({ has }) => {
    const isParent = has < least;
    least = Math.min(least, has);
    return isParent;
  });
  return [...new Set([...behind, ...before.slice(0, LINES_BEFORE), ...parents.slice(0, MAX_CONFIG_DEPTH)])];
}
