/** Values as the evaluator has them: bigint is an integer, number a float, null a missing value, an array JSON. And operations on them. */
export type Value = null | bigint | number | string | boolean | readonly unknown[];

/** Types that a value may have, as the service knows before it runs a query. */
export type Kind = 'int' | 'real' | 'string' | 'bool' | 'json';
export const KINDS: readonly Kind[] = ['int', 'real', 'string', 'bool', 'json'];

export function kindOf(value: Value): Kind | undefined {
  if (value === null) return undefined;
  if (typeof value === 'bigint') return 'int';
  if (typeof value === 'number') return 'real';
  if (typeof value === 'string') return 'string';
  return typeof value === 'boolean' ? 'bool' : 'json';
}

export const isNumber = (value: Value): value is bigint | number =>
  typeof value === 'bigint' || typeof value === 'number';

/** Null for what 64 bits do not hold. */
export const fits64 = (value: bigint): bigint | null => (BigInt.asIntN(64, value) === value ? value : null);

/** The number of a value: a float where its kinds may be floats. */
export function numberOf(value: Value, kinds: ReadonlySet<Kind>): bigint | number | null {
  if (!isNumber(value)) return null;
  return kinds.has('real') ? Number(value) : value;
}

export function textOf(value: Value): string | null {
  if (value === null) return null;
  if (typeof value === 'number') return Object.is(value, -0) ? '-0' : String(value).replace('e+', 'e');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

const compareBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

export function equal(a: Value, b: Value): boolean {
  if (a === null || b === null) return false;
  // A bigint and a number compare as the numbers they are.
  // oxlint-disable-next-line eqeqeq
  if (isNumber(a) && isNumber(b)) return a == b;
  return kindOf(a) === kindOf(b) && textOf(a) === textOf(b);
}

/** Null where the two have no order. */
export function less(a: Value, b: Value): boolean | null {
  if (isNumber(a) && isNumber(b)) return a < b;
  if (typeof a === 'string' && typeof b === 'string') return compareBytes(a, b) < 0;
  return null;
}

/** What the reply shows. */
export function jsonOf(value: Value): unknown {
  // Beyond what a double holds exactly, digit by digit.
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : `${value}n`;
  if (typeof value === 'number') return Number.isFinite(value) ? value + 0 || 0 : null;
  return value;
}

/** A text that equal values share: in sets and counts 1 and 1.0 are the same. */
export const setIdentity = (value: Value): string => JSON.stringify(jsonOf(value));

/** A text that only equal values of the same kind share: groups keep the kinds apart. */
export const identity = (value: Value): string => `${kindOf(value) ?? 'null'} ${textOf(value) ?? ''}`;

/** Order of a sort key: numbers before texts, those before the rest; missing values last. */
export function compareKeys(a: Value, b: Value, desc: boolean): number {
  const rank = (value: Value): number =>
    value === null ? 9 : isNumber(value) ? 0 : typeof value === 'string' ? 1 : typeof value === 'boolean' ? 2 : 3;
  if (rank(a) !== rank(b)) return rank(a) - rank(b);
  return desc ? comparePlain(b, a) : comparePlain(a, b);
}

function comparePlain(a: Value, b: Value): number {
  if (isNumber(a) && isNumber(b)) return a < b ? -1 : a > b ? 1 : 0;
  if (typeof a === 'boolean') return Number(a) - Number(b);
  return compareBytes(textOf(a) ?? '', textOf(b) ?? '');
}

/** Order of keys that a group has beside the sort keys: kind by kind. */
export function compareGroups(a: readonly Value[], b: readonly Value[]): number {
  for (const [n, left] of a.entries()) {
    const right = b[n]!;
    for (const kind of KINDS) {
      const [x, y] = [kindOf(left) === kind, kindOf(right) === kind];
      if (x !== y) return x ? -1 : 1;
      const order = x ? comparePlain(left, right) : 0;
      if (order !== 0) return order;
    }
  }
  return 0;
}
