/**
 * The owner of a low-water mark: a sink (`sink`), or with `to_dataset` one dataset of a sink: `sink#rules` for the sink's own dataset,
 * `sink#rules#dataset` for any other. `rules` is a digest of what decides the dataset of an event: other rules reset every position.
 */

const SEPARATOR = '#';

export function routedOwner(sink: string, rules: string): string {
  return `${sink}${SEPARATOR}${rules}`;
}

/** `base` as `routedOwner` gives it. */
export function datasetOwner(base: string, dataset: string): string {
  return `${base}${SEPARATOR}${dataset}`;
}

export function sinkOfOwner(owner: string): string {
  return owner.split(SEPARATOR, 1)[0]!;
}

/** `sink#rules` of a routed owner; undefined for a sink without routes. */
export function baseOfOwner(owner: string): string | undefined {
  const [sink, rules] = owner.split(SEPARATOR);
  return rules === undefined ? undefined : routedOwner(sink!, rules);
}

/** Undefined for the sink's own. */
export function datasetOfOwner(owner: string): string | undefined {
  return owner.split(SEPARATOR)[2];
}
