/** Compares two configurations, by the ids that a user gave and the keys that a user wrote. */
import { isDeepStrictEqual } from 'node:util';
import type { Config, SinkConfig } from './model.ts';

/** Ids. */
export interface ComponentChanges {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly string[];
  readonly untouched: readonly string[];
}

export interface ConfigChanges {
  readonly sources: ComponentChanges;
  readonly sinks: ComponentChanges;
  /** Other keys of the top level, as they are written. */
  readonly other: readonly string[];
}

/** These do not shape the agent, or are compared by id. */
const NOT_COMPARED: readonly string[] = ['file', 'hash', 'written', 'sources', 'sinks'] satisfies (keyof Config)[];

export function compareConfigs(before: Config, after: Config): ConfigChanges {
  const keys = Object.keys({ ...before, ...after }) as (keyof Config)[];
  const other = keys.filter((key) => !NOT_COMPARED.includes(key) && !isDeepStrictEqual(before[key], after[key]));
  return {
    sources: compareComponents(before.sources, after.sources),
    sinks: compareComponents(before.sinks.map(asWritten), after.sinks.map(asWritten)),
    other: other.map(writtenName),
  };
}

/** A sink that takes every source is not changed by one more: nothing of it is written anew. */
function asWritten(sink: SinkConfig): SinkConfig {
  return sink.takesAll ? { ...sink, inputs: [] } : sink;
}

function compareComponents(
  before: readonly { readonly id: string }[],
  after: readonly { readonly id: string }[],
): ComponentChanges {
  const old = new Map(before.map((component) => [component.id, component]));
  const kept = after.filter(({ id }) => old.has(id));
  const isSame = (component: { readonly id: string }): boolean => isDeepStrictEqual(component, old.get(component.id));
  const idsOf = (components: readonly { readonly id: string }[]): string[] => components.map(({ id }) => id);
  return {
    added: idsOf(after.filter(({ id }) => !old.has(id))),
    removed: idsOf(before.filter(({ id }) => !after.some((component) => component.id === id))),
    changed: idsOf(kept.filter((component) => !isSame(component))),
    untouched: idsOf(kept.filter(isSame)),
  };
}

/** `shutdownTimeoutMs` is written `shutdown_timeout`. */
function writtenName(key: string): string {
  return key.replace(/Ms$/, '').replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
