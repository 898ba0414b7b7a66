/** Turns functions of present values into functions of arguments that may be null: null in, null out. */
import type { Of, RowBuild } from './call.ts';
import type { RowValue } from '../values/value.ts';

type Maybe<T> = Of<T | null>;

export const lift1 =
  <A, Result>(a: Maybe<A>, build: (a: A) => Result | null): Maybe<Result> =>
  (scope) => {
    const value = a(scope);
    return value === null ? null : build(value);
  };

export const lift2 =
  <A, B, Result>(a: Maybe<A>, b: Maybe<B>, build: (a: A, b: B) => Result | null): Maybe<Result> =>
  (scope) => {
    const left = a(scope);
    if (left === null) return null;
    const right = b(scope);
    return right === null ? null : build(left, right);
  };

export const lift3 =
  <A, B, C, Result>(a: Maybe<A>, b: Maybe<B>, c: Maybe<C>, build: (a: A, b: B, c: C) => Result | null): Maybe<Result> =>
  (scope) => {
    const [first, second, third] = [a(scope), b(scope), c(scope)];
    return first === null || second === null || third === null ? null : build(first, second, third);
  };

/** Functions of one argument. Only `ofValue` gets null, too. */
export const ofValue =
  (build: (value: RowValue) => RowValue): RowBuild =>
  (call) => {
    const value = call.value(0);
    return (scope) => build(value(scope));
  };

export const ofText =
  (build: (text: string) => RowValue): RowBuild =>
  (call) =>
    lift1(call.string(0), build);
export const ofInt =
  (build: (value: bigint) => RowValue): RowBuild =>
  (call) =>
    lift1(call.int(0), build);
export const ofNumber =
  (build: (value: bigint | number) => RowValue): RowBuild =>
  (call) =>
    lift1(call.number(0), build);
export const ofReal =
  (build: (value: number) => RowValue): RowBuild =>
  (call) =>
    lift1(call.real(0), build);
export const ofTime =
  (build: (ns: bigint) => RowValue): RowBuild =>
  (call) =>
    lift1(call.time(0), build);
