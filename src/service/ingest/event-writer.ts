/**
 * Events into rows: flattens nested objects to dotted names, finds the time, renames reserved names, checks every limit, and
 * writes what passes into the request's block. An event is staged first and written whole or not at all.
 */
import { SERVICE_STRING_BYTES } from '../../core/limits.ts';
import { SERVICE_EVENT_DEPTH } from '../limits.ts';
import { EMPTY_BIT, HUGE_BIT, mapOf, storedName, TYPE_BITS, ZERO_BIT } from '../datasets/field-types.ts';
import { KIND, type ColumnKind, type FieldValue, type RowBlock } from '../engine/rows/row-block.ts';
import { quote } from '../http/api-error.ts';
import { EventFailure, InexactValue, keepNumber } from './event-failure.ts';
import { isObject, JsonText, writeExact, type ExactValue } from '../../json/exact-reader.ts';
import { newNode, type FieldNode } from './field-node.ts';
import type { FieldTally } from './field-tally.ts';
import type { TimeReader } from './timestamps.ts';

/** Names that the service gives to events itself. A user's own are stored under `_user…`. */
const RESERVED = new Set(['_sysTime', '_rowId', '_cursor', '_blockInfo']);

interface Staged {
  node: FieldNode;
  kind: ColumnKind;
  value: FieldValue;
  bits: number;
}

export interface WriterOptions {
  readonly block: RowBlock;
  /** Counts values, to choose fields that get columns of their own. */
  readonly tally: FieldTally | undefined;
  /** The dataset's fields as they are now. */
  readonly fields: ReadonlyMap<string, number>;
  /** Fields whose objects are kept whole, as maps. */
  readonly maps: readonly string[];
  readonly readTime: TimeReader;
  /** Stored name of the field that holds the time; undefined for `_time`. */
  readonly timestampField: string | undefined;
  /** Added to every event, never over a field of its own. */
  readonly labels: Readonly<Record<string, ExactValue>>;
  /** Time of events without one, ns. */
  readonly receivedAt: bigint;
  /** Fields that the dataset may have. */
  readonly maxFields: number;
  /** True where a 0 of the event may be a number that no double is near; called for each. */
  mayBeTiny(): boolean;
}

export class EventWriter {
  readonly #options: WriterOptions;
  /** One node for a flattened name, whichever way leads to it. */
  readonly #nodes = new Map<string, FieldNode>();
  readonly #root: FieldNode;
  readonly #staged: Staged[] = [];
  #count = 0;
  #event = 0;
  #exact = false;
  #time: unknown;
  #fieldTime: unknown;
  #fieldCount: number;
  readonly #hasLabels: boolean;
  #newFields = 0;
  #blockFields = 0;
  readonly #changed = new Set<FieldNode>();

  constructor(options: WriterOptions) {
    this.#options = options;
    this.#fieldCount = options.fields.size;
    this.#hasLabels = !isEmpty(options.labels);
    this.#root = newNode('', undefined, undefined);
  }

  /** Writes one event. `exact` when no reader can have changed the value. Throws `EventFailure` or `InexactValue`. */
  add(event: Readonly<Record<string, unknown>>, exact: boolean): void {
    this.#start(exact);
    this.#object(this.#root, event, 1);
    this.#finish(undefined, this.#options.labels);
  }

  /** Writes the event of an envelope: its `data`, with `time` and `labels` from beside it. */
  addEnvelope(
    envelope: { time?: unknown; data: Readonly<Record<string, unknown>>; labels?: unknown },
    exact: boolean,
  ): void {
    this.#start(exact);
    this.#object(this.#root, envelope.data, 1);
    const { time, labels } = envelope;
    if (typeof time === 'number') this.#checkNumber(time);
    if (labels !== undefined && labels !== null) {
      if (!isObject(labels)) throw new EventFailure('the labels of the event are no object');
      this.#labels(labels);
    }
    this.#finish(time ?? undefined, this.#options.labels);
  }

  /** The type bits that this request added, by field. */
  changes(): Map<string, number> {
    const changes = new Map([...this.#changed].map((node) => [node.name, node.bits ?? 0]));
    for (const name of [...changes.keys()]) {
      const map = mapOf(name);
      if (map !== undefined) changes.set(map, (changes.get(map) ?? 0) | TYPE_BITS.map);
    }
    return changes;
  }

  #start(exact: boolean): void {
    this.#exact = exact;
    this.#event++;
    this.#count = 0;
    this.#newFields = 0;
    this.#time = undefined;
    this.#fieldTime = undefined;
  }

  #finish(envelopeTime: unknown, labels: Readonly<Record<string, unknown>>): void {
    if (this.#hasLabels) this.#labels(labels);
    const given = this.#fieldTime ?? envelopeTime ?? this.#time;
    // A `_time` beside the time that counts is an ordinary field.
    if (this.#time !== undefined && given !== this.#time)
      this.#value(this.#child(this.#root, '_user_time'), this.#time, 1);
    let time: bigint | string = this.#options.receivedAt;
    if (given !== undefined && given !== null) time = this.#options.readTime(given);
    if (typeof time === 'string') throw new EventFailure(time);

    const { block, tally } = this.#options;
    for (let n = 0; n < this.#count; n++) {
      const { node, kind, value, bits } = this.#staged[n]!;
      if (node.bits === undefined) this.#fieldCount++;
      if (node.bits === undefined || (node.bits | bits) !== node.bits) {
        node.bits = (node.bits ?? 0) | bits;
        this.#changed.add(node);
      }
      const own = node.own?.[kind];
      if (own) own.put(block.rows, value);
      else {
        if (node.field < 0) node.field = this.#blockFields++;
        block.put(kind, node.field, node.name, value);
        tally?.note(node.name, kind, value);
      }
    }
    block.endRow(time);
    tally?.endRow();
  }

  #labels(labels: Readonly<Record<string, unknown>>): void {
    for (const key in labels) {
      const node = this.#child(this.#root, key === '_time' ? '_user_time' : key);
      if (node.event !== this.#event && !this.#hasBelow(node)) this.#value(node, labels[key], 1);
    }
  }

  /** True when this event has a field below the name. */
  #hasBelow(node: FieldNode): boolean {
    for (const child of node.children.values()) if (child.event === this.#event || this.#hasBelow(child)) return true;
    return false;
  }

  #object(parent: FieldNode, object: Readonly<Record<string, unknown>>, depth: number): void {
    if (depth > SERVICE_EVENT_DEPTH) throw new EventFailure(`the event is nested deeper than ${SERVICE_EVENT_DEPTH}`);
    for (const key in object) {
      const value = object[key];
      if (parent === this.#root && key === '_time') {
        if (typeof value === 'number') this.#checkNumber(value);
        this.#time = value ?? undefined;
        continue;
      }
      this.#value(this.#child(parent, key), value, depth);
    }
  }

  #value(node: FieldNode, value: unknown, depth: number): void {
    if (node.suspect && !this.#exact) throw new InexactValue();
    switch (typeof value) {
      case 'string':
        this.#checkString(node, value);
        if (value === '') this.#empty(node, KIND.string, value, '""', TYPE_BITS.string | EMPTY_BIT);
        else this.#stage(node, KIND.string, value, TYPE_BITS.string);
        break;
      case 'number':
        this.#checkNumber(value);
        if (value === 0) this.#empty(node, KIND.integer, 0, '0', TYPE_BITS.integer | ZERO_BIT);
        else if (Number.isSafeInteger(value)) this.#stage(node, KIND.integer, value, TYPE_BITS.integer);
        else this.#stage(node, KIND.float, value, TYPE_BITS.float);
        break;
      case 'bigint':
        if (value === 0n) this.#empty(node, KIND.integer, 0, '0', TYPE_BITS.integer | ZERO_BIT);
        else this.#stage(node, KIND.integer, value, TYPE_BITS.integer);
        break;
      case 'boolean':
        if (value) this.#stage(node, KIND.boolean, true, TYPE_BITS.boolean);
        else this.#empty(node, KIND.boolean, false, 'false', TYPE_BITS.boolean);
        break;
      default:
        this.#structure(node, value, depth);
        // A malformed time fails its event; null counts as absent.
        if (value === null || value === undefined) return;
    }
    if (node.name === this.#options.timestampField) this.#fieldTime = value;
  }

  /** What a missing key of its map reads as: as itself in a column of its own, else as JSON text. */
  #empty(node: FieldNode, kind: ColumnKind, value: FieldValue, json: string, bits: number): void {
    if (node.own?.[kind]) this.#stage(node, kind, value, bits);
    else this.#stage(node, KIND.json, json, bits);
  }

  #structure(node: FieldNode, value: unknown, depth: number): void {
    if (value === null || value === undefined) this.#stage(node, KIND.json, 'null', 0);
    else if (value instanceof JsonText)
      this.#stage(node, KIND.json, keepNumber(value, node.name), TYPE_BITS.float | HUGE_BIT);
    else if (Array.isArray(value)) {
      this.#checkDeep(node, value, depth + 1);
      this.#stage(node, KIND.json, writeExact(value as ExactValue), TYPE_BITS.array);
    } else if (isEmpty(value)) this.#stage(node, KIND.json, '{}', TYPE_BITS.object);
    else this.#object(node, value as Record<string, unknown>, depth + 1);
  }

  /** An array is stored as text: its depth is bounded and its values checked before it is written. */
  #checkDeep(node: FieldNode, value: unknown, depth: number): void {
    if (typeof value === 'string') return this.#checkString(node, value);
    if (typeof value === 'number') return this.#checkNumber(value);
    if (value instanceof JsonText) return void keepNumber(value, node.name);
    if (typeof value !== 'object' || value === null) return;
    if (depth > SERVICE_EVENT_DEPTH) throw new EventFailure(`the event is nested deeper than ${SERVICE_EVENT_DEPTH}`);
    if (Array.isArray(value)) {
      for (const item of value) this.#checkDeep(node, item, depth + 1);
      return;
    }
    for (const key in value) {
      if (!this.#exact && key.includes('\\')) throw new InexactValue();
      this.#checkDeep(node, (value as Record<string, unknown>)[key], depth + 1);
    }
  }

  /** A double beyond 2^53 without a fraction may be a rounded integer, infinity a number too large, 0 one too small. */
  #checkNumber(value: number): void {
    if (this.#exact) return;
    const isDoubtful =
      value === 0
        ? this.#options.mayBeTiny()
        : Number.isInteger(value)
          ? !Number.isSafeInteger(value)
          : !Number.isFinite(value);
    if (isDoubtful) throw new InexactValue();
  }

  #checkString(node: FieldNode, value: string): void {
    if (value.length * 3 > SERVICE_STRING_BYTES && Buffer.byteLength(value) > SERVICE_STRING_BYTES)
      throw new EventFailure(`the string in field ${quote(node.name)} is longer than ${SERVICE_STRING_BYTES} bytes`);
  }

  #stage(node: FieldNode, kind: ColumnKind, value: FieldValue, bits: number): void {
    if (node.event === this.#event) {
      // The same flattened name twice: the last one wins, as with a JSON key.
      const before = this.#staged[node.at]!;
      before.kind = kind;
      before.value = value;
      before.bits = bits;
      return;
    }
    if (node.refusal !== undefined) throw new EventFailure(node.refusal);
    const { maxFields } = this.#options;
    if (node.bits === undefined && this.#fieldCount + ++this.#newFields > maxFields)
      throw new EventFailure(
        `adding ${quoteName(node.name)} to dataset fields would exceed the column limit of ${maxFields}`,
      );
    node.event = this.#event;
    node.at = this.#count;
    const slot = this.#staged[this.#count++];
    if (slot) {
      slot.node = node;
      slot.kind = kind;
      slot.value = value;
      slot.bits = bits;
    } else this.#staged.push({ node, kind, value, bits });
  }

  #child(parent: FieldNode, key: string): FieldNode {
    const known = parent.children.get(key);
    if (known) return known;
    const flat = parent !== this.#root ? `${parent.name}.${key}` : RESERVED.has(key) ? `_user${key}` : key;
    const name = storedName(this.#options.maps, flat);
    let node = this.#nodes.get(name);
    if (!node)
      this.#nodes.set(name, (node = newNode(name, this.#options.fields.get(name), this.#options.block.ownOf(name))));
    parent.children.set(key, node);
    return node;
  }
}

const quoteName = (name: string): string => (name.length > 100 ? quote(name) : `'${name}'`);

function isEmpty(object: object): boolean {
  for (const _ in object) return false;
  return true;
}
