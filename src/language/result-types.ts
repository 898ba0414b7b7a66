/** Types of results that follow from the types of the arguments; undefined where those do not go together. */
import { comparable, type Type } from './types.ts';

export type ResultType = (types: readonly Type[]) => Type | undefined;

/** Values of the same type keep it, numbers become floats, anything else may be anything. */
export function commonType(types: readonly Type[]): Type {
  const [head, ...rest] = types;
  if (head === undefined) return 'dynamic';
  if (rest.every((type) => type === head)) return head;
  return types.every((type) => type === 'int' || type === 'real') ? 'real' : 'dynamic';
}

const numbers: ResultType = (types) =>
  types.every((type) => type === 'int' || type === 'real' || type === 'dynamic') ? commonType(types) : undefined;
const spanLike = (type: Type): boolean => type === 'timespan' || type === 'dynamic';

export const added: ResultType = ([a, b]) => {
  if (a === 'datetime') return spanLike(b!) ? 'datetime' : undefined;
  if (b === 'datetime') return spanLike(a!) ? 'datetime' : undefined;
  if (a === 'timespan' || b === 'timespan') return spanLike(a!) && spanLike(b!) ? 'timespan' : undefined;
  return numbers([a!, b!]);
};

/** For two arguments, or for the one that is negated. */
export const subtracted: ResultType = ([a, b]) => {
  if (b === undefined) return a === 'timespan' ? 'timespan' : numbers([a!]);
  if (a === 'datetime' && b === 'datetime') return 'timespan';
  if (b === 'datetime') return a === 'dynamic' ? 'timespan' : undefined;
  return added([a!, b]);
};

export const multiplied: ResultType = ([a, b]) => {
  if (a === 'timespan' && b === 'timespan') return undefined;
  if (a === 'timespan') return numbers([b!]) && 'timespan';
  if (b === 'timespan') return numbers([a!]) && 'timespan';
  return numbers([a!, b!]);
};

export const divided: ResultType = ([a, b]) => {
  if (spanLike(a!) && b === 'timespan') return 'real';
  if (a === 'timespan') return numbers([b!]) && 'timespan';
  return numbers([a!, b!]);
};

export const remained: ResultType = ([a, b]) =>
  a === 'timespan' || b === 'timespan' ? (spanLike(a!) && spanLike(b!) ? 'timespan' : undefined) : numbers([a!, b!]);

export const binned: ResultType = ([value, size]) => {
  if (value === 'datetime' || value === 'timespan') return size === 'timespan' ? value : undefined;
  return size === 'int' || size === 'real' || size === 'timespan'
    ? numbers([value!]) && (size === 'timespan' ? 'timespan' : value)
    : undefined;
};

export const comparison: ResultType = ([a, b]) => (comparable(a!, b!) ? 'bool' : undefined);
export const ordering: ResultType = ([a, b]) =>
  a !== 'bool' && b !== 'bool' && comparable(a!, b!) ? 'bool' : undefined;
export const ranged: ResultType = ([value, low, high]) =>
  ordering([value!, low!]) && ordering([value!, high!]) ? 'bool' : undefined;
export const membership: ResultType = (types) =>
  types.slice(1).every((type) => comparable(types[0]!, type)) ? 'bool' : undefined;

export const firstType: ResultType = ([type]) => type;
export const branches: ResultType = (types) => commonType(types.slice(1));
/** For pairs of condition and result, and a last result. */
export const cases: ResultType = (types) => commonType(types.filter((_, n) => n % 2 === 1 || n === types.length - 1));

export const summable: ResultType = ([type]) =>
  type === 'timespan' || type === 'int' || type === 'real' || type === 'dynamic' ? type : undefined;
export const countable: ResultType = (types) =>
  summable(types) ? (types[0] === 'timespan' ? 'timespan' : 'real') : undefined;
export const arrayOfNumbers: ResultType = (types) => summable(types) && 'dynamic';
