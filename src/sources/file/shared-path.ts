/** A path that two sets of patterns both match: its file would be read twice. Pure; what it finds is right, but it does not look for every one. */
import { compileExclude, compileInclude } from './scan/glob.ts';

export interface PathPatterns {
  readonly include: readonly string[];
  readonly exclude: readonly string[];
}

/** Texts for `*`: one of these is likely excluded by neither side. */
const FILLERS = ['new', 'x', '7'];
const MAX_ALTERNATIVES = 64;

/** Undefined where none is found. */
export function findSharedPath(one: PathPatterns, other: PathPatterns): string | undefined {
  const isLeftOut = [one, other].map(({ exclude }) => compileExclude(exclude));
  for (const left of one.include.flatMap(alternatives)) {
    for (const right of other.include.flatMap(alternatives)) {
      if (!mayMeet(left, right)) continue;
      for (const filler of FILLERS) {
        const path = meetPaths(left.split('/'), right.split('/'), filler)?.join('/');
        if (path === undefined) break;
        if (
          [left, right].every((pattern) => compileInclude(pattern).matches(path)) &&
          !isLeftOut.some((test) => test(path))
        )
          return path;
      }
    }
  }
  return undefined;
}

/** Of the fixed beginnings one leads to the other: most patterns differ in that. */
function mayMeet(left: string, right: string): boolean {
  const [a, b] = [left, right].map((pattern) => /^[^*?[\]{}()!+@\\]*/.exec(pattern)![0]);
  return a!.startsWith(b!) || b!.startsWith(a!);
}

/** The pattern without braces, at most 64 for one. */
function alternatives(pattern: string): string[] {
  const braces = [...pattern.matchAll(/\{([^{}]*)\}/g)].find(([, inside]) => inside!.includes(','));
  if (!braces) return [pattern];
  const all = braces[1]!
    .split(',')
    .map((each) => pattern.slice(0, braces.index) + each + pattern.slice(braces.index + braces[0].length));
  return all.flatMap(alternatives).slice(0, MAX_ALTERNATIVES);
}

function meetPaths(left: readonly string[], right: readonly string[], filler: string): string[] | undefined {
  const [a, b] = [left[0], right[0]];
  if (a === undefined && b === undefined) return [];
  if (a === '**') return meetPaths(left.slice(1), right, filler) ?? behindDeep(left, right, filler);
  if (b === '**') return meetPaths(left, right.slice(1), filler) ?? behindDeep(right, left, filler);
  const name = a === undefined || b === undefined ? undefined : meetNames(a, b, filler);
  const rest = name === undefined ? undefined : meetPaths(left.slice(1), right.slice(1), filler);
  return rest && [name!, ...rest];
}

/** `**` takes one more folder of the other side. */
function behindDeep(deep: readonly string[], other: readonly string[], filler: string): string[] | undefined {
  const [folder, ...more] = other;
  const name = folder === undefined || folder === '**' ? undefined : meetNames('*', folder, filler);
  const rest = name === undefined ? undefined : meetPaths(deep, more, filler);
  return rest && [name!, ...rest];
}

/** One character, of those that a class has, or any number of characters. */
type GlobToken =
  | { readonly kind: 'one'; readonly text: string; readonly has: (char: string) => boolean }
  | { readonly kind: 'star' };

/** Undefined for what picomatch alone can tell. */
function tokensOf(name: string): GlobToken[] | undefined {
  const tokens: GlobToken[] = [];
  const one = (text: string, has = (char: string): boolean => char === text): void =>
    void tokens.push({ kind: 'one', text, has });
  for (const [all, escaped, chars] of name.matchAll(/\\(.)|\[([^!^\]\\[][^\]\\[]*)\]|[^]/gs)) {
    if (escaped !== undefined) one(escaped);
    else if (chars !== undefined) one(chars[0]!, (char) => isInClass(char, chars));
    else if (all === '*') tokens.push({ kind: 'star' });
    else if (all === '?') one('x', () => true);
    else if (/[[\](){}|!+@]/.test(all)) return undefined;
    else one(all);
  }
  return tokens;
}

const isInClass = (char: string, chars: string): boolean =>
  [...chars.matchAll(/([^])-([^])|[^]/g)].some(([all, from, to]) =>
    from === undefined || to === undefined ? all === char : from <= char && char <= to,
  );

function meetNames(left: string, right: string, filler: string): string | undefined {
  const [a, b] = [tokensOf(left), tokensOf(right)];
  if (!a || !b) return undefined;
  const failed = new Set<number>();
  const meet = (i: number, j: number): string | undefined => {
    if (i === a.length && j === b.length) return '';
    const key = i * (b.length + 1) + j;
    if (failed.has(key)) return undefined;
    const found = step(a[i], b[j], i, j);
    if (found === undefined) failed.add(key);
    return found;
  };
  const after = (text: string | undefined, i: number, j: number): string | undefined => {
    const rest = text === undefined ? undefined : meet(i, j);
    return rest === undefined ? undefined : text! + rest;
  };
  const step = (x: GlobToken | undefined, y: GlobToken | undefined, i: number, j: number): string | undefined => {
    if (x?.kind === 'star' && y?.kind === 'star')
      return after(filler, i + 1, j) ?? after(filler, i, j + 1) ?? meet(i + 1, j) ?? meet(i, j + 1);
    if (x?.kind === 'star') return (y?.kind === 'one' ? after(y.text, i, j + 1) : undefined) ?? meet(i + 1, j);
    if (y?.kind === 'star') return (x ? after(x.text, i + 1, j) : undefined) ?? meet(i, j + 1);
    return x && y
      ? after(
          [x.text, y.text].find((text) => x.has(text) && y.has(text)),
          i + 1,
          j + 1,
        )
      : undefined;
  };
  return meet(0, 0);
}
