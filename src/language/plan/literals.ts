/** Literals among the arguments of a function, checked alike by both back ends. */
import type { Constant } from '../types.ts';
import { plainOf } from '../function-spec.ts';

/** One use of a function, as either back end sees it. */
export interface FunctionUse {
  readonly count: number;
  constant(n: number): Constant;
  fail(n: number, message: string): Error;
}

/** A whole number within bounds, `absent` where it is left out. */
export function numberOf(
  use: FunctionUse,
  n: number,
  what: string,
  least: number,
  most: number,
  absent = least,
): number {
  const value = n < use.count ? Number(use.constant(n).value) : absent;
  if (value < least || value > most) throw use.fail(n, `wanted ${what} from ${least} to ${most}`);
  return value;
}

/** Reads a text with `read`; refuses undefined. */
export function readText<T>(use: FunctionUse, n: number, read: (text: string) => T | undefined, wanted: string): T {
  const found = read(String(use.constant(n).value));
  if (found === undefined) throw use.fail(n, `wanted ${wanted}`);
  return found;
}

/** The first argument, which is one of the names or its plural. */
export function namedArgument(use: FunctionUse, names: Iterable<string>): string {
  const known = [...names];
  return readText(
    use,
    0,
    (text) => known.find((name) => name === text.toLowerCase().replace(/s$/, '')),
    `one of ${known.join(', ')}`,
  );
}

/** The keys of pairs of key and value. */
export function keysOf(use: FunctionUse): string[] {
  if (use.count % 2 === 1) throw use.fail(use.count - 1, 'wanted pairs of key and value');
  const keys = Array.from({ length: use.count / 2 }, (_, n) => String(use.constant(2 * n).value));
  const twice = keys.findIndex((key, n) => keys.indexOf(key) < n);
  if (twice >= 0) throw use.fail(2 * twice, 'the key is given twice');
  return keys;
}

/** The highest number of a group of a regular expression. */
const MOST_GROUPS = 99;

/** The group that `extract` takes. */
export const groupOf = (use: FunctionUse): number =>
  numberOf(use, 1, 'the number of a group (0 is the whole match)', 0, MOST_GROUPS);

/** The groups that `extract_all` takes of those that there are, 0 for the whole match. */
export function groupsOf(use: FunctionUse, there: number): number[] {
  if (use.count < 3) return there === 0 ? [0] : Array.from({ length: there }, (_, n) => n + 1);
  const given: unknown = plainOf(use.constant(1));
  const groups = Array.isArray(given) ? given.map(Number) : [];
  if (groups.length === 0 || groups.some((group) => !Number.isInteger(group) || group < 1 || group > MOST_GROUPS))
    throw use.fail(1, `wanted numbers of groups from 1 to ${MOST_GROUPS}, such as dynamic([1])`);
  return groups;
}
