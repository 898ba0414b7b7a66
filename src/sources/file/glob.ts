/**
 * Compiles `include` and `exclude`: which folder to start in, how deep to go, which folders can hold a match, and whether
 * a path matches. picomatch enters the file source here. Names that begin with a dot match only a pattern that says so.
 */
import picomatch from 'picomatch';

/** One `include` pattern. */
export interface IncludeRule {
  readonly pattern: string;
  /** The folder that all matches are under, or the path itself when the pattern has no wildcard. */
  readonly base: string;
  readonly isLiteral: boolean;
  /** Levels of folders below `base` that can hold matches; Infinity with `**`. */
  readonly depth: number;
  matches(path: string): boolean;
  /** False when no match can be under this folder, `level` (1…) below the base. */
  mayContain(folder: string, level: number): boolean;
}

/** Compiles an absolute glob. */
export function compileInclude(pattern: string): IncludeRule {
  const { base, glob, isGlob } = picomatch.scan(pattern);
  if (!isGlob) {
    const path = unescape(pattern);
    return { pattern, base: path, isLiteral: true, depth: 0, matches: (candidate) => candidate === path, mayContain: () => false };
  }
  const segments = splitSegments(glob);
  const open = segments?.findIndex((segment) => segment.includes('**')) ?? 0;
  const isDeep = segments === undefined || open >= 0;
  // Folders that lead to a match, level by level, up to the first `**`.
  const leading = segments?.slice(0, isDeep ? open : -1) ?? [];
  const prefixes = leading.map((_, index) => picomatch(join(base, leading.slice(0, index + 1).join('/'))));
  return {
    pattern,
    base: unescape(base) || '/',
    isLiteral: false,
    depth: isDeep ? Infinity : segments.length - 1,
    matches: picomatch(pattern),
    mayContain: (folder, level) => prefixes[level - 1]?.(folder) ?? isDeep,
  };
}

/** One test for all `exclude` patterns: those without a slash are about the file's name, the others about its path. */
export function compileExclude(patterns: readonly string[]): (path: string) => boolean {
  if (patterns.length === 0) return () => false;
  const tests = patterns.map((pattern) => picomatch(pattern, { dot: true, basename: !pattern.includes('/') }));
  return (path) => tests.some((test) => test(path));
}

/** Undefined when a brace or bracket spans a slash, so that the levels cannot be told apart. */
function splitSegments(glob: string): string[] | undefined {
  const segments = glob.split('/');
  const balanced = segments.every((segment) => {
    const plain = segment.replaceAll(/\\./g, '');
    return (plain.match(/[{([]/g)?.length ?? 0) === (plain.match(/[})\]]/g)?.length ?? 0);
  });
  return balanced ? segments : undefined;
}

function join(base: string, rest: string): string {
  return base.endsWith('/') ? base + rest : `${base}/${rest}`;
}

function unescape(pattern: string): string {
  return pattern.replaceAll(/\\(.)/g, '$1');
}
