/** Where an event holds a value that is named. */
import type { EventFields } from './fields.ts';

export interface FieldLocation {
  readonly holder: EventFields;
  readonly key: string;
  /** The keys that lead to the value from the event on; `key` is the last. */
  readonly keys: readonly string[];
}

/** A key of that name, dots included, else the value inside of objects, a dot for each level. */
export function locateField(event: EventFields, name: string): FieldLocation | undefined {
  if (Object.hasOwn(event, name)) return { holder: event, key: name, keys: [name] };
  if (!name.includes('.')) return undefined;
  const keys = name.split('.');
  let holder = event;
  for (const key of keys.slice(0, -1)) {
    const inside = Object.hasOwn(holder, key) ? holder[key] : undefined;
    if (typeof inside !== 'object' || inside === null || Array.isArray(inside)) return undefined;
    holder = inside;
  }
  const key = keys.at(-1)!;
  return Object.hasOwn(holder, key) ? { holder, key, keys } : undefined;
}
