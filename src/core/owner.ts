/**
 * Whose mark it is: a sink's, or that of one of the datasets that `to_dataset` sends a source's events to through the sink. Each of them has
 * marks of its own, as a sink has, under a name that begins with the sink's id: `sink#rules` of the sink's own dataset, `sink#rules#dataset` of
 * any other. `rules` stands for what decides which dataset an event goes to: other rules reset every position.
 */

const SEPARATOR = '#';

export function routedOwner(sink: string, rules: string): string {
  return `${sink}${SEPARATOR}${rules}`;
}

/** `base` as `routedOwner` gives it. */
export function datasetOwner(base: string, dataset: string): string {
  return `${base}${SEPARATOR}${dataset}`;
}

export function sinkOf(owner: string): string {
  return owner.split(SEPARATOR, 1)[0]!;
}

/** `sink#rules` of a routed owner; undefined for a sink without routes. */
export function baseOf(owner: string): string | undefined {
  const [sink, rules] = owner.split(SEPARATOR);
  return rules === undefined ? undefined : routedOwner(sink!, rules);
}

/** Undefined for the sink's own. */
export function datasetOf(owner: string): string | undefined {
  return owner.split(SEPARATOR)[2];
}
