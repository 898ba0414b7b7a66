/**
 * A fault that somebody could make, planted where modules meet: it replaces an exported function, or changes one method of an exported
 * class.
 */
export interface Fault {
  readonly name: string;
  /** Names that the source follows, or `compressed`. */
  readonly include: string;
  /** The name, in `found/`, of the schedule that finds it every time. */
  readonly schedule: string;
  /** By `path under src#export`: what takes the place of the export. */
  readonly hooks: Readonly<Record<string, (real: never) => unknown>>;
}

export const [alone, withRotated] = ['*.log', '*.log*'];

type Given<T, K extends keyof T> = T[K] extends (...given: infer A) => unknown ? A : never;
type Result<T, K extends keyof T> = T[K] extends (...given: never) => infer R ? R : never;
type Act<T, K extends keyof T> = (
  self: T,
  real: (...given: Given<T, K>) => Result<T, K>,
  ...given: Given<T, K>
) => Result<T, K>;

/** Has `act` in the place of one method of a class, for all who use it; it is given the real one. */
export function method<T extends object, K extends keyof T, C extends { readonly prototype: T }>(
  Class: C & { readonly prototype: T },
  name: K,
  act: Act<T, K>,
): C {
  const real = Class.prototype[name] as (...given: Given<T, K>) => Result<T, K>;
  Class.prototype[name] = function (this: T, ...given: Given<T, K>) {
    return act(this, (...passed) => real.apply(this, passed), ...given);
  } as T[K];
  return Class;
}
