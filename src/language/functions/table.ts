/** All functions by name, and the nearest name for one that is not there. */
import { guess, foreignFunction } from '../foreign-names.ts';
import type { AplError } from '../syntax/apl-error.ts';
import { meaningError } from '../syntax/apl-error.ts';
import { namedFunctions, type NamedFunction } from '../function-spec.ts';
import { AGGREGATES } from './aggregates/spec.ts';
import { SPECS } from './specs.ts';
import { TOPICS } from './topics.ts';

type Spec = (typeof SPECS)[keyof typeof SPECS];
type NamesIn<Table> = Table extends unknown ? keyof Table & string : never;
type OnlyIn<Table, Use> = Table extends unknown
  ? { [Name in keyof Table]: Table[Name] extends { only: Use } ? Name : never }[keyof Table] & string
  : never;

/** Names of the functions of one row, operators under their own sign. */
export type ScalarName = NamesIn<Spec>;
/** Those that work in queries, or in transforms, alone: the other back end refuses them by name. */
export type NameOnlyIn<Use extends 'queries' | 'transforms'> = OnlyIn<Spec, Use>;
export type ScalarFunction = NamedFunction<ScalarName>;
export type AggregateName = keyof typeof AGGREGATES;
export type AggregateFunction = NamedFunction<AggregateName>;

type FunctionGroup = readonly [title: string, functions: readonly ScalarFunction[]];
const groups = (infix: boolean): readonly FunctionGroup[] =>
  TOPICS.filter((topic) => 'infix' in topic === infix).map(({ name, title }) => [
    title,
    namedFunctions<ScalarName>(SPECS[name] as never),
  ]);

/** The headings of the documentation, with the entries below each. */
export const OPERATOR_GROUPS = groups(true);
export const FUNCTION_GROUPS = groups(false);
export const AGGREGATE_FUNCTIONS: readonly AggregateFunction[] = namedFunctions(AGGREGATES);

function byName<T extends NamedFunction>(groups: readonly (readonly T[])[]): ReadonlyMap<string, T> {
  return new Map(groups.flat().flatMap((entry) => entry.names.map((name) => [name, entry] as const)));
}

export const OPERATORS = byName(OPERATOR_GROUPS.map(([, functions]) => functions));
export const FUNCTIONS = byName(FUNCTION_GROUPS.map(([, functions]) => functions));
const AGGREGATES_BY_NAME = byName([AGGREGATE_FUNCTIONS]);

/** They take a condition of their own. */
const UNCONDITIONAL: ReadonlySet<AggregateName> = new Set(['countif', 'spotlight']);

/** An aggregation, and whether it is the form with a condition. */
export function findAggregate(
  name: string,
): { readonly spec: AggregateFunction; readonly conditional: boolean } | undefined {
  const spec = AGGREGATES_BY_NAME.get(name);
  if (spec) return { spec, conditional: false };
  const plain = /^(.+?)_?if$/.exec(name)?.[1];
  const base = plain === undefined ? undefined : AGGREGATES_BY_NAME.get(plain);
  return base && !UNCONDITIONAL.has(base.name) ? { spec: base, conditional: true } : undefined;
}

/** Functions of this API family that are left out on purpose, with what to do instead. */
const REFUSED: ReadonlyMap<string, string> = new Map([
  ['parse_user_agent', 'no list of browsers is kept here; take what you need with extract(regex, group, text)'],
  [
    'geo_info_from_ip_address',
    'no list of places is kept here; use ipv4_is_private or ipv4_is_in_range to tell networks apart',
  ],
]);

/** There is no function of that name: it is left out on purpose, or misspelt. */
export function unknownFunction(name: string, at: number): AplError {
  const refused = REFUSED.get(name);
  if (refused !== undefined) return meaningError(at, `${name} is not supported`, refused);
  return meaningError(
    at,
    `unknown function ${JSON.stringify(name)}`,
    foreignFunction(name) ?? guess(name, functionNames()),
  );
}

export const functionNames = (): string[] => [...FUNCTIONS.keys(), ...AGGREGATES_BY_NAME.keys()];
