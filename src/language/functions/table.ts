/** All functions by name, and the nearest name for one that is not there. */
import { nearest } from '../../config/nearest.ts';
import { otherFunction } from '../other-names.ts';
import { AplError } from '../syntax/apl-error.ts';
import { AGGREGATES } from './aggregates.ts';
import { ARRAYS, BAGS } from './arrays.ts';
import { ARITHMETIC, ROUNDING } from './arithmetic.ts';
import { COMPARISONS } from './comparisons.ts';
import { CONDITIONALS, CONVERSIONS } from './conversions.ts';
import { DATETIMES } from './datetimes.ts';
import { HIDING } from './hiding.ts';
import { MATH } from './math.ts';
import { NETWORK } from './network.ts';
import { namedFunctions, type NamedFunction } from './spec.ts';
import { STRINGS } from './strings.ts';
import { TEXT_MATCHING } from './text-matching.ts';
import { WINDOWS } from './windows.ts';

const INFIX = { ...COMPARISONS, ...TEXT_MATCHING, ...ARITHMETIC };
const CALLED = {
  ...CONDITIONALS,
  ...CONVERSIONS,
  ...STRINGS,
  ...DATETIMES,
  ...ROUNDING,
  ...MATH,
  ...NETWORK,
  ...ARRAYS,
  ...BAGS,
  ...WINDOWS,
  ...HIDING,
};

/** Names of the functions of one row, operators under their own sign. A back end that has all of them has a table with these keys. */
export type ScalarName = keyof typeof INFIX | keyof typeof CALLED;
export type ScalarFunction = NamedFunction<ScalarName>;
export type AggregateName = keyof typeof AGGREGATES;
export type AggregateFunction = NamedFunction<AggregateName>;

/** The headings of the documentation, with what stands below each. */
export const OPERATOR_GROUPS: readonly (readonly [title: string, functions: readonly ScalarFunction[]])[] = [
  ['Comparison and logic', namedFunctions(COMPARISONS)],
  ['Text', namedFunctions(TEXT_MATCHING)],
  ['Arithmetic', namedFunctions(ARITHMETIC)],
];
export const FUNCTION_GROUPS: readonly (readonly [title: string, functions: readonly ScalarFunction[]])[] = [
  ['Choosing', namedFunctions(CONDITIONALS)],
  ['Conversion', namedFunctions(CONVERSIONS)],
  ['Text', namedFunctions(STRINGS)],
  ['Time', namedFunctions(DATETIMES)],
  ['Rounding', namedFunctions(ROUNDING)],
  ['Numbers', namedFunctions(MATH)],
  ['Networks', namedFunctions(NETWORK)],
  ['Arrays', namedFunctions(ARRAYS)],
  ['Objects and sets', namedFunctions(BAGS)],
  ['Other rows', namedFunctions(WINDOWS)],
  ['Secrets', namedFunctions(HIDING)],
];
export const AGGREGATE_FUNCTIONS: readonly AggregateFunction[] = namedFunctions(AGGREGATES);

function byName<T extends NamedFunction>(groups: readonly (readonly T[])[]): ReadonlyMap<string, T> {
  return new Map(groups.flat().flatMap((entry) => entry.names.map((name) => [name, entry] as const)));
}

export const OPERATORS = byName(OPERATOR_GROUPS.map(([, functions]) => functions));
export const FUNCTIONS = byName(FUNCTION_GROUPS.map(([, functions]) => functions));
const AGGREGATES_BY_NAME = byName([AGGREGATE_FUNCTIONS]);

/** An aggregation, and whether it is the form with a condition. */
export function findAggregate(name: string): { readonly spec: AggregateFunction; readonly conditional: boolean } | undefined {
  const spec = AGGREGATES_BY_NAME.get(name);
  if (spec) return { spec, conditional: false };
  const plain = /^(.+?)_?if$/.exec(name)?.[1];
  const base = plain === undefined ? undefined : AGGREGATES_BY_NAME.get(plain);
  return base && base.names[0] !== 'countif' ? { spec: base, conditional: true } : undefined;
}

/** `did you mean x`, or nothing. */
export function guess(name: string, known: Iterable<string>): string | undefined {
  const near = nearest(name, known);
  return near === undefined ? undefined : `did you mean ${near}`;
}

/** Functions of the family that are left out on purpose, with what to do instead. */
const REFUSED: ReadonlyMap<string, string> = new Map([
  ['parse_user_agent', 'no list of browsers is kept here; take what you need with extract(regex, group, text)'],
  ['geo_info_from_ip_address', 'no list of places is kept here; use ipv4_is_private or ipv4_is_in_range to tell networks apart'],
  ['spotlight', 'compare the groups yourself: summarize countif(condition), count() by field'],
]);

export const isRefused = (name: string): boolean => REFUSED.has(name);

/** There is no function of that name: it is left out on purpose, or misspelt. */
export function unknownFunction(name: string, at: number): AplError {
  const refused = REFUSED.get(name);
  if (refused !== undefined) return new AplError('meaning', at, `${name} is not supported`, refused);
  return new AplError('meaning', at, `unknown function ${JSON.stringify(name)}`, otherFunction(name) ?? guess(name, functionNames()));
}

export const functionNames = (): string[] => [...FUNCTIONS.keys(), ...AGGREGATES_BY_NAME.keys()];
