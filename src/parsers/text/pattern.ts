/**
 * Regular expressions of the configuration. Their cost is linear in the line, for every pattern and every line:
 * they are RE2's (no back references, no look-around). The engine is loaded only for a pattern that needs it.
 */
import { messageOf, TailraceError } from '../../core/errors.ts';
import { bytePrefixOf, hasPrefix } from './byte-prefix.ts';

export interface Pattern {
  /** True when it matches somewhere in the text `bytes[start, end)`, which is UTF-8. */
  test(bytes: Buffer, start: number, end: number): boolean;
}

/** A pattern whose groups matter. */
export interface GroupPattern {
  /** The named groups that took part in the match, or undefined without a match. */
  groups(text: string): Record<string, string> | undefined;
  readonly names: readonly string[];
}

/** Throws `TailraceError` `E_PATTERN` for one that is not a regular expression, or one of unbounded cost. */
export async function compilePattern(source: string): Promise<Pattern> {
  const prefix = bytePrefixOf(source);
  if (prefix?.isWhole) return { test: (bytes, start, end) => hasPrefix(prefix, bytes, start, end) };
  const engine = await compile(source);
  return {
    test: (bytes, start, end) =>
      (!prefix || hasPrefix(prefix, bytes, start, end)) && engine.test(bytes.toString('utf8', start, end)),
  };
}

/** Throws like `compilePattern`. */
export async function compileGroupPattern(source: string): Promise<GroupPattern> {
  return groupPattern(await compile(source));
}

/** For paths, which may hold line breaks: `.` matches these, too. Throws like `compilePattern`. */
export async function compilePathPattern(source: string): Promise<GroupPattern> {
  return groupPattern(await compile(source, 'any character'));
}

/** Finds the key of a text: what the pattern's groups took, or where it has none all that it matched. Undefined for no match. Throws like `compilePattern`. */
export async function compileKeyPattern(source: string): Promise<(text: string) => string | undefined> {
  const engine = await compile(source);
  const groups = engine.groupCount();
  return (text) => {
    const matcher = engine.matcher(text);
    if (!matcher.find()) return undefined;
    const found = Array.from({ length: groups }, (_, n) => matcher.group(n + 1) ?? '').join('\0');
    return (groups === 0 ? matcher.group() : found) || undefined;
  };
}

function groupPattern(engine: Awaited<ReturnType<typeof compile>>): GroupPattern {
  return {
    names: Object.keys(engine.namedGroups()),
    groups(text) {
      const matcher = engine.matcher(text);
      if (!matcher.find()) return undefined;
      const found: Record<string, string> = {};
      for (const [name, value] of Object.entries(matcher.getNamedGroups())) if (value !== null) found[name] = value;
      return found;
    },
  };
}

async function compile(source: string, dot?: 'any character') {
  const { RE2JS } = await import('re2js');
  try {
    return RE2JS.compile(source, dot ? RE2JS.DOTALL : 0);
  } catch (cause) {
    throw new TailraceError(
      'E_PATTERN',
      `\`${source}\` is no regular expression that can be used: ${messageOf(cause)}`,
      {
        fix: 'use the syntax of RE2, which has no back references and no look-around',
        cause,
      },
    );
  }
}
