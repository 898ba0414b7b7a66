/**
 * Compiles `include` and `exclude`: which folder to start in, how deep to go, which folders can hold a match, and whether
 * a path matches. picomatch enters the file source here. Names that begin with a dot match only a pattern that says so.
 */
import picomatch from 'picomatch';

/** A name may hold a line break, which `.` matches only with this flag. */
const ANY_CHARACTER = { flags: 's' };

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

export function compileInclude(pattern: string): IncludeRule {
  const { base, glob, isGlob } = picomatch.scan(pattern);
  if (!isGlob) {
    const path = unescape(pattern);
    return {
      pattern,
      base: path,
      isLiteral: true,
      depth: 0,
      matches: (candidate) => candidate === path,
      mayContain: () => false,
    };
  }
  const segments = splitSegments(glob);
  const open = segments?.findIndex((segment) => segment.includes('**')) ?? 0;
  const isDeep = segments === undefined || open >= 0;
  // Folders that lead to a match, level by level, up to the first `**`.
  const leading = segments?.slice(0, isDeep ? open : -1) ?? [];
  const prefixes = leading.map((_, index) =>
    picomatch(join(base, leading.slice(0, index + 1).join('/')), ANY_CHARACTER),
  );
  return {
    pattern,
    base: unescape(base) || '/',
    isLiteral: false,
    depth: isDeep ? Infinity : segments.length - 1,
    matches: picomatch(pattern, ANY_CHARACTER),
    mayContain: (folder, level) => prefixes[level - 1]?.(folder) ?? isDeep,
  };
}

/** The part of each pattern before its first wildcard. */
export function fixedPartsOf(include: readonly string[]): string[] {
  return include.map((pattern) => compileInclude(pattern).base);
}

/** One test for all `exclude` patterns: those without a slash are about the file's name, the others about its path. */
export function compileExclude(patterns: readonly string[]): (path: string) => boolean {
  if (patterns.length === 0) return () => false;
  const tests = patterns.map((pattern) =>
    picomatch(pattern, { ...ANY_CHARACTER, dot: true, basename: !pattern.includes('/') }),
  );
  return (path) => tests.some((test) => test(path));
}

/** Of patterns that do not match a path, the one that agrees with most of its folders, and where it ends to agree. */
export function explainMiss(
  patterns: readonly string[],
  path: string,
): { readonly pattern: string; readonly why: string } {
  const misses = patterns.map((pattern) => ({ pattern, ...missOf(pattern.split('/'), path.split('/')) }));
  return misses.reduce((best, each) => (each.agreed > best.agreed ? each : best));
}

function missOf(
  wanted: readonly string[],
  found: readonly string[],
): { readonly agreed: number; readonly why: string } {
  let at = 0;
  while (at < Math.min(wanted.length, found.length) && wanted[at] !== '**' && isNameMatch(wanted[at]!, found[at]!))
    at += 1;
  const isDeep = wanted[at] === '**';
  const isBelow = !isDeep && at >= wanted.length - 1 && found.length > wanted.length;
  const want = isDeep ? wanted.at(-1) : isBelow ? undefined : wanted[at];
  return { agreed: at, why: whyNot(want, isDeep ? found.at(-1) : found[at]) };
}

function whyNot(want: string | undefined, have: string | undefined): string {
  if (have === undefined) return 'it looks for files in folders below this path';
  if (want === undefined) return 'the path is in a folder below; "**" stands for folders of any depth';
  if (have.startsWith('.') && isNameMatch(want, have.slice(1)))
    return `a name that begins with a dot, as "${have}", matches only a pattern that says so`;
  if (isNameMatch(want.toLowerCase(), have.toLowerCase()))
    return `"${have}" and "${want}" differ in upper and lower case`;
  return `"${have}" does not match "${want}"`;
}

function isNameMatch(pattern: string, name: string): boolean {
  return pattern === name || picomatch.isMatch(name, pattern, ANY_CHARACTER);
}

/** Undefined when a brace or bracket spans a slash, so that the levels are ambiguous. */
function splitSegments(glob: string): string[] | undefined {
  const segments = glob.split('/');
  const balanced = segments.every((segment) => {
    const plain = segment.replaceAll(/\\./gs, '');
    return (plain.match(/[{([]/g)?.length ?? 0) === (plain.match(/[})\]]/g)?.length ?? 0);
  });
  return balanced ? segments : undefined;
}

function join(base: string, rest: string): string {
  return base.endsWith('/') ? base + rest : `${base}/${rest}`;
}

function unescape(pattern: string): string {
  return pattern.replaceAll(/\\(.)/gs, '$1');
}
