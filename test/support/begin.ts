/** Tests that begin alike. */
import { test as base, type TestAPI } from 'vitest';

/** The used part of `TestAPI`, whose types do not take names that are not constants. */
interface Extendable<T> {
  extend(name: string, fixture: (all: { readonly begun: T }) => unknown): Extendable<T>;
}

/** Tests that begin with what `make` gives; these parts of it are their fixtures. */
export function beginning<T extends object>(
  make: () => T | Promise<T>,
  ...parts: readonly (keyof T & string)[]
): TestAPI<T> {
  let test = base.extend('begun', () => make()) as unknown as Extendable<T>;
  for (const part of parts) test = test.extend(part, ({ begun }) => begun[part]);
  return test as unknown as TestAPI<T>;
}
