/** Sizes in bytes, with units for people to read. */
import type { FunctionTable } from '../../function-spec.ts';
import { numberOf, readText, type FunctionUse } from '../../plan/literals.ts';

export const SIZES = {
  format_bytes: { syntax: "format_bytes(number, 2, 'MB', 2)", doc: 'Formats a number of bytes with a unit and at most that many decimal places, 0 by default. Units: Bytes, KB, MB, GB, TB, PB, EB, and KiB to EiB; the largest that fits if none or an empty text is given. KB is 1,024 bytes, or 1,000 if the last argument is 10.', args: ['number', 'constant int', 'constant string', 'constant int'], optional: 3, returns: 'string' },
  parse_bytes: { syntax: "parse_bytes('1.5 KB', 2)", doc: 'Parses a size such as `1.5 KB` or `20 MiB` into a number of bytes; 0 if the text is no size. KB is 1,024 bytes, or 1,000 if the last argument is 10.', args: ['string', 'constant int'], optional: 1, returns: 'int' },
} satisfies FunctionTable; // prettier-ignore

/** Units without a prefix of two letters, each a step larger than the one before. */
export const UNITS = ['Bytes', 'KB', 'MB', 'GB', 'TB', 'PB', 'EB'] as const;

/** How many bytes a KB has. */
export function stepOf(use: FunctionUse, n: number): 1000 | 1024 {
  const base = numberOf(use, n, 'the base 2 or 10, a number', 2, 10);
  if (base !== 2 && base !== 10) throw use.fail(n, 'wanted the base 2 or 10');
  return base === 10 ? 1000 : 1024;
}

/** The unit that an argument names, as a power of its step; undefined for the largest that fits. */
export function unitOf(use: FunctionUse, n: number, step: number): { readonly name: string; readonly step: number; readonly power: number } | undefined {
  if (n >= use.count || use.constant(n).value === '') return undefined;
  return readText(use, n, (name) => {
    const power = UNITS.findIndex((unit) => unit === name.replace('i', '') && (unit !== 'Bytes' || name === unit));
    return power < 0 ? undefined : { name, step: name.includes('i') ? 1024 : step, power };
  }, `one of ${UNITS.join(', ')}, or KiB to EiB`);
} // prettier-ignore

/** Sizes from here on have no text: fewer digits are exact. */
export const MOST_SIZE = 1e15;

/** A number and a unit, for both back ends. */
export const SIZE_PATTERN = '^\\s*([+-]?[0-9]+(?:\\.[0-9]+)?)\\s*(?:([A-Za-z]+)\\s*)?$';

/** Units by what they are called in small letters, with step and power. */
export function namedUnits(step: number): ReadonlyMap<string, readonly [step: number, power: number]> {
  const plain = ['', 'b', 'byte', 'bytes'].map((name) => [name, [step, 0]] as const);
  const larger = UNITS.slice(1).flatMap((unit, n) => {
    const letter = unit[0]!.toLowerCase();
    return [[letter, [step, n + 1]], [`${letter}b`, [step, n + 1]], [`${letter}ib`, [1024, n + 1]]] as const;
  });
  return new Map([...plain, ...larger]);
} // prettier-ignore
