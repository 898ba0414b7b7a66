/** Counts how often fields come with which type of value, over a number of events: common fields get columns of their own. */
import { mapOf } from '../datasets/field-types.ts';
import { MAPS } from '../engine/tables.ts';
import type { OwnColumn, OwnForm, OwnMap } from '../engine/own-columns.ts';
import { KIND, type ColumnKind, type FieldValue } from '../engine/rows/row-block.ts';

/** A field is common when at least this share of the events has it with values of one type. */
const COMMON_SHARE = 0.1;
/** Texts repeat when at most this share of them differ; integers, which are smaller than a dictionary's numbers soon, when there are no more than these. */
const REPEATED_SHARE = 0.25;
const REPEATED_INTEGERS = 64;
/** Texts are looked for as a whole when nearly all of them differ and they are no longer than this. */
const UNIQUE_SHARE = 0.9;
const UNIQUE_CHARACTERS = 64;

interface Seen {
  readonly field: string;
  readonly kind: ColumnKind;
  count: number;
  characters: number;
  /** The different texts or integers; of integers no more than tell that they do not repeat. */
  readonly different: Set<FieldValue>;
}

export class FieldTally {
  readonly #seen = new Map<string, Seen>();
  #rows = 0;

  get rows(): number {
    return this.#rows;
  }

  endRow(): void {
    this.#rows++;
  }

  note(field: string, stored: ColumnKind, value: FieldValue): void {
    const kind = stored === KIND.json ? kindOfMarker(value) : stored;
    // A map field is read whole: its keys stay together.
    if (kind === undefined || mapOf(field) !== undefined) return;
    const id = `${kind} ${field}`;
    let seen = this.#seen.get(id);
    if (!seen) this.#seen.set(id, (seen = { field, kind, count: 0, characters: 0, different: new Set() }));
    seen.count++;
    if (kind === KIND.integer && seen.different.size <= REPEATED_INTEGERS)
      seen.different.add(stored === KIND.json ? 0 : value);
    if (kind !== KIND.string) return;
    const text = value as string;
    seen.characters += text.length;
    if (text.length <= UNIQUE_CHARACTERS * 16) seen.different.add(text);
    else seen.different.add(`${seen.count}`);
  }

  /** The most common first, `most` of them. */
  common(most: number): Omit<OwnColumn, 'name'>[] {
    return [...this.#seen.values()]
      .filter(({ count, field }) => count >= this.#rows * COMMON_SHARE && field.isWellFormed())
      .sort((a, b) => b.count - a.count)
      .slice(0, Math.max(0, most))
      .map((seen) => ({ map: MAPS[seen.kind].column as OwnMap, field: seen.field, form: formOf(seen) }));
  }
}

/** What a missing key of a map would read as is kept among the JSON values. */
function kindOfMarker(value: FieldValue): ColumnKind | undefined {
  return value === '0' ? KIND.integer : value === '""' ? KIND.string : value === 'false' ? KIND.boolean : undefined;
}

function formOf({ kind, count, different, characters }: Seen): OwnForm {
  if (kind === KIND.integer)
    return different.size <= REPEATED_INTEGERS && different.size <= count * REPEATED_SHARE ? 'repeated' : 'plain';
  if (kind !== KIND.string) return 'plain';
  if (different.size <= count * REPEATED_SHARE) return 'repeated';
  return different.size >= count * UNIQUE_SHARE && characters <= count * UNIQUE_CHARACTERS ? 'unique' : 'plain';
}
