/** An expression: its text for the service, and what it is, computed plainly; and what all kinds of them are made with. */
import * as fc from 'fast-check';
import { FUNCTIONS } from '../../../src/language/functions/table.ts';
import { numberOf, type Kind, type Value } from './values.ts';

export type Row = ReadonlyMap<string, Value>;

export interface Expression {
  readonly text: string;
  /** What the language knows of its type; `dynamic` is a field. */
  readonly type: 'number' | 'string' | 'bool' | 'dynamic';
  readonly kinds: ReadonlySet<Kind>;
  readonly of: (row: Row) => Value;
}
export type Condition = Expression & { readonly type: 'bool' };

export const set = (...kinds: Kind[]): ReadonlySet<Kind> => new Set(kinds);
export const int = (text: string, of: (row: Row) => bigint | null): Expression => ({
  text,
  type: 'number',
  kinds: set('int'),
  of,
});
export const number = (text: string, of: (row: Row) => number | null): Expression => ({
  text,
  type: 'number',
  kinds: set('real'),
  of,
});
export const string = (text: string, of: (row: Row) => string | null): Expression => ({
  text,
  type: 'string',
  kinds: set('string'),
  of,
});
export const condition = (text: string, of: (row: Row) => boolean | null): Condition => ({
  text,
  type: 'bool',
  kinds: set('bool'),
  of,
});

/** A call by one of the function's names, now the one, now the other. */
export function called(name: string, ...args: readonly string[]): string {
  const names = FUNCTIONS.get(name)?.names ?? [name];
  const given = args.join(', ');
  return `${names[given.length % names.length]}(${given})`;
}

/** Whether the text has the term with no letter or digit beside it, where the term itself ends in one. */
export function hasTerm(value: string, wanted: string): boolean {
  const edge = (char: string | undefined): boolean => char !== undefined && /[\p{L}\p{N}]/u.test(char);
  if (wanted === '') return true;
  for (let at = value.indexOf(wanted); at >= 0; at = value.indexOf(wanted, at + 1)) {
    const [before, after] = [value.slice(0, at), value.slice(at + wanted.length)];
    if (!(edge(wanted[0]) && edge(before.at(-1))) && !(edge(wanted.at(-1)) && edge(after[0]))) return true;
  }
  return false;
}

export const foldWord = (value: string): string => value.toLowerCase();
export const union = (...all: Expression[]): ReadonlySet<Kind> => new Set(all.flatMap(({ kinds }) => [...kinds]));

export const column = (name: string, type: Expression['type'], ...kinds: Kind[]): Expression => ({
  text: name,
  type,
  kinds: set(...kinds),
  of: (row) => row.get(name) ?? null,
});

const words = ['', 'a', 'B', 'ab', 'Ab cd', 'x_y', '5', 'true', 'ωΩ', "it's", 'a"b\\c', '%', 'éa'];
export const word = fc.constantFrom(...words);

export const numberValue = ({ of, kinds }: Expression, row: Row): bigint | number | null => numberOf(of(row), kinds);
export const truth = ({ of }: Expression, row: Row): boolean | null => {
  const value = of(row);
  return typeof value === 'boolean' ? value : null;
};

/** Expressions over the columns, nested up to a depth. */
export interface Generators {
  readonly number: fc.Arbitrary<Expression>;
  readonly text: fc.Arbitrary<Expression>;
  readonly condition: fc.Arbitrary<Condition>;
  readonly any: fc.Arbitrary<Expression>;
}
