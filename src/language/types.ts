/** The types of the language. A field of an event is `dynamic`: what it holds may differ from event to event, and only running shows it. */

export type Type = 'bool' | 'int' | 'real' | 'string' | 'datetime' | 'timespan' | 'dynamic';

/** A constant: text, a truth value, an integer or a count of ns (of a datetime since 1970), a float, JSON text of a dynamic, or null. */
export interface Constant {
  readonly type: Type;
  readonly value: string | boolean | bigint | number | null;
}

export const NULL: Constant = { type: 'dynamic', value: null };

export const isNumeric = (type: Type): boolean => type === 'int' || type === 'real';

/** True when a value of the one type can be compared with a value of the other. */
export function comparable(a: Type, b: Type): boolean {
  return a === b || a === 'dynamic' || b === 'dynamic' || (isNumeric(a) && isNumeric(b));
}

/** The words for a type in messages. */
export const TYPE_WORDS: Readonly<Record<Type, string>> = {
  bool: 'a truth value',
  int: 'an integer',
  real: 'a number',
  string: 'a string',
  datetime: 'a datetime',
  timespan: 'a timespan',
  dynamic: 'a dynamic value',
};

/** A value of JSON as a constant; arrays and objects become dynamic ones. */
export function constantOf(value: unknown): Constant {
  if (typeof value === 'string') return { type: 'string', value };
  if (typeof value === 'boolean') return { type: 'bool', value };
  if (typeof value === 'number')
    return Number.isSafeInteger(value) ? { type: 'int', value: BigInt(value) } : { type: 'real', value };
  return { type: 'dynamic', value: typeof value === 'object' && value !== null ? JSON.stringify(value) : null };
}
