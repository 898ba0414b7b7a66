/**
 * Names of events that a transform means but does not name: names are exact, so that `password` leaves `Password` in clear. Found in the events before
 * their transforms. Shows names of fields and no value.
 */
import type { TransformConfig } from '../../config/values.ts';
import { quote } from '../../config/quote.ts';
import type { JsonValue } from '../../core/block.ts';
import { type HiddenName, hiddenNames } from '../../shaping/rows/hidden-names.ts';
import { itemsPath } from '../../shaping/rows/values/paths.ts';

/** Names of one event that are looked at, how deep, and how many of a list. */
const MAX_NAMES = 1000;
const MAX_DEPTH = 8;
const MAX_ITEMS = 20;
/** Names that one warning shows. */
const MAX_SHOWN = 3;

export interface CaseWarning {
  /** The transform's place in the configuration, and that of the step in its text. */
  readonly path: string;
  readonly index: number;
  readonly message: string;
  readonly fix: string;
}

export class CaseNames {
  readonly #hidden: readonly (readonly [hidden: HiddenName, found: Set<string>])[];

  constructor(transforms: readonly TransformConfig[]) {
    this.#hidden = hiddenNames(transforms).map((each) => [each, new Set<string>()]);
  }

  look(event: Readonly<Record<string, JsonValue>>): void {
    if (this.#hidden.length === 0) return;
    for (const name of namesIn(event))
      for (const [hidden, found] of this.#hidden) if (hidden.isOtherCase(name)) found.add(name);
  }

  get warnings(): CaseWarning[] {
    return this.#hidden.flatMap(([{ name, path, index }, found]) => {
      if (found.size === 0) return [];
      const others = [...found].slice(0, MAX_SHOWN).map((each) => `\`${quote(each)}\``);
      const message = `\`${quote(name)}\` does not name ${others.join(' or ')}, which events have: names are exact`;
      return [{ path, index, message, fix: `name ${others.join(' and ')}, too` }];
    });
  }
}

function* namesIn(event: Readonly<Record<string, JsonValue>>): Generator<string> {
  let left = MAX_NAMES;
  function* inside(value: JsonValue, path: string, depth: number): Generator<string> {
    if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return;
    if (Array.isArray(value)) {
      for (const item of value.slice(0, MAX_ITEMS)) yield* inside(item, itemsPath(path), depth + 1);
      return;
    }
    for (const [key, each] of Object.entries(value)) {
      if (left-- <= 0) return;
      const name = path === '' ? key : `${path}.${key}`;
      yield name;
      yield* inside(each, name, depth + 1);
    }
  }
  yield* inside(event, '', 1);
}
